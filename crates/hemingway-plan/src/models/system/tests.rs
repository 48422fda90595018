//! Synthetic truths: what must be found, and what must not be claimed.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// Totals of repeated jobs: truth(m, s) with noise of a few per cent, and now and then a straggler.
struct Cluster {
    random: Xoshiro256PlusPlus,
    noise: f64,
    stragglers: f64,
}

impl Cluster {
    fn new(seed: u64, noise: f64, stragglers: f64) -> Cluster {
        Cluster { random: Xoshiro256PlusPlus::seed_from_u64(seed), noise, stragglers }
    }

    fn time(&mut self, truth: f64) -> f64 {
        let normal: f64 = (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0;
        let slow = if self.random.random::<f64>() < self.stragglers { 4.0 } else { 1.0 };
        truth * (self.noise * normal).exp() * slow
    }

    fn jobs(
        &mut self,
        at: &[(usize, f64)],
        repeats: usize,
        truth: impl Fn(f64, f64) -> f64,
    ) -> Vec<Observation> {
        let mut jobs = Vec::new();
        for &(workers, fraction) in at {
            for repeat in 0..repeats {
                let seconds = self.time(truth(workers as f64, fraction));
                jobs.push(observation(
                    &format!("{workers}-{fraction}-{repeat}"),
                    workers,
                    fraction,
                    1,
                    seconds,
                ));
            }
        }
        jobs
    }
}

fn observation(run: &str, workers: usize, fraction: f64, iteration: u64, seconds: f64) -> Observation {
    let (run, algorithm) = (run.to_owned(), "a".to_owned());
    Observation { run, algorithm, workers, fraction, iteration, seconds: Some(seconds), value: None }
}

fn whole(workers: impl IntoIterator<Item = usize>) -> Vec<(usize, f64)> {
    workers.into_iter().map(|m| (m, 1.0)).collect()
}

fn ernest_like(m: f64, s: f64) -> f64 {
    5.0 + 800.0 * s / m + 3.0 * m.ln() + 0.1 * m
}

fn relative_error(model: &SystemModel, workers: usize, fraction: f64, truth: f64) -> f64 {
    (model.seconds_per_iteration(workers, fraction).mean / truth - 1.0).abs()
}

#[test]
fn an_ernest_like_job_is_found_between_and_beyond() {
    let jobs = Cluster::new(1, 0.02, 0.0).jobs(&whole([2, 4, 8, 12, 16, 24, 32]), 3, ernest_like);
    let model = SystemModel::fit(&jobs).unwrap();
    for (workers, allowed) in [(3, 0.06), (6, 0.04), (20, 0.04), (48, 0.12), (64, 0.15)] {
        let error = relative_error(&model, workers, 1.0, ernest_like(workers as f64, 1.0));
        assert!(error < allowed, "{workers} workers: {error}\n{model}");
    }
}

#[test]
fn a_knee_is_followed_where_ernest_cannot() {
    let knee = |m: f64, _: f64| if m < 16.0 { 1600.0 / m } else { 100.0 + 4.0 * (m - 16.0).min(20.0) };
    let jobs = Cluster::new(2, 0.01, 0.0).jobs(&whole((1..=15).map(|k| 4 * k)), 3, knee);
    let (model, ernest) = (SystemModel::fit(&jobs).unwrap(), Ernest::fit(&jobs).unwrap());
    let inside = [10, 14, 22, 26, 34, 42, 50];
    let ours: f64 = inside.iter().map(|&m| relative_error(&model, m, 1.0, knee(m as f64, 1.0))).sum();
    let theirs: f64 = inside
        .iter()
        .map(|&m| (ernest.seconds_per_iteration(m, 1.0) / knee(m as f64, 1.0) - 1.0).abs())
        .sum();
    assert!(ours < 0.5 * theirs && ours / 7.0 < 0.06, "{ours} against {theirs}");
}

#[test]
fn stragglers_do_not_pull() {
    let jobs = Cluster::new(3, 0.02, 0.1).jobs(&whole([2, 4, 8, 12, 16, 24, 32]), 7, ernest_like);
    let model = SystemModel::fit(&jobs).unwrap();
    for workers in [3, 6, 10, 20, 28] {
        let error = relative_error(&model, workers, 1.0, ernest_like(workers as f64, 1.0));
        assert!(error < 0.06, "{workers} workers: {error}\n{model}");
    }
}

#[test]
fn one_outlying_configuration_among_single_runs_does_not_spoil_the_others() {
    let mut jobs = Cluster::new(4, 0.01, 0.0).jobs(&whole((1..=12).map(|k| 4 * k)), 1, ernest_like);
    jobs[5].seconds = jobs[5].seconds.map(|seconds| 5.0 * seconds);
    let model = SystemModel::fit(&jobs).unwrap();
    for workers in [6, 10, 38, 46] {
        let error = relative_error(&model, workers, 1.0, ernest_like(workers as f64, 1.0));
        assert!(error < 0.15, "{workers} workers: {error}\n{model}");
    }
}

#[test]
fn small_fractions_predict_the_whole() {
    let at: Vec<(usize, f64)> =
        [0.0125, 0.025, 0.05, 0.1].iter().flat_map(|&s| [1, 2, 4, 8, 16].map(|m| (m, s))).collect();
    let jobs = Cluster::new(5, 0.02, 0.0).jobs(&at, 3, ernest_like);
    let model = SystemModel::fit(&jobs).unwrap();
    for workers in [4, 8, 16] {
        let (truth, estimate) = (ernest_like(workers as f64, 1.0), model.seconds_per_iteration(workers, 1.0));
        assert!((estimate.mean / truth - 1.0).abs() < 0.15, "{workers}: {estimate:?} {truth}\n{model}");
        assert!(estimate.low <= truth && truth <= estimate.high, "{workers}: {estimate:?} {truth}");
    }
    assert!(
        model.extrapolation(8, 1.0).unwrap().contains("fraction 1 is 10.00 times the largest measured, 0.1")
    );
}

#[test]
fn nine_in_ten_new_runs_are_inside() {
    let (mut inside, mut all) = (0, 0);
    for seed in 0..40 {
        let mut cluster = Cluster::new(100 + seed, 0.05, 0.0);
        let jobs = cluster.jobs(&whole([2, 4, 6, 8, 12, 16, 24, 32]), 3, ernest_like);
        let model = SystemModel::fit(&jobs).unwrap();
        for workers in [3, 5, 10, 14, 20, 28] {
            let estimate = model.seconds_per_iteration(workers, 1.0);
            let seconds = cluster.time(ernest_like(workers as f64, 1.0));
            inside += usize::from(estimate.low <= seconds && seconds <= estimate.high);
            all += 1;
        }
    }
    let share = inside as f64 / all as f64;
    assert!((0.85..=0.97).contains(&share), "{share}");
}

#[test]
fn the_start_is_apart_from_iterations() {
    let mut cluster = Cluster::new(6, 0.05, 0.0);
    let mut trace = Vec::new();
    for workers in [1usize, 2, 4, 8, 16] {
        let mut seconds = 20.0 + workers as f64;
        for iteration in 1..=50 {
            seconds += cluster.time(0.2 + 4.0 / workers as f64);
            trace.push(observation(&format!("r{workers}"), workers, 1.0, iteration, seconds));
        }
    }
    let model = SystemModel::fit(&trace).unwrap();
    for (workers, iteration) in [(4, 1), (4, 50), (6, 200), (12, 30)] {
        let truth = 20.0 + workers as f64 + iteration as f64 * (0.2 + 4.0 / workers as f64);
        let estimate = model.seconds(workers, 1.0, iteration);
        assert!(
            (estimate.mean / truth - 1.0).abs() < 0.08,
            "{workers} {iteration}: {estimate:?} {truth}\n{model}"
        );
        assert!(estimate.low <= estimate.mean && estimate.mean <= estimate.high);
    }
}

#[test]
fn one_configuration_makes_no_confident_claim_elsewhere() {
    let jobs = Cluster::new(7, 0.02, 0.0).jobs(&whole([8]), 5, ernest_like);
    let model = SystemModel::fit(&jobs).unwrap();
    let (there, far) = (model.seconds_per_iteration(8, 1.0), model.seconds_per_iteration(64, 1.0));
    assert!((there.mean / ernest_like(8.0, 1.0) - 1.0).abs() < 0.05);
    assert!(far.high / far.low > 8.0, "{far:?}");
    assert_eq!(
        model.extrapolation(64, 1.0).as_deref(),
        Some("workers 64 is 8.00 times the largest measured, 8")
    );
    assert_eq!(model.extrapolation(8, 1.0), None);
}

#[test]
fn constant_times_and_duplicates_are_taken_as_they_are() {
    let mut jobs = Cluster::new(8, 0.0, 0.0).jobs(&whole([2, 4, 8, 16]), 2, |_, _| 10.0);
    jobs.extend(jobs.clone());
    let model = SystemModel::fit(&jobs).unwrap();
    let estimate = model.seconds_per_iteration(6, 1.0);
    assert!(
        (estimate.mean - 10.0).abs() < 0.2 && estimate.low < 10.0 && estimate.high > 10.0,
        "{estimate:?}"
    );
}

#[test]
fn a_single_worker_is_never_predicted_to_take_no_time() {
    let jobs = Cluster::new(9, 0.02, 0.0).jobs(&whole([2, 4, 8, 16]), 2, |m, _| 3.0 * m.ln());
    let estimate = SystemModel::fit(&jobs).unwrap().seconds_per_iteration(1, 1.0);
    assert!(estimate.low.is_finite() && estimate.mean > 0.4 && estimate.high.is_finite(), "{estimate:?}");
}

#[test]
fn several_algorithms_and_missing_times_are_errors() {
    let mut jobs = Cluster::new(10, 0.02, 0.0).jobs(&whole([2, 4]), 1, ernest_like);
    jobs[1].algorithm = "b".into();
    let message = SystemModel::fit(&jobs).unwrap_err().to_string();
    assert_eq!(message, "observations of a and of b together\nhint: fit one model for each algorithm");
    let silent = Observation { seconds: None, ..observation("r", 2, 1.0, 1, 0.0) };
    assert_eq!(SystemModel::fit(&[silent]).unwrap_err(), Error::NoTimes);
    assert_eq!(SystemModel::fit(&[]).unwrap_err(), Error::NoTimes);
}

#[test]
fn a_model_is_the_same_after_it_was_kept() {
    let model =
        SystemModel::fit(&Cluster::new(11, 0.05, 0.0).jobs(&whole([2, 4, 8]), 2, ernest_like)).unwrap();
    let kept = serde_json::to_string(&model).unwrap();
    assert_eq!(serde_json::from_str::<SystemModel>(&kept).unwrap(), model);
}
