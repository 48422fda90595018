//! Figure 1(c): the paper's algorithms beside one another, in which order they arrive, and what decides that.

use hemingway_train::TRY_OTHER;

use super::accuracy::median;
use super::experiments::{COMPARED, Evidence, SHORTER, VARIED};
use super::trace::{GOAL, Trace};
use super::words;

/// The paper's algorithms, and variants of local SGD.
pub(crate) fn shown(evidence: &Evidence) -> Vec<Trace> {
    let named = |(name, trace): (String, &Trace)| Trace { algorithm: name, ..trace.clone() };
    compared(evidence).cloned().chain(variants(evidence).into_iter().map(named)).collect()
}

/// Local SGD with other hyperparameters, each with a name that a legend has room for.
fn variants(evidence: &Evidence) -> Vec<(String, &Trace)> {
    let both = [
        (format!("{VARIED}, 1/(λt)"), &evidence.steps_of_theory),
        (format!("{VARIED}, 1/{SHORTER} pass"), &evidence.shorter_rounds),
    ];
    both.into_iter().filter_map(|(name, trace)| Some((name, trace.as_ref()?))).collect()
}

/// The algorithms that the paper does not compare.
pub(crate) fn others(evidence: &Evidence) -> Vec<Trace> {
    let further = |trace: &&Trace| !COMPARED.contains(&trace.algorithm.as_str());
    evidence.algorithms.iter().filter(further).cloned().collect()
}

pub(crate) fn label(trace: &Trace) -> String {
    trace.algorithm.clone()
}

/// What became of the paper's algorithms, and why.
pub(crate) fn result(evidence: &Evidence) -> String {
    let traces: Vec<Trace> = compared(evidence).cloned().collect();
    [
        ranking(&traces),
        order(&traces),
        crossing(&traces),
        early(&traces),
        choices(evidence),
        averages(evidence),
    ]
    .into_iter()
    .filter(|sentence| !sentence.is_empty())
    .collect::<Vec<_>>()
    .join(" ")
}

/// Who is first at the goal; those who do not get there by how near they are.
pub(crate) fn ranking(traces: &[Trace]) -> String {
    let each = |trace: &Trace| {
        let end = match trace.reached(GOAL) {
            Some(round) => format!("in round {}", round.number),
            None => format!("not in {} rounds ({:.1e})", trace.rounds(), trace.points.last()?.gap),
        };
        Some(format!("{} {end}", trace.algorithm))
    };
    let all: Vec<String> = ranked(traces).into_iter().filter_map(each).collect();
    format!("A sub-optimality of 1e-4 is reached by {}.", all.join(", "))
}

/// Those of the paper, in the order of its legend.
fn compared(evidence: &Evidence) -> impl Iterator<Item = &Trace> {
    COMPARED.iter().flat_map(|name| evidence.algorithms.iter().filter(move |trace| trace.algorithm == *name))
}

fn ranked(traces: &[Trace]) -> Vec<&Trace> {
    let rank = |trace: &Trace| match trace.reached(GOAL) {
        Some(round) => (round.number, 0.0),
        None => (u64::MAX, trace.points.last().map_or(f64::INFINITY, |point| point.gap)),
    };
    let mut ranked: Vec<&Trace> = traces.iter().collect();
    ranked.sort_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    ranked
}

/// Whether the paper's order holds: dual methods before those built on SGD.
fn order(traces: &[Trace]) -> String {
    let dual = |trace: &&Trace| trace.algorithm.starts_with("cocoa");
    let ranked = ranked(traces);
    let duals = ranked.iter().filter(|trace| dual(trace)).count();
    match ranked.iter().take(duals).all(dual) {
        true => "So the dual methods are ahead of those built on SGD, as in the paper.".to_owned(),
        false => {
            "So the dual methods are not ahead of those built on SGD, as they are in the paper.".to_owned()
        }
    }
}

/// Whether CoCoA overtakes CoCoA+, and where.
fn crossing(traces: &[Trace]) -> String {
    let named = |name: &str| traces.iter().find(|trace| trace.algorithm == name);
    let (Some(cocoa), Some(plus)) = (named("cocoa"), named("cocoa-plus")) else { return String::new() };
    let last = cocoa.rounds().min(plus.rounds());
    let ahead = |round: u64| gap_after(cocoa, round) < gap_after(plus, round);
    match (1..=last).rev().take_while(|round| ahead(*round)).last() {
        Some(1) => "CoCoA is ahead of CoCoA+ all the time.".to_owned(),
        Some(round) => format!("CoCoA overtakes CoCoA+ in round {round}."),
        None => {
            "CoCoA does not overtake CoCoA+, whose σ' here is not the worst but what workers did.".to_owned()
        }
    }
}

/// How near they are after a few rounds.
fn early(traces: &[Trace]) -> String {
    let each = |trace: &Trace| Some(format!("{} {:.1e}", trace.algorithm, gap_after(trace, EARLY)?));
    let all: Vec<String> = traces.iter().filter_map(each).collect();
    format!("After {EARLY} rounds: {}.", all.join(", "))
}

const EARLY: u64 = 10;

/// What the search for a step size and the length of rounds are worth.
fn choices(evidence: &Evidence) -> String {
    let Some(ours) = evidence.algorithms.iter().find(|trace| trace.algorithm == VARIED) else {
        return String::new();
    };
    let found = evidence.step_sizes.get(VARIED);
    let found = found.map_or_else(String::new, |size| format!(" (η = {})", words::significant(*size)));
    let each = |(name, trace): (String, &Trace)| {
        let early = gap_after(trace, EARLY)?;
        let end = match trace.reached(GOAL) {
            Some(round) => format!("1e-4 in round {}", round.number),
            None => format!("{:.1e} after {}", gap_after(trace, u64::MAX)?, trace.rounds()),
        };
        Some(format!("{name}: {early:.1e} after {EARLY} rounds, {end}"))
    };
    let all: Vec<String> =
        [(VARIED.to_owned(), ours)].into_iter().chain(variants(evidence)).filter_map(each).collect();
    format!(
        "The paper says neither how steps were chosen nor how many a round has. Ours are searched for{found}, and a round is a \
         pass over a worker's rows; the figure also shows steps of 1/(λt), and rounds of 1/{SHORTER} of a pass. {}. {}",
        all.join("; "),
        decisive(evidence)
    )
}

/// Which of the two choices costs more rounds.
fn decisive(evidence: &Evidence) -> &'static str {
    let variants: Vec<Trace> = variants(evidence).into_iter().map(|(_, trace)| trace.clone()).collect();
    match (ranked(&variants).first(), &evidence.steps_of_theory) {
        (Some(first), Some(theory)) if *first == theory => {
            "So the length of a round matters more than the search for steps."
        }
        (Some(_), Some(_)) => "So the search for steps matters more than the length of a round.",
        _ => "",
    }
}

/// What averages over rounds are worth: every so many scores are of the weights of the round alone.
fn averages(evidence: &Evidence) -> String {
    let each = |name: &&str| {
        let trace = evidence.algorithms_recorded.iter().find(|trace| trace.algorithm == **name)?;
        let alone =
            |k: &usize| trace.points[*k].number.is_multiple_of(TRY_OTHER) && trace.points[*k].number > EARLY;
        let ratio = |k: usize| {
            let (before, after) = (trace.points[k - 1].gap, trace.points.get(k + 1)?.gap);
            Some(trace.points[k].gap / (before * after).sqrt())
        };
        let ratio = median((1..trace.points.len()).filter(alone).filter_map(ratio).collect())?;
        Some(format!("{ratio:.1} times as far from the optimum for {name}"))
    };
    let all: Vec<String> = ["local-sgd", "splash"].iter().filter_map(each).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(
            "What is scored of stochastic methods is an average over recent rounds; the weights of a round alone are in the \
             median {}.",
            all.join(", ")
        ),
    }
}

fn gap_after(trace: &Trace, round: u64) -> Option<f64> {
    trace.first(round).points.last().map(|point| point.gap)
}
