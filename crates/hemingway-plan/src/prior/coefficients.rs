//! What was learnt from simulated runs: written by `bench/prior/run`, not by hand.

use super::terms::TERMS;

/// What one algorithm needs on one kind of loss.
pub(super) struct Learnt {
    pub algorithm: &'static str,
    /// Whether the loss has a corner.
    pub cornered: bool,
    /// In the order of [`super::terms::terms`].
    pub coefficients: [f64; TERMS],
    /// Half of the 90 % interval of log rounds.
    pub half: f64,
}

/// The terms that runs covered: logarithms of workers, condition, goal, width, density and passes.
pub(super) const SEEN: [(f64, f64); 6] =
    [(0.00, 4.16), (3.46, 17.33), (2.30, 11.51), (-7.09, 1.20), (-7.12, 0.00), (-1.39, 1.39)];

/// Columns: one, workers, curvature, crowding, condition, goal,
/// width, density, common, passes, workers_goal, condition_goal.
#[rustfmt::skip]
pub(super) const LEARNT: [Learnt; 14] = [
    Learnt { algorithm: "cocoa", cornered: true, coefficients: [-1.459, 0.891, 0.174, 0.081, 0.350, 0.323, 0.098, 0.171, 0.260, -0.370, 0.227, 0.012], half: 1.78 },
    Learnt { algorithm: "cocoa", cornered: false, coefficients: [-1.005, 0.338, 0.420, 0.353, 0.039, 0.216, -0.058, 0.023, 0.136, -0.474, 0.487, -0.019], half: 1.52 },
    Learnt { algorithm: "cocoa-plus", cornered: true, coefficients: [-2.969, -0.006, -0.778, 0.902, 0.555, 0.464, 0.172, 0.270, 0.174, -0.636, 0.597, -0.103], half: 1.64 },
    Learnt { algorithm: "cocoa-plus", cornered: false, coefficients: [0.079, -0.328, -0.144, 0.992, -0.109, -0.004, -0.096, 0.022, 0.026, -0.557, 0.389, 0.243], half: 1.62 },
    Learnt { algorithm: "gradient-descent", cornered: true, coefficients: [0.055, 0.000, -0.098, -0.098, 0.733, 0.298, 0.130, -0.050, 4.905, 0.000, 0.000, -0.255], half: 4.44 },
    Learnt { algorithm: "gradient-descent", cornered: false, coefficients: [-5.918, 0.000, -0.351, -0.351, 1.156, 0.356, 0.048, 0.037, 3.493, 0.000, 0.000, -0.216], half: 2.42 },
    Learnt { algorithm: "l-bfgs", cornered: true, coefficients: [-0.777, 0.000, 0.248, 0.248, 0.149, 0.301, 0.192, -0.003, 0.949, 0.000, 0.000, 0.230], half: 1.61 },
    Learnt { algorithm: "l-bfgs", cornered: false, coefficients: [-1.464, 0.000, -0.050, -0.050, 0.330, 0.068, 0.003, 0.031, 0.990, 0.000, 0.000, 0.050], half: 1.41 },
    Learnt { algorithm: "local-sgd", cornered: true, coefficients: [-2.392, 0.124, -0.022, 0.601, 0.318, 0.677, 0.327, 0.144, 0.300, -0.489, -0.073, 0.167], half: 1.54 },
    Learnt { algorithm: "local-sgd", cornered: false, coefficients: [-2.546, 0.010, 0.212, 0.538, 0.138, 0.571, 0.126, 0.027, -0.023, -0.448, -0.183, 0.111], half: 1.38 },
    Learnt { algorithm: "minibatch-sgd", cornered: true, coefficients: [2.005, 0.000, -0.014, -0.014, 0.417, 0.241, 0.120, -0.107, 1.107, 0.000, 0.000, 0.360], half: 1.79 },
    Learnt { algorithm: "minibatch-sgd", cornered: false, coefficients: [-0.479, 0.000, -0.010, -0.010, 0.611, 0.335, 0.052, -0.036, -0.148, 0.000, 0.000, 0.283], half: 2.56 },
    Learnt { algorithm: "newton", cornered: true, coefficients: [0.824, 0.000, 0.243, 0.243, -0.027, 0.201, 0.165, 0.081, 0.159, 0.000, 0.000, 0.228], half: 1.41 },
    Learnt { algorithm: "newton", cornered: false, coefficients: [-0.977, 0.000, -0.060, -0.060, 0.215, 0.052, 0.003, -0.041, 0.264, 0.000, 0.000, -0.004], half: 0.79 },
];
