//! Chosen experiments beside others of the same cost, on made-up clusters and algorithms whose truth is known.

use hemingway_plan::{About, ConvergenceModel, Observation, Question, SystemModel, Target, next_experiments};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const WORKERS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const FRACTIONS: [f64; 5] = [0.0625, 0.125, 0.25, 0.5, 1.0];
const GOAL: f64 = 1e-3;
const ROUNDS: u64 = 300;

/// An algorithm on a cluster, with Ernest's times and a curve that workers stretch.
struct World {
    theta: [f64; 4],
    stretch: [f64; 4],
    random: Xoshiro256PlusPlus,
    runs: usize,
}

impl World {
    fn drawn(seed: u64) -> World {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut between = |low: f64, high: f64| (low.ln() + random.random::<f64>() * (high / low).ln()).exp();
        let theta = [between(0.01, 0.1), between(1.0, 5.0), between(0.005, 0.1), between(0.0005, 0.02)];
        let stretch = [between(2.0, 10.0), between(0.05, 0.5), between(0.3, 1.0), between(0.6, 1.0)];
        World { theta, stretch, random, runs: 0 }
    }

    fn each(&self, m: usize, s: f64) -> f64 {
        let m = m as f64;
        self.theta[0] + self.theta[1] * s / m + self.theta[2] * m.ln() + self.theta[3] * m
    }

    /// Rounds until a gap is reached.
    fn rounds_to(&self, m: usize, gap: f64) -> f64 {
        let [scale, kappa, exponent, shape] = self.stretch;
        scale * (1.0 + kappa * (m as f64).powf(exponent)) * (0.5 / gap).ln().powf(1.0 / shape)
    }

    fn luck(&mut self, spread: f64) -> f64 {
        let normal = (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0;
        (spread * normal).exp()
    }

    fn run(&mut self, m: usize, s: f64, rounds: u64) -> Vec<Observation> {
        self.runs += 1;
        let (run, each, slow) = (self.runs.to_string(), self.each(m, s) * self.luck(0.03), self.luck(0.04));
        let [scale, kappa, exponent, shape] = self.stretch;
        let unit = slow * scale * (1.0 + kappa * (m as f64).powf(exponent));
        let mut seconds = 0.0;
        let point = |iteration: u64| {
            seconds += each * self.luck(0.1);
            Observation {
                run: run.clone(),
                algorithm: "made up".into(),
                workers: m,
                fraction: s,
                iteration,
                seconds: Some(seconds),
                value: Some(0.5 * (-(iteration as f64 / unit).powf(shape)).exp()),
            }
        };
        (1..=rounds).map(point).collect()
    }

    fn cost(&self, runs: &[(usize, f64, u64)]) -> f64 {
        runs.iter().map(|&(m, s, rounds)| rounds as f64 * self.each(m, s)).sum()
    }

    /// The first run, which every method is given.
    fn begin(&mut self) -> Vec<Observation> {
        self.run(8, 1.0, 10)
    }
}

/// How experiments are chosen.
#[derive(Clone, Copy, Debug)]
enum Method {
    Designed,
    Random,
    Extremes,
}

fn question(about: About) -> Question {
    let fractions = if about == About::Times { FRACTIONS.to_vec() } else { vec![1.0] };
    Question { fractions, about, goal: Some(GOAL), ..Question::new(WORKERS.to_vec(), ROUNDS) }
}

/// All that is known once a budget is used; in two steps when it is designed, as a planner would.
fn observed(world: &mut World, method: Method, about: About, budget: f64) -> Vec<Observation> {
    let mut known = world.begin();
    let mut left = budget;
    if let Method::Designed = method {
        for share in [0.4, 1.0] {
            for e in next_experiments(&known, &question(about), share * left) {
                left -= world.cost(&[(e.workers, e.fraction, e.rounds)]);
                known.extend(world.run(e.workers, e.fraction, e.rounds));
            }
        }
        return known;
    }
    for turn in 0..200 {
        let fractions = question(about).fractions;
        let (m, s, rounds) = match method {
            Method::Random => {
                let m = WORKERS[world.random.random_range(0..WORKERS.len())];
                let s = fractions[world.random.random_range(0..fractions.len())];
                (m, s, ROUNDS >> world.random.random_range(0..6u32))
            }
            _ => (if turn % 2 == 0 { 64 } else { 1 }, 1.0, ROUNDS >> (1 + (turn / 2) % 5)),
        };
        let cost = world.cost(&[(m, s, rounds)]);
        if cost <= left {
            left -= cost;
            known.extend(world.run(m, s, rounds));
        }
    }
    known
}

/// The median error, in logarithms, over all workers of interest and many worlds.
fn error(method: Method, about: About, worlds: u64, budget: f64) -> f64 {
    let mut errors = Vec::new();
    for seed in 0..worlds {
        let mut world = World::drawn(seed);
        let budget = budget * world.each(8, 1.0);
        let known = observed(&mut world, method, about, budget);
        let rounds = ConvergenceModel::fit(&known, Target::SubOptimality).ok();
        let times = SystemModel::fit(&known).expect("times were measured");
        for m in WORKERS {
            let of_times = (times.seconds_per_iteration(m, 1.0).mean / world.each(m, 1.0)).ln();
            let found = rounds.as_ref().and_then(|model| model.iterations_to(m, GOAL));
            let of_rounds = found.map_or(3.0, |e| (e.mean / world.rounds_to(m, GOAL)).ln());
            errors.push(match about {
                About::Times => of_times.abs(),
                About::Progress => of_rounds.abs(),
                About::Both => (of_times + of_rounds).abs(),
            });
        }
    }
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

/// Errors of designed, random and extreme experiments.
fn errors(about: About, worlds: u64, budget: f64) -> [f64; 3] {
    let all = [Method::Designed, Method::Random, Method::Extremes]
        .map(|method| error(method, about, worlds, budget));
    println!("{about:?}, {budget}: designed {:.3}, random {:.3}, extremes {:.3}", all[0], all[1], all[2]);
    all
}

#[test]
fn designed_experiments_predict_times_better_at_the_same_cost() {
    let [designed, random, extremes] = errors(About::Times, 12, 60.0);
    assert!(designed < random && designed < extremes);
}

#[test]
fn designed_experiments_predict_rounds_better_at_the_same_cost() {
    let [designed, random, extremes] = errors(About::Progress, 5, 400.0);
    assert!(designed < random && designed < extremes);
}

/// All questions with many worlds and several budgets; where random ones do well too, designed ones are no worse.
#[test]
#[ignore = "takes minutes"]
fn designed_experiments_are_as_good_for_any_question_and_budget() {
    for about in [About::Times, About::Progress, About::Both] {
        for budget in [100.0, 200.0, 400.0] {
            let [designed, random, extremes] = errors(about, 20, budget);
            assert!(designed < 1.1 * random && designed < extremes);
        }
    }
}
