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
    Learnt { algorithm: "cocoa", cornered: true, coefficients: [-0.502, 0.927, 0.365, 0.134, 0.164, 0.164, 0.121, 0.165, 0.276, -0.481, 0.240, 0.273], half: 1.39 },
    Learnt { algorithm: "cocoa", cornered: false, coefficients: [-0.238, 0.305, 0.538, 0.440, -0.113, 0.137, -0.093, -0.025, 0.058, -0.534, 0.452, 0.095], half: 1.39 },
    Learnt { algorithm: "cocoa-plus", cornered: true, coefficients: [-1.941, -0.249, -0.715, 1.074, 0.374, 0.335, 0.191, 0.241, 0.271, -0.684, 1.011, 0.079], half: 1.39 },
    Learnt { algorithm: "cocoa-plus", cornered: false, coefficients: [0.395, -0.463, -0.178, 1.122, -0.175, -0.056, -0.120, -0.010, -0.043, -0.575, 0.572, 0.293], half: 1.39 },
    Learnt { algorithm: "gradient-descent", cornered: true, coefficients: [0.235, 0.000, -0.183, -0.183, 0.960, 0.584, 0.404, 0.238, 5.028, 0.000, 0.000, -0.597], half: 3.84 },
    Learnt { algorithm: "gradient-descent", cornered: false, coefficients: [-6.614, 0.000, -0.411, -0.411, 1.359, 0.534, 0.231, 0.180, 3.147, 0.000, 0.000, -0.383], half: 1.43 },
    Learnt { algorithm: "l-bfgs", cornered: true, coefficients: [-0.409, 0.000, 0.203, 0.203, 0.167, 0.244, 0.225, 0.048, 0.536, 0.000, 0.000, 0.288], half: 1.39 },
    Learnt { algorithm: "l-bfgs", cornered: false, coefficients: [-0.576, 0.000, -0.003, -0.003, 0.282, 0.069, 0.059, 0.108, 0.562, 0.000, 0.000, 0.048], half: 1.39 },
    Learnt { algorithm: "local-sgd", cornered: true, coefficients: [-2.948, 0.059, -0.066, 0.672, 0.352, 0.695, 0.281, 0.097, 0.353, -0.493, -0.022, 0.124], half: 1.39 },
    Learnt { algorithm: "local-sgd", cornered: false, coefficients: [-1.937, -0.020, 0.294, 0.552, 0.051, 0.445, 0.074, 0.003, -0.120, -0.420, -0.129, 0.212], half: 1.39 },
    Learnt { algorithm: "minibatch-sgd", cornered: true, coefficients: [1.630, 0.000, -0.034, -0.034, 0.474, 0.311, 0.181, -0.074, 1.406, 0.000, 0.000, 0.335], half: 1.41 },
    Learnt { algorithm: "minibatch-sgd", cornered: false, coefficients: [-0.471, 0.000, -0.057, -0.057, 0.701, 0.459, 0.111, -0.001, -0.247, 0.000, 0.000, 0.029], half: 2.10 },
    Learnt { algorithm: "newton", cornered: true, coefficients: [0.408, 0.000, 0.221, 0.221, 0.019, 0.247, 0.146, 0.049, 0.044, 0.000, 0.000, 0.186], half: 1.39 },
    Learnt { algorithm: "newton", cornered: false, coefficients: [-0.669, 0.000, -0.058, -0.058, 0.213, 0.074, 0.048, -0.028, 0.181, 0.000, 0.000, -0.029], half: 1.39 },
];
