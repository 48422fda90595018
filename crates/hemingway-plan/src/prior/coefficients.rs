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

/// The terms that runs covered: logarithms of workers, condition, goal, features and passes.
pub(super) const SEEN: [(f64, f64); 5] =
    [(0.00, 4.16), (3.46, 17.33), (2.30, 11.51), (2.30, 8.40), (-1.39, 1.39)];

/// Columns: one, workers, curvature, crowding, condition, goal,
/// features, rare, common, passes, workers_goal, condition_goal.
#[rustfmt::skip]
pub(super) const LEARNT: [Learnt; 14] = [
    Learnt { algorithm: "cocoa", cornered: true, coefficients: [-2.429, 0.776, 0.055, 0.002, 0.474, 0.266, -0.038, -0.435, 0.616, -0.258, 0.640, -0.075], half: 2.97 },
    Learnt { algorithm: "cocoa", cornered: false, coefficients: [-0.223, 0.291, 0.290, 0.285, 0.124, 0.232, -0.175, -0.214, -0.290, -0.328, 0.645, -0.098], half: 1.63 },
    Learnt { algorithm: "cocoa-plus", cornered: true, coefficients: [-4.329, 0.243, -0.798, 0.729, 0.696, 0.460, -0.111, -0.539, 0.553, -0.472, 0.106, -0.163], half: 3.38 },
    Learnt { algorithm: "cocoa-plus", cornered: false, coefficients: [0.835, -0.252, -0.124, 0.848, -0.057, 0.039, -0.141, -0.133, -0.196, -0.500, 0.262, 0.184], half: 1.46 },
    Learnt { algorithm: "gradient-descent", cornered: true, coefficients: [0.749, 0.000, 0.083, 0.083, 0.375, 0.251, 0.100, -0.224, 1.571, 0.000, 0.000, -0.050], half: 3.74 },
    Learnt { algorithm: "gradient-descent", cornered: false, coefficients: [-3.058, 0.000, -0.236, -0.236, 0.887, 0.239, -0.196, 0.333, 3.656, 0.000, 0.000, -0.087], half: 3.75 },
    Learnt { algorithm: "l-bfgs", cornered: true, coefficients: [-3.535, 0.000, 0.278, 0.278, 0.147, 0.304, 0.281, -0.610, 1.669, 0.000, 0.000, 0.237], half: 2.68 },
    Learnt { algorithm: "l-bfgs", cornered: false, coefficients: [-0.704, 0.000, -0.034, -0.034, 0.246, 0.069, -0.072, 0.006, 0.851, 0.000, 0.000, 0.051], half: 1.40 },
    Learnt { algorithm: "local-sgd", cornered: true, coefficients: [-4.739, 0.086, -0.089, 0.617, 0.247, 0.578, 0.274, -0.410, 0.726, -0.417, -0.191, 0.334], half: 1.93 },
    Learnt { algorithm: "local-sgd", cornered: false, coefficients: [-3.699, -0.045, 0.123, 0.655, 0.056, 0.573, 0.171, -0.011, 0.715, -0.477, -0.203, 0.197], half: 1.49 },
    Learnt { algorithm: "minibatch-sgd", cornered: true, coefficients: [1.680, 0.000, 0.037, 0.037, 0.305, 0.208, 0.165, -0.414, -0.683, 0.000, 0.000, 0.364], half: 2.05 },
    Learnt { algorithm: "minibatch-sgd", cornered: false, coefficients: [-0.480, 0.000, 0.065, 0.065, 0.470, 0.226, 0.041, 0.030, 0.881, 0.000, 0.000, 0.612], half: 1.39 },
    Learnt { algorithm: "newton", cornered: true, coefficients: [-1.281, 0.000, 0.228, 0.228, 0.006, 0.178, 0.148, -0.507, 0.079, 0.000, 0.000, 0.253], half: 1.99 },
    Learnt { algorithm: "newton", cornered: false, coefficients: [0.811, 0.000, -0.018, -0.018, 0.120, 0.043, -0.260, -0.044, -0.616, 0.000, 0.000, 0.011], half: 1.39 },
];
