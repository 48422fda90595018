//! How many workers pay, for each family of algorithms, before anything has run.
//!
//! Provisional: every family gets the form time ∝ 1/m + c·m, with c from a character of the data, and a factor of four in c on
//! either side. What is fitted to runs takes the place of it.

use hemingway_data::Characters;
use hemingway_train::{DataProfile, Loss};
use serde::{Deserialize, Serialize};

/// How far c may be off, as a factor.
const UNSURE: f64 = 4.0;
/// From so many workers on that pay, a family suits the data.
const SUITS: f64 = 4.0;
/// Nobody asks for more.
const MOST: f64 = 1e4;

/// How many workers pay with the algorithms of a family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The family.
    pub family: String,
    /// Algorithms of it.
    pub algorithms: Vec<String>,
    /// Whether it suits the data.
    pub suits: bool,
    /// Workers beyond which a run gets slower: low, median and high.
    pub workers: [f64; 3],
    /// Why, in one sentence that names a character and its value.
    pub reason: String,
}

impl Bound {
    /// How many times as fast m workers are as one: low, median and high.
    pub fn speed_up(&self, workers: f64) -> [f64; 3] {
        self.workers.map(|most| {
            let c = 1.0 / (most * most);
            (1.0 + c) / (1.0 / workers + c * workers)
        })
    }
}

/// How many workers pay, for each family.
pub fn bounds(data: &Characters, profile: &DataProfile, loss: Loss, lambda: f64) -> Vec<Bound> {
    let (n, rho) = (data.rows.max(1) as f64, data.rho.mean);
    let largest = profile.largest_eigenvalue();
    let spread = if largest > 0.0 { (profile.mean_squared_norm / largest).max(1.0) } else { 1.0 };
    let dimension = profile.effective_dimension(lambda).max(1.0);
    let different = data.diversity.distinct_share.mean;
    let smooth = loss != Loss::Hinge;
    let made = |family: &str, algorithms: &[&str], workers: f64, reason: String| {
        let workers = workers.clamp(1.0, MOST.min(n));
        let root = UNSURE.sqrt();
        let [low, high] = [workers / root, workers * root].map(|workers| workers.clamp(1.0, MOST.min(n)));
        let algorithms = algorithms.iter().map(|name| (*name).to_owned()).collect();
        Bound {
            family: family.to_owned(),
            algorithms,
            suits: workers >= SUITS,
            workers: [low, workers, high],
            reason,
        }
    };
    vec![
        made(
            "asynchronous",
            &["hogwild", "passcode", "async-sgd"],
            1.0 / rho.max(1e-4).sqrt() * spread.sqrt(),
            format!("two random rows share a feature with probability rho = {}", digits(rho)),
        ),
        made(
            "mini-batch",
            &["minibatch-sgd", "local-sgd"],
            spread,
            format!("the variance is spread over about {} directions", digits(spread)),
        ),
        made(
            "decentralised",
            &["d-psgd", "dcd-psgd", "ecd-psgd"],
            spread.sqrt(),
            format!("as mini-batches, but a ring mixes slowly; {} directions", digits(spread)),
        ),
        made(
            "dual",
            &["cocoa", "cocoa-plus", "dadm"],
            (n * different / dimension).sqrt() * if smooth { 1.0 } else { 0.5 },
            format!(
                "{} different rows for each of {} effective dimensions",
                digits(n * different / dimension),
                digits(dimension)
            ),
        ),
        made(
            "whole gradients",
            &["gradient-descent", "l-bfgs", "newton-cg"],
            n.sqrt(),
            format!("rounds do not depend on workers, and {} rows can be divided", digits(n)),
        ),
    ]
}

fn digits(value: f64) -> String {
    let places = (1.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use hemingway_data::{LoadOptions, load};

    use super::*;

    #[test]
    fn bounds_are_ordered_numbers_and_speed_ups_are_largest_at_them() {
        for spec in ["synthetic:separable,rows=300,features=5", "synthetic:text,rows=300,features=300"] {
            let data = load(spec, &LoadOptions::default()).unwrap();
            for bound in bounds(&Characters::of(&data), &DataProfile::of(&data), Loss::Logistic, 1e-3) {
                let [low, median, high] = bound.workers;
                assert!(1.0 <= low && low <= median && median <= high && high <= 300.0, "{bound:?}");
                let at = |workers: f64| bound.speed_up(workers)[1];
                assert!(at(median) >= at(median / 2.0) && at(median) >= at(2.0 * median), "{bound:?}");
                assert!((at(1.0) - 1.0).abs() < 1e-12, "{bound:?}");
            }
        }
    }
}
