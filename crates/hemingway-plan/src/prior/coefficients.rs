//! The prior of rounds, fitted to simulated runs: written by `bench/prior/fit.py`, not by hand.

use hemingway_train::Loss;

use super::PilotLine;

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
    Line { algorithm: "cocoa", alone: false, loss: Loss::Hinge, coefficients: [0.74008, 0.136004, 0.400894, 1.18815, 0.0472957, -0.136396, 0.908241, -0.0862408, -0.0855172, -0.0897747, 0.030321, -0.0363008, 0.030621, -0.230751], deviation: [0.442, 0.046] },
    Line { algorithm: "cocoa", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.0660986, 0.220344, 0.885563, 0.984684, 0.270468, -0.475095, 0.655745, 0.242167, -0.33703, -0.129074, -0.0698602, -0.0253902, 0.00142242, -0.286635], deviation: [0.559, 0.094] },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Logistic, coefficients: [-1.95136, 0.0811838, 0.99939, 0.933827, 0.088897, -0.0880722, 0.728675, 0.0676312, -0.0549931, -0.0538872, -0.0247858, -0.0126799, 0.0124143, -0.2155], deviation: [0.638, 0.094] },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Squared, coefficients: [-0.946411, 0.21172, 0.800173, 0.790013, 0.348719, -0.427213, 0.589082, 0.277073, -0.206303, -0.0657338, -0.0985575, -0.0215289, 0.00848401, -0.316104], deviation: [0.507, 0.130] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Hinge, coefficients: [0.171737, -0.00283061, 0.620798, 0.0, 0.0, 0.0, 0.629819, 0.107561, -0.130668, -0.0401496, 0.00711363, 0.0, 0.00712709, 0.0], deviation: [0.220, 0.203] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::SmoothedHinge, coefficients: [0.0467305, 0.183946, 0.0875015, 0.0, 0.0, 0.0, 0.362215, 0.28202, -0.144595, 0.0509028, -0.0892454, 0.0, -0.0111883, 0.0], deviation: [0.733, 0.000] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Logistic, coefficients: [-0.493193, 0.142776, 0.343726, 0.0, 0.0, 0.0, 0.428022, 0.154475, -0.051022, 0.114271, -0.141094, 0.0, -0.00815899, 0.0], deviation: [0.311, 0.140] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Squared, coefficients: [0.203029, 0.13872, 0.197233, 0.0, 0.0, 0.0, 0.480334, 0.297857, -0.171972, -0.0265177, -0.0951693, 0.0, -0.00310321, 0.0], deviation: [0.794, 0.000] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Hinge, coefficients: [0.39632, 0.293627, 0.275815, 0.173766, 0.851868, -0.125968, -0.279103, 0.274267, -0.36163, -0.263814, 0.0981518, 0.00978166, 0.0185015, -0.315563], deviation: [0.459, 0.146] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::SmoothedHinge, coefficients: [1.84069, 0.15668, 0.00302882, 0.000578378, 0.997976, -0.146252, -0.32232, 0.131964, -0.292506, -0.161749, -0.0587371, 0.000920572, 0.0271127, -0.357044], deviation: [0.403, 0.153] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Logistic, coefficients: [0.56077, -0.0681996, 0.385503, -0.163111, 0.760133, 0.313219, -0.117354, -0.0638089, -0.00421256, -0.0914655, -0.136484, 0.00844501, 0.0383589, -0.309036], deviation: [0.585, 0.108] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Squared, coefficients: [1.44168, 0.04003, 0.00553248, -0.0127292, 1.01386, -0.157118, -0.198467, 0.108738, -0.216648, -0.118278, -0.128526, 0.0126799, 0.0464036, -0.473536], deviation: [0.442, 0.149] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Hinge, coefficients: [-1.47798, -0.00437489, 1.70895, 0.0, 0.0, 0.0, 0.341745, 0.452084, -0.115131, -1.83252, 1.18423, 0.0, 0.0612478, 0.0], deviation: [0.077, 0.454] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::SmoothedHinge, coefficients: [1.44082, 0.373904, 0.175693, 0.0, 0.0, 0.0, -0.344718, 0.769781, -0.380054, -1.36955, 0.755109, 0.0, -0.036171, 0.0], deviation: [0.568, 0.141] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Logistic, coefficients: [-0.993903, 0.375195, 0.371212, 0.0, 0.0, 0.0, -0.253664, 0.808114, -0.327881, -1.33376, 0.738258, 0.0, -0.0357614, 0.0], deviation: [0.529, 0.168] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Squared, coefficients: [-0.311301, 0.360187, 0.475494, 0.0, 0.0, 0.0, -0.350692, 0.654748, -0.296305, -1.56891, 1.02408, 0.0, -0.0312654, 0.0], deviation: [0.727, 0.108] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Hinge, coefficients: [3.38372, 0.326923, -0.561694, 0.0, 0.0, 0.0, 0.781675, 0.118418, -0.41135, -0.379152, 0.218279, 0.0, 0.0232844, 0.0], deviation: [0.827, 0.264] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.683503, 0.0693201, 0.270449, 0.0, 0.0, 0.0, 0.00172067, 0.207854, -0.136683, -0.388988, 0.260405, 0.0, -0.00120511, 0.0], deviation: [0.213, 0.187] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Logistic, coefficients: [-0.271014, 0.0553301, 0.421304, 0.0, 0.0, 0.0, -0.000350713, 0.221727, -0.0790913, -0.322599, 0.152058, 0.0, -0.00111272, 0.0], deviation: [0.330, 0.116] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Squared, coefficients: [-0.0466857, 0.0804912, 0.255602, 0.0, 0.0, 0.0, -0.0751843, 0.197507, -0.0905183, -0.414531, 0.348208, 0.0, -0.00165989, 0.0], deviation: [0.330, 0.152] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Hinge, coefficients: [2.69897, 0.37717, 0.0274532, -0.0379533, 0.912277, -0.22627, -0.117512, 0.236514, -0.624291, -0.0610143, 0.0917997, 0.0370184, 0.0396022, -0.252355], deviation: [0.638, 0.185] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::SmoothedHinge, coefficients: [2.54161, 0.493718, -0.915555, 0.0725687, 0.686022, 0.00934185, 0.0191824, 0.168291, -0.474457, -0.0520962, 0.0258401, 0.00203199, 0.0421191, -0.443156], deviation: [0.468, 0.149] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Logistic, coefficients: [0.919653, 0.45485, -1.47369, -0.0241344, 0.432017, 0.428482, 0.0883558, 0.0653743, -0.213954, -0.012383, 0.0328995, 0.0151611, 0.0463686, -0.312983], deviation: [0.605, 0.121] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Squared, coefficients: [2.09365, 0.6094, -1.39095, -0.0188312, 0.457823, 0.0397617, 0.0355485, 0.293273, -0.445366, -0.0817148, 0.110076, 0.0192571, 0.0290125, -0.551446], deviation: [0.453, 0.156] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Hinge, coefficients: [1.43813, 0.540782, -0.117308, 0.0, 0.0, 0.0, 0.134467, 0.490949, -0.103433, -0.387281, 0.40369, 0.0, 0.001751, 0.0], deviation: [1.294, 0.006] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.783534, 0.417129, 0.880429, 0.0, 0.0, 0.0, 0.0156797, 0.589606, -0.153709, -0.196487, 0.39153, 0.0, -0.0166343, 0.0], deviation: [1.323, 0.000] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Logistic, coefficients: [-1.28312, 0.47063, 0.413939, 0.0, 0.0, 0.0, 0.0748741, 0.559428, 0.0632023, -0.339975, 0.376183, 0.0, -0.012317, 0.0], deviation: [1.477, 0.000] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Squared, coefficients: [0.565591, 0.546627, 0.418764, 0.0, 0.0, 0.0, -0.062884, 0.622801, -0.107476, -0.414989, 0.465102, 0.0, -0.0261251, 0.0], deviation: [1.276, 0.000] },
    Line { algorithm: "newton", alone: false, loss: Loss::Hinge, coefficients: [-0.559374, 0.0188542, 0.794738, 0.0, 0.0, 0.0, -0.0671537, 0.153042, 0.0404061, -0.0939915, -0.00764108, 0.0, -0.00485299, 0.0], deviation: [0.362, 0.051] },
    Line { algorithm: "newton", alone: false, loss: Loss::SmoothedHinge, coefficients: [-0.163176, 0.0496359, 0.230686, 0.0, 0.0, 0.0, -0.0515358, 0.157104, -0.058434, -0.0905611, 0.115555, 0.0, -0.0045329, 0.0], deviation: [0.291, 0.118] },
    Line { algorithm: "newton", alone: false, loss: Loss::Logistic, coefficients: [0.0214194, 0.049727, 0.223692, 0.0, 0.0, 0.0, -0.0629091, 0.174147, -0.104083, -0.120269, 0.0728705, 0.0, -0.00387891, 0.0], deviation: [0.426, 0.029] },
    Line { algorithm: "newton", alone: false, loss: Loss::Squared, coefficients: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], deviation: [0.050, 0.000] },
];

#[rustfmt::skip]
pub(super) static FAMILIES: [FamilyLine; 16] = [
    FamilyLine { family: "dual", loss: Loss::Hinge, coefficients: [-0.0427058, 0.251085, 0.969791, 0.482055, 0.614257, -0.104049, -0.189446, 0.408468, -0.349429, -0.147662, 0.0138378, 0.0189282, -0.0207795, -0.277523], deviation: 1.710 },
    FamilyLine { family: "dual", loss: Loss::SmoothedHinge, coefficients: [0.929761, 0.161589, 0.514823, 0.300413, 0.803104, -0.107125, -0.22043, 0.253278, -0.301065, -0.094863, -0.0808998, 0.0143203, -0.00217494, -0.284232], deviation: 1.571 },
    FamilyLine { family: "dual", loss: Loss::Logistic, coefficients: [-0.38053, -0.000759731, 0.848016, 0.233364, 0.51701, 0.357242, -0.0752798, 0.0950598, -0.0766323, -0.0521544, -0.0974154, 0.00981884, 0.0104505, -0.269946], deviation: 1.561 },
    FamilyLine { family: "dual", loss: Loss::Squared, coefficients: [0.254879, 0.0806617, 0.652882, 0.146825, 0.838327, -0.0640126, -0.191958, 0.272657, -0.21219, -0.089923, -0.102557, 0.0281803, 0.00634115, -0.361078], deviation: 1.588 },
    FamilyLine { family: "batch", loss: Loss::Hinge, coefficients: [5.56329, 0.647756, -2.04734, 0.0, 0.0, 0.0, 0.45266, 0.394873, -0.503458, -0.526518, 0.242467, 0.0, -0.013012, 0.0], deviation: 2.571 },
    FamilyLine { family: "batch", loss: Loss::SmoothedHinge, coefficients: [3.13787, 0.479338, -1.34428, 0.0, 0.0, 0.0, -0.19763, 0.52916, -0.339936, -0.603401, 0.300483, 0.0, -0.0303115, 0.0], deviation: 1.970 },
    FamilyLine { family: "batch", loss: Loss::Logistic, coefficients: [0.122223, 0.427198, -0.595938, 0.0, 0.0, 0.0, -0.158095, 0.560122, -0.191711, -0.544588, 0.23061, 0.0, -0.0323441, 0.0], deviation: 1.751 },
    FamilyLine { family: "batch", loss: Loss::Squared, coefficients: [0.824161, 0.406396, -0.729273, 0.0, 0.0, 0.0, -0.223904, 0.476575, -0.195884, -0.619252, 0.418751, 0.0, -0.026162, 0.0], deviation: 1.903 },
    FamilyLine { family: "second-order", loss: Loss::Hinge, coefficients: [-0.559374, 0.0188542, 0.794738, 0.0, 0.0, 0.0, -0.0671537, 0.153042, 0.0404061, -0.0939915, -0.00764108, 0.0, -0.00485299, 0.0], deviation: 1.103 },
    FamilyLine { family: "second-order", loss: Loss::SmoothedHinge, coefficients: [-0.163176, 0.0496359, 0.230686, 0.0, 0.0, 0.0, -0.0515358, 0.157104, -0.058434, -0.0905611, 0.115555, 0.0, -0.0045329, 0.0], deviation: 1.104 },
    FamilyLine { family: "second-order", loss: Loss::Logistic, coefficients: [0.0214194, 0.049727, 0.223692, 0.0, 0.0, 0.0, -0.0629091, 0.174147, -0.104083, -0.120269, 0.0728705, 0.0, -0.00387891, 0.0], deviation: 1.098 },
    FamilyLine { family: "second-order", loss: Loss::Squared, coefficients: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], deviation: 1.000 },
    FamilyLine { family: "stochastic", loss: Loss::Hinge, coefficients: [2.59435, 0.482958, -0.134448, -0.609085, 1.04943, 0.0372817, -0.424504, 0.34909, -0.411973, -0.110937, 0.18037, 0.0525292, 0.00652098, -0.357387], deviation: 2.461 },
    FamilyLine { family: "stochastic", loss: Loss::SmoothedHinge, coefficients: [2.96095, 0.612753, -0.962725, -0.606384, 0.824334, 0.242368, -0.480869, 0.421646, -0.372037, -0.0355928, 0.0337153, 0.0327031, -0.00182387, -0.591171], deviation: 2.257 },
    FamilyLine { family: "stochastic", loss: Loss::Logistic, coefficients: [1.35041, 0.602411, -1.36951, -0.637451, 0.536202, 0.599613, -0.323556, 0.329149, -0.173098, 0.0233027, 0.0432574, 0.035546, 0.00490857, -0.382013], deviation: 2.208 },
    FamilyLine { family: "stochastic", loss: Loss::Squared, coefficients: [2.90014, 0.670448, -1.36386, -0.713975, 0.533003, 0.405202, -0.339341, 0.454433, -0.357506, -0.051972, 0.149659, 0.0537112, -0.00513376, -0.587338], deviation: 2.216 },
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
    [0.793, 0.606, 0.596, 0.160, 0.166, 0.357, 0.291, 0.020],
    [0.606, 1.000, 0.607, 0.022, -0.035, 0.336, 0.246, -0.152],
    [0.596, 0.607, 0.748, 0.101, 0.175, 0.414, 0.306, 0.015],
    [0.160, 0.022, 0.101, 1.000, 0.679, 0.222, 0.486, 0.399],
    [0.166, -0.035, 0.175, 0.679, 1.000, 0.297, 0.477, 0.386],
    [0.357, 0.336, 0.414, 0.222, 0.297, 0.586, 0.356, 0.022],
    [0.291, 0.246, 0.306, 0.486, 0.477, 0.356, 1.000, 0.187],
    [0.020, -0.152, 0.015, 0.399, 0.386, 0.022, 0.187, 1.000],
];

/// The correlation of residuals along a run falls by this factor with every decade of the error.
#[rustfmt::skip]
pub(super) static PER_DECADE: [(&str, f64); 4] = [
    ("dual", 0.86),
    ("batch", 0.93),
    ("second-order", 0.93),
    ("stochastic", 0.77),
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

/// What rounds on a thousand rows say of rounds on all.
#[rustfmt::skip]
pub(super) static PILOTS: [(&str, Loss, PilotLine); 8] = [
    ("l-bfgs", Loss::Hinge, PilotLine { shift: -0.790, deviation: 1.001 }),
    ("l-bfgs", Loss::SmoothedHinge, PilotLine { shift: -0.389, deviation: 0.576 }),
    ("l-bfgs", Loss::Logistic, PilotLine { shift: -0.147, deviation: 0.342 }),
    ("l-bfgs", Loss::Squared, PilotLine { shift: -0.249, deviation: 0.377 }),
    ("newton", Loss::Hinge, PilotLine { shift: 0.295, deviation: 0.346 }),
    ("newton", Loss::SmoothedHinge, PilotLine { shift: -0.180, deviation: 0.410 }),
    ("newton", Loss::Logistic, PilotLine { shift: -0.031, deviation: 0.165 }),
    ("newton", Loss::Squared, PilotLine { shift: 0.000, deviation: 0.100 }),
];
