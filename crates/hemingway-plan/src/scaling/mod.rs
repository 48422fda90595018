//! How many workers pay, for each family of algorithms, before anything has run.
//!
//! On a perfect computer, where nothing takes time but iterations, iterations per worker fall with the number of workers, flatten
//! and rise. Workers pay up to the end of the last doubling that saves a fifth of the iterations of each. `bench/scaling`
//! measured that on many datasets and fitted a line per family to it; `docs/scaling.md` says how well it holds on others.

mod characters;
mod coefficients;
mod line;
#[cfg(test)]
mod tests;

use hemingway_data::Characters;
use hemingway_train::SampledProfile;
use serde::{Deserialize, Serialize};

use characters::grouped;
pub use characters::{Character, characters};
use coefficients::LINES;
use line::{Line, Say};

/// How far the best number of workers may be off, as a factor; `docs/scaling.md` says how often it is no further.
const UNSURE: f64 = 2.0;
/// From so many workers on that pay, a family suits the data: fewer are the cores of one machine.
const SUITS: f64 = 16.0;
/// More workers were not measured,
const MOST: f64 = 1024.0;
/// nor fewer rows of each.
const LEAST_ROWS: f64 = 2.0;

/// How many workers pay with the algorithms of a family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The family.
    pub family: String,
    /// Algorithms of it.
    pub algorithms: Vec<String>,
    /// Whether it suits the data.
    pub suits: bool,
    /// Workers beyond which another doubling saves less than a fifth of the iterations of each: low, median and high.
    pub workers: [f64; 3],
    /// Why, in one sentence that names a character and its value.
    pub reason: String,
}

impl Bound {
    /// How many times as fast m workers are as one: low, median and high.
    pub fn speed_up(&self, workers: f64) -> [f64; 3] {
        let line = LINES.iter().find(|line| line.family == self.family);
        self.workers.map(|best| line.map_or(workers.min(best), |line| line.speed_up(best, workers)))
    }
}

/// How many workers pay, for each family that was measured, the most first, and for methods whose rounds do not depend on them.
pub fn bounds(data: &Characters, sample: &SampledProfile, lambda: f64) -> Vec<Bound> {
    let characters = characters(data, sample, lambda);
    let mut measured = vec![
        measured("asynchronous", &["hogwild", "passcode", "async-sgd"], data, &characters),
        measured("mini-batch", &["minibatch-sgd", "local-sgd"], data, &characters),
        measured("decentralised", &["d-psgd", "dcd-psgd", "ecd-psgd"], data, &characters),
        measured("dual", &["cocoa", "cocoa-plus", "dadm"], data, &characters),
    ];
    measured.sort_by(|a, b| b.workers[1].total_cmp(&a.workers[1]));
    measured.push(whole_gradients(data));
    measured
}

fn measured(family: &str, algorithms: &[&str], data: &Characters, characters: &[Character]) -> Bound {
    let line = LINES.iter().find(|line| line.family == family).expect("a line for each family");
    let says = line.says(characters);
    let rows = data.rows.max(1) as f64;
    // Copies of a row have nothing to tell one another.
    let most = MOST.min(rows / LEAST_ROWS).min(data.diversity.distinct_rows.mean).max(1.0);
    let best = (line.typical + says.iter().map(|say| say.adds).sum::<f64>()).exp().clamp(1.0, most);
    let suits = best >= SUITS;
    Bound {
        family: family.to_owned(),
        algorithms: owned(algorithms),
        suits,
        workers: [(best / UNSURE).max(1.0), best, (best * UNSURE).min(rows)],
        reason: reason(line, &says, suits),
    }
}

/// The character with the greatest say for the verdict, or against it where none is for it.
fn reason(line: &Line, says: &[Say], suits: bool) -> String {
    let verdict = if suits { 1.0 } else { -1.0 };
    let Some(greatest) = says.iter().max_by(|a, b| (verdict * a.adds).total_cmp(&(verdict * b.adds))) else {
        return format!("about {:.0} workers pay on most data", line.typical.exp());
    };
    let effect =
        if greatest.adds >= 0.0 { "with which it scales further" } else { "with which it scales less far" };
    format!("{}, {effect} than on most data", greatest.character.told())
}

/// Their rounds are the same on any number of workers, so a perfect computer sets no bound but the rows.
fn whole_gradients(data: &Characters) -> Bound {
    let rows = data.rows.max(1) as f64;
    Bound {
        family: "whole gradients".to_owned(),
        algorithms: owned(&["gradient-descent", "l-bfgs", "newton-cg"]),
        suits: rows >= SUITS,
        workers: [rows; 3],
        reason: format!(
            "rounds do not depend on workers, so only the network and its {} rows are a bound",
            grouped(rows)
        ),
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
