//! When a claim counts as confirmed: criteria on measured gaps and iterations, never on how a figure looks.

use std::fmt;

use serde::Serialize;

use super::curves::{Curves, Gap, When};

/// A gap that can be seen, as a share of what training gains.
pub(super) const VISIBLE: f64 = 0.05;
/// Twice the workers that save less than this share of the iterations of each are no longer worth it.
pub(super) const SAVING: f64 = 0.1;

/// What came of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds throughout.
    Confirmed,
    /// It holds in a part that the finding names.
    Restricted,
    /// It does not hold.
    NotConfirmed,
}

impl Verdict {
    /// Of parts that all have to hold.
    pub fn of(holds: impl IntoIterator<Item = bool>) -> Verdict {
        let (mut some, mut all) = (false, true);
        for holds in holds {
            some |= holds;
            all &= holds;
        }
        match (all, some) {
            (true, _) => Verdict::Confirmed,
            (false, true) => Verdict::Restricted,
            (false, false) => Verdict::NotConfirmed,
        }
    }

    /// Not better than restricted, unless something else holds too.
    pub fn provided(self, holds: bool) -> Verdict {
        match self {
            Verdict::Confirmed if !holds => Verdict::Restricted,
            other => other,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(match self {
            Verdict::Confirmed => "confirmed",
            Verdict::Restricted => "confirmed with a restriction",
            Verdict::NotConfirmed => "not confirmed",
        })
    }
}

/// A gap early and late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gaps {
    /// In the first tenth of the iterations.
    pub early: Gap,
    /// In the second half.
    pub late: Gap,
}

impl Gaps {
    /// How far the most workers are ahead.
    pub(super) fn ahead(curves: &Curves) -> Gaps {
        Gaps { early: curves.gap(When::Early), late: curves.gap(When::Late) }
    }

    /// How far they are behind.
    pub(super) fn behind(curves: &Curves) -> Gaps {
        let Gaps { early, late } = Gaps::ahead(curves);
        Gaps { early: early.behind(), late: late.behind() }
    }

    /// Whether this gap is wider than the other, at both times, at one, or never.
    pub fn wider(&self, other: &Gaps) -> Verdict {
        Verdict::of([wider(&self.early, &other.early), wider(&self.late, &other.late)])
    }

    /// Whether it cannot be seen at any time.
    pub fn is_invisible(&self) -> bool {
        [self.early, self.late].iter().all(|gap| gap.median.abs() < VISIBLE)
    }
}

/// By more than can be seen, and on every seed.
fn wider(one: &Gap, other: &Gap) -> bool {
    one.median - other.median >= VISIBLE && one.low > other.high
}

/// Iterations of each worker to converge, by workers, and where more workers stop saving any.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UpperBound {
    /// The algorithm.
    pub algorithm: String,
    /// Numbers of workers.
    pub workers: Vec<usize>,
    /// Iterations of each worker; nothing where it did not converge.
    pub iterations: Vec<Option<f64>>,
    /// The number of workers beyond which twice as many save less than a tenth of the iterations of each.
    pub bound: Option<usize>,
}

impl UpperBound {
    /// Of iterations that all workers share, or that each makes.
    pub(super) fn of(algorithm: String, curves: &Curves, shared: bool) -> UpperBound {
        let each = |(workers, iterations): (&usize, Option<f64>)| {
            (*workers, iterations.map(|all| if shared { all / *workers as f64 } else { all }))
        };
        let (workers, iterations): (Vec<usize>, Vec<Option<f64>>) =
            curves.workers.iter().zip(curves.iterations()).skip(1).map(each).unzip();
        let bound = bound(&workers, &iterations);
        UpperBound { algorithm, workers, iterations, bound }
    }
}

/// From a number of workers to the next, as if it were twice as many.
fn bound(workers: &[usize], iterations: &[Option<f64>]) -> Option<usize> {
    let step = |at: usize| {
        let doublings = (workers[at + 1] as f64 / workers[at] as f64).log2();
        match (iterations[at], iterations[at + 1]) {
            (Some(now), Some(next)) => 1.0 - (next / now).powf(1.0 / doublings) < SAVING,
            (Some(_), None) => true,
            (None, _) => false,
        }
    };
    (0..workers.len() - 1).find(|at| step(*at)).map(|at| workers[at])
}

#[cfg(test)]
mod tests {
    use super::super::curves::tests::falling;
    use super::*;

    /// One worker and many, which differ early, late, both or not at all.
    fn gaps(floor: f64, speed: f64) -> Gaps {
        Gaps::ahead(&falling(&[(floor, speed), (0.0, 0.1)]))
    }

    #[test]
    fn a_claim_is_confirmed_if_a_gap_is_wider_at_both_times() {
        let none = gaps(0.0, 0.1);
        assert_eq!(gaps(0.3, 0.01).wider(&none), Verdict::Confirmed);
        assert_eq!(gaps(0.0, 0.02).wider(&none), Verdict::Restricted, "early only");
        assert_eq!(gaps(0.03, 0.1).wider(&none), Verdict::NotConfirmed, "too little to be seen");
        assert_eq!(none.wider(&gaps(0.3, 0.01)), Verdict::NotConfirmed);
        assert!(none.is_invisible() && !gaps(0.3, 0.1).is_invisible());
        assert!(!gaps(0.0, 0.01).is_invisible(), "it can be seen early");
    }

    #[test]
    fn seeds_that_disagree_confirm_nothing() {
        let gap = |median: f64, off: f64| Gap { median, low: median - off, high: median + off };
        assert!(wider(&gap(0.2, 0.04), &gap(0.1, 0.04)));
        assert!(!wider(&gap(0.2, 0.06), &gap(0.1, 0.06)));
        let nothing_gained = gap(f64::NAN, 0.0);
        assert!(!wider(&nothing_gained, &gap(0.1, 0.0)) && !wider(&gap(0.1, 0.0), &nothing_gained));
    }

    #[test]
    fn a_bound_is_where_iterations_of_each_worker_stop_falling() {
        let workers = [2, 4, 8, 16, 24];
        let check = |iterations: [f64; 5], expect| {
            assert_eq!(bound(&workers, &iterations.map(Some)), expect, "{iterations:?}");
        };
        // The paper's Table II, its last figure repeated where it has none.
        check([376.0, 321.0, 356.0, 412.0, 412.0], Some(4));
        check([91.0, 87.0, 71.0, 69.0, 69.0], Some(2));
        check([22596.0, 11421.0, 6358.0, 4064.0, 3972.0], Some(16));
        check([240.0, 120.0, 60.0, 30.0, 20.0], None);
        assert_eq!(bound(&workers, &[Some(9.0), Some(4.0), None, None, None]), Some(4));
    }

    #[test]
    fn steps_that_workers_share_are_divided_among_them() {
        let curves = falling(&[(0.5, 0.01); 6]);
        let (shared, own) = (UpperBound::of("a".into(), &curves, true), UpperBound::of("a".into(), &curves, false));
        let last = |bound: &UpperBound| bound.iterations[4].unwrap();
        assert!((24.0 * last(&shared) - last(&own)).abs() < 1e-9);
        assert_eq!((shared.bound, own.bound), (None, Some(2)));
    }

    #[test]
    fn what_holds_in_part_is_a_restriction() {
        assert_eq!(Verdict::of([true, true]), Verdict::Confirmed);
        assert_eq!(Verdict::of([true, false]).to_string(), "confirmed with a restriction");
        assert_eq!(Verdict::of([false, false]), Verdict::NotConfirmed);
        assert_eq!(Verdict::Confirmed.provided(false), Verdict::Restricted);
        assert_eq!(Verdict::NotConfirmed.provided(true), Verdict::NotConfirmed);
    }
}
