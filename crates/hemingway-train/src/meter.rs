//! What kernels are metered as: the one source of the simulated clock and of what is predicted of it.

use hemingway_data::Matrix;

use crate::{Loss, Work};

/// What a kernel costs on data of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meter {
    value: Work,
    loss_flops: f64,
}

impl Meter {
    /// For sparse or dense rows of so many features.
    pub fn new(sparse: bool, features: usize, loss: Loss) -> Meter {
        // Weights that sparse rows pick from a long vector are not in the first cache.
        let far = (features as f64 / NEAR_WEIGHTS).max(1.0).log2();
        let value = match sparse {
            true => Work { flops: 2.0 * (1.0 + FAR_WEIGHTS * far), bytes: 8.0 },
            false => Work { flops: 0.5, bytes: 4.0 },
        };
        Meter { value, loss_flops: loss.flops() }
    }

    pub(crate) fn of(matrix: &Matrix, loss: Loss) -> Meter {
        Meter::new(matches!(matrix, Matrix::Sparse(_)), matrix.columns(), loss)
    }

    /// So many stored values are read, and each is used for a multiplication and an addition.
    pub fn values(&self, values: f64) -> Work {
        values * self.value
    }

    /// So many rows are visited in a plain pass.
    pub fn rows(&self, rows: f64) -> Work {
        Work::flops(ROW_FLOPS * rows)
    }

    /// So many rows are visited one after the other, with a step that waits for the one before.
    pub fn visits(&self, rows: f64) -> Work {
        Work::flops(rows * (VISIT_FLOPS + VISIT_LOSSES * self.loss_flops))
    }

    /// The loss is evaluated so many times in vectorised loops.
    pub fn losses(&self, times: f64) -> Work {
        Work::flops(times * self.loss_flops)
    }
}

/// This many weights are in the first cache,
const NEAR_WEIGHTS: f64 = 4096.0;
/// and each doubling of their number makes a value cost this share more.
const FAR_WEIGHTS: f64 = 0.28;
/// What visiting one row costs in a plain pass, in operations on sparse data in cache,
const ROW_FLOPS: f64 = 30.0;
/// and when a step is taken in between, which waits for itself.
const VISIT_FLOPS: f64 = 80.0;
/// A step evaluates the loss about so many times, and not in a vectorised loop.
const VISIT_LOSSES: f64 = 8.0;
