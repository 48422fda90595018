//! What was learnt from simulated runs: written by `bench/prior/run`, not by hand.

#![allow(clippy::approx_constant, reason = "a number that was learnt may come near one that has a name")]

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
    [(0.00, 4.16), (1.64, 19.92), (2.30, 11.51), (-7.40, 2.03), (-7.12, 0.00), (-1.39, 1.39)];

/// What share of its rows a worker alone visits until an error: losses without a corner, and the hinge.
#[rustfmt::skip]
pub(super) const AWAKE: [[f64; TERMS]; 2] = [
    [0.6573, 0.0000, -0.1861, -0.1861, 0.1300, 0.0242, -0.0331, -0.0308, -0.1625, -0.0422, 0.0000, -0.0654, -0.1715],
    [1.5477, 0.0000, 0.1089, 0.1089, -0.2389, -0.1432, -0.0713, -0.0957, -0.5773, -0.0654, 0.0000, -0.0327, -0.0055],
];

/// Columns: one, workers, curvature, crowding, condition, goal,
/// width, density, common, passes, workers_goal, condition_goal, rows.
#[rustfmt::skip]
pub(super) const LEARNT: [Learnt; 16] = [
    Learnt { algorithm: "cocoa", cornered: true, coefficients: [0.0671, 0.8887, -0.0046, 0.0613, 0.4694, 0.4472, 0.0598, 0.1341, 0.2472, -0.2822, -0.1368, -0.0872, -0.2734], half: 1.81 },
    Learnt { algorithm: "cocoa", cornered: false, coefficients: [-1.3821, 0.5043, 0.5717, 0.2297, 0.0487, 0.2204, -0.0390, 0.0321, 0.1254, -0.4336, 0.3087, 0.0327, 0.0129], half: 1.42 },
    Learnt { algorithm: "cocoa-plus", cornered: true, coefficients: [-1.6959, 0.2461, -0.7237, 0.6553, 0.7298, 0.5572, 0.0840, 0.1859, 0.3174, -0.5474, 0.2859, -0.1496, -0.3761], half: 1.56 },
    Learnt { algorithm: "cocoa-plus", cornered: false, coefficients: [-0.2694, 0.0005, 0.0212, 0.7218, -0.0115, -0.0046, -0.1098, 0.0403, -0.0484, -0.3959, 0.0752, 0.3429, -0.0900], half: 1.48 },
    Learnt { algorithm: "gradient-descent", cornered: true, coefficients: [3.9565, 0.0000, -0.1914, -0.1914, 0.8371, 0.2997, -0.0500, -0.1868, 4.9960, 0.0000, 0.0000, -0.2413, -0.6621], half: 4.17 },
    Learnt { algorithm: "gradient-descent", cornered: false, coefficients: [-4.7237, 0.0000, -0.3797, -0.3797, 1.1920, 0.3655, -0.0190, -0.0055, 3.5291, 0.0000, 0.0000, -0.2302, -0.2055], half: 2.47 },
    Learnt { algorithm: "l-bfgs", cornered: true, coefficients: [-0.1648, 0.0000, 0.2207, 0.2207, 0.1911, 0.3133, 0.1627, -0.0275, 0.9904, 0.0000, 0.0000, 0.2140, -0.1250], half: 1.79 },
    Learnt { algorithm: "l-bfgs", cornered: false, coefficients: [-2.0108, 0.0000, -0.0386, -0.0386, 0.3155, 0.0688, 0.0294, 0.0500, 0.9621, 0.0000, 0.0000, 0.0495, 0.0914], half: 1.40 },
    Learnt { algorithm: "local-sgd", cornered: true, coefficients: [-0.7816, 0.2767, -0.0824, 0.3806, 0.5441, 0.7479, 0.2340, 0.0677, 0.4098, -0.4820, -0.1005, 0.0635, -0.4309], half: 1.50 },
    Learnt { algorithm: "local-sgd", cornered: false, coefficients: [-1.6802, 0.0749, 0.2030, 0.4559, 0.2170, 0.5928, 0.0748, -0.0071, 0.0233, -0.4457, -0.1987, 0.0833, -0.1977], half: 1.29 },
    Learnt { algorithm: "minibatch-sgd", cornered: true, coefficients: [3.3507, 0.0000, -0.0586, -0.0586, 0.4657, 0.2518, 0.0548, -0.1631, 1.1874, 0.0000, 0.0000, 0.3526, -0.2401], half: 1.88 },
    Learnt { algorithm: "minibatch-sgd", cornered: false, coefficients: [-1.1314, 0.0000, 0.0083, 0.0083, 0.5912, 0.3271, 0.0872, -0.0146, -0.1739, 0.0000, 0.0000, 0.2969, 0.1099], half: 2.52 },
    Learnt { algorithm: "newton", cornered: true, coefficients: [-0.1569, 0.0000, -0.0406, -0.0406, 0.1158, 0.1231, -0.0391, -0.0383, 0.3275, 0.0000, 0.0000, 0.0014, 0.0163], half: 1.19 },
    Learnt { algorithm: "newton", cornered: false, coefficients: [-0.6082, 0.0000, -0.0666, -0.0666, 0.2230, 0.0512, -0.0213, -0.0495, 0.2759, 0.0000, 0.0000, -0.0043, -0.0632], half: 0.79 },
    Learnt { algorithm: "sdca", cornered: true, coefficients: [-0.0546, 0.0000, 0.0978, 0.0978, 0.4587, 0.2929, -0.0429, 0.0566, 0.5321, -0.8805, 0.0000, 0.0583, -0.4049], half: 1.37 },
    Learnt { algorithm: "sdca", cornered: false, coefficients: [-0.5282, 0.0000, 0.3927, 0.3927, -0.0695, 0.1258, -0.0501, 0.0591, 0.1118, -0.8187, 0.0000, 0.0522, 0.0817], half: 1.24 },
];
