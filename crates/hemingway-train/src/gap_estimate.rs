//! An estimate of objective and duality gap for dual coordinate ascent, from what its visits showed: it decides when to
//! score.
//!
//! On losses with corners the solver keeps each row's averaged prediction, so the loss of the averaged weights is
//! known up to a little staleness, and the dual objective exactly. On smooth losses rows show their part of the
//! duality gap when they are visited, about half a round ago. The objective is then taken to be as far above the
//! dual as the dual rose in the last round.

use crate::Estimate;

/// The estimate, and what it needs from round to round.
pub(crate) struct GapEstimate {
    /// Σ φ*(−α) of this worker's rows, where the loss has corners.
    pub conjugate: f64,
    /// What the last round suggests.
    pub estimate: Option<Estimate>,
    gap_before: f64,
    dual_before: f64,
}

impl GapEstimate {
    /// Numbers that [`save`](GapEstimate::save) returns.
    pub(crate) const SAVED: usize = 3;

    pub(crate) fn new(conjugate: f64) -> GapEstimate {
        GapEstimate { conjugate, estimate: None, gap_before: f64::INFINITY, dual_before: 0.0 }
    }

    /// The objective of the averaged weights, nearly, and the dual objective.
    pub(crate) fn observe_average(&mut self, primal: f64, dual: f64) {
        let gap = (primal - dual).max(0.0);
        self.estimate = Some(if gap > VAGUE * primal { FAR_AWAY } else { Estimate { primal, gap } });
    }

    /// Objective and gap from the rows as they were when they were visited.
    pub(crate) fn observe_visits(&mut self, reliable: bool, primal: f64, gap: f64) {
        let shrinks = (gap / self.gap_before).clamp(0.1, 1.0);
        let dual = primal - gap;
        let rise = (dual - self.dual_before).max(0.0);
        (self.gap_before, self.dual_before) = (gap, dual);
        let gap = rise.max(gap * shrinks.sqrt());
        let estimate = if gap > VAGUE * primal { FAR_AWAY } else { Estimate { primal: dual + rise, gap } };
        self.estimate = reliable.then_some(estimate);
    }

    pub(crate) fn save(&self) -> [f64; GapEstimate::SAVED] {
        [self.conjugate, self.gap_before, self.dual_before]
    }

    pub(crate) fn restore(saved: &[f64]) -> GapEstimate {
        GapEstimate { conjugate: saved[0], gap_before: saved[1], dual_before: saved[2], estimate: None }
    }
}

/// Gaps larger than this share of the objective are estimated too roughly to go by,
const VAGUE: f64 = 0.1;
/// but they do say that no goal is near.
const FAR_AWAY: Estimate = Estimate { primal: f64::INFINITY, gap: f64::INFINITY };
