//! The set of runs that narrows the posteriors most within a budget.
//!
//! Greedy, twice: by gain for each second, which is right while the budget is large beside a run, and by gain alone,
//! which is right when one good run takes most of it. The better of the two is never far from the best set, since each
//! further run adds less than it would have added before.

use super::targets::{Measurement, TargetPosterior};
use super::{Criterion, Experiment};

/// A run that lowers the variance by a smaller share than this is not worth starting.
const WORTH: f64 = 0.05;
/// Errors of one or two in a hundred are good enough.
const SMALL: f64 = 0.0003;
/// The same in nats.
const WORTH_NATS: f64 = 0.1;
/// When nothing was timed: at most so many runs, of at most this share of the budget together.
const PILOTS: usize = 4;
const PILOT_SHARE: f64 = 0.25;

/// Named posteriors whose variances add.
#[derive(Debug, Clone)]
pub(crate) struct Posteriors(pub Vec<(&'static str, TargetPosterior)>);

/// A run that could be made.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub workers: usize,
    pub fraction: f64,
    pub rounds: u64,
    pub seconds: f64,
    pub measurements: Vec<Measurement>,
}

impl Posteriors {
    pub fn observe(&mut self, measurements: &[Measurement]) {
        measurements.iter().for_each(|shown| self.0[shown.quantity].1.observe(shown.place, shown.noise));
    }

    fn variance(&self) -> f64 {
        self.0.iter().map(|(_, posterior)| posterior.variance()).sum()
    }

    /// What a further run must gain.
    fn least(&self, criterion: Criterion) -> f64 {
        match criterion {
            Criterion::Average => (WORTH * self.variance()).max(SMALL),
            Criterion::Determinant => WORTH_NATS,
        }
    }

    fn gain(&self, measurements: &[Measurement], criterion: Criterion) -> f64 {
        let of = |shown: &Measurement| {
            let posterior = &self.0[shown.quantity].1;
            match criterion {
                Criterion::Average => posterior.narrowing(shown.place, shown.noise),
                Criterion::Determinant => posterior.information(shown.place, shown.noise),
            }
        };
        measurements.iter().map(of).sum()
    }
}

/// Within a budget of seconds.
pub(crate) fn within(
    posteriors: &Posteriors,
    candidates: &[Candidate],
    criterion: Criterion,
    budget: f64,
) -> Vec<Experiment> {
    let sets =
        [true, false].map(|each_second| greedy(posteriors, candidates, criterion, budget, each_second));
    let [a, b] = sets.each_ref().map(|set| worth(posteriors, set, criterion));
    let [by_second, alone] = sets;
    let better = if a >= b { by_second } else { alone };
    with_reasons(posteriors, &pruned(posteriors, better, criterion))
}

/// A few runs to begin with, when costs are only relative: each gets its share of a part of the budget.
pub(crate) fn pilots(
    posteriors: &Posteriors,
    candidates: &[Candidate],
    criterion: Criterion,
    budget: f64,
) -> Vec<Experiment> {
    let dearest = candidates.iter().map(|candidate| candidate.seconds).fold(0.0, f64::max);
    let chosen = greedy(posteriors, candidates, criterion, dearest, true);
    let mut chosen = pruned(posteriors, chosen, criterion);
    chosen.truncate(PILOTS);
    let all: f64 = chosen.iter().map(|candidate| candidate.seconds).sum();
    let mut experiments = with_reasons(posteriors, &chosen);
    for experiment in &mut experiments {
        experiment.seconds *= PILOT_SHARE * budget / all;
        experiment.reason.push_str("; nothing was timed yet");
    }
    experiments
}

/// Adds the best run that the rest of the budget allows, or lengthens one already taken, until none is worth it.
fn greedy<'a>(
    posteriors: &Posteriors,
    candidates: &'a [Candidate],
    criterion: Criterion,
    budget: f64,
    each_second: bool,
) -> Vec<&'a Candidate> {
    let mut chosen: Vec<&Candidate> = Vec::new();
    let (mut now, mut left) = (posteriors.clone(), budget);
    loop {
        let least = now.least(criterion);
        let mut best: Option<(f64, &Candidate)> = None;
        for candidate in candidates {
            let Some(seconds) = extra(candidate, &chosen).filter(|&seconds| seconds <= left) else {
                continue;
            };
            let gain = now.gain(&candidate.measurements, criterion);
            let score = if each_second { gain / seconds.max(1e-12) } else { gain };
            if gain > least && best.as_ref().is_none_or(|(found, _)| score > *found) {
                best = Some((score, candidate));
            }
        }
        let Some((_, candidate)) = best else { return chosen };
        left -= extra(candidate, &chosen).unwrap_or(candidate.seconds);
        match chosen.iter_mut().find(|taken| same_place(taken, candidate)) {
            Some(taken) => {
                *taken = candidate;
                now = after(posteriors, &chosen);
            }
            None => {
                chosen.push(candidate);
                now.observe(&candidate.measurements);
            }
        }
    }
}

/// Without runs that later ones made superfluous; their time is saved.
fn pruned<'a>(
    posteriors: &Posteriors,
    mut chosen: Vec<&'a Candidate>,
    criterion: Criterion,
) -> Vec<&'a Candidate> {
    let least = after(posteriors, &chosen).least(criterion);
    for k in (0..chosen.len()).rev() {
        let mut fewer = chosen.clone();
        fewer.remove(k);
        if worth(posteriors, &chosen, criterion) - worth(posteriors, &fewer, criterion) < least {
            chosen = fewer;
        }
    }
    chosen
}

/// What a run costs beside those chosen: one on the same workers and data is only made longer.
fn extra(candidate: &Candidate, chosen: &[&Candidate]) -> Option<f64> {
    match chosen.iter().find(|taken| same_place(taken, candidate)) {
        Some(taken) if taken.rounds >= candidate.rounds => None,
        Some(taken) => Some((candidate.seconds - taken.seconds).max(0.0)),
        None => Some(candidate.seconds),
    }
}

fn same_place(a: &Candidate, b: &Candidate) -> bool {
    a.workers == b.workers && a.fraction == b.fraction
}

fn after(posteriors: &Posteriors, chosen: &[&Candidate]) -> Posteriors {
    let mut now = posteriors.clone();
    chosen.iter().for_each(|candidate| now.observe(&candidate.measurements));
    now
}

/// What a set as a whole gains.
fn worth(posteriors: &Posteriors, chosen: &[&Candidate], criterion: Criterion) -> f64 {
    match criterion {
        Criterion::Average => -after(posteriors, chosen).variance(),
        Criterion::Determinant => {
            let (mut now, mut sum) = (posteriors.clone(), 0.0);
            for candidate in chosen {
                sum += now.gain(&candidate.measurements, criterion);
                now.observe(&candidate.measurements);
            }
            sum
        }
    }
}

/// The chosen runs, each with what it adds to those before.
fn with_reasons(posteriors: &Posteriors, chosen: &[&Candidate]) -> Vec<Experiment> {
    let mut now = posteriors.clone();
    let mut experiment = |candidate: &&Candidate| {
        let before = now.clone();
        now.observe(&candidate.measurements);
        Experiment {
            workers: candidate.workers,
            fraction: candidate.fraction,
            rounds: candidate.rounds,
            seconds: candidate.seconds,
            reason: reason(&before, &now),
        }
    };
    chosen.iter().map(&mut experiment).collect()
}

fn reason(before: &Posteriors, after: &Posteriors) -> String {
    let narrowed = |k: &usize| before.0[*k].1.variance() - after.0[*k].1.variance();
    let most = (0..before.0.len()).max_by(|a, b| narrowed(a).total_cmp(&narrowed(b)));
    let factor = |posteriors: &Posteriors| posteriors.variance().max(0.0).sqrt().exp();
    let about = most.map_or("", |k| before.0[k].0);
    format!(
        "expected error from a factor of {:.2} to {:.2}, mostly of {about}",
        factor(before),
        factor(after)
    )
}
