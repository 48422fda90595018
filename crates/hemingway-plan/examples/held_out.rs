//! How well the system model predicts scale-outs it has not seen, beside Ernest: `held_out TRACE.csv…`.
//!
//! Each scale-out inside is left out in turn, the largest is predicted from the rest, and few scale-outs drawn at random
//! (fixed seed) predict all others. Errors are of single held-out runs in per cent, mean and median; `inside` is the
//! share of held-out runs in the 90 % interval.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Instant;

use hemingway_plan::{Ernest, Observation, SystemModel, parse_trace};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const DRAWS: usize = 30;

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "{:<16} {:<9} {:>15} {:>15} {:>7}",
        "job", "protocol", "ours mean/med", "Ernest mean/med", "inside"
    );
    let mut all: Vec<(String, Tally)> = Vec::new();
    for path in std::env::args().skip(1) {
        let trace = parse_trace(&std::fs::read_to_string(&path)?)?;
        let started = Instant::now();
        let model = SystemModel::fit(&trace)?;
        let took = started.elapsed();
        for (protocol, splits) in protocols(&trace) {
            let mut tally = Tally::default();
            for kept in splits {
                tally.hold_out(&trace, &kept)?;
            }
            tally.print(&trace[0].algorithm, &protocol);
            match all.iter_mut().find(|(name, _)| *name == protocol) {
                Some((_, sum)) => sum.add(tally),
                None => all.push((protocol, tally)),
            }
        }
        println!("  {}\n  fitted in {took:.1?}", model.to_string().replace('\n', "\n  "));
    }
    for (protocol, tally) in all {
        tally.print("all", &protocol);
    }
    Ok(())
}

/// Names, and for each split the scale-outs that are fitted.
fn protocols(trace: &[Observation]) -> Vec<(String, Vec<Vec<usize>>)> {
    let scales: Vec<usize> = trace.iter().map(|o| o.workers).collect::<BTreeSet<_>>().into_iter().collect();
    let without = |out: usize| scales.iter().copied().filter(|&m| m != out).collect::<Vec<_>>();
    let last = scales.len() - 1;
    let mut protocols = vec![
        ("interior".to_owned(), scales[1..last].iter().map(|&m| without(m)).collect()),
        ("largest".to_owned(), vec![without(scales[last])]),
        ("last 3".to_owned(), vec![scales[..=last - 3].to_vec()]),
    ];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for count in 3..=6 {
        let draws = (0..DRAWS).map(|_| {
            let mut drawn = scales.clone();
            while drawn.len() > count {
                drawn.remove(random.random_range(0..drawn.len()));
            }
            drawn
        });
        protocols.push((format!("few {count}"), draws.collect()));
    }
    protocols
}

#[derive(Default)]
struct Tally {
    ours: Vec<f64>,
    ernest: Vec<f64>,
    inside: usize,
}

impl Tally {
    fn hold_out(&mut self, trace: &[Observation], kept: &[usize]) -> Result<(), Box<dyn Error>> {
        let (fitted, rest): (Vec<Observation>, Vec<Observation>) =
            trace.iter().cloned().partition(|observation| kept.contains(&observation.workers));
        let (model, ernest) = (SystemModel::fit(&fitted)?, Ernest::fit(&fitted)?);
        for observation in rest {
            let Some(seconds) = observation.seconds else { continue };
            let (m, s, i) = (observation.workers, observation.fraction, observation.iteration);
            let estimate = model.seconds(m, s, i);
            self.ours.push((estimate.mean / seconds - 1.0).abs());
            self.ernest.push((ernest.seconds_per_iteration(m, s) * i as f64 / seconds - 1.0).abs());
            self.inside += usize::from(estimate.low <= seconds && seconds <= estimate.high);
        }
        Ok(())
    }

    fn add(&mut self, other: Tally) {
        self.ours.extend(other.ours);
        self.ernest.extend(other.ernest);
        self.inside += other.inside;
    }

    fn print(&self, job: &str, protocol: &str) {
        let percent = |errors: &[f64]| {
            let mut sorted = errors.to_vec();
            sorted.sort_by(f64::total_cmp);
            let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
            format!("{:>6.1} / {:>4.1}", 100.0 * mean, 100.0 * sorted[sorted.len() / 2])
        };
        let inside = 100.0 * self.inside as f64 / self.ours.len() as f64;
        println!(
            "{job:<16} {protocol:<9} {:>15} {:>15} {inside:>5.0} %",
            percent(&self.ours),
            percent(&self.ernest)
        );
    }
}
