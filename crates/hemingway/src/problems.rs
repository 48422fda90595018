//! The problems that the store has runs on, and the one that is meant.
//!
//! Models of runs on different problems stand for nothing together: each has its own optimum. So whoever looks at them looks
//! at one problem, by what was named of it, and else at the one that was worked on last.

use std::path::Path;

use hemingway_data::Fingerprint;
use hemingway_train::Loss;
use serde::Serialize;

use crate::{Common, DataRequest, Error, Family};

/// What is said of a problem to find it; what is left out may be anything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProblemFilter {
    /// Its data: a path, the last part of one, or the name of embedded or generated data.
    pub data: Option<String>,
    /// Its loss.
    pub loss: Option<Loss>,
    /// Its strength of the penalty.
    pub lambda: Option<f64>,
}

/// The families of one problem.
#[derive(Debug, Clone)]
pub struct ChosenProblem {
    /// Which, in words.
    pub name: String,
    /// Algorithms on it, as they were given.
    pub families: Vec<Family>,
    /// The other problems there are runs on, the latest first.
    pub others: Vec<String>,
}

/// The families on the latest problem that fits; nothing where there are no families at all.
pub fn choose_problem(
    families: Vec<Family>,
    wanted: &ProblemFilter,
    store: &Path,
) -> Result<Option<ChosenProblem>, Error> {
    let mut problems = problems(families);
    let Some(at) = problems.iter().position(|problem| wanted.fits(&problem.what)) else {
        let known: Vec<String> = problems.iter().map(|problem| problem.what.name()).collect();
        return match known.is_empty() {
            true => Ok(None),
            false => Err(Error::NoRunsOn { wanted: wanted.words(), known, store: store.to_path_buf() }),
        };
    };
    let chosen = problems.remove(at);
    Ok(Some(ChosenProblem {
        name: chosen.what.name(),
        families: chosen.families,
        others: problems.iter().map(|problem| problem.what.name()).collect(),
    }))
}

/// A problem with the families on it.
struct Problem {
    what: What,
    latest: f64,
    families: Vec<Family>,
}

/// What decides the optimum, but for the share of the rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct What {
    data: DataRequest,
    source: Option<Fingerprint>,
    loss: Loss,
    lambda: f64,
    bias: bool,
}

/// The problems of families, the latest first.
fn problems(families: Vec<Family>) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for family in families {
        let Some(what) = family.problem.as_ref().map(What::of) else { continue };
        match problems.iter_mut().find(|problem| problem.what == what) {
            Some(problem) => {
                problem.latest = problem.latest.max(family.latest);
                problem.families.push(family);
            }
            None => problems.push(Problem { what, latest: family.latest, families: vec![family] }),
        }
    }
    problems.sort_by(|a, b| b.latest.total_cmp(&a.latest));
    problems
}

impl What {
    fn of(common: &Common) -> What {
        let Common { data, source, loss, lambda, bias, .. } = common.clone();
        What { data, source, loss, lambda, bias }
    }

    fn name(&self) -> String {
        let What { data, loss, lambda, bias, .. } = self;
        let positive =
            data.positive.as_ref().map_or_else(String::new, |label| format!(", {label} against the rest"));
        let bias = if *bias { ", bias" } else { "" };
        format!("{}{positive}, {loss} loss, lambda {lambda:e}{bias}", last_part(&data.spec))
    }
}

impl ProblemFilter {
    fn fits(&self, what: &What) -> bool {
        let data = self.data.as_ref().is_none_or(|data| is_data(data, &what.data.spec));
        data && self.loss.is_none_or(|loss| loss == what.loss)
            && self.lambda.is_none_or(|lambda| lambda == what.lambda)
    }

    fn words(&self) -> String {
        let parts = [
            self.data.as_ref().map(|data| format!("is on {data}")),
            self.loss.map(|loss| format!("has the {loss} loss")),
            self.lambda.map(|lambda| format!("has lambda {lambda:e}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }
}

/// Whether a name stands for the data of a run, whose path is absolute.
fn is_data(named: &str, spec: &str) -> bool {
    let absolute = std::path::absolute(named).is_ok_and(|path| path == Path::new(spec));
    absolute || named == spec || named == last_part(spec)
}

fn last_part(spec: &str) -> &str {
    spec.rsplit('/').next().unwrap_or(spec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hemingway_train::Parameters;

    fn family(algorithm: &str, spec: &str, loss: Loss, lambda: f64, latest: f64) -> Family {
        let problem = Common {
            data: DataRequest { spec: spec.to_owned(), ..DataRequest::default() },
            source: None,
            loss,
            lambda,
            bias: false,
            engine: "threads".to_owned(),
            parameters: Parameters::default(),
            cluster: None,
        };
        Family {
            algorithm: algorithm.to_owned(),
            problem: Some(problem),
            latest,
            observations: Vec::new(),
            as_recorded: Vec::new(),
            proved: Vec::new(),
            targets: Vec::new(),
        }
    }

    fn families() -> Vec<Family> {
        vec![
            family("cocoa", "/data/a9a", Loss::Hinge, 1e-4, 1.0),
            family("cocoa", "/data/a9a", Loss::Logistic, 1e-4, 2.0),
            family("l-bfgs", "/data/a9a", Loss::Logistic, 1e-4, 4.0),
            family("cocoa", "/data/w8a", Loss::Logistic, 1e-4, 3.0),
        ]
    }

    fn chosen(wanted: &ProblemFilter) -> (String, usize, usize) {
        let chosen = choose_problem(families(), wanted, Path::new("store")).unwrap().unwrap();
        (chosen.name, chosen.families.len(), chosen.others.len())
    }

    #[test]
    fn the_latest_problem_that_fits_is_meant() {
        let any = ProblemFilter::default();
        let data = |name: &str| ProblemFilter { data: Some(name.to_owned()), ..ProblemFilter::default() };
        assert_eq!(chosen(&any), ("a9a, logistic loss, lambda 1e-4".to_owned(), 2, 2));
        assert_eq!(chosen(&data("w8a")), ("w8a, logistic loss, lambda 1e-4".to_owned(), 1, 2));
        assert_eq!(chosen(&data("/data/w8a")), chosen(&data("w8a")));
        let hinge = ProblemFilter { loss: Some(Loss::Hinge), ..data("a9a") };
        assert_eq!(chosen(&hinge), ("a9a, hinge loss, lambda 1e-4".to_owned(), 1, 2));
    }

    #[test]
    fn what_no_run_is_on_is_an_error_that_lists_the_problems() {
        let wanted =
            ProblemFilter { data: Some("b8b".into()), lambda: Some(1e-3), ..ProblemFilter::default() };
        let error = choose_problem(families(), &wanted, Path::new("store")).unwrap_err().to_string();
        assert!(error.contains("no run in store is on b8b and has lambda 1e-3"), "{error}");
        assert!(error.contains("a9a, hinge loss, lambda 1e-4"), "{error}");
        assert!(choose_problem(Vec::new(), &wanted, Path::new("store")).unwrap().is_none());
    }
}
