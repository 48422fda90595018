//! The whole Hessian of the loss over a worker's rows.

use hemingway_data::Matrix;

use crate::Local;
use crate::kernels::{Rows, Task, fastest, with_rows};
use crate::loss::{Losses, Shape, with_losses};

impl Local<'_> {
    /// c_i φ''(p_i, y_i).
    pub fn curvatures(&mut self, predictions: &[f64]) -> Vec<f64> {
        struct Curvatures<'a, L> {
            losses: L,
            values: &'a mut [f64],
            targets: &'a [f32],
        }
        impl<L: Losses> Task for Curvatures<'_, L> {
            type Output = ();
            #[inline(always)]
            fn run<const FMA: bool>(self) {
                for (row, (value, target)) in self.values.iter_mut().zip(self.targets).enumerate() {
                    *value = self.losses.of(row).curvature(*value, f64::from(*target));
                }
            }
        }
        self.meter_losses(self.rows() as f64);
        let (mut values, targets) = (predictions.to_vec(), self.targets());
        with_losses!(self.problem.loss, self.weights(), losses => {
            fastest(Curvatures { losses, values: &mut values, targets })
        });
        values
    }

    /// into += Σ c_i (x_i·v) x_i (with a bias as a last feature that is always 1), in one pass over the data.
    pub fn add_hessian_product(&mut self, curvatures: &[f64], vector: &[f64], into: &mut [f64]) {
        struct Product<'a, R> {
            rows: R,
            range: std::ops::Range<usize>,
            curvatures: &'a [f64],
            vector: &'a [f64],
            bias: f64,
            into: &'a mut [f64],
        }
        impl<R: Rows> Task for Product<'_, R> {
            type Output = f64;
            #[inline(always)]
            fn run<const FMA: bool>(self) -> f64 {
                let mut scales = 0.0;
                for (curvature, row) in self.curvatures.iter().zip(self.range) {
                    if *curvature != 0.0 {
                        let scale = curvature * (self.rows.dot::<FMA>(row, self.vector) + self.bias);
                        scales += scale;
                        self.rows.add::<FMA>(row, scale, self.into);
                    }
                }
                scales
            }
        }
        let features = self.features();
        let bias = vector.get(features).copied().unwrap_or(0.0);
        let (matrix, range) = self.matrix();
        let (into, bias_into) = into.split_at_mut(features);
        let scales = with_rows!(matrix, rows => {
            fastest(Product { rows, range, curvatures, vector, bias, into })
        });
        if let Some(into) = bias_into.first_mut() {
            *into += scales;
        }
        let used =
            curvatures.iter().filter(|curvature| **curvature != 0.0).count() as f64 / self.rows() as f64;
        self.meter(2.0 * used * self.stored() as f64);
        self.meter_rows(2.0 * used * self.rows() as f64);
    }

    /// hessian += Σ c_i x_i x_iᵀ, row-major, lower half at least (and a last row for a bias).
    pub fn add_outer_products(&mut self, curvatures: &[f64], hessian: &mut [f64]) {
        let (features, dimension) = (self.features(), self.dimension());
        let (matrix, range) = self.matrix();
        let pairs = match matrix {
            Matrix::Sparse(sparse) => {
                let (mut row, mut squares) = (Vec::new(), 0);
                for (curvature, at) in curvatures.iter().zip(range).filter(|(c, _)| **c > 0.0) {
                    let stored = sparse.offsets()[at]..sparse.offsets()[at + 1];
                    let values = sparse.indices()[stored.clone()].iter().zip(&sparse.values()[stored]);
                    row.clear();
                    row.extend(values.map(|(index, value)| (*index as usize, f64::from(*value))));
                    row.extend(self.problem.bias.then_some((features, 1.0)));
                    for (at, (high, value)) in row.iter().enumerate() {
                        let (line, scale) = (&mut hessian[high * dimension..][..=*high], curvature * value);
                        for (low, other) in &row[..=at] {
                            line[*low] += scale * other;
                        }
                    }
                    squares += row.len() * row.len();
                }
                squares as f64 / 2.0
            }
            Matrix::Dense(dense) => {
                let values = &dense.values()[range.start * features..range.end * features];
                fastest(DenseHessian { values, curvatures, features, dimension, hessian });
                values.len() as f64 * features as f64 / 2.0
            }
        };
        self.meter(pairs);
    }
}

/// The Hessian of dense rows, a few at a time so that its own rows are loaded and stored less often.
struct DenseHessian<'a> {
    values: &'a [f32],
    curvatures: &'a [f64],
    features: usize,
    /// Features, and one more for a bias.
    dimension: usize,
    hessian: &'a mut [f64],
}

impl Task for DenseHessian<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        const AT_ONCE: usize = 4;
        let DenseHessian { values, curvatures, features, dimension, hessian } = self;
        // A bias is a feature that is always 1.
        let mut block = vec![1.0; AT_ONCE * dimension];
        for (group, curvatures) in curvatures.chunks(AT_ONCE).enumerate() {
            let mut scales = [0.0; AT_ONCE];
            scales[..curvatures.len()].copy_from_slice(curvatures);
            for at in 0..curvatures.len() {
                let row = &values[(group * AT_ONCE + at) * features..][..features];
                for (wide, value) in block[at * dimension..].iter_mut().zip(row) {
                    *wide = f64::from(*value);
                }
            }
            let (first, rest) = block.split_at(dimension);
            let (second, rest) = rest.split_at(dimension);
            let (third, fourth) = rest.split_at(dimension);
            for (feature, into) in hessian.chunks_exact_mut(dimension).enumerate() {
                let [a, b, c, d] = [first, second, third, fourth].map(|row| row[feature]);
                let [a, b, c, d] = [a * scales[0], b * scales[1], c * scales[2], d * scales[3]];
                for at in 0..dimension {
                    into[at] += a * first[at] + b * second[at] + c * third[at] + d * fourth[at];
                }
            }
        }
    }
}
