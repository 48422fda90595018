//! What is promised for any input: budgets are kept, nothing panics, the same question has the same answer.

use super::*;

fn run(workers: usize, fraction: f64, rounds: u64) -> Vec<Observation> {
    let (m, s) = (workers as f64, fraction);
    let point = |iteration: u64| Observation {
        run: format!("{workers} {fraction}"),
        algorithm: "made up".into(),
        workers,
        fraction,
        iteration,
        seconds: Some(iteration as f64 * (0.02 + 2.0 * s / m + 0.005 * m)),
        value: Some(0.5 * (-(iteration as f64) / (5.0 + m.sqrt())).exp()),
    };
    (1..=rounds).map(point).collect()
}

fn question() -> Question {
    Question { goal: Some(1e-3), ..Question::new(vec![1, 2, 4, 8, 16, 32], 200) }
}

fn spent(experiments: &[Experiment]) -> f64 {
    experiments.iter().map(|experiment| experiment.seconds).sum()
}

#[test]
fn budgets_are_kept() {
    let one = run(4, 0.25, 20);
    let four: Vec<Observation> =
        [(1, 0.25), (4, 0.25), (16, 1.0), (8, 0.5)].iter().flat_map(|&(m, s)| run(m, s, 30)).collect();
    for known in [Vec::new(), one, four] {
        for criterion in [Criterion::Average, Criterion::Determinant] {
            for about in [About::Times, About::Progress, About::Both] {
                let question = Question { criterion, about, ..question() };
                for budget in [0.5, 10.0, 300.0] {
                    let found = next_experiments(&known, &question, budget);
                    assert!(spent(&found) <= budget * (1.0 + 1e-9), "{budget}: {found:#?}");
                    assert!(budget < 10.0 || !found.is_empty(), "{budget} {criterion:?} {about:?}");
                    assert_eq!(found, next_experiments(&known, &question, budget));
                }
            }
        }
    }
}

#[test]
fn a_first_set_spreads_over_workers() {
    let found = next_experiments(&[], &question(), 100.0);
    let workers: std::collections::BTreeSet<usize> = found.iter().map(|e| e.workers).collect();
    assert!((2..=4).contains(&found.len()) && workers.len() >= 2, "{found:#?}");
    assert!(found.iter().all(|e| e.seconds > 0.0 && e.reason.ends_with("nothing was timed yet")));
}

#[test]
fn what_is_known_is_not_repeated() {
    let known: Vec<Observation> = [1, 32].iter().flat_map(|&m| run(m, 1.0, 120)).collect();
    let found = next_experiments(&known, &question(), 40.0);
    assert!(!found.is_empty());
    assert!(found.iter().all(|e| ![1, 32].contains(&e.workers) || e.fraction < 1.0), "{found:#?}");
}

#[test]
fn no_place_is_chosen_twice() {
    let found = next_experiments(&run(4, 1.0, 50), &question(), 500.0);
    for (k, a) in found.iter().enumerate() {
        let again = found[k + 1..].iter().any(|b| (a.workers, a.fraction) == (b.workers, b.fraction));
        assert!(!again, "{found:#?}");
    }
}

#[test]
fn questions_without_an_answer_get_none() {
    let known = run(4, 1.0, 20);
    for budget in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY, 1e-9] {
        assert_eq!(next_experiments(&known, &question(), budget), []);
    }
    let none = [
        Question { workers: vec![], ..question() },
        Question { workers: vec![0], ..question() },
        Question { fractions: vec![], ..question() },
        Question { fractions: vec![f64::NAN, 0.0, -1.0, 2.0], ..question() },
        Question { rounds: 0, ..question() },
    ];
    for question in none {
        assert_eq!(next_experiments(&known, &question, 100.0), []);
    }
}

#[test]
fn odd_questions_are_answered() {
    let mut odd = run(4, 1.0, 20);
    odd[3].value = Some(f64::NAN);
    odd[4].fraction = f64::NAN;
    odd[5].workers = 0;
    for known in [Vec::new(), odd, run(4, 1.0, 1)] {
        let questions = [
            Question { workers: vec![8], ..question() },
            Question { workers: vec![7; 5], fractions: vec![1.0], rounds: 1, ..question() },
            Question { workers: (1..500).collect(), goal: Some(-1.0), ..question() },
            Question { goal: Some(f64::NAN), ..question() },
        ];
        for question in questions {
            for budget in [50.0, f64::INFINITY] {
                let found = next_experiments(&known, &question, budget);
                assert!(found.iter().all(|e| e.rounds > 0 && e.rounds <= question.rounds), "{found:#?}");
            }
        }
    }
}

#[test]
fn costs_from_elsewhere_are_used_until_there_are_own() {
    let elsewhere: Vec<Observation> = [1, 4, 16].iter().flat_map(|&m| run(m, 1.0, 20)).collect();
    let model = SystemModel::fit(&elsewhere).unwrap();
    let question = Question { costs: Some(model.clone()), ..question() };
    for experiment in next_experiments(&[], &question, 50.0) {
        let expected = model.seconds(experiment.workers, experiment.fraction, experiment.rounds).mean;
        assert_eq!(experiment.seconds, expected);
    }
}
