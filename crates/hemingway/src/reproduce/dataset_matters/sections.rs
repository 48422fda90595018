//! The paper's experiments: for each its claim, the panels it takes, and what they come to here.

use std::collections::BTreeMap;

use super::curves::Curves;
use super::experiments::{Panel, WORKERS};
use super::verdict::{Gaps, UpperBound, VISIBLE, Verdict, best_of_form};
use crate::reproduce::words::{percent, times};

/// Shares from here on are multiples.
const MANY: f64 = 2.0;

/// One experiment of the paper.
pub(super) struct Section {
    /// As users write it: `figure-3`.
    pub name: &'static str,
    pub title: &'static str,
    /// What the paper says.
    pub claim: &'static str,
    pub panels: &'static [&'static str],
    judge: fn(&Results) -> (Verdict, String),
}

/// All of them, in the paper's order.
#[rustfmt::skip]
pub(super) const SECTIONS: [Section; 11] = [
    Section { name: "figure-3", title: "Figure 3: mini-batch SGD on dense and sparse rows", claim: "On rows of large variance (HIGGS) larger batches converge faster; on sparse rows parallelism has no influence.", panels: &["3a", "3b", "3c"], judge: mini_batch },
    Section { name: "figure-4", title: "Figure 4: ECD-PSGD on dense and sparse rows", claim: "On rows of large variance (HIGGS) ECD-PSGD converges faster with more workers; on sparse rows parallelism even does harm.", panels: &["4a", "4b", "4c"], judge: decentralised },
    Section { name: "figure-5", title: "Figure 5: Hogwild! on dense and sparse rows", claim: "On sparse rows more workers hardly slow convergence per step, so the steps of each fall linearly; on dense rows they slow it drastically.", panels: &["5a", "5b", "5c", "5d", "5e"], judge: hogwild },
    Section { name: "figure-6", title: "Figure 6: diverse rows and mini-batch SGD", claim: "The more diverse the rows, the better mini-batch SGD scales (caption of the figure).", panels: &["3c", "6a", "6b", "6c", "3a", "6d"], judge: diversity_of_batches },
    Section { name: "figure-6-dadm", title: "Figure 6 for DADM", claim: "The more diverse the rows, the better DADM scales (text of the experiment).", panels: &["6e", "6f", "6g", "6h"], judge: |results| diversity(results, ["6e", "6f", "6g", "6h"]) },
    Section { name: "figure-7", title: "Figure 7: local similarity and mini-batch SGD", claim: "If consecutive rows differ (large LS), more workers gain more than if they are alike.", panels: &["7a", "7b"], judge: |results| similarity(results, ["7a", "7b"], Gaps::ahead) },
    Section { name: "figure-8", title: "Figure 8: local similarity and ECD-PSGD", claim: "If consecutive rows differ (large LS), more workers gain more than if they are alike.", panels: &["8a", "8b"], judge: |results| similarity(results, ["8a", "8b"], Gaps::ahead) },
    Section { name: "figure-9", title: "Figure 9: local similarity and Hogwild!", claim: "If consecutive rows differ (large LS), more workers slow Hogwild! less than if they are alike.", panels: &["9a", "9b"], judge: |results| similarity(results, ["9b", "9a"], Gaps::behind) },
    Section { name: "figure-10", title: "Figure 10: local similarity and DADM", claim: "If consecutive rows differ (large LS), more workers gain more than if they are alike.", panels: &["10a", "10b"], judge: |results| similarity(results, ["10a", "10b"], Gaps::ahead) },
    Section { name: "rearranging", title: "Rearranging rows", claim: "Before training, rearranging the rows is an excellent choice (conclusion 2).", panels: &["7b", "7c", "8b", "8c", "9b", "9c", "10b", "10c"], judge: rearranging },
    Section { name: "table-2", title: "Table II: upper bounds", claim: "Every algorithm has an upper bound of workers, even on the data that suits it best: Hogwild! between 4 and 8, DADM between 16 and 24.", panels: &["t1", "t2", "3a", "4b", "t3"], judge: upper_bounds },
];

/// Curves by the names of their panels.
pub(super) type Results = BTreeMap<&'static str, Curves>;

/// The rows of Table II here: the algorithm, its panel, and whether its iterations are shared.
const BOUNDS: [(&str, &str, bool); 5] = [
    ("Hogwild!", "t1", true),
    ("our Hogwild!", "t2", true),
    ("mini-batch SGD", "3a", false),
    ("ECD-PSGD", "4b", false),
    ("DADM", "t3", false),
];

impl Section {
    /// What came of it.
    pub fn judge(&self, results: &Results) -> (Verdict, String) {
        (self.judge)(results)
    }
}

/// Table II here.
pub(super) fn bounds(results: &Results) -> Vec<UpperBound> {
    let bound = |(name, panel, shared): (&str, &str, bool)| {
        Some(UpperBound::of(name.to_owned(), results.get(panel)?, shared))
    };
    BOUNDS.into_iter().filter_map(bound).collect()
}

/// As in the paper: `Figure 3(a): …`.
pub(super) fn full_title(panel: &Panel) -> String {
    let (number, letter) = panel.name.split_at(panel.name.len() - 1);
    match number {
        "t" => format!("Table II: {}", panel.title),
        _ => format!("Figure {number}({letter}): {}", panel.title),
    }
}

fn mini_batch(results: &Results) -> (Verdict, String) {
    let [dense, sparse, scaled] = ["3a", "3b", "3c"].map(|name| Gaps::ahead(&results[name]));
    let verdict = dense.wider(&sparse).provided(sparse.is_invisible());
    (verdict, format!("{} {}", ahead(&[("dense", dense), ("sparse", sparse)]), variance(&dense, &scaled)))
}

fn decentralised(results: &Results) -> (Verdict, String) {
    let [dense, sparse, scaled] = ["4b", "4a", "4c"].map(|name| Gaps::ahead(&results[name]));
    let harm = [sparse.early, sparse.late].iter().any(|gap| gap.median <= -VISIBLE);
    let found = format!(
        "{} On sparse rows parallelism does {}harm. {}",
        ahead(&[("dense", dense), ("sparse", sparse)]),
        if harm { "" } else { "no " },
        variance(&dense, &scaled)
    );
    (dense.wider(&sparse).provided(harm), found)
}

fn hogwild(results: &Results) -> (Verdict, String) {
    let [sparse, dense, scaled, own_sparse, own_dense] =
        ["5a", "5b", "5c", "5d", "5e"].map(|name| Gaps::behind(&results[name]));
    let found = format!(
        "{} On sparse rows that are scaled to vary as much as the dense ones it is {}, so {}. With our `hogwild`, whose workers \
         step on copies of their own and exchange what changes, it is {} on sparse rows and {} on dense ones.",
        behind(&[("sparse", sparse), ("dense", dense)]),
        both(&scaled),
        if scaled.is_invisible() { "it is sparsity that helps" } else { "variance has a part in it" },
        both(&own_sparse),
        both(&own_dense),
    );
    (dense.wider(&sparse).provided(sparse.is_invisible()), found)
}

fn diversity(results: &Results, panels: [&str; 4]) -> (Verdict, String) {
    let [high, middle, low, few] = panels.map(|name| Gaps::ahead(&results[name]));
    let found = ahead(&[
        ("rows that are all different", high),
        ("half as many different ones", middle),
        ("a quarter", low),
        ("32 different ones", few),
    ]);
    let few = match high.wider(&few) {
        _ if high.is_invisible() => "There is no gap that diversity could widen.",
        Verdict::NotConfirmed => "Not even 32 different rows have a smaller gap.",
        _ => "With 32 different rows the gap is smaller.",
    };
    (high.wider(&low), format!("{found} {few}"))
}

/// On sparse rows as in the paper, and on dense ones, where there is a gap that diversity could widen.
fn diversity_of_batches(results: &Results) -> (Verdict, String) {
    let [high, low] = ["3a", "6d"].map(|name| Gaps::ahead(&results[name]));
    let (on_sparse, found) = diversity(results, ["3c", "6a", "6b", "6c"]);
    let on_dense = high.wider(&low);
    let dense = ahead(&[
        ("dense rows that are all different (Figure 3(a))", high),
        ("a quarter of different ones", low),
    ]);
    let each = [on_sparse, on_dense];
    let verdict = if each == [Verdict::Confirmed; 2] {
        Verdict::Confirmed
    } else if each == [Verdict::NotConfirmed; 2] {
        Verdict::NotConfirmed
    } else {
        Verdict::Restricted
    };
    (verdict, format!("On scaled sparse rows (all different: Figure 3(c)) {found} On dense rows {dense}"))
}

/// Of the first panel the gap is to be wider.
fn similarity(
    results: &Results,
    [wide, narrow]: [&'static str; 2],
    gaps: fn(&Curves) -> Gaps,
) -> (Verdict, String) {
    let [first, second] = [wide, narrow].map(|name| gaps(&results[name]));
    let named = [(words(wide), first), (words(narrow), second)];
    let found = if wide == "9b" { behind(&named) } else { ahead(&named) };
    let verdict = first.wider(&second);
    let why = match (verdict, second.wider(&first)) {
        (Verdict::NotConfirmed, Verdict::NotConfirmed) => " The two do not differ by what can be seen.",
        (Verdict::NotConfirmed, _) => " It is the other way round.",
        (Verdict::Restricted, Verdict::Restricted) => {
            " One time it is so, the other time the other way round."
        }
        (Verdict::Restricted, _) => " So it is at one of the two times only.",
        (Verdict::Confirmed, _) => "",
    };
    (verdict, found + why)
}

fn words(panel: &str) -> &'static str {
    if panel.ends_with('a') { "consecutive rows that differ" } else { "consecutive rows that are alike" }
}

/// Whether rearranged rows have less loss, with one worker and with the most.
fn rearranging(results: &Results) -> (Verdict, String) {
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
    let helps = saved.iter().map(|(_, gaps)| gaps.iter().any(|gap| gap.low > 0.0 && gap.median >= VISIBLE));
    let harms = saved.iter().any(|(_, gaps)| gaps.iter().any(|gap| gap.high < 0.0 && gap.median <= -VISIBLE));
    let each = saved.iter().map(|(name, [one, most])| {
        format!("{name} {} and {}", percent_signed(one.median), percent_signed(most.median))
    });
    let found = format!(
        "The mean loss of rows as they come, above that of the same rows rearranged, with 1 worker and with {}, as shares of \
         what training gains: {}.",
        WORKERS[last],
        each.collect::<Vec<_>>().join("; ")
    );
    (Verdict::of(helps).provided(!harms), found)
}

fn upper_bounds(results: &Results) -> (Verdict, String) {
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
    (Verdict::of(bounds.iter().map(|bound| bound.bound.is_some())), found + &form)
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

/// Of what training gains: `12 %`, `−0.5 %`, `6.4 times`.
fn percent_signed(share: f64) -> String {
    let size = match share.abs() {
        size if size < MANY => percent(size),
        size => format!("{} times", times(size)),
    };
    if share < 0.0 { format!("−{size}") } else { size }
}
