//! The system that Newton's method solves in each round: λ + (1/n) Σ c_i x_i x_iᵀ over the rows of all workers.

use super::cholesky::Cholesky;
use crate::{Error, Phase, Share, Work, Worker};

/// Curvature added along the bias, in units of λ, and at most.
const BIAS_DAMPING: f64 = 1e-6;
const MOST_DAMPING: f64 = 1e-10;

/// Sums it over the workers, together with a vector whose sum is wanted too, and factors it.
pub(super) fn factor(worker: &mut Worker, curvatures: &[f64], along: &mut [f64]) -> Result<Cholesky, Error> {
    let size = worker.local.dimension();
    let mut square = vec![0.0; size * size];
    worker.local.add_outer_products(curvatures, &mut square);
    // Only the lower half is sent.
    let halves = (0..size).flat_map(|row| square[row * size..=row * size + row].iter().copied());
    let mut sent: Vec<f64> = halves.chain(along.iter().copied()).collect();
    worker.sum(&mut sent)?;
    let (n, lambda) = (worker.local.total_rows as f64, worker.local.problem.lambda);
    let mut at = 0;
    for row in 0..size {
        let entries = &mut square[row * size..=row * size + row];
        entries.iter_mut().zip(&sent[at..]).for_each(|(entry, sum)| *entry = sum / n);
        // Nothing curves along a bias whose rows are all certain: a little damping keeps the system solvable.
        let damping = (BIAS_DAMPING * lambda).min(MOST_DAMPING);
        entries[row] += if row < worker.local.features() { lambda } else { damping };
        at += row + 1;
    }
    along.copy_from_slice(&sent[at..]);
    worker.local.meter_flops(factor_flops(size));
    Ok(Cholesky::of(square, size))
}

/// What summing and factoring costs, with so many numbers along.
pub(super) fn factor_cost(share: &Share, along: usize) -> Phase {
    let size = share.dimension;
    let work = share.losses() + share.outer_products() + Work::flops(factor_flops(size));
    Phase::once(work, size * (size + 1) / 2 + along)
}

fn factor_flops(size: usize) -> f64 {
    (size as f64).powi(3) / 6.0
}
