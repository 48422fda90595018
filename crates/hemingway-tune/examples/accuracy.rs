//! How close schedules come to the best possible, after how many evaluations.
//!
//!     cargo run --release -p hemingway-tune --example accuracy -- [TABLE…] [--seeds N] [--stop SHARE]
//!         [--candidates N] [--judges N] [--particles N] [--moves N]
//!
//! Tables: paper (the 36 experiments), memory and troubles (the same with something wrong), random (clusters drawn at random),
//! total (only the time of the iteration is measured), warm (from a neighbouring batch), large (40 machines), thinking (seconds of
//! a proposal, studies one by one). Ratios are times without noise of the chosen schedule, divided by the exact optimum.

use std::time::Instant;

use hemingway_tune::random::stream;
use hemingway_tune::schedule::{Answer, Evaluated, Options, Outcome, Tuner};
use hemingway_tune::simulator::{Experiment, Network, Trouble, World, experiments, random_world, troubled};
use hemingway_tune::smc::Effort;
use rayon::prelude::*;

/// The expected improvement below which a study ends.
const STOP: f64 = 0.005;

/// What became of one study.
struct Study {
    name: String,
    /// After each evaluation: time of the schedule that would be chosen / optimum.
    ratios: Vec<f64>,
    /// Expected improvement before each evaluation.
    expected: Vec<f64>,
    /// Evaluations that failed, and how many of them before the study would have ended by itself.
    failed: usize,
    failed_before_stop: usize,
    /// Seconds of each proposal; they mean something where studies are made one by one.
    thoughts: Vec<f64>,
    evaluated: Vec<Evaluated>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (seeds, stop) = (value("--seeds", 5.0) as u64, value("--stop", STOP));
    let named = |table: &str| {
        let tables = ["paper", "memory", "troubles", "random", "total", "warm", "large", "thinking"];
        let some = arguments.iter().any(|argument| tables.contains(&argument.as_str()));
        !some || arguments.iter().any(|argument| argument == table)
    };
    println!(
        "{:34} {:>4} {:>13} {:>13} {:>13} {:>13}  {:>6} {:>6} {:>17}",
        "", "", "at 3", "at 5", "at 7", "at 10", "95 %@5", "95 %@10", "stop at, ratio"
    );
    if named("paper") {
        show("36 experiments", &all(seeds, value("--evaluations", 10.0) as usize, |world, _| world), stop);
    }
    if named("memory") {
        for share in [0.5, 0.8] {
            let made = all(seeds, 10, |world, seed| {
                troubled(world, Trouble::Memory(share), &mut stream(seed, "trouble", 1))
            });
            show(&format!("GPU memory for {share} of its load"), &made, stop);
            let many = |failed: fn(&Study) -> usize| made.iter().filter(|study| failed(study) > 1).count();
            println!(
                "    more than one failure in {} of {}, before a study ends by itself in {}",
                many(|study| study.failed),
                made.len(),
                many(|study| study.failed_before_stop)
            );
        }
    }
    if named("troubles") {
        for factor in [1.3, 1.6, 2.0] {
            let made = all(seeds, 10, |world, seed| {
                troubled(world, Trouble::Straggler(factor), &mut stream(seed, "trouble", 0))
            });
            show(&format!("straggler of {factor}"), &made, stop);
        }
        for (name, trouble) in [
            ("curves that are not smooth", Trouble::Rough),
            ("10 % noise", Trouble::Noise(0.1)),
            ("half of communication hidden", Trouble::Hidden(0.5)),
        ] {
            let made =
                all(seeds, 10, |world, seed| troubled(world, trouble, &mut stream(seed, "trouble", 1)));
            show(name, &made, stop);
        }
    }
    if named("random") {
        let made: Vec<Study> = (0..20 * seeds)
            .into_par_iter()
            .map(|seed| {
                study(
                    format!("random {seed}"),
                    &random_world(&mut stream(seed, "world", 0)),
                    10,
                    seed,
                    full,
                    None,
                )
            })
            .collect();
        show("random clusters", &made, stop);
    }
    if named("total") {
        let made: Vec<Study> = cells(seeds)
            .into_par_iter()
            .map(|(experiment, seed)| {
                study(experiment.to_string(), &experiment.world(), 15, seed, total, None)
            })
            .collect();
        show("only the total time", &made, stop);
        println!("    at 15: {}", words(&made, 15));
    }
    if named("warm") {
        let made: Vec<Study> = cells(seeds)
            .into_par_iter()
            .filter(|(experiment, _)| experiment.batch > 64)
            .map(|(experiment, seed)| {
                let before = Experiment { batch: experiment.batch / 2, ..experiment };
                let world = before.world();
                let first = study(String::new(), &world, 10, seed, full, None);
                study(
                    experiment.to_string(),
                    &experiment.world(),
                    4,
                    seed + 100,
                    full,
                    Some((world, first.evaluated)),
                )
            })
            .collect();
        show("after half the batch", &made, stop);
        println!("    at 1: {}", words(&made, 1));
    }
    if named("large") {
        let large = [
            (Network::GoogleNet, 1024, [8, 12, 10, 10]),
            (Network::AlexNet, 4096, [4, 16, 12, 8]),
            (Network::SpeechNet, 1 << 17, [10, 10, 10, 10]),
        ];
        let made: Vec<Study> = large
            .into_iter()
            .flat_map(|cell| (0..seeds).map(move |seed| (cell, seed)))
            .map(|((network, batch, counts), seed)| {
                let experiment =
                    Experiment { setting: hemingway_tune::simulator::Setting::C, network, batch };
                let world = experiment.with_machines(counts);
                study(format!("40 machines {network:?}"), &world, 10, seed, full, None)
            })
            .collect();
        show("40 machines", &made, stop);
        thinking(&made);
    }
    if named("thinking") {
        let alone = |seen: fn(Answer) -> Answer| -> Vec<Study> {
            let one = |experiment: Experiment| {
                study(experiment.to_string(), &experiment.world(), 10, 0, seen, None)
            };
            experiments().into_iter().map(one).collect()
        };
        println!("10 machines, everything measured");
        thinking(&alone(full));
        println!("10 machines, only the total time");
        thinking(&alone(total));
    }
}

/// What was given on the command line.
fn value(name: &str, usual: f64) -> f64 {
    let mut arguments = std::env::args().skip_while(|argument| argument != name).skip(1);
    arguments.next().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// How hard to think.
fn options(seed: u64) -> Options {
    let usual = Options::default();
    let number = |name: &str, usual: usize| value(name, usual as f64) as usize;
    Options {
        seed,
        candidates: number("--candidates", usual.candidates),
        judges: number("--judges", usual.judges),
        effort: Effort {
            particles: number("--particles", usual.effort.particles),
            moves: number("--moves", usual.effort.moves),
        },
    }
}

fn cells(seeds: u64) -> Vec<(Experiment, u64)> {
    experiments().into_iter().flat_map(|experiment| (0..seeds).map(move |seed| (experiment, seed))).collect()
}

fn all(seeds: u64, evaluations: usize, change: impl Fn(World, u64) -> World + Sync) -> Vec<Study> {
    let made = cells(seeds).into_par_iter().map(|(experiment, seed)| {
        study(experiment.to_string(), &change(experiment.world(), seed), evaluations, seed, full, None)
    });
    made.collect()
}

fn full(answer: Answer) -> Answer {
    answer
}

fn total(answer: Answer) -> Answer {
    Answer { time: answer.time, ..Answer::default() }
}

fn study(
    name: String,
    world: &World,
    evaluations: usize,
    seed: u64,
    seen: fn(Answer) -> Answer,
    earlier: Option<(World, Vec<Evaluated>)>,
) -> Study {
    let optimum = world.optimum().1;
    let mut tuner = Tuner::new(world.job.clone(), options(seed));
    if let Some((before, evaluated)) = earlier {
        tuner.warm_start(before.job, evaluated);
    }
    let mut made = Study {
        name,
        ratios: Vec::new(),
        expected: Vec::new(),
        failed: 0,
        failed_before_stop: 0,
        thoughts: Vec::new(),
        evaluated: Vec::new(),
    };
    let mut rng = stream(seed, "evaluation", 0);
    for _ in 0..evaluations {
        let begun = Instant::now();
        let proposal = tuner.ask();
        made.thoughts.push(begun.elapsed().as_secs_f64());
        made.expected.push(proposal.expected_improvement);
        let outcome = match world.evaluate(&proposal.schedule, &mut rng) {
            Outcome::Measured(answer) => Outcome::Measured(seen(answer)),
            failed => {
                made.failed += 1;
                made.failed_before_stop +=
                    usize::from(ended(&made.expected, value("--stop", STOP)).is_none());
                failed
            }
        };
        tuner.tell(proposal.schedule, outcome);
        let chosen = tuner.think().best().map(|at| &tuner.evaluated()[at].schedule);
        made.ratios.push(
            chosen.and_then(|schedule| world.exact(schedule)).map_or(f64::INFINITY, |time| time / optimum),
        );
    }
    made.evaluated = tuner.evaluated().to_vec();
    made
}

fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share).ceil() as usize]
}

fn at(made: &[Study], evaluations: usize) -> Vec<f64> {
    made.iter().filter_map(|study| study.ratios.get(evaluations - 1).copied()).collect()
}

fn words(made: &[Study], evaluations: usize) -> String {
    let values = at(made, evaluations);
    if values.is_empty() {
        return String::new();
    }
    format!("{:.3} ({:.2})", quantile(values.clone(), 0.5), quantile(values, 1.0))
}

/// After how many evaluations a study ends by itself.
fn ended(expected: &[f64], stop: f64) -> Option<usize> {
    (2..expected.len()).find(|at| expected[*at] < stop)
}

fn show(name: &str, made: &[Study], stop: f64) {
    let ended: Vec<(usize, f64)> = made
        .iter()
        .map(|study| {
            let at = ended(&study.expected, stop).unwrap_or(study.ratios.len());
            (at, study.ratios[at - 1])
        })
        .collect();
    let evaluations = quantile(ended.iter().map(|(at, _)| *at as f64).collect(), 0.5);
    let ratios: Vec<f64> = ended.iter().map(|(_, ratio)| *ratio).collect();
    let tail = |evaluations| {
        let values = at(made, evaluations);
        if values.is_empty() { f64::NAN } else { quantile(values, 0.95) }
    };
    println!(
        "{name:34} {:>4} {:>13} {:>13} {:>13} {:>13}  {:6.3} {:6.3} {evaluations:>3} {:6.3} {:6.3}",
        made.len(),
        words(made, 3),
        words(made, 5),
        words(made, 7),
        words(made, 10),
        tail(5),
        tail(10),
        quantile(ratios.clone(), 0.5),
        quantile(ratios, 0.95),
    );
    let mut worst: Vec<&Study> = made.iter().collect();
    let last = |study: &Study| study.ratios[study.ratios.len() - 1];
    worst.sort_by(|a, b| last(b).total_cmp(&last(a)));
    let names: Vec<String> =
        worst.iter().take(4).map(|study| format!("{} {:.3}", study.name, last(study))).collect();
    let failed = made.iter().map(|study| study.failed).max().unwrap_or(0);
    println!("    worst: {}; failed at most {failed}", names.join(", "));
}

fn thinking(made: &[Study]) {
    let all: Vec<f64> = made.iter().flat_map(|study| study.thoughts.iter().copied()).collect();
    println!(
        "    thought for {:.2} s in the median, at most {:.2} s",
        quantile(all.clone(), 0.5),
        quantile(all, 1.0)
    );
}
