//! Every fixed configuration of every problem, timed on the clusters of that problem: the oracle.
//!
//! A run ends at the last goal, or once it has lost on every cluster: after so many times the best time known. The first
//! configurations should be good, since they bound the others.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::rc::Rc;
use std::time::Instant;

use hemingway_data::{Dataset, LoadOptions, load};
use hemingway_train::{Cluster, Entry, Loss, Parameters, Point, StopRules, algorithm, entry};

use crate::cells::{Cells, Configuration, GOALS, Line, Problem, append, read_lines};
use crate::clocks::Simulation;
use crate::{Arguments, Outcome, in_parallel};

/// A run has lost after this many times the best time to the last goal.
const FACTOR: f64 = 2.0;
/// Rivals by themselves get further, so that it is known how far behind they are.
const RIVAL_FACTOR: f64 = 20.0;
/// Real seconds after which a run is given up: `--patience`.
const PATIENCE: f64 = 20.0;
/// Once the runs of a problem have taken so many real seconds (`--budget`), each further one gets only `LITTLE_PATIENCE`.
const BUDGET: f64 = 300.0;
const LITTLE_PATIENCE: f64 = 2.0;
/// Passes over a worker's rows in a round, beside one.
const PASSES: f64 = 4.0;
/// The algorithms that run on machines without a common memory, the best ones first. Two are left out: one-shot-sgd, which
/// has a floor, and ecd-psgd, which is dcd-psgd with more noise.
const ALGORITHMS: [&str; 15] = [
    "newton",
    "l-bfgs",
    "newton-cg",
    "cocoa-plus",
    "cocoa",
    "acc-dadm",
    "dadm",
    "svrg",
    "splash",
    "local-sgd",
    "minibatch-sgd",
    "gradient-descent",
    "dcd-psgd",
    "d-psgd",
    "async-sgd",
];
const SEED: u64 = 0;

/// Trains what is not yet in the tables.
pub fn complete(arguments: &Arguments) -> Outcome<()> {
    std::fs::create_dir_all(arguments.results.join("tables"))?;
    let mut problems: BTreeMap<String, Vec<Problem>> = BTreeMap::new();
    for problem in Cells::read(arguments)?.problems {
        problems.entry(problem.name.clone()).or_default().push(problem);
    }
    let mut problems: Vec<_> = problems.into_values().collect();
    // Those that take longest begin first.
    problems.sort_by_cached_key(|group| std::cmp::Reverse(expected_cost(arguments, &group[0])));
    let jobs = arguments.number("jobs", 1.0)? as usize;
    in_parallel(jobs, &problems, |group| Table::open(arguments, group)?.complete(arguments))
}

fn expected_cost(arguments: &Arguments, problem: &Problem) -> u64 {
    let bytes = arguments.data(&problem.dataset).and_then(|path| Ok(std::fs::metadata(path)?.len()));
    let harder = if problem.loss == Loss::Hinge { 4 } else { 1 };
    bytes.unwrap_or(0) * harder * if problem.lambda < 1e-4 { 4 } else { 1 }
}

/// The table of one problem.
struct Table<'a> {
    problem: &'a Problem,
    data: Rc<Dataset>,
    clusters: BTreeMap<String, Cluster>,
    lines: Vec<Line>,
    file: File,
}

impl Table<'_> {
    fn open<'a>(arguments: &Arguments, group: &'a [Problem]) -> Outcome<Table<'a>> {
        let problem = &group[0];
        let read = |name: &String| {
            let path = arguments.cluster(name);
            let text =
                std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok((name.clone(), Cluster::from_toml(&path.to_string_lossy(), &text)?))
        };
        let clusters = group.iter().map(|each| read(&each.cluster)).collect::<Outcome<BTreeMap<_, _>>>()?;
        let options = LoadOptions { regression: problem.loss == Loss::Squared, ..LoadOptions::default() };
        let data = load(&arguments.data(&problem.dataset)?.to_string_lossy(), &options)?;
        let path = arguments.table(&problem.name);
        let lines = read_lines(&path)?;
        Ok(Table { problem, data: Rc::new(data), clusters, lines, file: append(&path)? })
    }

    fn complete(mut self, arguments: &Arguments) -> Outcome<()> {
        let (patience, budget) =
            (arguments.number("patience", PATIENCE)?, arguments.number("budget", BUDGET)?);
        let begun = self.spent();
        for configuration in self.configurations() {
            if self.lines.iter().any(|line| line.configuration == configuration) {
                continue;
            }
            let patience = if self.spent() < budget { patience } else { patience.min(LITTLE_PATIENCE) };
            let line = self.try_out(&configuration, patience)?;
            self.file.write_all(format!("{}\n", serde_json::to_string(&line)?).as_bytes())?;
            self.lines.push(line);
        }
        if self.spent() > begun {
            let given_up = self.lines.iter().filter(|line| line.stop == "patience").count();
            eprintln!(
                "{}: {} configurations, {given_up} given up, {:.0} s",
                self.problem.name,
                self.lines.len(),
                self.spent()
            );
        }
        Ok(())
    }

    /// Real seconds of all runs so far.
    fn spent(&self) -> f64 {
        self.lines.iter().map(|line| line.host_seconds).sum()
    }

    /// All of them, those that bound others first, those with other local work than one pass last.
    fn configurations(&self) -> Vec<Configuration> {
        let workers = worker_counts(&self.clusters);
        let middle = workers[workers.len() / 2];
        let most = self.clusters.values().map(machines).max().unwrap_or(1);
        let names = || ALGORITHMS.iter().filter(|name| self.suits(name));
        let once = names().flat_map(|name| workers.iter().map(|workers| (*name, *workers, None)));
        let local = names()
            .filter(|name| known(name).parameters.contains(&"local_steps"))
            .flat_map(|name| workers.iter().map(|workers| (*name, *workers, Some(PASSES))));
        let mut all: Vec<_> = once
            .chain(local)
            .filter(|(name, workers, passes)| match workers {
                1 => passes.is_none() && known(name).alone.is_none(),
                _ => workers + known(name).needs().servers() <= most,
            })
            .collect();
        let first = [
            ("newton", middle, None),
            ("cocoa", 1, None),
            ("l-bfgs", middle, None),
            ("cocoa-plus", middle, None),
        ];
        all.sort_by_key(|each| first.iter().position(|other| other == each).unwrap_or(first.len()));
        all.into_iter()
            .map(|(name, workers, passes)| Configuration {
                algorithm: name.to_owned(),
                workers,
                local_steps: passes.map(|passes| self.steps(passes, workers)),
            })
            .collect()
    }

    /// An asynchronous method has to be run once for each cluster, so it is only run where there is one.
    fn suits(&self, name: &str) -> bool {
        let entry = known(name);
        let dimension = self.data.matrix.columns();
        (entry.unsuited)(dimension, self.problem.loss).is_none()
            && (entry.needs().servers() == 0 || self.clusters.len() == 1)
    }

    fn steps(&self, passes: f64, workers: usize) -> usize {
        ((passes * self.data.matrix.rows() as f64 / workers as f64).round() as usize).max(1)
    }

    /// Trains with one configuration.
    fn try_out(&self, configuration: &Configuration, patience: f64) -> Outcome<Line> {
        let fitting: BTreeMap<&String, &Cluster> =
            self.clusters.iter().filter(|(_, cluster)| machines(cluster) >= configuration.workers).collect();
        let factor = if self.is_rival(configuration) { RIVAL_FACTOR } else { FACTOR };
        let parameters = Parameters { local_steps: configuration.local_steps, ..Parameters::default() };
        let simulation = Simulation {
            data: Rc::clone(&self.data),
            problem: hemingway_train::Problem::new(self.problem.loss, self.problem.lambda)?,
            algorithm: algorithm(&configuration.algorithm, &parameters)?,
            workers: configuration.workers,
            seed: SEED,
            clusters: fitting.values().copied().cloned().collect(),
        };
        let record = Rc::new(RefCell::new(Record {
            begun: Instant::now(),
            patience,
            bounds: fitting.keys().map(|cluster| factor * self.best(cluster)).collect(),
            reached: vec![None; GOALS.len()],
            points: Vec::new(),
            dual: 0.0,
            ended: None,
        }));
        let observer = Rc::clone(&record);
        let outcome =
            simulation.run(Box::new(move |point, seconds| observer.borrow_mut().observe(point, seconds)));
        let record = record.borrow();
        let stop = match (record.ended, &outcome) {
            (Some(reason), _) => reason.to_owned(),
            (None, Ok(run)) => run.stop.reason().to_owned(),
            (None, Err(error)) => error.to_string(),
        };
        let at_goals = |at: usize| record.reached.iter().map(|all| Some(digits(all.as_ref()?[at]))).collect();
        Ok(Line {
            configuration: configuration.clone(),
            stop,
            rounds: outcome.map_or(0, |run| run.rounds),
            host_seconds: digits(record.begun.elapsed().as_secs_f64()),
            dual: record.dual,
            reached: fitting.keys().enumerate().map(|(at, name)| ((*name).clone(), at_goals(at))).collect(),
            points: record.thinned(),
        })
    }

    /// Those that `rivals.py` looks up by themselves.
    fn is_rival(&self, configuration: &Configuration) -> bool {
        let all = self.clusters.values().any(|cluster| machines(cluster) == configuration.workers);
        configuration.local_steps.is_none()
            && match configuration.algorithm.as_str() {
                "cocoa" => configuration.workers == 1,
                "cocoa-plus" | "newton" | "l-bfgs" => all,
                _ => false,
            }
    }

    /// The best time known to the last goal.
    fn best(&self, cluster: &str) -> f64 {
        let times = self.lines.iter().filter_map(|line| *line.reached.get(cluster)?.last()?);
        times.fold(f64::INFINITY, f64::min)
    }
}

fn known(name: &str) -> &'static Entry {
    entry(name).expect("in the catalogue")
}

/// 1, 2, 4, … and all machines of each cluster.
fn worker_counts(clusters: &BTreeMap<String, Cluster>) -> Vec<usize> {
    let most = clusters.values().map(machines).max().unwrap_or(1);
    let powers = (0..).map(|power| 1 << power).take_while(|workers| *workers <= most);
    powers.chain(clusters.values().map(machines)).collect::<BTreeSet<_>>().into_iter().collect()
}

fn machines(cluster: &Cluster) -> usize {
    cluster.machines.iter().map(|kind| kind.count * kind.cores).sum()
}

/// What is known of a run.
struct Record {
    begun: Instant,
    patience: f64,
    /// The time on each cluster after which it has lost.
    bounds: Vec<f64>,
    reached: Vec<Option<Vec<f64>>>,
    points: Vec<Vec<f64>>,
    dual: f64,
    ended: Option<&'static str>,
}

impl Record {
    /// Whether the run goes on.
    fn observe(&mut self, point: &Point, seconds: &[f64]) -> bool {
        for (reached, goal) in self.reached.iter_mut().zip(GOALS) {
            let rules = StopRules { error: Some(goal), ..StopRules::default() };
            if reached.is_none() && rules.reached(point).is_some() {
                *reached = Some(seconds.to_vec());
            }
        }
        let figures = [point.round as f64, point.certified_error, point.primal];
        self.points.push(figures.iter().chain(seconds).copied().collect());
        self.dual = point.dual;
        self.ended = if self.reached.last().is_some_and(Option::is_some) {
            Some("goal")
        } else if seconds.iter().zip(&self.bounds).all(|(seconds, bound)| seconds > bound) {
            Some("lost")
        } else if self.begun.elapsed().as_secs_f64() > self.patience {
            Some("patience")
        } else {
            None
        };
        self.ended.is_none()
    }

    /// At most so many points, about evenly spaced in log rounds: always the last, and those where a goal was reached.
    fn thinned(&self) -> Vec<Vec<f64>> {
        let last = self.points.len().saturating_sub(1);
        let Some(rounds) = self.points.last().map(|point| point[0]) else { return Vec::new() };
        let step = rounds.max(2.0).powf(1.0 / MOST_POINTS);
        let (mut next, mut kept) = (0.0, Vec::new());
        for (at, point) in self.points.iter().enumerate() {
            let news = self.reached.iter().flatten().any(|seconds| seconds[..] == point[3..]);
            if news || at == last || point[0] >= next {
                kept.push(point.iter().copied().map(digits).collect());
                next = point[0] * step;
            }
        }
        kept
    }
}

const MOST_POINTS: f64 = 50.0;

/// Six of them, which keeps tables small.
fn digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().expect("a number")
}
