//! The planner on recorded runs: what would it have chosen, and how long would that have taken?
//!
//!     replay RESULTS --data FOLDER [--ablate] [--cells] [--predictions] [--risk SHARE] [SETTING=VALUE…]
//!
//! RESULTS has the tables of `bench/regret`: every fixed configuration of every problem with its scored rounds. A run of the
//! planner is played back from them in an instant instead of being trained. Where it hands over, the next stage is taken to
//! go on along its own recorded curve from the error that was reached; only real runs (`bench/regret/plans`) know better.
//! Nothing in between the recorded numbers of workers can be chosen. `--ablate` repeats all cells with each setting at half
//! and at twice its value. `--predictions` prints predicted and actual seconds of every recorded configuration instead.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hemingway_data::{LoadOptions, load};
use hemingway_plan::{Configuration, Goal, Inputs, Next, Planner, Profile, Risk, Score, Settings};
use hemingway_train::{Cluster, DataProfile, Loss, Problem, TakeOver, entry};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Cells {
    errors: Vec<f64>,
    problems: Vec<CellProblem>,
}

#[derive(Deserialize)]
struct CellProblem {
    name: String,
    dataset: String,
    loss: Loss,
    lambda: f64,
    cluster: String,
}

/// A recorded run.
#[derive(Deserialize)]
struct Line {
    algorithm: String,
    workers: usize,
    local_steps: Option<usize>,
    stop: String,
    reached: BTreeMap<String, Vec<Option<f64>>>,
    points: Vec<Vec<f64>>,
}

/// A configuration on one cluster: its scored rounds.
struct Curve {
    configuration: Configuration,
    stuck: bool,
    /// Round, smallest error so far, seconds.
    points: Vec<(f64, f64, f64)>,
}

struct Case {
    name: String,
    profile: Profile,
    cluster: Cluster,
    curves: Vec<Curve>,
    error: f64,
    oracle: f64,
    risk: Risk,
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let take = |flag: &str, arguments: &mut Vec<String>| {
        let at = arguments.iter().position(|argument| argument == flag);
        at.map(|at| arguments.remove(at)).is_some()
    };
    let (ablate, cells) = (take("--ablate", &mut arguments), take("--cells", &mut arguments));
    let residuals = take("--predictions", &mut arguments);
    let value = |flag: &str, arguments: &mut Vec<String>| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.remove(at);
        Some(arguments.remove(at))
    };
    let data = PathBuf::from(value("--data", &mut arguments).expect("--data FOLDER"));
    let risk = value("--risk", &mut arguments).map(|share| share.parse().expect("a share"));
    let risk = risk.map_or(Risk::Expected, Risk::Quantile);
    let results = PathBuf::from(arguments.remove(0));
    let settings = arguments.iter().fold(Settings::default(), |settings, argument| {
        let (name, value) = argument.split_once('=').expect("SETTING=VALUE");
        with(settings, name, |_| value.parse().expect("a number"))
    });
    let cases = read(&results, &data, risk);
    if residuals {
        return cases.iter().for_each(|case| predictions(case, settings));
    }
    println!("| settings | adapt | within 10 % | geometric mean | 90th percentile | 99th | worst |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    for adapt in [false, true] {
        row("as they are", &cases, settings, adapt, cells);
    }
    if ablate {
        for (name, _) in fields(settings) {
            for factor in [0.5, 2.0] {
                let changed = with(settings, &name, |value| factor * value);
                row(&format!("{name} × {factor}"), &cases, changed, true, false);
            }
        }
    }
}

/// Every number of the settings by name, those in lists with their place.
fn fields(settings: Settings) -> Vec<(String, f64)> {
    let Value::Object(fields) = serde_json::to_value(settings).expect("plain data") else { unreachable!() };
    let each = fields.into_iter().flat_map(|(name, value)| match value {
        Value::Array(values) => values
            .iter()
            .enumerate()
            .map(|(at, value)| (format!("{name}.{at}"), value.as_f64().expect("a number")))
            .collect(),
        value => vec![(name, value.as_f64().expect("a number"))],
    });
    each.collect()
}

fn with(settings: Settings, name: &str, change: impl Fn(f64) -> f64) -> Settings {
    let mut all = serde_json::to_value(settings).expect("plain data");
    let place = match name.split_once('.') {
        Some((name, at)) => {
            all.get_mut(name).and_then(|list| list.get_mut(at.parse::<usize>().expect("a place")))
        }
        None => all.get_mut(name),
    };
    let place = place.unwrap_or_else(|| panic!("no setting is called {name}"));
    *place = change(place.as_f64().expect("a number")).into();
    serde_json::from_value(all).expect("the same fields")
}

fn row(name: &str, cases: &[Case], settings: Settings, adapt: bool, cells: bool) {
    let mut ratios: Vec<(f64, &Case, String)> = cases
        .iter()
        .map(|case| {
            let (seconds, history) = play(case, settings, adapt);
            (seconds / case.oracle, case, history)
        })
        .collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = ratios.len();
    let within = ratios.iter().filter(|ratio| ratio.0 <= 1.1).count() as f64 / count as f64;
    let mean = (ratios.iter().map(|ratio| ratio.0.ln()).sum::<f64>() / count as f64).exp();
    let at = |share: f64| ratios[((count - 1) as f64 * share).round() as usize].0;
    println!(
        "| {name} | {} | {:.0} % | {mean:.3} | {:.2} | {:.2} | {:.2} |",
        if adapt { "on" } else { "off" },
        100.0 * within,
        at(0.9),
        at(0.99),
        at(1.0)
    );
    for (ratio, case, history) in ratios.iter().rev().filter(|_| cells) {
        println!("{ratio:.3} {} {:e} oracle {:.3}: {history}", case.name, case.error, case.oracle);
    }
}

/// Predicted and actual seconds of every configuration; nothing for those that were ended before.
fn predictions(case: &Case, settings: Settings) {
    let decision = planner(case, settings).decide();
    for candidate in decision.plan.iter().chain(&decision.alternatives) {
        let ([stage], Some(predicted)) = (candidate.stages.as_slice(), &candidate.seconds) else { continue };
        let curve = &case.curves[case.curve(&stage.configuration)];
        let actual = curve.points.iter().find(|point| point.1 <= case.error).map(|point| point.2);
        let Configuration { algorithm, workers, passes } = &stage.configuration;
        println!(
            "{} {} {:e} {algorithm} {workers} {passes} {} {} {} {}",
            case.name,
            case.profile.loss,
            case.error,
            predicted.mean,
            predicted.low,
            predicted.high,
            actual.unwrap_or(f64::NAN)
        );
    }
}

/// Seconds of a run, and what it did.
fn play(case: &Case, settings: Settings, adapt: bool) -> (f64, String) {
    let mut planner = planner(case, settings);
    let workers: Vec<usize> = case.curves.iter().map(|curve| curve.configuration.workers).collect();
    let profile = case.profile.seconds(&case.cluster, &workers);
    let Some(plan) = planner.decide().plan else { return (f64::INFINITY, "no plan".to_owned()) };
    planner.begin(&plan);
    let mut history =
        format!("{} [{:.3}]", plan.name(), plan.seconds.as_ref().map_or(0.0, |seconds| seconds.mean));
    let overhead = profile + planner.take_seconds();
    let (mut at, mut rounds, mut seconds, mut error) = (case.curve(plan.first()), 0.0, 0.0, 1.0_f64);
    for _ in 0..20 {
        let curve = &case.curves[at];
        let (end, next) = stage(case, curve, &mut planner, (rounds, seconds, error), adapt);
        (rounds, seconds, error) = end;
        let Some(to) = next else { break };
        planner.switched(&to, rounds as u64, seconds);
        history += &format!(" → {} at {seconds:.3} ({error:.1e})", to.name());
        at = case.curve(&to);
    }
    if error > case.error {
        seconds = f64::INFINITY;
    }
    (overhead + seconds.min(1e3 * case.oracle), history)
}

fn planner(case: &Case, settings: Settings) -> Planner {
    let goal = Goal { error: Some(case.error), risk: case.risk, ..Goal::default() };
    Planner::new(Inputs {
        profile: case.profile.clone(),
        cluster: case.cluster.clone(),
        configurations: case.curves.iter().map(|curve| curve.configuration.clone()).collect(),
        goal,
        real_clock: false,
        reading: None,
        history: Vec::new(),
        settings,
    })
}

/// Follows a curve from an error on: where it ends, and what comes next.
fn stage(
    case: &Case,
    curve: &Curve,
    planner: &mut Planner,
    (rounds, seconds, error): (f64, f64, f64),
    adapt: bool,
) -> ((f64, f64, f64), Option<Configuration>) {
    let takes_over = (entry(&curve.configuration.algorithm).expect("known").takes_over)(case.profile.loss);
    let first = seconds == 0.0;
    let skipped = if first || takes_over == TakeOver::Anew {
        None
    } else {
        curve.points.iter().rfind(|point| point.1 > error)
    };
    let &(skipped_rounds, _, skipped_seconds) = skipped.unwrap_or(&(0.0, 1.0, 0.0));
    let per_round = curve.points.last().map_or(0.0, |last| last.2 / last.0);
    let numbers = case.profile.data.rows + case.profile.dimension();
    let lost = match takes_over {
        _ if first => 0.0,
        TakeOver::After { rounds } => rounds * per_round,
        _ => 0.0,
    } + if first {
        0.0
    } else {
        case.cluster.network.broadcast_seconds(curve.configuration.workers, numbers)
    };
    let mut here = (rounds, seconds + lost, error);
    let end = curve.points.last().map_or(0.0, |last| last.0);
    let beyond = (1..40).filter(|_| !curve.stuck).map(|step| curve.beyond(end * 1.15_f64.powi(step)));
    for (round, reached, at) in curve.points.iter().copied().chain(beyond) {
        if round <= skipped_rounds {
            continue;
        }
        here = (rounds + round - skipped_rounds, seconds + lost + at - skipped_seconds, reached.min(error));
        if here.2 <= case.error {
            return (here, None);
        }
        let score = Score { rounds: here.0 as u64, seconds: here.1, error: here.2.min(1.0) };
        if let Next::HandOver(to) = planner.observe(score)
            && (adapt || to.planned)
        {
            return (here, Some(to.to));
        }
    }
    match (planner.failed("it no longer got on"), adapt) {
        (Next::HandOver(to), true) => (here, Some(to.to)),
        _ => (here, None),
    }
}

impl Case {
    fn curve(&self, configuration: &Configuration) -> usize {
        let same = |curve: &Curve| curve.configuration == *configuration;
        self.curves.iter().position(same).expect("a recorded configuration")
    }
}

impl Curve {
    /// A run that was ended goes on as it did in its later half: the error falls like a power of the rounds.
    fn beyond(&self, round: f64) -> (f64, f64, f64) {
        let Some(&(last, error, seconds)) = self.points.last() else { return (round, 1.0, f64::INFINITY) };
        let earlier =
            self.points.iter().copied().find(|point| point.0 >= 0.5 * last).unwrap_or((last, error, seconds));
        let (fall, span) = (earlier.1.min(1.0) / error.min(1.0), last / earlier.0);
        let power = if span > 1.0 && fall > 1.0 { fall.ln() / span.ln() } else { 0.1 };
        (round, error.min(1.0) * (last / round).powf(power), seconds * round / last)
    }
}

fn read(results: &Path, data: &Path, risk: Risk) -> Vec<Case> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/regret");
    let text = std::fs::read_to_string(bench.join("cells.json")).expect("bench/regret/cells.json");
    let cells: Cells = serde_json::from_str(&text).expect("cells");
    let mut profiles: BTreeMap<&str, DataProfile> = BTreeMap::new();
    let mut cases = Vec::new();
    for problem in &cells.problems {
        let table = results.join("tables").join(format!("{}.jsonl", problem.name));
        let Ok(table) = std::fs::read_to_string(table) else { continue };
        let lines: Vec<Line> = table.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let profile = profiles.entry(&problem.dataset).or_insert_with(|| {
            let path = data.join(format!("{}.libsvm.gz", problem.dataset));
            DataProfile::of(&load(&path.to_string_lossy(), &LoadOptions::default()).expect("a dataset"))
        });
        let path = bench.join("clusters").join(format!("{}.toml", problem.cluster));
        let text = std::fs::read_to_string(&path).expect("a cluster");
        let cluster = Cluster::from_toml(&path.to_string_lossy(), &text).expect("a cluster");
        for (at, error) in [(1, 1e-2), (2, 1e-3), (3, 1e-4)] {
            let here = lines.iter().filter_map(|line| line.reached.get(&problem.cluster)?[at]);
            let Some(oracle) = here.min_by(f64::total_cmp).filter(|oracle| *oracle >= 0.1) else { continue };
            assert!(cells.errors.contains(&error));
            cases.push(Case {
                name: format!("{} {}", problem.name, problem.cluster),
                profile: Profile::new(
                    profile.clone(),
                    &Problem::new(problem.loss, problem.lambda).expect("positive"),
                ),
                cluster: cluster.clone(),
                curves: lines.iter().filter_map(|line| curve(line, &problem.cluster)).collect(),
                error,
                oracle,
                risk,
            });
        }
    }
    cases
}

fn curve(line: &Line, cluster: &str) -> Option<Curve> {
    let column = 3 + line.reached.keys().position(|name| name == cluster)?;
    let mut smallest = f64::INFINITY;
    let points = line.points.iter().filter(|point| point[0] > 0.0).map(|point| {
        smallest = smallest.min(point[1]);
        (point[0], smallest, point[column])
    });
    Some(Curve {
        configuration: Configuration {
            algorithm: line.algorithm.clone(),
            workers: line.workers,
            passes: if line.local_steps.is_some() { 4.0 } else { 1.0 },
        },
        stuck: !matches!(line.stop.as_str(), "goal" | "lost" | "patience"),
        points: points.collect(),
    })
}
