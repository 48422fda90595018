//! How well scores order rows: the area under the ROC curve.
//!
//! It is the probability that a random row of the class has a larger score than a random row of the rest, where equal
//! scores count as half. With ranks, which rows with equal scores share, that is the Mann–Whitney statistic: one sort.

use super::is_class;

/// The area under the ROC curve; nothing unless there are rows of the class and of the rest. No score may be NaN.
pub fn auc(scores: &[f64], is_positive: &[bool]) -> Option<f64> {
    let positive = is_positive.iter().filter(|positive| **positive).count() as f64;
    let negative = is_positive.len() as f64 - positive;
    if positive == 0.0 || negative == 0.0 {
        return None;
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|one, other| scores[*one].total_cmp(&scores[*other]));
    let (mut before, mut rank_sum) = (0.0, 0.0);
    for equal in order.chunk_by(|one, other| scores[*one] == scores[*other]) {
        let rank = before + (equal.len() as f64 + 1.0) / 2.0;
        rank_sum += rank * equal.iter().filter(|row| is_positive[**row]).count() as f64;
        before += equal.len() as f64;
    }
    Some((rank_sum - positive * (positive + 1.0) / 2.0) / (positive * negative))
}

/// The mean over classes of the area of each against the rest, from the scores of each class; nothing if a class has no
/// rows or all of them.
pub fn macro_auc(scores: &[Vec<f64>], actual: &[usize]) -> Option<f64> {
    let each = scores.iter().enumerate().map(|(class, scores)| auc(scores, &is_class(actual, class)));
    let each: Vec<f64> = each.collect::<Option<_>>()?;
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn perfect_opposite_and_equal_scores() {
        let positive = [false, false, true, true];
        assert_eq!(auc(&[1.0, 2.0, 3.0, 4.0], &positive), Some(1.0));
        assert_eq!(auc(&[4.0, 3.0, 2.0, 1.0], &positive), Some(0.0));
        assert_eq!(auc(&[7.0; 4], &positive), Some(0.5));
        assert_eq!(auc(&[0.1, 0.4, 0.35, 0.8], &positive), Some(0.75));
        assert_eq!(auc(&[-0.0, 0.0], &[true, false]), Some(0.5), "both zeros are one number");
        assert_eq!([auc(&[1.0], &[true]), auc(&[1.0], &[false]), auc(&[], &[])], [None; 3]);
    }

    #[test]
    fn several_classes_are_averaged() {
        let scores = [vec![3.0, 1.0, 0.0], vec![0.0, 2.0, 3.0], vec![0.0, 0.0, 1.0]];
        assert_eq!(macro_auc(&scores, &[0, 1, 2]), Some((1.0 + 0.5 + 1.0) / 3.0));
        assert_eq!(macro_auc(&scores, &[0, 1, 1]), None, "no row is of the last class");
    }

    proptest! {
        #[test]
        fn it_is_the_share_of_pairs_in_the_right_order(rows in prop::collection::vec((0u8..6, any::<bool>()), 2..40)) {
            let (scores, positive): (Vec<f64>, Vec<bool>) = rows.iter().map(|(score, is)| (f64::from(*score), *is)).unzip();
            let (mut pairs, mut right) = (0.0, 0.0);
            for (one, _) in rows.iter().filter(|(_, is)| *is) {
                for (other, _) in rows.iter().filter(|(_, is)| !*is) {
                    pairs += 1.0;
                    right += if one == other { 0.5 } else { f64::from(u8::from(one > other)) };
                }
            }
            let expected = (pairs > 0.0).then(|| right / pairs);
            match (auc(&scores, &positive), expected) {
                (Some(area), Some(expected)) => prop_assert!((area - expected).abs() < 1e-12),
                (area, expected) => prop_assert_eq!(area, expected),
            }
        }
    }
}
