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

/// The terms that runs covered: logarithms of workers, condition, width, density and passes,
pub(super) const SEEN: [(f64, f64); 5] =
    [(0.00, 4.16), (1.64, 19.92), (-7.40, 2.03), (-7.12, 0.00), (-1.39, 1.39)];
/// and ln 1/ε.
pub(super) const SEEN_GOALS: (f64, f64) = (2.30, 11.51);

/// What share of its rows a worker alone visits until an error: losses without a corner, and the hinge.
#[rustfmt::skip]
pub(super) const AWAKE: [[f64; TERMS]; 2] = [
    [0.657313, 0.000000, -0.186111, -0.186111, 0.129962, 0.024200, -0.033124, -0.030776, -0.162481, -0.042238, 0.000000, -0.065413, -0.171462],
    [1.547716, 0.000000, 0.108854, 0.108854, -0.238888, -0.143161, -0.071311, -0.095656, -0.577321, -0.065399, 0.000000, -0.032655, -0.005497],
];

/// Columns: one, workers, curvature, crowding, condition, goal,
/// width, density, common, passes, workers_goal, condition_goal, rows.
#[rustfmt::skip]
pub(super) const LEARNT: [Learnt; 16] = [
    Learnt { algorithm: "cocoa", cornered: true, coefficients: [0.067121, 0.888706, -0.004632, 0.061271, 0.469399, 0.447234, 0.059788, 0.134121, 0.247167, -0.282201, -0.136808, -0.087170, -0.273356], half: 1.81 },
    Learnt { algorithm: "cocoa", cornered: false, coefficients: [-1.382140, 0.504278, 0.571749, 0.229670, 0.048675, 0.220357, -0.039002, 0.032133, 0.125363, -0.433606, 0.308704, 0.032749, 0.012899], half: 1.42 },
    Learnt { algorithm: "cocoa-plus", cornered: true, coefficients: [-1.695945, 0.246119, -0.723733, 0.655296, 0.729791, 0.557248, 0.084014, 0.185867, 0.317392, -0.547399, 0.285933, -0.149607, -0.376080], half: 1.56 },
    Learnt { algorithm: "cocoa-plus", cornered: false, coefficients: [-0.269436, 0.000516, 0.021233, 0.721815, -0.011473, -0.004560, -0.109759, 0.040260, -0.048434, -0.395932, 0.075215, 0.342924, -0.089976], half: 1.48 },
    Learnt { algorithm: "gradient-descent", cornered: true, coefficients: [3.956472, 0.000000, -0.191446, -0.191446, 0.837118, 0.299748, -0.050017, -0.186781, 4.995983, 0.000000, 0.000000, -0.241320, -0.662123], half: 4.17 },
    Learnt { algorithm: "gradient-descent", cornered: false, coefficients: [-4.723735, 0.000000, -0.379674, -0.379674, 1.191994, 0.365537, -0.019005, -0.005467, 3.529082, 0.000000, 0.000000, -0.230165, -0.205542], half: 2.47 },
    Learnt { algorithm: "l-bfgs", cornered: true, coefficients: [-0.164837, 0.000000, 0.220679, 0.220679, 0.191065, 0.313301, 0.162697, -0.027461, 0.990438, 0.000000, 0.000000, 0.213972, -0.125028], half: 1.79 },
    Learnt { algorithm: "l-bfgs", cornered: false, coefficients: [-2.010814, 0.000000, -0.038554, -0.038554, 0.315520, 0.068842, 0.029383, 0.049965, 0.962105, 0.000000, 0.000000, 0.049498, 0.091390], half: 1.40 },
    Learnt { algorithm: "local-sgd", cornered: true, coefficients: [-0.781570, 0.276737, -0.082385, 0.380592, 0.544114, 0.747886, 0.234041, 0.067653, 0.409757, -0.481988, -0.100504, 0.063494, -0.430855], half: 1.50 },
    Learnt { algorithm: "local-sgd", cornered: false, coefficients: [-1.680205, 0.074928, 0.203004, 0.455874, 0.217044, 0.592771, 0.074790, -0.007103, 0.023348, -0.445664, -0.198723, 0.083278, -0.197749], half: 1.29 },
    Learnt { algorithm: "minibatch-sgd", cornered: true, coefficients: [3.350683, 0.000000, -0.058561, -0.058561, 0.465706, 0.251797, 0.054837, -0.163067, 1.187363, 0.000000, 0.000000, 0.352577, -0.240107], half: 1.88 },
    Learnt { algorithm: "minibatch-sgd", cornered: false, coefficients: [-1.131368, 0.000000, 0.008324, 0.008324, 0.591212, 0.327113, 0.087239, -0.014644, -0.173881, 0.000000, 0.000000, 0.296898, 0.109935], half: 2.52 },
    Learnt { algorithm: "newton", cornered: true, coefficients: [-0.156910, 0.000000, -0.040650, -0.040650, 0.115816, 0.123057, -0.039114, -0.038274, 0.327526, 0.000000, 0.000000, 0.001351, 0.016334], half: 1.19 },
    Learnt { algorithm: "newton", cornered: false, coefficients: [-0.608201, 0.000000, -0.066601, -0.066601, 0.222969, 0.051234, -0.021274, -0.049453, 0.275905, 0.000000, 0.000000, -0.004271, -0.063179], half: 0.79 },
    Learnt { algorithm: "sdca", cornered: true, coefficients: [-0.054593, 0.000000, 0.097799, 0.097799, 0.458714, 0.292927, -0.042866, 0.056641, 0.532116, -0.880492, 0.000000, 0.058327, -0.404935], half: 1.37 },
    Learnt { algorithm: "sdca", cornered: false, coefficients: [-0.528195, 0.000000, 0.392735, 0.392735, -0.069474, 0.125784, -0.050137, 0.059105, 0.111784, -0.818726, 0.000000, 0.052202, 0.081663], half: 1.24 },
];
