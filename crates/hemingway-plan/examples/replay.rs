//! The navigator against tables of real runs: `replay TABLES CLUSTERS GLANCES.jsonl [--cells]`.
//!
//! TABLES is the folder `table` of `bench/regret`'s results, CLUSTERS the folder of its three clusters, and GLANCES what
//! the example `glances` prints. Every configuration was run by itself from a cold start. A run that switches is put
//! together from their stretches: from one error to the next a way takes the rounds and seconds that its own run took
//! between the two. Runs that were cut off go on at their last rate.

use std::collections::BTreeMap;
use std::path::Path;

use hemingway_plan::navigator::{Navigator, Seen, Terrain, Way};
use hemingway_plan::{Estimate, Glance, Requirement, prior};
use hemingway_train::Cluster;
use serde::Deserialize;

const CLUSTERS: [&str; 3] = ["fast", "slow", "stragglers"];
const GOALS: [f64; 3] = [1e-2, 1e-3, 1e-4];
const HYSTERESIS: f64 = 0.05;
/// Rounds are scored when there are so many more of them, in proportion, since the last switch.
const SCORED: f64 = 0.05;

#[derive(Deserialize)]
struct Line {
    algorithm: String,
    workers: usize,
    local_steps: Option<usize>,
    /// Round, certified error, objective, bound, seconds on each cluster.
    points: Vec<[Option<f64>; 7]>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    glance: Glance,
}

/// A run of one way on one cluster: progress ln 1/e never falls.
struct Run {
    rounds: Vec<f64>,
    progress: Vec<f64>,
    seconds: Vec<f64>,
}

impl Run {
    fn of(line: &Line, cluster: usize) -> Run {
        let mut run = Run { rounds: vec![0.0], progress: vec![0.0], seconds: vec![0.0] };
        let mut best = 0.0_f64;
        for point in &line.points {
            // Without a lower bound the error in the table is relative to the start, and not to be compared.
            let bounded = point[3].is_some_and(|bound| bound > 0.0);
            best = best.max(-point[1].filter(|_| bounded).unwrap_or(f64::INFINITY).ln());
            run.rounds.push(point[0].expect("a round"));
            run.progress.push(best);
            run.seconds.push(point[4 + cluster].expect("seconds"));
        }
        run
    }

    /// When a scored round had reached the goal.
    fn reached(&self, goal: f64) -> Option<f64> {
        let at = self.progress.iter().position(|progress| *progress >= -goal.ln())?;
        Some(self.seconds[at])
    }

    /// After how many rounds progress was so far.
    fn place(&self, progress: f64) -> f64 {
        let last = self.rounds.len() - 1;
        if progress > self.progress[last] {
            return self.rounds[last] + (progress - self.progress[last]) / self.last_rate().0;
        }
        let at = self.progress.partition_point(|p| *p < progress);
        if at == 0 {
            return 0.0;
        }
        let part = (progress - self.progress[at - 1]) / (self.progress[at] - self.progress[at - 1]);
        self.rounds[at - 1] + part * (self.rounds[at] - self.rounds[at - 1])
    }

    /// Progress and seconds of a round in the second half of the run.
    fn last_rate(&self) -> (f64, f64) {
        let last = self.rounds.len() - 1;
        let half =
            (self.rounds.partition_point(|r| *r < 0.5 * self.rounds[last])).min(last.saturating_sub(1));
        let rounds = self.rounds[last] - self.rounds[half];
        let rate = (self.progress[last] - self.progress[half]) / rounds;
        (rate.max(1e-9), (self.seconds[last] - self.seconds[half]) / rounds)
    }

    fn at(&self, rounds: f64) -> (f64, f64) {
        let last = self.rounds.len() - 1;
        if rounds >= self.rounds[last] {
            let ((progress, seconds), more) = (self.last_rate(), rounds - self.rounds[last]);
            return (self.progress[last] + more * progress, self.seconds[last] + more * seconds);
        }
        let at = self.rounds.partition_point(|r| *r <= rounds);
        let part = (rounds - self.rounds[at - 1]) / (self.rounds[at] - self.rounds[at - 1]);
        let between = |values: &[f64]| values[at - 1] + part * (values[at] - values[at - 1]);
        (between(&self.progress), between(&self.seconds))
    }
}

struct Outcome {
    seconds: f64,
    path: String,
    switches: usize,
    foretold: Estimate,
    /// After a tenth of the time: what was then foretold of the rest, and the rest.
    later: Option<(Estimate, f64)>,
    slowest_call: f64,
}

fn drive(
    runs: &BTreeMap<(String, usize), Run>,
    terrain: &Terrain,
    ways: Vec<Way>,
    goal: f64,
    verbose: bool,
) -> Outcome {
    let asked = Requirement { error: Some(goal), ..Requirement::default() };
    let mut navigator =
        Navigator::new(terrain.glance.clone(), terrain.cluster.clone(), ways, asked, HYSTERESIS);
    let plan = navigator.plan().expect("some way gets there");
    let mut way = plan.first.clone();
    navigator.begin(&way);
    let run = |way: &Way| &runs[&(way.algorithm.clone(), way.workers)];
    let (mut seconds, mut rounds, mut progress, mut switches) = (0.0, 0_u64, 0.0, 0);
    let mut path = vec![way.name()];
    let (mut forecasts, mut slowest_call) = (Vec::new(), 0.0_f64);
    let (mut place, mut since) = (0.0, 0.0);
    if verbose {
        println!(
            "    plan {:?} {:?}",
            plan.path.iter().map(|l| format!("{} {:.1e}", l.way.name(), l.until_error)).collect::<Vec<_>>(),
            plan.seconds
        );
    }
    while progress < -goal.ln() && rounds < 100_000 {
        let step = (SCORED * since).floor().max(1.0);
        let (from, to) = (run(&way).at(place), run(&way).at(place + step));
        (place, since, rounds) = (place + step, since + step, rounds + step as u64);
        (seconds, progress) = (seconds + to.1 - from.1, to.0.max(progress));
        let begun = std::time::Instant::now();
        navigator.see(&Seen { rounds, seconds, error: (-progress).exp() });
        let advice = navigator.advise();
        slowest_call = slowest_call.max(begun.elapsed().as_secs_f64());
        if progress >= -goal.ln() {
            break;
        }
        if let Some(forecast) = navigator.forecast() {
            forecasts.push((seconds, forecast.seconds));
        }
        if let Some(switch) = advice {
            if verbose {
                println!("    {seconds:.3} s, error {:.2e}: {}", (-progress).exp(), switch.reason);
            }
            way = switch.to;
            seconds += terrain.switch_seconds(&way);
            navigator.switched(&way, seconds);
            path.push(format!("{:.1e} {}", (-progress).exp(), way.name()));
            (place, since, switches) = (run(&way).place(progress), 0.0, switches + 1);
        }
    }
    let later = forecasts.into_iter().find(|(at, _)| *at >= 0.1 * seconds).map(|(at, e)| (e, seconds - at));
    Outcome { seconds, path: path.join(", "), switches, foretold: plan.seconds, later, slowest_call }
}

struct Cell {
    loss: String,
    oracle: f64,
    outcome: Outcome,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tables, clusters, glances, flags @ ..] = arguments.as_slice() else {
        panic!("replay TABLES CLUSTERS GLANCES.jsonl [--verbose] [NAME]")
    };
    let verbose = flags.iter().any(|flag| flag == "--verbose");
    let only = flags.iter().find(|flag| !flag.starts_with("--"));
    let mut cells = Vec::new();
    for line in read(glances).lines() {
        let Named { name, glance } = serde_json::from_str(line).expect("a named glance");
        if only.is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let table = format!("{tables}/{name}.jsonl");
        if !Path::new(&table).exists() {
            continue;
        }
        let lines: Vec<Line> = read(&table)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{table}: {error}")))
            .filter(|line: &Line| line.local_steps.is_none())
            .collect();
        if lines.len() < 20 {
            continue;
        }
        for (at, cluster_name) in CLUSTERS.iter().enumerate() {
            let file = format!("{clusters}/{cluster_name}.toml");
            let cluster = Cluster::from_toml(&file, &read(&file)).unwrap_or_else(|error| panic!("{error}"));
            let runs: BTreeMap<(String, usize), Run> = lines
                .iter()
                .map(|line| ((line.algorithm.clone(), line.workers), Run::of(line, at)))
                .collect();
            let terrain = Terrain { glance: glance.clone(), cluster };
            let suits = |algorithm: &str, workers: usize| {
                prior::unsuited(&glance, algorithm).is_none() && (algorithm != "cocoa-plus" || workers > 1)
            };
            let ways: Vec<Way> = runs
                .keys()
                .filter(|(algorithm, workers)| suits(algorithm, *workers))
                .map(|(algorithm, workers)| Way {
                    algorithm: algorithm.clone(),
                    workers: *workers,
                    passes: 1.0,
                })
                .collect();
            for goal in GOALS {
                let reached = |(way, run): (&(String, usize), &Run)| Some((run.reached(goal)?, way.clone()));
                let Some((oracle, best)) = runs.iter().filter_map(reached).min_by(|a, b| a.0.total_cmp(&b.0))
                else {
                    continue;
                };
                if verbose {
                    println!("  {name} {cluster_name} {goal:e}: oracle {} {} {oracle:.3} s", best.0, best.1);
                }
                let outcome = drive(&runs, &terrain, ways.clone(), goal, verbose);
                println!(
                    "{name:22} {cluster_name:10} {goal:.0e} oracle {:>10} {:2} {oracle:8.3} s  ratio {:5.2} foretold/actual {:5.2} [{}]",
                    best.0,
                    best.1,
                    outcome.seconds / oracle,
                    outcome.foretold.mean / outcome.seconds,
                    outcome.path
                );
                cells.push(Cell { loss: glance.loss.to_string(), oracle, outcome });
            }
        }
    }
    for loss in ["", "hinge", "logistic"] {
        summary(loss, cells.iter().filter(|cell| cell.loss.contains(loss)).collect());
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn summary(loss: &str, cells: Vec<&Cell>) {
    let long: Vec<&&Cell> = cells.iter().filter(|cell| cell.oracle >= 1.0).collect();
    let ratios: Vec<f64> = long.iter().map(|cell| cell.outcome.seconds / cell.oracle).collect();
    let share = |test: &dyn Fn(f64) -> bool| {
        100.0 * ratios.iter().filter(|ratio| test(**ratio)).count() as f64 / ratios.len().max(1) as f64
    };
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    println!("\n{} {} cells, {} with an oracle of a second or more:", loss, cells.len(), long.len());
    println!(
        "  within 5 % {:.0} %, within 10 % {:.0} %, within 25 % {:.0} %, worst {worst:.2}, mean {mean:.3}, \
         10 % better {:.0} %",
        share(&|r| r <= 1.05),
        share(&|r| r <= 1.1),
        share(&|r| r <= 1.25),
        share(&|r| r <= 0.9)
    );
    let short = cells.iter().filter(|cell| cell.oracle < 1.0);
    let lost = short.map(|cell| cell.outcome.seconds - cell.oracle).fold(0.0, f64::max);
    let switches: usize = cells.iter().map(|cell| cell.outcome.switches).sum();
    let most = cells.iter().map(|cell| cell.outcome.switches).max().unwrap_or(0);
    let call = cells.iter().map(|cell| cell.outcome.slowest_call).fold(0.0, f64::max);
    println!(
        "  short ones lose at most {:.0} ms; {:.1} switches on average, at most {most}; slowest call {:.2} ms",
        1e3 * lost,
        switches as f64 / cells.len().max(1) as f64,
        1e3 * call
    );
    let before = cells.iter().map(|cell| (&cell.outcome.foretold, cell.outcome.seconds));
    foretold("before the run", before.collect());
    let later = cells.iter().filter_map(|cell| cell.outcome.later.as_ref().map(|(e, rest)| (e, *rest)));
    foretold("of the rest after a tenth", later.collect());
}

fn foretold(when: &str, pairs: Vec<(&Estimate, f64)>) {
    let mut errors: Vec<f64> = pairs.iter().map(|(e, truth)| (e.mean / truth).ln().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).map_or(f64::NAN, |error| 100.0 * error.exp_m1());
    let inside = pairs.iter().filter(|(e, truth)| (e.low..=e.high).contains(truth)).count();
    println!(
        "  time foretold {when}: median error {median:.0} %, interval holds {:.0} %",
        100.0 * inside as f64 / pairs.len().max(1) as f64
    );
}
