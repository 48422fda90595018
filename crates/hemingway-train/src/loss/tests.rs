//! What theory says of every loss, on rows drawn at random.

use rand::{RngExt, SeedableRng};

use super::*;

/// What is seen of a row: its dual, prediction, target and curvature.
#[derive(Debug, Clone, Copy)]
struct Row {
    alpha: f64,
    p: f64,
    y: f64,
    q: f64,
}

impl Row {
    /// The dual along this row, in α.
    fn dual<S: Shape>(&self, loss: S, alpha: f64) -> f64 {
        let change = alpha - self.alpha;
        -loss.conjugate(alpha, self.y) - change * self.p - self.q / 2.0 * change * change
    }

    /// How much rounding can blur that dual.
    fn blur<S: Shape>(&self, loss: S, alpha: f64) -> f64 {
        let change = (alpha - self.alpha).abs();
        let conjugate = loss.conjugate(alpha, self.y).abs();
        1e-14 * (1.0 + conjugate + change * self.p.abs() + self.q * change * change)
    }
}

const CURVATURES: [f64; 9] = [0.0, 1e-12, 1e-4, 0.1, 1.0, 10.0, 1e3, 1e5, 1e9];
const PREDICTIONS: [f64; 13] = [-1e3, -40.0, -3.0, -1.0, -0.5, -1e-9, 0.0, 0.3, 0.999, 1.5, 5.0, 40.0, 1e3];

/// Every combination of curvature, prediction, sign and dual.
fn rows() -> impl Iterator<Item = Row> {
    let shares = [0.0, 1e-12, 0.01, 0.3, 0.5, 0.99, 1.0];
    CURVATURES.into_iter().flat_map(move |q| {
        PREDICTIONS.into_iter().flat_map(move |p| {
            shares.into_iter().flat_map(move |a| [-1.0, 1.0].map(|y| Row { alpha: y * a, p, y, q }))
        })
    })
}

/// The highest value of a concave function between two ends, by golden sections.
fn highest(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let mut best = value(low).max(value(high));
    for _ in 0..200 {
        let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        best = best.max(value(left)).max(value(right));
        if value(left) < value(right) { low = left } else { high = right }
    }
    best
}

fn check_visits<S: Shape>(loss: S, ends: impl Fn(&Row) -> (f64, f64)) {
    for row in rows() {
        let visit = loss.visit(row.alpha, row.p, row.y, row.q, &mut Tally::default());
        let (low, high) = ends(&row);
        assert!(visit.alpha >= low && visit.alpha <= high, "{row:?}: α = {}", visit.alpha);
        let (reached, best) =
            (row.dual(loss, visit.alpha), highest(low, high, |alpha| row.dual(loss, alpha)));
        let blur = row.blur(loss, visit.alpha);
        assert!(reached >= best - blur, "{row:?}: the dual reaches {reached:e}, not {best:e}");
        let gap = loss.value(row.p, row.y) + loss.conjugate(row.alpha, row.y) + row.alpha * row.p;
        let size = 1e-13 * (1.0 + row.p * row.p);
        assert!((visit.gap - gap).abs() <= size, "{row:?}: a gap of {}, not {gap}", visit.gap);
    }
}

fn unit(row: &Row) -> (f64, f64) {
    (row.y.min(0.0), row.y.max(0.0))
}

#[test]
fn hinge_visits_maximise_the_dual() {
    check_visits(Hinge, unit);
}

#[test]
fn smoothed_hinge_visits_maximise_the_dual() {
    check_visits(SmoothedHinge, unit);
}

#[test]
fn squared_visits_maximise_the_dual() {
    check_visits(Squared, |row| {
        let reach = 1.0 + (row.y - row.p - row.alpha).abs();
        (row.alpha - reach, row.alpha + reach)
    });
}

/// The best a of the logistic loss, by bisection of t = z + q(a − a₀), a = σ(−t).
fn logistic_root(row: &Row) -> f64 {
    let (start, z) = (row.alpha * row.y, row.p * row.y);
    let share = |t: f64| if t > 0.0 { (-t).exp() / (1.0 + (-t).exp()) } else { 1.0 / (1.0 + t.exp()) };
    let (mut low, mut high) = (z - row.q * start, z + row.q * (1.0 - start));
    for _ in 0..200 {
        let t = 0.5 * (low + high);
        if t - z - row.q * (share(t) - start) > 0.0 { high = t } else { low = t }
    }
    share(0.5 * (low + high))
}

#[test]
fn logistic_visits_go_most_of_the_way_to_the_highest_dual() {
    for row in rows() {
        let visit = Logistic.visit(row.alpha, row.p, row.y, row.q, &mut Tally::default());
        let (start, new, best) = (row.alpha * row.y, visit.alpha * row.y, logistic_root(&row));
        if (best - start).abs() > 1e-9 {
            let share = (new - start) / (best - start);
            assert!((0.5..1.5).contains(&share), "{row:?}: from {start} to {new}, not {best}");
        }
    }
}

#[test]
fn logistic_visits_of_huge_curvature_solve_their_equation() {
    for q in [1e7, 1e10, 1e21, 1e37, 1e41, 1e80, 1e200, 1e300] {
        for y in [-1.0, 1.0] {
            // From a = 0 and a prediction of 0 the best a satisfies a = σ(−qa), which is exp(−qa) but for q·a².
            let low = y * Logistic.visit(0.0, 0.0, y, q, &mut Tally::default()).alpha;
            assert!((low.ln() + q * low).abs() <= 1e-4, "q = {q:e}: a = {low:e}, t = {}", q * low);
        }
    }
}

#[test]
fn logistic_visits_of_what_is_not_a_number_do_not_panic() {
    for (alpha, p, q) in [(0.5, f64::NAN, 1e3), (0.0, f64::INFINITY, f64::INFINITY), (0.5, 1.0, f64::NAN)] {
        Logistic.visit(alpha, p, 1.0, q, &mut Tally::default());
    }
}

#[test]
fn logistic_visits_never_lower_the_dual() {
    for row in rows() {
        let visit = Logistic.visit(row.alpha, row.p, row.y, row.q, &mut Tally::default());
        let (before, after) = (row.dual(Logistic, row.alpha), row.dual(Logistic, visit.alpha));
        let blur = row.blur(Logistic, visit.alpha);
        assert!(after >= before - blur, "{row:?}: the dual falls from {before:e} to {after:e}");
    }
}

#[test]
fn repeated_logistic_visits_end_at_the_highest_dual() {
    for row in rows() {
        let best = logistic_root(&row);
        let mut now = row;
        for _ in 0..40 {
            let alpha = Logistic.visit(now.alpha, now.p, now.y, now.q, &mut Tally::default()).alpha;
            now = Row { alpha, p: row.p + row.q * (alpha - row.alpha), ..now };
        }
        let new = now.alpha * now.y;
        assert!((new - best).abs() <= 1e-9, "{row:?}: a = {new} after forty visits, not {best}");
    }
}

#[test]
fn an_empty_row_at_the_corner_of_the_hinge_stays_a_number() {
    let visit = Hinge.visit(0.5, 1.0, 1.0, 0.0, &mut Tally::default());
    assert!((0.0..=1.0).contains(&visit.alpha), "α = {}", visit.alpha);
}

#[test]
fn conjugates_are_suprema() {
    for loss in LOSSES {
        for a in [1e-6, 0.01, 0.3, 0.5, 0.9, 1.0 - 1e-6] {
            for y in [-1.0, 1.0] {
                let alpha = y * a;
                let sup = highest(-50.0, 50.0, |p| -alpha * p - loss.value(p, y));
                let conjugate = with_loss!(loss, shape => shape.conjugate(alpha, y));
                assert!((conjugate - sup).abs() <= 1e-9, "{loss} at α = {alpha}: {conjugate}, not {sup}");
            }
        }
    }
}

#[test]
fn slopes_are_derivatives() {
    for loss in LOSSES {
        for p in [-30.0, -2.5, -0.7, 0.2, 0.6, 0.95, 1.2, 3.0, 25.0] {
            for y in [-1.0, 1.0] {
                let step = 1e-6;
                let difference = (loss.value(p + step, y) - loss.value(p - step, y)) / (2.0 * step);
                let slope = with_loss!(loss, shape => shape.slope(p, y));
                assert!((slope - difference).abs() <= 1e-7, "{loss} at {p}: {slope}, not {difference}");
                let tallied = with_loss!(loss, shape => shape.tally(p, y, &mut Tally::default()));
                assert!((slope - tallied).abs() <= 1e-15, "{loss} at {p}: {slope} and {tallied}");
            }
        }
    }
}

fn check_tally(loss: Loss, margins: std::ops::Range<f64>, tolerance: impl Fn(f64) -> f64) {
    let mut rng = crate::Rng::seed_from_u64(3);
    let (mut tally, mut visits, mut plain) = (Tally::default(), Tally::default(), 0.0);
    for _ in 0..20_000 {
        let y = if rng.random::<bool>() { 1.0 } else { -1.0 };
        let p = y * rng.random_range(margins.clone());
        plain += loss.value(p, y);
        with_loss!(loss, shape => {
            shape.tally(p, y, &mut tally);
            shape.visit(0.5 * y, p, y, 1.0, &mut visits);
        });
    }
    for total in [tally.total(), visits.total()] {
        let off = (total - plain).abs();
        assert!(off <= tolerance(plain), "{loss} in {margins:?}: {total}, not {plain}: {off:e}");
    }
}

#[test]
fn tallies_are_sums() {
    for loss in LOSSES {
        for margins in [-5.0..5.0, -0.1..0.1, -700.0..700.0, -1e4..1e4] {
            check_tally(loss, margins, |plain| 1e-12 * plain);
        }
    }
}

#[test]
fn tallies_of_tiny_losses_are_exact_to_a_rounding_of_one_per_row() {
    check_tally(Loss::Logistic, 10.0..40.0, |_| 20_000.0 * f64::EPSILON);
}

#[test]
fn infeasible_duals_are_brought_back() {
    for loss in [Loss::Hinge, Loss::SmoothedHinge, Loss::Logistic] {
        let feasible = |alpha, y| with_loss!(loss, shape => shape.feasible(alpha, y));
        assert_eq!([feasible(1.5, 1.0), feasible(-0.5, 1.0), feasible(0.4, 1.0)], [1.0, 0.0, 0.4], "{loss}");
        assert_eq!([feasible(-1.5, -1.0), feasible(0.5, -1.0)], [-1.0, 0.0], "{loss}");
    }
    assert_eq!(Squared.feasible(-17.0, 1.0), -17.0);
}

#[test]
fn names_are_read_back_and_mistakes_explained() {
    for loss in LOSSES {
        assert_eq!(loss.name().parse::<Loss>().unwrap(), loss);
    }
    for (name, loss) in [
        ("svm", Loss::Hinge),
        ("SVM", Loss::Hinge),
        ("logreg", Loss::Logistic),
        ("logistic_regression", Loss::Logistic),
        ("ridge", Loss::Squared),
        ("Least-Squares", Loss::Squared),
        ("mse", Loss::Squared),
        ("smoothed_hinge", Loss::SmoothedHinge),
    ] {
        assert_eq!(name.parse::<Loss>().unwrap(), loss, "{name}");
    }
    let message = "hing".parse::<Loss>().unwrap_err().to_string();
    assert!(message.contains("did you mean `hinge`?"), "{message}");
}

/// A row that counts three times, and one that hardly counts.
const WEIGHTS: [f32; 2] = [3.0, 1e-6];

/// What is said of c·φ is what is said of φ, c times: of values, slopes, conjugates, and of duals c times as large.
#[test]
fn weighted_rows_are_rows_that_count_so_often() {
    fn check<S: Shape>(loss: S) {
        let losses = Weighted { loss, weights: &WEIGHTS };
        for (at, weight) in WEIGHTS.map(f64::from).into_iter().enumerate() {
            let of_row = losses.of(at);
            for row in rows() {
                let Row { alpha, p, y, q } = row;
                let close =
                    |one: f64, other: f64| (one - other).abs() <= 1e-12 * (weight * other.abs()).max(weight);
                assert!(close(of_row.value(p, y), weight * loss.value(p, y)), "{row:?}");
                assert!(close(of_row.slope(p, y), weight * loss.slope(p, y)), "{row:?}");
                assert!(close(of_row.guess(p, y), weight * loss.guess(p, y)), "{row:?}");
                assert!(close(of_row.curvature(p, y), weight * loss.curvature(p, y)), "{row:?}");
                assert!(
                    close(of_row.conjugate(weight * alpha, y), weight * loss.conjugate(alpha, y)),
                    "{row:?}"
                );
                let (mut tally, mut plain) = (Tally::default(), Tally::default());
                let slope = of_row.tally(p, y, &mut tally);
                assert!(close(slope, weight * loss.tally(p, y, &mut plain)), "{row:?}");
                assert!(close(tally.total(), weight * plain.total()), "{row:?}");
                let visit = of_row.visit(weight * alpha, p, y, q / weight, &mut tally);
                let same = loss.visit(alpha, p, y, q, &mut plain);
                assert!(
                    (visit.alpha - weight * same.alpha).abs() <= 1e-9 * weight * same.alpha.abs().max(1.0),
                    "{row:?}"
                );
            }
        }
    }
    check(Hinge);
    check(SmoothedHinge);
    check(Logistic);
    check(Squared);
}

#[test]
fn a_row_that_counts_no_times_has_no_dual() {
    let nothing = Weighted { loss: Logistic, weights: &[0.0] }.of(0);
    let mut tally = Tally::default();
    for row in rows() {
        let visit = nothing.visit(0.0, row.p, row.y, row.q, &mut tally);
        assert_eq!((visit.alpha, visit.gap, visit.violation), (0.0, 0.0, 0.0));
    }
    assert_eq!(tally.total(), 0.0);
    assert_eq!([nothing.conjugate(0.0, 1.0), nothing.feasible(0.7, 1.0), nothing.guess(-3.0, 1.0)], [0.0; 3]);
    assert_eq!(nothing.conjugate(1e-9, 1.0), f64::INFINITY);
}

#[test]
fn blocks_of_weighted_rows_add_up_what_rows_say() {
    fn check<S: Shape>(loss: S) {
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
        let mut predictions: [f64; BLOCK] = std::array::from_fn(|_| 20.0 * rng.random::<f64>() - 10.0);
        let targets = std::array::from_fn(|at| if at % 3 == 0 { 1.0 } else { -1.0 });
        // The last rows are beyond the end and like the first.
        let weights: Vec<f32> = (0..BLOCK - 5).map(|at| (at % 4) as f32).collect();
        let losses = Weighted { loss, weights: &weights };
        let weight = |at: usize| f64::from(*weights.get(at).unwrap_or(&weights[0]));
        let before = predictions;
        let sum = losses.block_from(0, &mut predictions, &targets);
        let mut expected = 0.0;
        for at in 0..BLOCK {
            let (p, y) = (before[at], f64::from(targets[at]));
            expected += weight(at) * loss.value(p, y);
            assert!((predictions[at] - weight(at) * loss.slope(p, y)).abs() < 1e-13, "row {at}");
        }
        assert!((sum - expected).abs() < 1e-12 * expected, "{sum} for {expected}");
    }
    check(Hinge);
    check(SmoothedHinge);
    check(Logistic);
    check(Squared);
}
