//! The whole model on curves whose truth is known, and on input that says nothing.

use super::*;

fn trace(workers: &[usize], rounds: u64, gap: impl Fn(f64, f64) -> f64) -> Vec<Observation> {
    let at = |&m: &usize| {
        let gap = &gap;
        (1..=rounds).map(move |iteration| Observation {
            run: m.to_string(),
            algorithm: "made up".into(),
            workers: m,
            fraction: 1.0,
            iteration,
            seconds: None,
            value: Some(gap(iteration as f64, m as f64)),
        })
    };
    workers.iter().flat_map(at).collect()
}

fn linear_rate(i: f64, m: f64) -> f64 {
    0.5 * (-i / (2.0 + 0.5 * m)).exp()
}

fn inverse(i: f64, m: f64) -> f64 {
    0.5 / (1.0 + i / (2.0 + m))
}

fn close(found: f64, truth: f64, within: f64) {
    assert!((found / truth - 1.0).abs() <= within, "{found} is not within {within} of {truth}");
}

#[test]
fn known_rates_are_continued_to_other_workers_and_later_iterations() {
    for rate in [linear_rate, inverse] {
        let model =
            ConvergenceModel::fit(&trace(&[1, 2, 4, 16, 32], 100, rate), Target::SubOptimality).unwrap();
        for (m, i, within) in [(8, 50, 0.05), (64, 60, 0.15), (4, 90, 0.06)] {
            close(model.value(m, i).mean, rate(i as f64, m as f64), within);
            let found = model.iterations_to(m, rate(i as f64, m as f64)).unwrap();
            close(found.mean, i as f64, within);
            assert!(found.low <= i as f64 && i as f64 <= found.high);
        }
    }
}

#[test]
fn predictions_never_rise_with_iterations() {
    let model = ConvergenceModel::fit(&trace(&[1, 2, 8], 60, inverse), Target::SubOptimality).unwrap();
    for m in [1, 3, 8, 20, 500] {
        let values: Vec<f64> = (1..400).step_by(7).map(|i| model.value(m, i).mean).collect();
        assert!(values.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)), "{m}: {values:?}");
    }
}

#[test]
fn an_unknown_optimum_is_found_inside_its_bracket() {
    let loss = |i: f64, m: f64| 0.3 + linear_rate(i, m);
    let target = Target::Loss { lower: 0.2, upper: 0.301 };
    let model = ConvergenceModel::fit(&trace(&[4, 8, 16], 40, loss), target).unwrap();
    let optimum = model.scale.optimum;
    assert!((0.295..=0.301).contains(&optimum), "{optimum}");
    close(model.value(8, 30).mean, loss(30.0, 8.0), 0.01);
    assert_eq!(model.iterations_to(8, 0.2), None);
}

#[test]
fn accuracy_rises_towards_a_limit() {
    let accuracy = |i: f64, m: f64| 0.95 - inverse(i, m);
    let target = Target::Metric(Better::Higher);
    let model = ConvergenceModel::fit(&trace(&[1, 2, 4, 8], 80, accuracy), target).unwrap();
    let found = model.value(4, 60);
    close(found.mean, accuracy(60.0, 4.0), 0.01);
    assert!(found.low <= found.mean && found.mean <= found.high);
    close(model.iterations_to(2, accuracy(30.0, 2.0)).unwrap().mean, 30.0, 0.1);
}

#[test]
fn one_number_of_workers_gives_wide_intervals_elsewhere() {
    let model = ConvergenceModel::fit(&trace(&[4], 50, linear_rate), Target::SubOptimality).unwrap();
    close(model.value(4, 30).mean, linear_rate(30.0, 4.0), 0.05);
    let there = model.iterations_to(64, 1e-3).unwrap();
    assert!(there.high / there.low > 10.0, "{there:?}");
    assert!(model.extrapolation(4, 50).is_none());
    assert_eq!(
        model.extrapolation(64, 100).unwrap(),
        "64 workers are 16.0 times the most measured, 4; iteration 100 is 2.0 times the longest run, 50"
    );
}

#[test]
fn intervals_grow_with_distance() {
    let noisy = |i: f64, m: f64| inverse(i, m) * (1.0 + 0.05 * (m * 7.0).sin());
    let model = ConvergenceModel::fit(&trace(&[1, 2, 4, 8, 16], 60, noisy), Target::SubOptimality).unwrap();
    let width = |m: usize, i: u64| {
        let found = model.value(m, i);
        found.high / found.low
    };
    assert!(width(16, 40) < width(32, 40) && width(32, 40) < width(128, 40));
    assert!(width(16, 60) < width(16, 600));
}

#[test]
fn input_that_says_nothing_is_refused() {
    let fit = |rows: &[Observation]| ConvergenceModel::fit(rows, Target::SubOptimality).map(|_| ());
    assert!(matches!(fit(&[]), Err(ConvergenceError::TooFew { .. })));
    assert!(matches!(fit(&trace(&[2], 3, inverse)), Err(ConvergenceError::TooFew { usable: 3, .. })));
    assert!(matches!(fit(&trace(&[2, 4], 30, |_, _| 0.5)), Err(ConvergenceError::Constant { .. })));
    assert!(matches!(
        fit(&trace(&[2, 4], 30, |_, _| f64::NAN)),
        Err(ConvergenceError::TooFew { usable: 0, .. })
    ));
    let mut two = trace(&[2, 4], 30, inverse);
    two[3].algorithm = "another".into();
    assert!(matches!(fit(&two), Err(ConvergenceError::SeveralAlgorithms { .. })));
    let bracket = Target::Loss { lower: 2.0, upper: 3.0 };
    let refused = ConvergenceModel::fit(&trace(&[2, 4], 30, inverse), bracket).map(|_| ());
    assert!(matches!(refused, Err(ConvergenceError::Bracket { .. })));
}

#[test]
fn sparse_and_odd_traces_give_finite_estimates() {
    let odd: Vec<Vec<Observation>> = vec![
        trace(&[1, 2, 4, 8], 1, inverse),
        trace(&[3], 4, inverse),
        trace(&[1, 2, 4], 40, |i, m| if m == 2.0 { 0.5 } else { inverse(i, m) }),
        trace(&[1, 2], 40, |i, m| if i > 5.0 { 1e-9 } else { inverse(i, m) }),
    ];
    for rows in odd {
        match ConvergenceModel::fit(&rows, Target::SubOptimality) {
            Err(error) => println!("{error}"),
            Ok(model) => {
                for (m, i) in [(1, 1), (2, 10), (64, 1000)] {
                    let found = model.value(m, i);
                    assert!(found.low <= found.mean && found.mean <= found.high, "{found:?}");
                }
            }
        }
    }
}

/// Values that fall on a line may go on falling or stop: far beyond the runs neither is ruled out.
#[test]
fn the_limit_of_a_metric_is_in_doubt_beyond_the_runs() {
    let runs: Vec<Observation> = [1usize, 2, 4]
        .iter()
        .flat_map(|&workers| {
            (1..=30).map(move |iteration| Observation {
                run: workers.to_string(),
                algorithm: "line".into(),
                workers,
                fraction: 1.0,
                iteration,
                seconds: None,
                value: Some(0.9 - 0.02 * iteration as f64),
            })
        })
        .collect();
    let model = ConvergenceModel::fit(&runs, Target::Metric(Better::Lower)).unwrap();
    let (inside, far) = (model.value(2, 20), model.value(2, 1000));
    assert!(inside.high - inside.low < 0.1, "{inside:?}");
    assert!(far.high >= 0.3 && far.low <= -0.5, "{far:?}");
    assert!(far.high <= 0.4, "it does not get worse again: {far:?}");
    let last = model.iterations_to(2, 0.0).unwrap();
    assert!(last.high > 10.0 * last.mean, "a goal that may never be reached: {last:?}");
}
