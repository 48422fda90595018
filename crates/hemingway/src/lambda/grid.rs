//! Which λ are tried: a list, or so many between two ends, evenly spread on a logarithmic scale.
//!
//! Where the ends are not given, the data says where to begin: where the model is nearly nothing. One step from zero
//! weights along the slope g of the mean loss, the model is −g/λ, and its predictions have the root mean square
//! rms(x·g)/λ; the largest λ is the one at which that is [`NEARLY_NOTHING`]. From there the grid goes down by [`DECADES`].

use std::str::FromStr;

use hemingway_data::Dataset;
use hemingway_train::{Local, Problem};
use serde::{Deserialize, Serialize};

use super::LambdaError;

/// At the largest λ predictions are about this large, where classes are 1 and −1. With twice as much the grid begins at half
/// the λ; less adds models that are all alike.
const NEARLY_NOTHING: f64 = 0.1;
/// How far the grid goes down. More decades cost the most of all, since the smallest λ take longest; with less the best λ
/// may lie beyond the end, of which the report warns.
const DECADES: f64 = 6.0;
/// How many λ in a decade. The best lies at most half a step away, a factor of 1.5.
const IN_A_DECADE: f64 = 3.0;
/// The most λ that are tried.
const MOST: usize = 1000;

/// Which λ to choose from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LambdaGrid {
    /// Evenly spread on a logarithmic scale; what is left open follows from the data.
    Auto {
        /// How many.
        points: Option<usize>,
        /// The largest.
        from: Option<f64>,
        /// The smallest.
        to: Option<f64>,
    },
    /// These.
    List(Vec<f64>),
}

impl Default for LambdaGrid {
    fn default() -> LambdaGrid {
        LambdaGrid::Auto { points: None, from: None, to: None }
    }
}

impl FromStr for LambdaGrid {
    type Err = LambdaError;

    /// `auto`, `auto,points=20,from=1,to=1e-6`, or numbers with commas between them.
    fn from_str(text: &str) -> Result<LambdaGrid, LambdaError> {
        let wrong = |problem: String| LambdaError::Grid { text: text.to_owned(), problem };
        let mut words = text.split(',').map(str::trim);
        if words.next() != Some("auto") {
            let number =
                |word: &str| word.trim().parse().map_err(|_| wrong(format!("`{word}` is no number")));
            return LambdaGrid::List(text.split(',').map(number).collect::<Result<_, _>>()?).checked(text);
        }
        let (mut points, mut from, mut to) = (None, None, None);
        for word in words {
            let (name, value) = word.split_once('=').ok_or_else(|| wrong(no_setting(word)))?;
            let unreadable = || wrong(format!("`{value}` is no value for {name}"));
            match name {
                "points" => points = Some(value.parse().map_err(|_| unreadable())?),
                "from" => from = Some(value.parse().map_err(|_| unreadable())?),
                "to" => to = Some(value.parse().map_err(|_| unreadable())?),
                _ => return Err(wrong(no_setting(name))),
            }
        }
        LambdaGrid::Auto { points, from, to }.checked(text)
    }
}

fn no_setting(word: &str) -> String {
    format!("there is no setting `{word}`: there are points, from and to")
}

impl LambdaGrid {
    /// Refuses what makes no sense whatever the data.
    fn checked(self, text: &str) -> Result<LambdaGrid, LambdaError> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let problem = match &self {
            LambdaGrid::List(list) => match list.iter().find(|lambda| !positive(**lambda)) {
                Some(lambda) => Some(format!("{lambda} is no positive number")),
                None => (list.len() < 2).then(|| "there is nothing to choose from".to_owned()),
            },
            LambdaGrid::Auto { points, from, to } => {
                let end = [from, to].into_iter().flatten().find(|end| !positive(**end));
                match (end, points, from, to) {
                    (Some(end), ..) => Some(format!("{end} is no positive number")),
                    (_, Some(points), ..) if !(2..=MOST).contains(points) => {
                        Some(format!("points = {points}, but has to be from 2 to {MOST}"))
                    }
                    (_, _, Some(from), Some(to)) if from <= to => {
                        Some(format!("from = {from:e} is the largest λ and has to be above to = {to:e}"))
                    }
                    _ => None,
                }
            }
        };
        problem.map_or(Ok(self), |problem| Err(LambdaError::Grid { text: text.to_owned(), problem }))
    }

    /// From the largest to the smallest.
    pub(crate) fn lambdas(&self, data: &Dataset, problem: Problem) -> Result<Vec<f64>, LambdaError> {
        match self {
            LambdaGrid::List(list) => {
                let mut list = list.clone();
                list.sort_by(|a, b| b.total_cmp(a));
                list.dedup();
                Ok(list)
            }
            LambdaGrid::Auto { points, from, to } => {
                let from = from.unwrap_or_else(|| to.unwrap_or(0.0).max(nearly_nothing(data, problem)));
                let to = to.unwrap_or(from / 10_f64.powf(DECADES));
                if from <= to {
                    let problem =
                        format!("to = {to:e} is not below {from:e}, where the model is nearly nothing");
                    return Err(LambdaError::Grid { text: "auto".to_owned(), problem });
                }
                let decades = (from / to).log10();
                let points = points.unwrap_or((IN_A_DECADE * decades).round() as usize + 1).max(2);
                let step = decades / (points - 1) as f64;
                Ok((0..points).map(|at| spread(from, at as f64 * step)).collect())
            }
        }
    }
}

/// Some decades below, without the noise of rounding: people read these numbers.
fn spread(from: f64, decades: f64) -> f64 {
    let value = from / 10_f64.powf(decades);
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// The λ at which the model is nearly nothing, rounded up to a third of a decade.
fn nearly_nothing(data: &Dataset, problem: Problem) -> f64 {
    let rows = data.matrix.rows();
    let problem = Problem { bias: false, ..problem };
    let mut local = Local::new(data, 0..rows, problem);
    let mut predictions = vec![0.0; rows];
    let mut slopes = local.slopes(&predictions);
    // What a constant term explains, or features that hardly vary, says nothing of the penalty.
    let mean = slopes.iter().sum::<f64>() / rows.max(1) as f64;
    slopes.iter_mut().for_each(|slope| *slope = (*slope - mean) / rows.max(1) as f64);
    let mut gradient = vec![0.0; local.features()];
    local.combine(&slopes, &mut gradient);
    local.predict(&gradient, &mut predictions);
    let square = predictions.iter().map(|p| p * p).sum::<f64>() / rows.max(1) as f64;
    let lambda = square.sqrt() / NEARLY_NOTHING;
    if lambda > 0.0 && lambda.is_finite() {
        10_f64.powf((lambda.log10() * IN_A_DECADE).ceil() / IN_A_DECADE)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use hemingway_data::{LoadOptions, load};
    use hemingway_train::Loss;
    use proptest::prelude::*;

    use super::*;

    fn lambdas(text: &str) -> Result<Vec<f64>, String> {
        let data = load("synthetic:text,rows=300,features=100", &LoadOptions::default()).unwrap();
        let grid: LambdaGrid = text.parse().map_err(|error: LambdaError| error.to_string())?;
        let problem = Problem::new(Loss::Logistic, 1.0).unwrap();
        grid.lambdas(&data, problem).map_err(|error| error.to_string())
    }

    #[test]
    fn from_the_largest_to_the_smallest() {
        assert_eq!(lambdas("1e-3,1,1e-3,0.1").unwrap(), [1.0, 0.1, 1e-3]);
        assert_eq!(lambdas("auto,points=4,from=1,to=1e-3").unwrap(), [1.0, 0.1, 0.01, 1e-3]);
        let open = lambdas("auto").unwrap();
        assert_eq!(open.len(), 19);
        assert!(open.windows(2).all(|pair| pair[0] > pair[1]), "{open:?}");
    }

    #[test]
    fn it_begins_where_the_model_is_nearly_nothing() {
        let data = load("synthetic:text,rows=300,features=100", &LoadOptions::default()).unwrap();
        for loss in [Loss::Logistic, Loss::Squared] {
            let problem = Problem::new(loss, 1.0).unwrap();
            let first = LambdaGrid::default().lambdas(&data, problem).unwrap()[0];
            let algorithm = hemingway_train::algorithm("l-bfgs", &Default::default()).unwrap();
            let job = hemingway_train::Job {
                problem: Problem { lambda: first, ..problem },
                algorithm: algorithm.as_ref(),
                workers: 1,
                seed: 0,
                stop: hemingway_train::StopRules { error: Some(1e-6), ..Default::default() },
                scoring: Default::default(),
                start: Default::default(),
                checkpoint_every: None,
                interrupt: None,
                hand_over: None,
            };
            let engine: &dyn hemingway_train::Engine = &hemingway_train::Threads;
            let run = engine.run(&data, &job, &mut |_| Ok(())).unwrap();
            let predictions = hemingway_train::predict(&data, &run.model.weights);
            let rms = (predictions.iter().map(|p| p * p).sum::<f64>() / 300.0).sqrt();
            assert!((0.02..0.2).contains(&rms), "{loss}: {rms}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_words() {
        for (text, problem) in [
            ("1e-3", "nothing to choose from"),
            ("1e-3,-1", "-1 is no positive number"),
            ("1e-3,x", "`x` is no number"),
            ("auto,point=3", "no setting `point`"),
            ("auto,points", "no setting `points`"),
            ("auto,points=1", "from 2 to 1000"),
            ("auto,points=few", "`few` is no value for points"),
            ("auto,from=0", "0 is no positive number"),
            ("auto,from=1e-3,to=1", "has to be above"),
        ] {
            let message = lambdas(text).unwrap_err();
            assert!(message.contains(problem) && message.contains(text), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn any_grid_falls_between_its_ends(points in 2..60_usize, low in -9..0, decades in 1..8) {
            let (to, from) = (10_f64.powi(low), 10_f64.powi(low + decades));
            let grid = lambdas(&format!("auto,points={points},from={from:e},to={to:e}")).unwrap();
            prop_assert_eq!(grid.len(), points);
            prop_assert!((grid[0] / from - 1.0).abs() < 1e-4 && (grid[points - 1] / to - 1.0).abs() < 1e-4);
            prop_assert!(grid.windows(2).all(|pair| pair[0] > pair[1]));
        }
    }
}
