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
    [(0.00, 4.16), (1.64, 19.92), (2.30, 11.51), (-7.40, 2.03), (-7.12, 0.00), (-1.39, 1.39)];

/// What share of its rows a worker alone visits until an error: losses without a corner, and the hinge.
#[rustfmt::skip]
pub(super) const AWAKE: [[f64; TERMS]; 2] = [
    [-0.1638, 0.0000, -0.1469, -0.1469, 0.0724, 0.0162, 0.0125, 0.0088, -0.2133, -0.0472, 0.0000, -0.0550],
    [1.5193, 0.0000, 0.1099, 0.1099, -0.2405, -0.1433, -0.0700, -0.0944, -0.5790, -0.0654, 0.0000, -0.0325],
];

/// Columns: one, workers, curvature, crowding, condition, goal,
/// width, density, common, passes, workers_goal, condition_goal.
#[rustfmt::skip]
pub(super) const LEARNT: [Learnt; 15] = [
    Learnt { algorithm: "cocoa", cornered: true, coefficients: [-1.4585, 0.8911, 0.1738, 0.0808, 0.3503, 0.3232, 0.0976, 0.1706, 0.2595, -0.3702, 0.2274, 0.0118], half: 1.78 },
    Learnt { algorithm: "cocoa", cornered: false, coefficients: [-1.0046, 0.3378, 0.4204, 0.3535, 0.0388, 0.2159, -0.0584, 0.0231, 0.1363, -0.4743, 0.4873, -0.0194], half: 1.52 },
    Learnt { algorithm: "cocoa-plus", cornered: true, coefficients: [-2.9690, -0.0062, -0.7776, 0.9016, 0.5548, 0.4637, 0.1724, 0.2702, 0.1737, -0.6357, 0.5971, -0.1029], half: 1.64 },
    Learnt { algorithm: "cocoa-plus", cornered: false, coefficients: [0.0791, -0.3281, -0.1439, 0.9921, -0.1093, -0.0041, -0.0963, 0.0224, 0.0258, -0.5573, 0.3885, 0.2425], half: 1.62 },
    Learnt { algorithm: "gradient-descent", cornered: true, coefficients: [0.0554, 0.0000, -0.0975, -0.0975, 0.7330, 0.2979, 0.1305, -0.0499, 4.9051, 0.0000, 0.0000, -0.2555], half: 4.44 },
    Learnt { algorithm: "gradient-descent", cornered: false, coefficients: [-5.9181, 0.0000, -0.3514, -0.3514, 1.1565, 0.3563, 0.0485, 0.0374, 3.4932, 0.0000, 0.0000, -0.2163], half: 2.42 },
    Learnt { algorithm: "l-bfgs", cornered: true, coefficients: [-0.7769, 0.0000, 0.2481, 0.2481, 0.1488, 0.3014, 0.1922, -0.0031, 0.9487, 0.0000, 0.0000, 0.2295], half: 1.61 },
    Learnt { algorithm: "l-bfgs", cornered: false, coefficients: [-1.4645, 0.0000, -0.0497, -0.0497, 0.3301, 0.0680, 0.0025, 0.0313, 0.9899, 0.0000, 0.0000, 0.0503], half: 1.41 },
    Learnt { algorithm: "local-sgd", cornered: true, coefficients: [-2.3921, 0.1238, -0.0223, 0.6009, 0.3175, 0.6770, 0.3267, 0.1440, 0.2997, -0.4894, -0.0727, 0.1672], half: 1.54 },
    Learnt { algorithm: "local-sgd", cornered: false, coefficients: [-2.5464, 0.0104, 0.2123, 0.5378, 0.1382, 0.5708, 0.1263, 0.0274, -0.0227, -0.4476, -0.1828, 0.1113], half: 1.38 },
    Learnt { algorithm: "minibatch-sgd", cornered: true, coefficients: [2.0054, 0.0000, -0.0140, -0.0140, 0.4167, 0.2413, 0.1200, -0.1070, 1.1073, 0.0000, 0.0000, 0.3599], half: 1.79 },
    Learnt { algorithm: "minibatch-sgd", cornered: false, coefficients: [-0.4795, 0.0000, -0.0102, -0.0102, 0.6109, 0.3347, 0.0523, -0.0362, -0.1476, 0.0000, 0.0000, 0.2833], half: 2.56 },
    Learnt { algorithm: "newton", cornered: true, coefficients: [-0.0702, 0.0000, -0.0431, -0.0431, 0.1195, 0.1229, -0.0445, -0.0408, 0.3322, 0.0000, 0.0000, 0.0014], half: 1.19 },
    Learnt { algorithm: "newton", cornered: false, coefficients: [-0.9765, 0.0000, -0.0605, -0.0605, 0.2147, 0.0516, 0.0028, -0.0405, 0.2638, 0.0000, 0.0000, -0.0044], half: 0.79 },
    Learnt { algorithm: "sdca", cornered: true, coefficients: [-2.1404, 0.0000, 0.1733, 0.1733, 0.3414, 0.2798, 0.0545, 0.1504, 0.4079, -0.8825, 0.0000, 0.0740], half: 1.40 },
];
