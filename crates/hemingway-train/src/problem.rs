//! What is minimised: P(w) = (1/n) Σ c_i φ(x_i·w, y_i) + (λ/2)‖w‖², with c_i = 1 where rows have no weights.

use serde::{Deserialize, Serialize};

use crate::{Error, Loss};

/// A regularised linear problem, without its data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// The loss φ.
    pub loss: Loss,
    /// Strength of the L2 penalty, λ.
    pub lambda: f64,
    /// Whether the model has a constant term, which the penalty leaves alone.
    pub bias: bool,
}

impl Problem {
    /// A problem without bias; λ has to be positive and finite.
    pub fn new(loss: Loss, lambda: f64) -> Result<Problem, Error> {
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Error::Lambda(lambda));
        }
        Ok(Problem { loss, lambda, bias: false })
    }

    /// The same problem with an unregularised bias.
    pub fn with_bias(self) -> Problem {
        Problem { bias: true, ..self }
    }
}
