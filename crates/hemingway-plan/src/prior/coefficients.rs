//! The prior of rounds, fitted to simulated runs: written by `bench/prior/fit.py`, not by hand.

use hemingway_train::Loss;

/// How many terms there are.
pub(super) const TERMS: usize = 14;

/// ln N = coefficients · terms, N being rounds, or passes over all rows for dual methods on one worker.
pub(super) struct Line {
    pub algorithm: &'static str,
    /// A dual method on one worker.
    pub alone: bool,
    pub loss: Loss,
    /// Of [`super::line::TERM_NAMES`].
    pub coefficients: [f64; TERMS],
    /// The standard deviation of ln N on data that was left out of the fit: at N = 1, and by how much it grows with ln N.
    pub deviation: [f64; 2],
}

/// The line of algorithms that were never measured.
pub(super) struct FamilyLine {
    pub family: &'static str,
    pub loss: Loss,
    pub coefficients: [f64; TERMS],
    pub deviation: f64,
}

#[rustfmt::skip]
pub(super) static LINES: [Line; 32] = [
    Line { algorithm: "cocoa", alone: false, loss: Loss::Hinge, coefficients: [0.88783, 0.137679, 0.336108, 1.1879, 0.0527606, -0.158291, 0.905893, -0.0903251, -0.0957714, -0.066846, 0.021355, -0.0358346, 0.0321245, -0.229619], deviation: [0.104, 0.114] },
    Line { algorithm: "cocoa", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.00786323, 0.210285, 0.934864, 0.968643, 0.282884, -0.512553, 0.650895, 0.247685, -0.331065, -0.150064, -0.053211, -0.0225265, -0.0013764, -0.370356], deviation: [0.576, 0.093] },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Logistic, coefficients: [-2.10602, 0.111532, 0.947194, 0.946933, 0.0925446, -0.157983, 0.716998, 0.0896331, -0.0658601, -0.051195, 0.00538157, -0.013708, 0.0092103, -0.223616], deviation: [0.637, 0.091] },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Squared, coefficients: [-0.940826, 0.182588, 0.877352, 0.784685, 0.363149, -0.443228, 0.614677, 0.253039, -0.197904, -0.0708984, -0.0909496, -0.0196038, 0.009753, -0.293332], deviation: [0.548, 0.121] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Hinge, coefficients: [0.192795, -0.00159911, 0.60268, 0.0, 0.0, 0.0, 0.636506, 0.105594, -0.131322, -0.0424338, 0.0131097, 0.0, 0.00711075, 0.0], deviation: [0.236, 0.201] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::SmoothedHinge, coefficients: [0.144002, 0.180307, 0.0819628, 0.0, 0.0, 0.0, 0.357096, 0.285513, -0.155156, 0.0530412, -0.0880475, 0.0, -0.0109819, 0.0], deviation: [0.743, 0.000] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Logistic, coefficients: [-0.506795, 0.152443, 0.298098, 0.0, 0.0, 0.0, 0.413273, 0.163579, -0.0566945, 0.109898, -0.126551, 0.0, -0.00882029, 0.0], deviation: [0.346, 0.108] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Squared, coefficients: [0.227086, 0.136857, 0.20067, 0.0, 0.0, 0.0, 0.477172, 0.299938, -0.173926, -0.0190645, -0.102098, 0.0, -0.00293801, 0.0], deviation: [0.752, 0.000] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Hinge, coefficients: [0.739613, 0.265236, 0.0749363, 0.125475, 0.907587, -0.123376, -0.312563, 0.207813, -0.33959, -0.256083, 0.109688, 0.0141776, 0.0275575, -0.29432], deviation: [0.443, 0.150] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::SmoothedHinge, coefficients: [1.86939, 0.133442, -0.0294678, -0.031099, 1.01497, -0.158631, -0.311773, 0.11033, -0.267045, -0.176619, -0.0536788, 0.00412432, 0.0286214, -0.345648], deviation: [0.434, 0.145] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Logistic, coefficients: [0.545237, -0.0724637, 0.340695, -0.177821, 0.76594, 0.272039, -0.116992, -0.0688839, -0.000522111, -0.0854737, -0.114281, 0.0118991, 0.0381616, -0.301802], deviation: [0.515, 0.126] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Squared, coefficients: [1.45262, 0.0141474, -0.033039, -0.0530665, 1.05393, -0.153232, -0.185566, 0.0658837, -0.180457, -0.134202, -0.117107, 0.0151109, 0.050124, -0.52947], deviation: [0.407, 0.150] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Hinge, coefficients: [-0.981502, 0.0548349, 1.07182, 0.0, 0.0, 0.0, 0.479143, 0.421553, -0.0912164, -1.77108, 1.09079, 0.0, 0.0723305, 0.0], deviation: [0.099, 0.451] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::SmoothedHinge, coefficients: [1.53168, 0.365117, 0.163228, 0.0, 0.0, 0.0, -0.34989, 0.779557, -0.379059, -1.32381, 0.694432, 0.0, -0.035184, 0.0], deviation: [0.606, 0.140] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Logistic, coefficients: [-1.02695, 0.36664, 0.353574, 0.0, 0.0, 0.0, -0.286601, 0.812495, -0.318897, -1.27676, 0.697975, 0.0, -0.034183, 0.0], deviation: [0.388, 0.205] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Squared, coefficients: [-0.276154, 0.373983, 0.408498, 0.0, 0.0, 0.0, -0.369534, 0.651103, -0.291099, -1.51514, 0.996348, 0.0, -0.0312659, 0.0], deviation: [0.702, 0.108] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Hinge, coefficients: [3.46116, 0.361827, -0.74186, 0.0, 0.0, 0.0, 0.758064, 0.148221, -0.419803, -0.381182, 0.213374, 0.0, 0.0211323, 0.0], deviation: [0.733, 0.285] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.746378, 0.0697785, 0.257686, 0.0, 0.0, 0.0, -0.00582282, 0.218036, -0.140764, -0.374216, 0.229059, 0.0, -0.00110583, 0.0], deviation: [0.223, 0.180] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Logistic, coefficients: [-0.149011, 0.055408, 0.420728, 0.0, 0.0, 0.0, -0.0169954, 0.23278, -0.0963127, -0.314654, 0.136773, 0.0, -0.00104946, 0.0], deviation: [0.316, 0.125] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Squared, coefficients: [-0.0180452, 0.0793732, 0.262659, 0.0, 0.0, 0.0, -0.080843, 0.197342, -0.0899571, -0.424061, 0.344916, 0.0, -0.00172818, 0.0], deviation: [0.322, 0.153] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Hinge, coefficients: [3.08888, 0.354859, -0.096646, -0.0914395, 0.981532, -0.310776, -0.089597, 0.194753, -0.62639, -0.0500448, 0.0764381, 0.0433904, 0.0463476, -0.259703], deviation: [0.597, 0.203] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::SmoothedHinge, coefficients: [2.9236, 0.532569, -1.15262, 0.0831398, 0.689928, -0.0236946, 0.0122867, 0.172916, -0.498802, -0.0677825, 0.00917414, -0.000333931, 0.0436045, -0.436574], deviation: [0.459, 0.158] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Logistic, coefficients: [0.768435, 0.477306, -1.57997, -0.0236317, 0.432777, 0.375765, 0.121909, 0.0444259, -0.188368, -0.00383821, 0.0515369, 0.0144242, 0.046632, -0.329296], deviation: [0.623, 0.110] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Squared, coefficients: [2.24299, 0.606542, -1.49461, -0.0284232, 0.486351, 0.0122718, 0.024163, 0.279477, -0.439151, -0.0626967, 0.0872602, 0.0185183, 0.0323265, -0.538169], deviation: [0.440, 0.163] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Hinge, coefficients: [1.7782, 0.558096, -0.312485, 0.0, 0.0, 0.0, 0.129562, 0.482421, -0.127832, -0.357635, 0.398203, 0.0, 0.00607353, 0.0], deviation: [1.327, 0.000] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::SmoothedHinge, coefficients: [1.06353, 0.425455, 0.696783, 0.0, 0.0, 0.0, -0.0167908, 0.57886, -0.16716, -0.192006, 0.382735, 0.0, -0.0110652, 0.0], deviation: [1.310, 0.000] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Logistic, coefficients: [-1.26622, 0.462582, 0.347423, 0.0, 0.0, 0.0, 0.123033, 0.52965, 0.0739139, -0.305064, 0.366456, 0.0, -0.00767198, 0.0], deviation: [1.403, 0.000] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Squared, coefficients: [0.0650179, 0.551726, 0.360968, 0.0, 0.0, 0.0, -0.0292571, 0.604095, -0.056078, -0.372204, 0.477014, 0.0, -0.0246515, 0.0], deviation: [1.242, 0.000] },
    Line { algorithm: "newton", alone: false, loss: Loss::Hinge, coefficients: [-0.612734, 0.0174521, 0.809665, 0.0, 0.0, 0.0, -0.0772992, 0.160105, 0.0372966, -0.0867652, -0.00722291, 0.0, -0.00480713, 0.0], deviation: [0.301, 0.076] },
    Line { algorithm: "newton", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.0174406, 0.0480029, 0.215803, 0.0, 0.0, 0.0, -0.0620928, 0.160845, -0.0710996, -0.0937338, 0.100626, 0.0, -0.00426665, 0.0], deviation: [0.290, 0.119] },
    Line { algorithm: "newton", alone: false, loss: Loss::Logistic, coefficients: [0.0060495, 0.048757, 0.219691, 0.0, 0.0, 0.0, -0.0759609, 0.180469, -0.10772, -0.124011, 0.074013, 0.0, -0.00365907, 0.0], deviation: [0.404, 0.050] },
    Line { algorithm: "newton", alone: false, loss: Loss::Squared, coefficients: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], deviation: [0.050, 0.000] },
];

#[rustfmt::skip]
pub(super) static FAMILIES: [FamilyLine; 16] = [
    FamilyLine { family: "dual", loss: Loss::Hinge, coefficients: [0.154339, 0.255712, 0.825803, 0.469599, 0.620861, -0.100423, -0.221746, 0.401174, -0.354368, -0.139659, 0.0241842, 0.0201456, -0.0188299, -0.267556], deviation: 1.710 },
    FamilyLine { family: "dual", loss: Loss::SmoothedHinge, coefficients: [0.93701, 0.159031, 0.510395, 0.29494, 0.829435, -0.151353, -0.228294, 0.249376, -0.292892, -0.110463, -0.0765621, 0.0126265, -0.00289574, -0.330627], deviation: 1.558 },
    FamilyLine { family: "dual", loss: Loss::Logistic, coefficients: [-0.500242, 0.0189917, 0.776998, 0.236806, 0.513914, 0.301535, -0.0731109, 0.10523, -0.0764793, -0.0527636, -0.0692077, 0.0101901, 0.00881163, -0.278186], deviation: 1.547 },
    FamilyLine { family: "dual", loss: Loss::Squared, coefficients: [0.307342, 0.0595133, 0.671858, 0.128683, 0.870196, -0.0673924, -0.205748, 0.252772, -0.200601, -0.0978219, -0.102999, 0.0292912, 0.0081323, -0.358185], deviation: 1.569 },
    FamilyLine { family: "batch", loss: Loss::Hinge, coefficients: [5.3574, 0.709076, -2.19257, 0.0, 0.0, 0.0, 0.429347, 0.451042, -0.505738, -0.549102, 0.253881, 0.0, -0.0200977, 0.0], deviation: 2.598 },
    FamilyLine { family: "batch", loss: Loss::SmoothedHinge, coefficients: [2.93165, 0.470649, -1.31227, 0.0, 0.0, 0.0, -0.200249, 0.539204, -0.318684, -0.58579, 0.273487, 0.0, -0.0304684, 0.0], deviation: 1.958 },
    FamilyLine { family: "batch", loss: Loss::Logistic, coefficients: [0.0731295, 0.411907, -0.542852, 0.0, 0.0, 0.0, -0.17114, 0.560427, -0.192299, -0.525506, 0.225044, 0.0, -0.0314715, 0.0], deviation: 1.729 },
    FamilyLine { family: "batch", loss: Loss::Squared, coefficients: [0.963849, 0.403803, -0.764367, 0.0, 0.0, 0.0, -0.239655, 0.470562, -0.199257, -0.617269, 0.411598, 0.0, -0.0251091, 0.0], deviation: 1.874 },
    FamilyLine { family: "second-order", loss: Loss::Hinge, coefficients: [-0.612734, 0.0174521, 0.809665, 0.0, 0.0, 0.0, -0.0772992, 0.160105, 0.0372966, -0.0867652, -0.00722291, 0.0, -0.00480713, 0.0], deviation: 1.102 },
    FamilyLine { family: "second-order", loss: Loss::SmoothedHinge, coefficients: [0.0174406, 0.0480029, 0.215803, 0.0, 0.0, 0.0, -0.0620928, 0.160845, -0.0710996, -0.0937338, 0.100626, 0.0, -0.00426665, 0.0], deviation: 1.103 },
    FamilyLine { family: "second-order", loss: Loss::Logistic, coefficients: [0.0060495, 0.048757, 0.219691, 0.0, 0.0, 0.0, -0.0759609, 0.180469, -0.10772, -0.124011, 0.074013, 0.0, -0.00365907, 0.0], deviation: 1.099 },
    FamilyLine { family: "second-order", loss: Loss::Squared, coefficients: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], deviation: 1.000 },
    FamilyLine { family: "stochastic", loss: Loss::Hinge, coefficients: [2.90726, 0.486677, -0.151088, -0.63334, 1.09079, -0.0890097, -0.406137, 0.351943, -0.439912, -0.102732, 0.160344, 0.0550943, 0.00559803, -0.400919], deviation: 2.481 },
    FamilyLine { family: "stochastic", loss: Loss::SmoothedHinge, coefficients: [3.3774, 0.649795, -1.17222, -0.581639, 0.812993, 0.204298, -0.49333, 0.445584, -0.411711, -0.044873, 0.00990232, 0.0293, -0.00149421, -0.582078], deviation: 2.277 },
    FamilyLine { family: "stochastic", loss: Loss::Logistic, coefficients: [1.16335, 0.630638, -1.43828, -0.633715, 0.532696, 0.56619, -0.299229, 0.32073, -0.157034, 0.0238863, 0.0668426, 0.0344593, 0.0034453, -0.396463], deviation: 2.210 },
    FamilyLine { family: "stochastic", loss: Loss::Squared, coefficients: [2.82575, 0.668413, -1.40379, -0.687104, 0.524043, 0.398926, -0.327937, 0.455378, -0.348596, -0.0294031, 0.134832, 0.0501202, -0.00309047, -0.554137], deviation: 2.231 },
];

/// Algorithm, and whether it is a dual method on one worker: the rows and columns of [`CORRELATIONS`].
#[rustfmt::skip]
pub(super) static GROUPS: [(&str, bool); 8] = [
    ("cocoa", false),
    ("cocoa", true),
    ("cocoa-plus", false),
    ("gradient-descent", false),
    ("l-bfgs", false),
    ("local-sgd", false),
    ("minibatch-sgd", false),
    ("newton", false),
];

/// Between the residuals of two lines at one problem; on the diagonal between two numbers of workers.
#[rustfmt::skip]
pub(super) static CORRELATIONS: [[f64; 8]; 8] = [
    [0.788, 0.561, 0.565, 0.242, 0.195, 0.340, 0.303, 0.030],
    [0.561, 1.000, 0.584, 0.086, -0.041, 0.323, 0.251, -0.171],
    [0.565, 0.584, 0.735, 0.134, 0.173, 0.402, 0.283, -0.005],
    [0.242, 0.086, 0.134, 1.000, 0.688, 0.223, 0.477, 0.390],
    [0.195, -0.041, 0.173, 0.688, 1.000, 0.308, 0.471, 0.381],
    [0.340, 0.323, 0.402, 0.223, 0.308, 0.582, 0.367, 0.026],
    [0.303, 0.251, 0.283, 0.477, 0.471, 0.367, 1.000, 0.183],
    [0.030, -0.171, -0.005, 0.390, 0.381, 0.026, 0.183, 1.000],
];

/// The correlation of residuals along a run falls by this factor with every decade of the error.
#[rustfmt::skip]
pub(super) static PER_DECADE: [(&str, f64); 4] = [
    ("dual", 0.86),
    ("batch", 0.93),
    ("second-order", 0.92),
    ("stochastic", 0.78),
];

/// What the runs covered: the least and the most of each of [`super::line::CHARACTERS`].
#[rustfmt::skip]
pub(super) static RANGES: [(f64, f64); 7] = [
    (0.000, 6.931),
    (0.000, 16.631),
    (0.285, 23.775),
    (6.908, 10.822),
    (0.001, 5.634),
    (0.000, 10.251),
    (-1.386, 2.773),
];
