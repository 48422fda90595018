//! When a claim counts as confirmed: criteria on measured gaps and iterations, never on how a figure looks.

use std::fmt;

use serde::Serialize;

use super::curves::{Curves, Gap, When};

/// A gap that can be seen, as a share of what training gains.
pub(super) const VISIBLE: f64 = 0.05;
/// More workers pay if they save this share of the iterations of each for every doubling.
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
        Verdict::of([self.early.is_wider(&other.early), self.late.is_wider(&other.late)])
    }

    /// Whether it cannot be seen at any time.
    pub fn is_invisible(&self) -> bool {
        [self.early, self.late].iter().all(|gap| gap.median.abs() < VISIBLE)
    }
}

impl Gap {
    /// By more than can be seen, and on every seed.
    pub(super) fn is_wider(&self, other: &Gap) -> bool {
        self.median - other.median >= VISIBLE && self.low > other.high
    }
}

/// Iterations of each worker to converge, by workers, and where more workers stop saving enough.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UpperBound {
    /// The algorithm.
    pub algorithm: String,
    /// Numbers of workers.
    pub workers: Vec<usize>,
    /// Iterations of each worker; nothing where it did not converge.
    pub iterations: Vec<Option<f64>>,
    /// The number of workers beyond which no more of them save a tenth of the iterations of each for every doubling.
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

/// The number of workers at which the form of Theorem 2, A(1/m + c·m), is least, where that is fitted to iterations of each by
/// least squares; nothing if they do not rise in the end.
pub(super) fn best_of_form(bound: &UpperBound) -> Option<f64> {
    let known = bound.workers.iter().zip(&bound.iterations);
    let mut sums = [0.0; 5];
    for (m, iterations) in known.filter_map(|(workers, iterations)| Some((*workers as f64, (*iterations)?))) {
        let terms = [1.0 / (m * m), 1.0, m * m, iterations / m, iterations * m];
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
    }
    let [falling, both, rising, with_falling, with_rising] = sums;
    let falls = with_falling * rising - with_rising * both;
    let rises = with_rising * falling - with_falling * both;
    (falls > 0.0 && rises > 0.0).then(|| (falls / rises).sqrt())
}

/// The fewest workers that converge, beyond which no number of workers saves enough; nothing if that is the last number.
fn bound(workers: &[usize], iterations: &[Option<f64>]) -> Option<usize> {
    let pays = |from: usize, to: usize| {
        let doublings = (workers[to] as f64 / workers[from] as f64).log2();
        matches!((iterations[from], iterations[to]), (Some(now), Some(then)) if then < now * (1.0 - SAVING).powf(doublings))
    };
    let last = workers.len() - 1;
    let ends = |from: &usize| iterations[*from].is_some() && (from + 1..=last).all(|to| !pays(*from, to));
    (0..last).find(ends).map(|at| workers[at])
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
        assert!(gap(0.2, 0.04).is_wider(&gap(0.1, 0.04)));
        assert!(!gap(0.2, 0.06).is_wider(&gap(0.1, 0.06)));
        let nothing_gained = gap(f64::NAN, 0.0);
        let some = gap(0.1, 0.0);
        assert!(!nothing_gained.is_wider(&some) && !some.is_wider(&nothing_gained));
    }

    #[test]
    fn a_bound_is_where_iterations_of_each_worker_stop_falling() {
        let workers = [2, 4, 8, 16, 24];
        let check = |iterations: [f64; 5], expect| {
            assert_eq!(bound(&workers, &iterations.map(Some)), expect, "{iterations:?}");
        };
        // The paper's Table II, its last figure repeated where it has none.
        check([376.0, 321.0, 356.0, 412.0, 412.0], Some(4));
        check([91.0, 87.0, 71.0, 69.0, 69.0], Some(8));
        check([1654.0, 1621.0, 1623.0, 1648.0, 1648.0], Some(2));
        check([22596.0, 11421.0, 6358.0, 4064.0, 3972.0], Some(16));
        check([240.0, 120.0, 60.0, 30.0, 20.0], None);
        // One number of workers that saves nothing is no bound if more do, and who does not converge saves nothing.
        check([240.0, 240.0, 60.0, 30.0, 30.0], Some(16));
        assert_eq!(bound(&workers, &[Some(9.0), Some(4.0), None, None, None]), Some(4));
        assert_eq!(bound(&workers, &[None; 5]), None);
    }

    #[test]
    fn the_form_of_theorem_2_has_its_best_number_of_workers() {
        let of = |iterations: fn(f64) -> f64| {
            let workers = vec![2, 4, 8, 16, 24];
            let iterations = workers.iter().map(|m| Some(iterations(*m as f64))).collect();
            best_of_form(&UpperBound { algorithm: "a".into(), workers, iterations, bound: None })
        };
        assert!((of(|m| 70.0 * (1.0 / m + m / 36.0)).unwrap() - 6.0).abs() < 1e-9);
        assert_eq!(of(|m| 100.0 / m - 0.1 * m), None);
    }

    #[test]
    fn steps_that_workers_share_are_divided_among_them() {
        let curves = falling(&[(0.5, 0.01); 6]);
        let (shared, own) =
            (UpperBound::of("a".into(), &curves, true), UpperBound::of("a".into(), &curves, false));
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
