//! The paper's experiments: for each its claim, the panels it takes, and who judges them.

use std::collections::BTreeMap;

use super::curves::Curves;
use super::experiments::Panel;
use super::findings::{
    decentralised, diversity, diversity_of_batches, hogwild, mini_batch, rearranging, similarity,
    upper_bounds,
};
use super::verdict::{Gaps, Verdict};

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

impl Section {
    /// What came of it.
    pub fn judge(&self, results: &Results) -> (Verdict, String) {
        (self.judge)(results)
    }
}

/// As in the paper: `Figure 3(a): …`.
pub(super) fn full_title(panel: &Panel) -> String {
    let (number, letter) = panel.name.split_at(panel.name.len() - 1);
    match number {
        "t" => format!("Table II: {}", panel.title),
        _ => format!("Figure {number}({letter}): {}", panel.title),
    }
}

#[cfg(test)]
mod tests {
    use super::super::curves::tests::falling;
    use super::*;

    fn judged(experiment: &str, curves: &[(&'static str, Curves)]) -> (Verdict, String) {
        let section = SECTIONS.iter().find(|section| section.name == experiment).unwrap();
        section.judge(&curves.iter().cloned().collect())
    }

    /// Curves of one worker with this floor and of many with none.
    fn apart(floor: f64) -> Curves {
        falling(&[(floor, 1.0), (0.0, 1.0)])
    }

    #[test]
    fn figure_3_takes_a_gap_on_dense_rows_and_none_on_sparse_ones() {
        let check = |dense, sparse, expect| {
            let curves = [("3a", apart(dense)), ("3b", apart(sparse)), ("3c", apart(0.0))];
            let (verdict, found) = judged("figure-3", &curves);
            assert_eq!(verdict, expect, "{found}");
            found
        };
        let found = check(0.4, 0.0, Verdict::Confirmed);
        assert!(found.contains("40 % early and 40 % late on dense rows"), "{found}");
        check(0.4, 0.2, Verdict::Restricted);
        check(0.2, 0.4, Verdict::NotConfirmed);
    }

    #[test]
    fn figure_9_counts_how_far_more_workers_are_behind() {
        let behind = |floor| falling(&[(0.0, 1.0), (floor, 1.0)]);
        let (verdict, found) = judged("figure-9", &[("9a", behind(0.1)), ("9b", behind(0.3))]);
        assert_eq!(verdict, Verdict::Confirmed, "{found}");
        let (verdict, found) = judged("figure-9", &[("9a", behind(0.3)), ("9b", behind(0.1))]);
        assert_eq!(verdict, Verdict::NotConfirmed);
        assert!(found.contains("Early and late it is the other way round."), "{found}");
    }

    #[test]
    fn rearranging_that_harms_is_no_excellent_choice() {
        let all = |given, rearranged| {
            let pairs = [("7b", "7c"), ("8b", "8c"), ("9b", "9c"), ("10b", "10c")];
            let many = |floor| falling(&[(floor, 1.0); 6]);
            pairs.iter().flat_map(|(b, c)| [(*b, many(given)), (*c, many(rearranged))]).collect::<Vec<_>>()
        };
        assert_eq!(judged("rearranging", &all(0.4, 0.1)).0, Verdict::Confirmed);
        assert_eq!(judged("rearranging", &all(0.1, 0.1)).0, Verdict::NotConfirmed);
        let mut mixed = all(0.4, 0.1);
        mixed[0].1 = falling(&[(0.0, 1.0); 6]);
        let (verdict, found) = judged("rearranging", &mixed);
        assert_eq!(verdict, Verdict::Restricted);
        assert!(found.contains("Rearranging helps ECD-PSGD on 1, ECD-PSGD on 24, "), "{found}");
        assert!(found.ends_with(" and harms mini-batch SGD on 1, mini-batch SGD on 24."), "{found}");
    }
}
