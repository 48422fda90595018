//! What came of each claim, in a sentence with its figures, and its verdict.

use super::curves::{Curves, Gap};
use super::experiments::WORKERS;
use super::sections::Results;
use super::verdict::{Gaps, UpperBound, VISIBLE, Verdict, best_of_form};
use crate::reproduce::words::{percent, times};

/// Shares from here on are multiples.
const MANY: f64 = 2.0;

/// An algorithm that is not the paper's.
const OURS: &str = "our Hogwild!";
/// The rows of Table II here: the algorithm, its panel, and whether its iterations are shared.
const BOUNDS: [(&str, &str, bool); 5] = [
    ("Hogwild!", "t1", true),
    (OURS, "t2", true),
    ("mini-batch SGD", "3a", false),
    ("ECD-PSGD", "4b", false),
    ("DADM", "t3", false),
];

/// Table II here.
pub(super) fn bounds(results: &Results) -> Vec<UpperBound> {
    let bound = |(name, panel, shared): (&str, &str, bool)| {
        Some(UpperBound::of(name.to_owned(), results.get(panel)?, shared))
    };
    BOUNDS.into_iter().filter_map(bound).collect()
}

/// Of Figure 3.
pub(super) fn mini_batch(results: &Results) -> (Verdict, String) {
    let [dense, sparse, scaled] = ["3a", "3b", "3c"].map(|name| Gaps::ahead(&results[name]));
    let verdict = dense.wider(&sparse).provided(sparse.is_invisible());
    (
        verdict,
        format!("{} {}", ahead(&[("dense rows", dense), ("sparse rows", sparse)]), variance(&dense, &scaled)),
    )
}

/// Of Figure 4.
pub(super) fn decentralised(results: &Results) -> (Verdict, String) {
    let [dense, sparse, scaled] = ["4b", "4a", "4c"].map(|name| Gaps::ahead(&results[name]));
    let harm = [sparse.early, sparse.late].iter().any(|gap| gap.median <= -VISIBLE);
    let found = format!(
        "{} On sparse rows parallelism does {}harm. {}",
        ahead(&[("dense rows", dense), ("sparse rows", sparse)]),
        if harm { "" } else { "no " },
        variance(&dense, &scaled)
    );
    (dense.wider(&sparse).provided(harm), found)
}

/// Of Figure 5.
pub(super) fn hogwild(results: &Results) -> (Verdict, String) {
    let [sparse, dense, scaled, own_sparse, own_dense] =
        ["5a", "5b", "5c", "5d", "5e"].map(|name| Gaps::behind(&results[name]));
    let found = format!(
        "{} On sparse rows that are scaled to vary as much as the dense ones it is {}, so {}. With our `hogwild`, whose workers \
         step on copies of their own and exchange what changes, it is {} on sparse rows and {} on dense ones.",
        behind(&[("sparse rows", sparse), ("dense rows", dense)]),
        both(&scaled),
        if scaled.is_invisible() { "it is sparsity that helps" } else { "variance has a part in it" },
        both(&own_sparse),
        both(&own_dense),
    );
    (dense.wider(&sparse).provided(sparse.is_invisible()), found)
}

/// Of four panels with fewer and fewer different rows.
pub(super) fn diversity(results: &Results, panels: [&str; 4]) -> (Verdict, String) {
    let [high, middle, low, few] = panels.map(|name| Gaps::ahead(&results[name]));
    let found = ahead(&[
        ("rows that are all different", high),
        ("half as many different ones", middle),
        ("a quarter as many", low),
        ("32", few),
    ]);
    let few = match high.wider(&few) {
        _ if high.is_invisible() => "There is no gap that diversity could widen.",
        Verdict::NotConfirmed => "Not even 32 different rows have a smaller gap.",
        _ => "With 32 different rows the gap is smaller.",
    };
    (high.wider(&low), format!("{found} {few}"))
}

/// On sparse rows as in the paper, and on dense ones, where there is a gap that diversity could widen.
pub(super) fn diversity_of_batches(results: &Results) -> (Verdict, String) {
    let [high, low] = ["3a", "6d"].map(|name| Gaps::ahead(&results[name]));
    let (on_sparse, found) = diversity(results, ["3c", "6a", "6b", "6c"]);
    let on_dense = high.wider(&low);
    let dense = ahead(&[
        ("rows that are all different (Figure 3(a))", high),
        ("a quarter as many different ones", low),
    ]);
    let each = [on_sparse, on_dense];
    let verdict = if each == [Verdict::Confirmed; 2] {
        Verdict::Confirmed
    } else if each == [Verdict::NotConfirmed; 2] {
        Verdict::NotConfirmed
    } else {
        Verdict::Restricted
    };
    (
        verdict,
        format!("Scaled sparse rows, which are all different in Figure 3(c): {found} Dense rows: {dense}"),
    )
}

/// Of the first panel the gap is to be wider.
pub(super) fn similarity(
    results: &Results,
    [wide, narrow]: [&'static str; 2],
    gaps: fn(&Curves) -> Gaps,
) -> (Verdict, String) {
    let [first, second] = [wide, narrow].map(|name| gaps(&results[name]));
    let named = [(words(wide), first), (words(narrow), second)];
    let found = if wide == "9b" { behind(&named) } else { ahead(&named) };
    let how = |first: Gap, second: Gap| {
        if first.is_wider(&second) {
            "it is as the paper says"
        } else if second.is_wider(&first) {
            "it is the other way round"
        } else {
            "the two do not differ by what can be seen"
        }
    };
    let [early, late] = [how(first.early, second.early), how(first.late, second.late)];
    let how = if early == late {
        format!("Early and late {early}.")
    } else {
        format!("Early {early}, late {late}.")
    };
    (first.wider(&second), format!("{found} {how}"))
}

fn words(panel: &str) -> &'static str {
    if panel.ends_with('a') { "consecutive rows that differ" } else { "consecutive rows that are alike" }
}

/// Whether rearranged rows have less loss, with one worker and with the most.
pub(super) fn rearranging(results: &Results) -> (Verdict, String) {
    let methods = [
        ("mini-batch SGD", "7b", "7c"),
        ("ECD-PSGD", "8b", "8c"),
        ("Hogwild!", "9b", "9c"),
        ("DADM", "10b", "10c"),
    ];
    let last = WORKERS.len() - 1;
    let saved = methods.map(|(name, given, rearranged)| {
        let above = |at| results[given].above(&results[rearranged], at);
        (name, [above(0), above(last)])
    });
    let numbers = [WORKERS[0], WORKERS[last]];
    let found_where = |holds: fn(&Gap) -> bool| -> Vec<(&str, usize)> {
        let each = saved.iter().flat_map(|(name, gaps)| gaps.iter().zip(numbers).map(|of| (*name, of)));
        each.filter(|(_, (gap, _))| holds(gap)).map(|(name, (_, workers))| (name, workers)).collect()
    };
    let helped = found_where(|gap| gap.low > 0.0 && gap.median >= VISIBLE);
    let harmed = found_where(|gap| gap.high < 0.0 && gap.median <= -VISIBLE);
    let each = saved.iter().map(|(name, [one, most])| {
        format!("{name} {} and {}", percent_signed(one.median), percent_signed(most.median))
    });
    let found = format!(
        "The mean loss of rows as they come, above that of the same rows rearranged, with 1 worker and with {}, as shares of \
         what training gains: {}. Rearranging helps {} and harms {}.",
        WORKERS[last],
        each.collect::<Vec<_>>().join("; "),
        all_of(&helped),
        all_of(&harmed),
    );
    let verdict = Verdict::of(methods.map(|(method, ..)| helped.iter().any(|(name, _)| *name == method)));
    (verdict.provided(harmed.is_empty()), found)
}

fn all_of(runs: &[(&str, usize)]) -> String {
    let each: Vec<String> = runs.iter().map(|(name, workers)| format!("{name} on {workers}")).collect();
    if each.is_empty() { "none".to_owned() } else { each.join(", ") }
}

/// Of Table II.
pub(super) fn upper_bounds(results: &Results) -> (Verdict, String) {
    let bounds = bounds(results);
    let words = |bound: &UpperBound| match bound.bound {
        Some(workers) => format!("{} after {workers}", bound.algorithm),
        None => format!("{} not up to {}", bound.algorithm, WORKERS[WORKERS.len() - 1]),
    };
    let words: Vec<String> = bounds.iter().map(words).collect();
    let found = format!(
        "More workers stop saving a tenth of the iterations of each for every doubling: {}.",
        words.join(", ")
    );
    let form = bounds.first().and_then(best_of_form).map_or(String::new(), |best| {
        format!(" The form of Theorem 2, 1/m + c·m with c fitted, puts the best number of workers of Hogwild! at {best:.0}.")
    });
    let papers = bounds.iter().filter(|bound| bound.algorithm != OURS);
    (Verdict::of(papers.map(|bound| bound.bound.is_some())), found + &form)
}

/// What rows of a variance that sparse ones do not have tell.
fn variance(dense: &Gaps, scaled: &Gaps) -> String {
    let why = match dense.wider(scaled) {
        Verdict::Confirmed => "so variance alone does not make the gap",
        Verdict::Restricted => "so variance makes a part of the gap",
        Verdict::NotConfirmed => "so it is variance that makes the gap, not density",
    };
    format!("On sparse rows that are scaled to vary as much as the dense ones it is {}, {why}.", both(scaled))
}

fn ahead(gaps: &[(&str, Gaps)]) -> String {
    format!("{} workers are ahead of 1 by {}.", WORKERS[WORKERS.len() - 1], listed(gaps))
}

fn behind(gaps: &[(&str, Gaps)]) -> String {
    format!("{} workers are behind 1 by {}.", WORKERS[WORKERS.len() - 1], listed(gaps))
}

fn listed(gaps: &[(&str, Gaps)]) -> String {
    let each: Vec<String> = gaps.iter().map(|(name, gaps)| format!("{} on {name}", both(gaps))).collect();
    each.join(", ")
}

/// `12 % early and 3.0 % late`.
fn both(gaps: &Gaps) -> String {
    format!("{} early and {} late", percent_signed(gaps.early.median), percent_signed(gaps.late.median))
}

/// Of what training gains: `12 %`, `−0.5 %`, `6.4 times the gain`.
fn percent_signed(share: f64) -> String {
    let size = match share.abs() {
        size if size < MANY => percent(size),
        size => format!("{} times the gain", times(size)),
    };
    if share < 0.0 { format!("−{size}") } else { size }
}
