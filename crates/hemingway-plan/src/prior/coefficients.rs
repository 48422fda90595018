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
    [-0.2419, 0.0000, -0.1525, -0.1525, 0.0802, 0.0217, 0.0070, 0.0039, -0.2106, -0.0448, 0.0000, -0.0624],
    [1.5193, 0.0000, 0.1099, 0.1099, -0.2405, -0.1433, -0.0700, -0.0944, -0.5790, -0.0654, 0.0000, -0.0325],
];

/// Columns: one, workers, curvature, crowding, condition, goal,
/// width, density, common, passes, workers_goal, condition_goal.
#[rustfmt::skip]
pub(super) const LEARNT: [Learnt; 16] = [
    Learnt { algorithm: "cocoa", cornered: true, coefficients: [-1.0276, 0.7557, -0.0368, 0.2378, 0.3440, 0.4333, 0.1141, 0.1800, 0.1782, -0.2891, -0.1146, -0.0717], half: 1.86 },
    Learnt { algorithm: "cocoa", cornered: false, coefficients: [-1.3308, 0.5109, 0.5735, 0.2214, 0.0547, 0.2210, -0.0417, 0.0302, 0.1279, -0.4334, 0.3079, 0.0321], half: 1.42 },
    Learnt { algorithm: "cocoa-plus", cornered: true, coefficients: [-3.1750, 0.0662, -0.7553, 0.8993, 0.5465, 0.5333, 0.1523, 0.2471, 0.2219, -0.5364, 0.3237, -0.1223], half: 1.62 },
    Learnt { algorithm: "cocoa-plus", cornered: false, coefficients: [-0.6195, -0.0474, 0.0091, 0.7762, -0.0514, -0.0108, -0.0886, 0.0536, -0.0700, -0.4023, 0.0841, 0.3494], half: 1.48 },
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
    Learnt { algorithm: "sdca", cornered: false, coefficients: [-0.1005, 0.0000, 0.3768, 0.3768, -0.0457, 0.1271, -0.0692, 0.0427, 0.1346, -0.8176, 0.0000, 0.0507], half: 1.24 },
];
