//! What has to hold of the prior whatever its coefficients are.

use std::f64::consts::LN_10;

use hemingway_train::{DataProfile, Entry, Family, LOSSES, Loss, catalogue, entry};
use proptest::prelude::*;

use super::coefficients::{CORRELATIONS, FAMILIES, GROUPS, PER_DECADE};
use super::*;
use crate::{Profile, Settings};

const WORKERS: [usize; 6] = [1, 2, 6, 32, 256, 1024];

#[test]
fn newton_on_squares_takes_one_round() {
    for lambda in [1e-8, 1e-4, 1.0] {
        let line = usual(&problem(20_000, 30, Loss::Squared, lambda), "newton", 8);
        for g in [1.0, 2.0, 4.0, 9.0].map(|decades| decades * LN_10) {
            assert_eq!(line.log_rounds(g), 0.0);
        }
        assert!(line.deviation <= 0.2, "{}", line.deviation);
    }
}

#[test]
fn smaller_errors_take_more_rounds() {
    let decades = |quarter: i32| f64::from(quarter) / 4.0 * LN_10;
    each_configuration(|profile, entry, workers| {
        let line = usual(profile, entry.name, workers);
        let rounds: Vec<f64> = (1..=40).map(|quarter| line.log_rounds(decades(quarter))).collect();
        let grow = rounds.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9);
        assert!(grow, "{} on {workers}, {profile:?}: {rounds:?}", entry.name);
    });
}

#[test]
fn every_line_is_a_number_with_a_width() {
    each_configuration(|profile, entry, workers| {
        let line = usual(profile, entry.name, workers);
        assert!((0.0..=30.0).contains(&line.log_rounds(4.0 * LN_10)), "{}: {line:?}", entry.name);
        assert!(line.deviation.is_finite() && line.deviation >= 0.1, "{}: {line:?}", entry.name);
        assert!(line.per_decade > 0.0 && line.per_decade < 1.0, "{}: {line:?}", entry.name);
    });
}

/// An algorithm that was never measured is predicted as its family, and less surely than those that were.
#[test]
fn every_family_has_a_wide_line_for_every_loss() {
    for family in [Family::Dual, Family::Batch, Family::SecondOrder, Family::Stochastic] {
        let name = match family {
            Family::Dual => "dual",
            Family::Batch => "batch",
            Family::SecondOrder => "second-order",
            Family::Stochastic => "stochastic",
            Family::Decentralised => "decentralised",
        };
        assert!(PER_DECADE.iter().any(|(known, _)| *known == name), "{name}");
        for loss in LOSSES {
            let line = FAMILIES.iter().find(|line| line.family == name && line.loss == loss);
            assert!(line.is_some_and(|line| line.deviation >= 1.0), "{name}, {loss}");
        }
    }
}

#[test]
fn deviations_grow_far_outside_of_the_fitted_ranges() {
    let inside = problem(20_000, 100, Loss::Logistic, 1e-4);
    let outside = |rows: usize, lambda: f64| problem(rows, 100, Loss::Logistic, lambda);
    for name in catalogue().iter().map(|entry| entry.name) {
        // Only what is outside counts here, not how many rounds there are.
        let wider = |profile: &Profile, workers: usize| {
            let settings = |unseen: f64| Settings { unseen, ..Settings::default() };
            let of = |unseen: f64| line(profile, name, workers, &settings(unseen)).deviation;
            of(Settings::default().unseen) - of(0.0)
        };
        assert_eq!(wider(&inside, 16), 0.0, "{name}");
        let many_rows = [1e6, 1e9, 1e12].map(|rows| wider(&outside(rows as usize, 1e-4), 16));
        let small_penalty = [1e-14, 1e-17, 1e-20].map(|lambda| wider(&outside(20_000, lambda), 16));
        let many_workers = [1 << 12, 1 << 16, 1 << 20].map(|workers| wider(&inside, workers));
        for grows in [many_rows, small_penalty, many_workers] {
            assert!(0.0 < grows[0] && grows[0] < grows[1] && grows[1] < grows[2], "{name}: {grows:?}");
        }
    }
}

/// Residuals of all configurations at once, as the planner puts them together. A matrix that is no covariance would give
/// variances below 0 after a few observations.
#[test]
fn residuals_of_all_configurations_have_a_covariance() {
    for loss in LOSSES {
        let profile = problem(20_000, 300, loss, 1e-5);
        let mut lines = Vec::new();
        for entry in catalogue() {
            let several = if entry.depends_on_workers { &WORKERS[..] } else { &WORKERS[..1] };
            let local_work: &[f64] =
                if entry.parameters.contains(&"local_steps") { &[1.0, 4.0] } else { &[1.0] };
            for (&workers, &passes) in several.iter().flat_map(|m| local_work.iter().map(move |p| (m, p))) {
                lines.push(Line::of(&profile, entry, workers, passes, 4.0 * LN_10, &Settings::default()));
            }
        }
        let covariance = |a: usize, b: usize| {
            let correlation = if a == b { 1.0 } else { lines[a].correlation(&lines[b]) };
            correlation * lines[a].deviation * lines[b].deviation
        };
        let matrix = (0..lines.len()).map(|a| (0..lines.len()).map(|b| covariance(a, b)).collect());
        assert_semi_definite(matrix.collect());
    }
}

#[test]
fn correlations_are_those_of_a_table() {
    for (a, b) in (0..GROUPS.len()).flat_map(|a| (0..GROUPS.len()).map(move |b| (a, b))) {
        assert_eq!(CORRELATIONS[a][b], CORRELATIONS[b][a], "{:?}, {:?}", GROUPS[a], GROUPS[b]);
        assert!(CORRELATIONS[a][b].abs() <= 1.0, "{:?}, {:?}", GROUPS[a], GROUPS[b]);
    }
}

proptest! {
    /// Whatever the data is like, what is predicted of it is a number.
    #[test]
    fn strange_problems_have_lines(
        rows in 1..10_usize.pow(12),
        features in 1..10_usize.pow(7),
        largest in -30.0..30.0_f64,
        lambda in -30.0..10.0_f64,
        loss in 0..LOSSES.len(),
        workers in 1..5000_usize,
        g in 1e-6..50.0_f64,
    ) {
        let (largest, lambda) = (10_f64.powf(largest), 10_f64.powf(lambda));
        let mut profile = problem(rows, features, LOSSES[loss], lambda);
        profile.data.mean_squared_norm = 2.0 * largest;
        profile.data.spectrum = vec![(largest, 1.0), (largest / features as f64, features as f64)];
        for entry in catalogue() {
            let line = Line::of(&profile, entry, workers, 1.0, g, &Settings::default());
            prop_assert!(line.log_rounds(g).is_finite() && line.log_rounds(g) <= 30.0, "{}: {line:?}", entry.name);
            prop_assert!(line.deviation.is_finite() && line.deviation > 0.0, "{}: {line:?}", entry.name);
        }
    }
}

fn usual(profile: &Profile, algorithm: &str, workers: usize) -> Line {
    line(profile, algorithm, workers, &Settings::default())
}

/// To an error of 1e-4, with one pass of local work.
fn line(profile: &Profile, algorithm: &str, workers: usize, settings: &Settings) -> Line {
    Line::of(profile, entry(algorithm).expect("in the catalogue"), workers, 1.0, 4.0 * LN_10, settings)
}

/// Every algorithm on every loss and some numbers of workers, on problems within the fitted ranges.
fn each_configuration(mut check: impl FnMut(&Profile, &'static Entry, usize)) {
    for loss in LOSSES {
        for (rows, features) in [(1000, 10), (10_000, 300), (50_000, 20_000), (50_000, 50)] {
            for lambda in [1e-6, 1e-4, 1e-2] {
                let profile = problem(rows, features, loss, lambda);
                let all = catalogue().iter().flat_map(|&entry| WORKERS.map(|workers| (entry, workers)));
                all.for_each(|(entry, workers)| check(&profile, entry, workers));
            }
        }
    }
}

/// Rows of length 1, of which one direction has half and the others share the rest.
fn problem(rows: usize, features: usize, loss: Loss, lambda: f64) -> Profile {
    let data = DataProfile {
        rows,
        features,
        nonzeros: rows.saturating_mul(features.min(40)),
        mean_squared_norm: 1.0,
        unevenness: 1.3,
        spectrum: vec![(0.5, 1.0), (0.5 / features as f64, features as f64)],
    };
    Profile { data, loss, lambda, bias: false }
}

/// Gaussian elimination without a pivot below 0, up to rounding.
fn assert_semi_definite(mut matrix: Vec<Vec<f64>>) {
    let size = matrix.len();
    for at in 0..size {
        let pivot = matrix[at][at];
        assert!(pivot > -1e-9, "pivot {pivot} at {at} of {size}");
        if pivot < 1e-9 {
            assert!(matrix[at][at..].iter().all(|value| value.abs() < 1e-6), "at {at} of {size}");
            continue;
        }
        let (above, below) = matrix.split_at_mut(at + 1);
        for row in below {
            let factor = row[at] / pivot;
            row.iter_mut().zip(&above[at]).skip(at).for_each(|(value, other)| *value -= factor * other);
        }
    }
}
