use hemingway_data::{Dataset, Dense, Labels, LoadOptions, Matrix, Sparse, load};
use hemingway_train::{Loss, Problem};

use super::*;

fn of(data: &Dataset, lambda: f64) -> Vec<Bound> {
    let characters = Characters::of(data);
    let sample = hemingway_data::sample_rows(data, SampledProfile::rows_to_sample(&characters), 0);
    let problem = Problem::new(Loss::Logistic, lambda).unwrap();
    bounds(&characters, &SampledProfile::of(&sample, characters.rows, &problem), lambda)
}

fn generated(spec: &str) -> Vec<Bound> {
    of(&load(spec, &LoadOptions::default()).unwrap(), 1e-3)
}

fn dataset(matrix: Matrix) -> Dataset {
    let targets = (0..matrix.rows()).map(|row| if row % 2 == 0 { 1.0 } else { -1.0 }).collect();
    Dataset::new("", matrix, targets, Labels::Classes { negative: "0".into(), positive: "1".into() })
}

fn dense(rows: usize, columns: usize, value: impl Fn(usize) -> f32) -> Dataset {
    dataset(Matrix::Dense(Dense::new(rows, columns, (0..rows * columns).map(value).collect())))
}

fn check(bounds: &[Bound], rows: f64) {
    assert_eq!(bounds.len(), 5);
    for bound in bounds {
        let [low, median, high] = bound.workers;
        assert!(1.0 <= low && low <= median && median <= high && high <= rows.max(1.0), "{bound:?}");
        assert!(high <= 4.0 * low, "an interval is at most a factor of four wide: {bound:?}");
        assert_eq!(bound.suits, median >= SUITS, "{bound:?}");
        assert!(!bound.reason.contains("NaN") && !bound.reason.contains("inf"), "{bound:?}");
        for workers in [1.0, 7.0, 4096.0] {
            assert!(bound.speed_up(workers).iter().all(|of| of.is_finite() && *of > 0.0), "{bound:?}");
        }
        assert!(bound.speed_up(1.0).iter().all(|of| (of - 1.0).abs() < 1e-12), "{bound:?}");
    }
}

#[test]
fn workers_pay_up_to_the_end_of_the_last_doubling_that_saves_a_fifth() {
    for spec in ["synthetic:separable,rows=3000,features=5", "synthetic:text,rows=3000,features=300"] {
        let bounds = generated(spec);
        check(&bounds, 3000.0);
        for bound in bounds.iter().filter(|bound| bound.family != "whole gradients") {
            let best = bound.workers[1];
            let at = |workers: f64| bound.speed_up(workers)[1];
            assert!((at(best / 2.0) / at(best) - 0.8).abs() < 1e-9, "{bound:?}");
        }
    }
}

#[test]
fn the_reason_names_a_character_with_its_value_as_it_is() {
    let data = load("synthetic:separable,rows=3000,features=5", &LoadOptions::default()).unwrap();
    let characters = Characters::of(&data);
    let problem = Problem::new(Loss::Logistic, 1e-3).unwrap();
    let sample = SampledProfile::of(&data, 3000, &problem);
    let told: Vec<String> = characters_of(&characters, &sample).iter().map(Character::told).collect();
    for bound in bounds(&characters, &sample, 1e-3).iter().take(4) {
        assert!(told.iter().any(|told| bound.reason.starts_with(told.as_str())), "{bound:?}");
        assert!(!bound.reason.contains('{'), "{bound:?}");
    }
}

fn characters_of(data: &Characters, sample: &SampledProfile) -> Vec<Character> {
    characters(data, sample, 1e-3)
}

#[test]
fn every_line_has_its_characters() {
    let data = dense(8, 2, |at| at as f32);
    let of = Characters::of(&data);
    let sample = SampledProfile::of(&data, 8, &Problem::new(Loss::Logistic, 1e-3).unwrap());
    let characters = characters_of(&of, &sample);
    for line in &LINES {
        assert_eq!(line.says(&characters).len(), line.terms.len(), "{}", line.family);
        assert!((0.0..=1.0).contains(&line.turns));
    }
}

#[test]
fn one_sample_many_times_keeps_one_worker_busy() {
    let bounds = of(&dense(500, 3, |at| (at % 3) as f32), 1e-3);
    check(&bounds, 500.0);
    for bound in bounds.iter().filter(|bound| bound.family != "whole gradients") {
        assert_eq!((bound.workers[1], bound.suits), (1.0, false), "{bound:?}");
    }
}

#[test]
fn whatever_the_data_bounds_are_numbers() {
    let column_empty = |at: usize| if at % 3 == 1 { 0.0 } else { (at * at % 11) as f32 };
    for data in [
        dense(1, 1, |_| 0.0),
        dense(1, 4, |_| 1.0),
        dense(2, 1, |_| 1.0),
        dense(40, 3, |_| 0.0),
        dense(40, 3, column_empty),
        dense(40, 2, |at| at as f32 * 1e15),
    ] {
        for lambda in [1e-12, 1e-3, 1e6] {
            check(&of(&data, lambda), data.matrix.rows() as f64);
        }
    }
}

#[test]
fn a_million_features_are_no_more_trouble() {
    let indices: Vec<u32> = (0..600).map(|at| at * 1_600 + at % 7).collect();
    let offsets = (0..=200).map(|row| 3 * row).collect();
    let matrix = Matrix::Sparse(Sparse::new(1_000_000, offsets, indices, vec![1.0; 600]));
    check(&of(&dataset(matrix), 1e-3), 200.0);
}
