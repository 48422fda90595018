//! Questions on runs whose truth is known.

use super::*;

const WORKERS: [usize; 5] = [1, 2, 4, 8, 16];

fn seconds_per_round(m: f64, fraction: f64) -> f64 {
    0.1 + 2.0 * fraction / m + 0.01 * m.ln()
}

fn gap(i: f64, m: f64) -> f64 {
    0.5 * (-i / (4.0 + 0.5 * m)).exp()
}

fn runs(fraction: f64, rounds: u64) -> Vec<Observation> {
    let row = |workers: usize, iteration: u64| {
        let (m, i) = (workers as f64, iteration as f64);
        Observation {
            run: format!("{workers}-{fraction}"),
            algorithm: "made up".into(),
            workers,
            fraction,
            iteration,
            seconds: Some(i * seconds_per_round(m, fraction)),
            value: (fraction == 1.0).then(|| gap(i, m)),
        }
    };
    WORKERS.iter().flat_map(|&m| (1..=rounds).map(move |i| row(m, i))).collect()
}

fn find(summaries: &[Summary], question: Question, method: Method) -> Summary {
    let found = summaries.iter().find(|s| s.question == question && s.method == method);
    found.unwrap_or_else(|| panic!("no {method} for {question}")).clone()
}

#[test]
fn a_known_truth_is_found_and_baselines_stand_beside_it() {
    let mut all = runs(1.0, 120);
    all.extend(runs(0.05, 5));
    all.extend(runs(0.1, 5));
    let summaries = summarise(&evaluate(&all, Target::SubOptimality));
    for (question, beaten, within) in [
        (Question::RoundsInside, "nearest m", 0.05),
        (Question::RoundsBeyond, "nearest m", 0.1),
        (Question::SecondsHeldOut, "model", 0.02),
        (Question::SecondsFromSample, "model", 0.1),
        (Question::ForwardRounds(10, View::BestSoFar), "persistence", 0.05),
        (Question::ForwardSeconds(5, View::AsRecorded), "persistence", 0.05),
    ] {
        let ours = find(&summaries, question, MODEL);
        assert!(ours.median <= within, "{ours:?}");
        assert!(ours.covered.unwrap() >= 0.8, "{ours:?}");
        assert!(ours.median <= find(&summaries, question, beaten).median, "{ours:?}");
    }
    for method in ["lasso", "linear", "interpolated"] {
        assert_eq!(find(&summaries, Question::RoundsInside, method).cases, 3 * 3);
    }
    assert!(find(&summaries, Question::SecondsHeldOut, "ernest").cases == 15);
}

#[test]
fn a_goal_that_no_run_gets_to_is_censored() {
    let short = runs(1.0, 30);
    let cases = evaluate(&short, Target::SubOptimality);
    let beyond = find(&summarise(&cases), Question::RoundsBeyond, MODEL);
    assert_eq!((beyond.cases, beyond.censored, beyond.missed), (0, 3, 0));
    assert!(beyond.median.is_nan());
}

#[test]
fn too_little_gives_no_case() {
    assert!(evaluate(&[], Target::SubOptimality).is_empty());
    let mut few = runs(1.0, 3);
    few.retain(|o| o.workers <= 2);
    assert!(evaluate(&few, Target::SubOptimality).is_empty());
    few.iter_mut().for_each(|o| (o.seconds, o.value) = (None, None));
    assert!(evaluate(&few, Target::Loss { lower: 0.0, upper: 1.0 }).is_empty());
}

#[test]
fn losses_are_judged_relative_to_their_optimum() {
    let mut all = runs(1.0, 150);
    all.iter_mut().for_each(|o| o.value = o.value.map(|v| v + 0.25));
    let target = Target::Loss { lower: 0.2499, upper: 0.2501 };
    let ours = find(&summarise(&evaluate(&all, target)), Question::RoundsInside, MODEL);
    assert!(ours.cases >= 6 && ours.median < 0.1, "{ours:?}");
}
