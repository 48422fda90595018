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
    /// Standard deviation of ln N on data that was left out of the fit.
    pub deviation: f64,
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
    Line { algorithm: "cocoa", alone: false, loss: Loss::Hinge, coefficients: [0.150866, 0.187478, 1.06523, 1.16756, 0.0783033, -0.430827, 0.842614, 0.0813405, -0.16763, -0.0765224, 0.0117304, -0.0368149, 0.00121462, -0.383953], deviation: 0.794 },
    Line { algorithm: "cocoa", alone: false, loss: Loss::SmoothedHinge, coefficients: [-0.318587, 0.281438, 0.90551, 0.948523, 0.355576, -0.697162, 0.617612, 0.291961, -0.334961, -0.0984791, -0.0945618, -0.0303006, -0.00725194, -0.349077], deviation: 0.949 },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Logistic, coefficients: [-2.61456, 0.234891, 0.867898, 0.994516, 0.165607, -0.352879, 0.664771, 0.170398, -0.0994527, -0.0722953, -0.011032, -0.028008, 0.000619296, -0.256956], deviation: 0.992 },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Squared, coefficients: [-0.97347, 0.307455, 0.956656, 0.834913, 0.390418, -0.702645, 0.574122, 0.365249, -0.308343, -0.086465, -0.0803333, -0.0312839, -0.00726626, -0.334684], deviation: 1.125 },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Hinge, coefficients: [-0.216129, 0.0924602, 0.640261, 0.0, 0.0, 0.0, 0.457661, 0.281821, -0.214706, 0.00552959, 0.00537242, 0.0, -0.00759962, 0.0], deviation: 0.845 },
    Line { algorithm: "cocoa", alone: true, loss: Loss::SmoothedHinge, coefficients: [0.0811358, 0.154676, 0.173362, 0.0, 0.0, 0.0, 0.353919, 0.284711, -0.155469, 0.0686019, -0.0941433, 0.0, -0.00949667, 0.0], deviation: 0.706 },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Logistic, coefficients: [-0.685455, 0.164907, 0.280802, 0.0, 0.0, 0.0, 0.39838, 0.188245, -0.061285, 0.0810741, -0.110859, 0.0, -0.0100606, 0.0], deviation: 0.645 },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Squared, coefficients: [0.299364, 0.121504, 0.289615, 0.0, 0.0, 0.0, 0.396481, 0.33125, -0.207675, -0.0276869, -0.102993, 0.0, -0.00305626, 0.0], deviation: 0.655 },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Hinge, coefficients: [-0.198943, 0.349501, 0.946637, 0.255121, 0.787578, -0.342158, -0.382432, 0.519509, -0.508788, -0.208142, 0.0501836, -0.000138587, -0.0096725, -0.347346], deviation: 1.060 },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::SmoothedHinge, coefficients: [1.41956, 0.265527, 0.0149443, 0.0119597, 1.06153, -0.46357, -0.371058, 0.248388, -0.325644, -0.105978, -0.104839, -0.00772849, 0.0105797, -0.38206], deviation: 0.965 },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Logistic, coefficients: [-0.612269, 0.0793888, 0.334503, -0.0654698, 0.885144, -0.0904016, -0.144859, 0.0156044, 0.00709595, -0.0929495, -0.124426, -0.00775888, 0.0254788, -0.319537], deviation: 0.883 },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Squared, coefficients: [1.43444, 0.181581, 0.0259815, 0.0331743, 1.03964, -0.517791, -0.279509, 0.258191, -0.320352, -0.139454, -0.1334, -0.00205022, 0.026304, -0.572417], deviation: 1.009 },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Hinge, coefficients: [3.1544, 0.218689, 0.283455, 0.0, 0.0, 0.0, 0.141121, 0.458518, -0.464939, -1.30785, 0.766086, 0.0, 0.0463173, 0.0], deviation: 2.284 },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::SmoothedHinge, coefficients: [2.44741, 0.37022, -0.0869946, 0.0, 0.0, 0.0, -0.359645, 0.732361, -0.452615, -1.3493, 0.730608, 0.0, -0.0299824, 0.0], deviation: 1.221 },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Logistic, coefficients: [-0.215291, 0.39022, 0.0420687, 0.0, 0.0, 0.0, -0.29133, 0.780946, -0.362007, -1.24741, 0.692238, 0.0, -0.0324182, 0.0], deviation: 1.166 },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Squared, coefficients: [0.810796, 0.379273, 0.243947, 0.0, 0.0, 0.0, -0.38104, 0.63178, -0.395049, -1.59553, 1.01773, 0.0, -0.0285066, 0.0], deviation: 1.121 },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Hinge, coefficients: [3.35788, 0.420114, -1.20864, 0.0, 0.0, 0.0, 0.684131, 0.118014, -0.385188, -0.333741, 0.194279, 0.0, 0.0238053, 0.0], deviation: 1.676 },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.92362, 0.0949503, 0.26913, 0.0, 0.0, 0.0, 0.000216266, 0.219307, -0.187527, -0.410306, 0.268626, 0.0, -0.00374056, 0.0], deviation: 0.838 },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Logistic, coefficients: [0.0342149, 0.0788092, 0.348234, 0.0, 0.0, 0.0, -0.0250348, 0.245605, -0.130219, -0.312493, 0.13954, 0.0, -0.00253554, 0.0], deviation: 0.646 },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Squared, coefficients: [0.60544, 0.0938645, 0.271475, 0.0, 0.0, 0.0, -0.090185, 0.211, -0.181064, -0.455543, 0.332435, 0.0, -0.0028, 0.0], deviation: 0.764 },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Hinge, coefficients: [3.22944, 0.451529, -0.230243, 0.0215437, 0.82906, -0.305097, -0.127706, 0.286473, -0.694119, -0.0285689, 0.0534081, 0.0243413, 0.0331715, -0.280731], deviation: 1.279 },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::SmoothedHinge, coefficients: [2.67397, 0.622276, -0.989295, 0.168265, 0.642944, -0.174259, -0.0746638, 0.29572, -0.575697, -0.024234, 0.00690796, -0.0178315, 0.0254789, -0.471326], deviation: 0.981 },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Logistic, coefficients: [0.260567, 0.551802, -1.16782, 0.0145692, 0.451428, 0.221796, 0.0114254, 0.17479, -0.273153, 0.0005762, 0.0787749, 0.00364638, 0.0267292, -0.407641], deviation: 0.888 },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Squared, coefficients: [2.36669, 0.658605, -1.1756, 0.0308913, 0.421618, -0.0708164, -0.0712247, 0.408925, -0.55254, -0.0824695, 0.102207, 0.0106267, 0.0119608, -0.538967], deviation: 1.069 },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Hinge, coefficients: [2.50387, 0.488737, -0.416172, 0.0, 0.0, 0.0, 0.161333, 0.415867, -0.158592, -0.223039, 0.309472, 0.0, 0.0192975, 0.0], deviation: 1.183 },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::SmoothedHinge, coefficients: [1.63959, 0.371734, 0.578203, 0.0, 0.0, 0.0, -0.0026672, 0.519071, -0.169816, -0.181495, 0.348309, 0.0, -0.00225478, 0.0], deviation: 1.107 },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Logistic, coefficients: [-0.701339, 0.407169, 0.420302, 0.0, 0.0, 0.0, 0.145215, 0.484999, 0.0368984, -0.261037, 0.346567, 0.0, -0.00242844, 0.0], deviation: 1.100 },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Squared, coefficients: [0.79039, 0.450971, 0.550561, 0.0, 0.0, 0.0, -0.00752815, 0.543035, -0.0996645, -0.345266, 0.461222, 0.0, -0.0183459, 0.0], deviation: 1.138 },
    Line { algorithm: "newton", alone: false, loss: Loss::Hinge, coefficients: [-0.475762, 0.00721039, 0.770416, 0.0, 0.0, 0.0, -0.0934342, 0.164499, 0.0276386, -0.0573715, -0.0344588, 0.0, -0.00321685, 0.0], deviation: 0.464 },
    Line { algorithm: "newton", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.358492, 0.0348722, 0.184644, 0.0, 0.0, 0.0, -0.0349553, 0.119786, -0.0737912, -0.122684, 0.123708, 0.0, -0.00271848, 0.0], deviation: 0.481 },
    Line { algorithm: "newton", alone: false, loss: Loss::Logistic, coefficients: [0.0134005, 0.0337224, 0.195815, 0.0, 0.0, 0.0, -0.0546876, 0.152664, -0.0872681, -0.115055, 0.0833123, 0.0, -0.00199917, 0.0], deviation: 0.462 },
    Line { algorithm: "newton", alone: false, loss: Loss::Squared, coefficients: [-0.0925801, 0.0159775, 0.0215223, 0.0, 0.0, 0.0, -0.0263241, 0.0321639, -0.0174049, 0.000167248, -0.00538189, 0.0, -0.00168158, 0.0], deviation: 0.100 },
];

#[rustfmt::skip]
pub(super) static FAMILIES: [FamilyLine; 16] = [
    FamilyLine { family: "dual", loss: Loss::Hinge, coefficients: [0.500326, 0.163404, 0.876293, 0.368037, 0.669098, -0.11685, -0.21609, 0.33475, -0.328353, -0.109844, 0.0151528, 0.0290996, -0.0113565, -0.265233], deviation: 1.670 },
    FamilyLine { family: "dual", loss: Loss::SmoothedHinge, coefficients: [0.756097, 0.194392, 0.518829, 0.187886, 0.904675, -0.331415, -0.284787, 0.292143, -0.294162, -0.0538464, -0.108048, 0.0143715, -0.00824429, -0.325618], deviation: 1.510 },
    FamilyLine { family: "dual", loss: Loss::Logistic, coefficients: [-1.01542, 0.0955764, 0.72356, 0.159294, 0.653282, 0.0661681, -0.159003, 0.156896, -0.0635135, -0.0657547, -0.0762536, 0.00963944, 0.000856865, -0.289265], deviation: 1.504 },
    FamilyLine { family: "dual", loss: Loss::Squared, coefficients: [0.274555, 0.161604, 0.75414, 0.150327, 0.890716, -0.39247, -0.247606, 0.373338, -0.297161, -0.114106, -0.107527, 0.0204321, -0.00709188, -0.408814], deviation: 1.520 },
    FamilyLine { family: "batch", loss: Loss::Hinge, coefficients: [5.96694, 0.703129, -2.81374, 0.0, 0.0, 0.0, 0.390638, 0.345964, -0.480673, -0.411526, 0.1923, 0.0, -0.00386236, 0.0], deviation: 2.301 },
    FamilyLine { family: "batch", loss: Loss::SmoothedHinge, coefficients: [5.40908, 0.610972, -2.54268, 0.0, 0.0, 0.0, -0.21601, 0.47601, -0.44669, -0.491375, 0.205974, 0.0, -0.0233461, 0.0], deviation: 1.851 },
    FamilyLine { family: "batch", loss: Loss::Logistic, coefficients: [2.64238, 0.619449, -2.06245, 0.0, 0.0, 0.0, -0.255239, 0.565992, -0.344362, -0.453302, 0.165436, 0.0, -0.0279932, 0.0], deviation: 1.688 },
    FamilyLine { family: "batch", loss: Loss::Squared, coefficients: [3.46959, 0.526544, -1.80301, 0.0, 0.0, 0.0, -0.286712, 0.465864, -0.36626, -0.589134, 0.321727, 0.0, -0.0209859, 0.0], deviation: 1.808 },
    FamilyLine { family: "second-order", loss: Loss::Hinge, coefficients: [-0.475762, 0.00721039, 0.770416, 0.0, 0.0, 0.0, -0.0934342, 0.164499, 0.0276386, -0.0573715, -0.0344588, 0.0, -0.00321685, 0.0], deviation: 1.097 },
    FamilyLine { family: "second-order", loss: Loss::SmoothedHinge, coefficients: [0.358492, 0.0348722, 0.184644, 0.0, 0.0, 0.0, -0.0349553, 0.119786, -0.0737912, -0.122684, 0.123708, 0.0, -0.00271848, 0.0], deviation: 1.101 },
    FamilyLine { family: "second-order", loss: Loss::Logistic, coefficients: [0.0134005, 0.0337224, 0.195815, 0.0, 0.0, 0.0, -0.0546876, 0.152664, -0.0872681, -0.115055, 0.0833123, 0.0, -0.00199917, 0.0], deviation: 1.097 },
    FamilyLine { family: "second-order", loss: Loss::Squared, coefficients: [-0.0925801, 0.0159775, 0.0215223, 0.0, 0.0, 0.0, -0.0263241, 0.0321639, -0.0174049, 0.000167248, -0.00538189, 0.0, -0.00168158, 0.0], deviation: 1.001 },
    FamilyLine { family: "stochastic", loss: Loss::Hinge, coefficients: [3.69365, 0.528152, -0.558058, -0.690464, 1.03753, 0.00893774, -0.451881, 0.352217, -0.482803, -0.0743121, 0.124807, 0.0519548, 0.00759326, -0.377282], deviation: 2.400 },
    FamilyLine { family: "stochastic", loss: Loss::SmoothedHinge, coefficients: [3.81755, 0.659898, -1.37693, -0.658127, 0.826248, 0.235147, -0.507879, 0.419159, -0.419859, 0.0043497, 0.0102826, 0.0284329, -0.000382682, -0.582758], deviation: 2.244 },
    FamilyLine { family: "stochastic", loss: Loss::Logistic, coefficients: [1.67957, 0.646506, -1.52062, -0.72768, 0.548535, 0.608516, -0.350398, 0.327329, -0.202416, 0.024441, 0.0785089, 0.0384475, 0.00140181, -0.419309], deviation: 2.199 },
    FamilyLine { family: "stochastic", loss: Loss::Squared, coefficients: [2.98193, 0.669287, -1.33838, -0.740704, 0.545002, 0.342285, -0.349089, 0.47812, -0.363271, -0.0437976, 0.128479, 0.0529064, -0.00972736, -0.48212], deviation: 2.219 },
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
    [0.768, 0.519, 0.529, 0.208, 0.168, 0.312, 0.266, 0.030],
    [0.519, 1.000, 0.518, 0.069, -0.012, 0.274, 0.203, -0.182],
    [0.529, 0.518, 0.713, 0.142, 0.169, 0.372, 0.234, 0.016],
    [0.208, 0.069, 0.142, 1.000, 0.660, 0.210, 0.431, 0.414],
    [0.168, -0.012, 0.169, 0.660, 1.000, 0.238, 0.414, 0.327],
    [0.312, 0.274, 0.372, 0.210, 0.238, 0.572, 0.303, 0.061],
    [0.266, 0.203, 0.234, 0.431, 0.414, 0.303, 1.000, 0.200],
    [0.030, -0.182, 0.016, 0.414, 0.327, 0.061, 0.200, 1.000],
];

/// The correlation of residuals along a run falls by this factor with every decade of the error.
#[rustfmt::skip]
pub(super) static PER_DECADE: [(&str, f64); 4] = [
    ("dual", 0.83),
    ("batch", 0.91),
    ("second-order", 0.92),
    ("stochastic", 0.75),
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
