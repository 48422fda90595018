//! The prior of rounds, fitted to simulated runs: written by `bench/prior/fit.py`, not by hand.

use hemingway_train::Loss;

pub(super) const TERMS: usize = 14;

/// ln N = coefficients · terms, N being rounds, or passes over all rows for dual methods on one worker.
pub(super) struct Line {
    pub algorithm: &'static str,
    /// A dual method on one worker.
    pub alone: bool,
    pub loss: Loss,
    /// one, g, ln g, ln m, ln(1+mκ), ln(1+mκ/100), ln(1+κ),
    /// ln(1+R²/λ), ln n, ln(R²/L), ln deff, g·ln m, g·ln(1+R²/λ), ln p.
    pub coefficients: [f64; TERMS],
    /// Standard deviation of ln N on data that was left out of the fit.
    pub deviation: f64,
}

/// The line of algorithms that were never measured; its deviation is that of algorithms left out of the fit.
pub(super) struct FamilyLine {
    pub family: &'static str,
    pub loss: Loss,
    pub coefficients: [f64; TERMS],
    pub deviation: f64,
}

#[rustfmt::skip]
pub(super) static LINES: [Line; 32] = [
    Line { algorithm: "cocoa", alone: true, loss: Loss::Hinge, coefficients: [-0.458842, 0.0390704, 0.611129, 0.0, 0.0, -0.407391, 0.749343, 0.0986436, -0.156057, -0.0397487, 0.0811308, 0.0, 0.0045395, 0.0], deviation: 0.607 },
    Line { algorithm: "cocoa", alone: true, loss: Loss::SmoothedHinge, coefficients: [-0.449687, 0.0324539, 0.907546, 0.0, 0.0, -0.44352, 0.603338, 0.18686, -0.127115, -0.00448683, -0.128003, 0.0, -0.00317978, 0.0], deviation: 0.522 },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Logistic, coefficients: [-1.18387, 0.0584489, 0.885809, 0.0, 0.0, -0.468401, 0.479724, 0.183879, -0.0906651, -0.00152082, -0.108969, 0.0, -0.00457551, 0.0], deviation: 0.577 },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Squared, coefficients: [-0.795588, 0.04634, 1.00964, 0.0, 0.0, -0.961216, 0.702271, 0.289198, -0.168885, -0.0620837, -0.0709457, 0.0, -0.00531148, 0.0], deviation: 0.428 },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Hinge, coefficients: [-0.0177969, 0.0777713, 0.82077, 1.11917, 0.12749, -0.82479, 0.973944, -0.091799, -0.0323348, -0.0482261, 0.0463819, -0.0224269, 0.0193786, 0.0], deviation: 0.592 },
    Line { algorithm: "cocoa", alone: false, loss: Loss::SmoothedHinge, coefficients: [-1.78465, 0.064251, 1.38993, 0.737466, 0.348798, -0.592164, 0.766368, 0.138724, -0.137553, -0.0730322, -0.0339748, -0.00166352, 0.0123412, 0.0], deviation: 0.778 },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Logistic, coefficients: [-3.18951, 0.136506, 1.32472, 0.753001, 0.167307, -0.457815, 0.669209, 0.220489, -0.109445, -0.0485857, -0.0382755, 0.00187377, 0.00187664, 0.0], deviation: 0.904 },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Squared, coefficients: [-1.30475, 0.118583, 1.41993, 0.622174, 0.40628, -0.605398, 0.777081, 0.271093, -0.24226, -0.0413036, -0.0835634, -0.0024763, 0.00559933, 0.0], deviation: 0.798 },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Hinge, coefficients: [-1.29947, 0.243422, 1.13743, 0.463015, 0.632122, -0.31952, -0.29682, 0.506396, -0.529426, -0.225148, 0.111083, -0.0131234, 0.0176345, 0.0], deviation: 1.049 },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.146435, -0.0260345, 0.735769, -0.137281, 0.97457, -0.218104, -0.278146, 0.148511, -0.194251, -0.106395, -0.0974685, 0.0226311, 0.0364481, 0.0], deviation: 0.740 },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Logistic, coefficients: [-1.7007, 0.00716097, 0.552846, -0.153784, 0.879106, -0.0856119, -0.258604, 0.102975, 0.0149433, -0.113114, -0.156173, 0.00986016, 0.0322955, 0.0], deviation: 0.740 },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Squared, coefficients: [0.903062, -0.0316802, 0.819862, -0.0781637, 0.928962, -0.280106, -0.22109, 0.277574, -0.322939, -0.128107, -0.190065, 0.0192902, 0.0389877, 0.0], deviation: 0.778 },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Hinge, coefficients: [-0.489455, 0.297003, -0.510087, 0.0, 0.0, 0.0, 0.441353, 0.113553, -0.188066, -0.345639, 0.413751, 0.0, 0.0317273, 0.0], deviation: 1.049 },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::SmoothedHinge, coefficients: [-0.509722, 0.0680789, 0.482484, 0.0, 0.0, 0.0, 0.0217021, 0.185077, -0.0938395, -0.34389, 0.375931, 0.0, -0.00377946, 0.0], deviation: 0.882 },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Logistic, coefficients: [-0.819094, 0.0811337, 0.543435, 0.0, 0.0, 0.0, -0.0147562, 0.271377, -0.141495, -0.304994, 0.200707, 0.0, -0.00492736, 0.0], deviation: 0.722 },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Squared, coefficients: [-0.108603, 0.0919276, 0.369052, 0.0, 0.0, 0.0, -0.0334, 0.166, -0.136868, -0.416141, 0.398401, 0.0, -0.00407553, 0.0], deviation: 0.722 },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Hinge, coefficients: [-5.64402, -0.107085, 3.91095, 0.0, 0.0, 0.0, 0.0906757, 0.589414, -0.124563, -1.72883, 1.17228, 0.0, 0.0507918, 0.0], deviation: 2.005 },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::SmoothedHinge, coefficients: [-2.3474, 0.161763, 1.43427, 0.0, 0.0, 0.0, -0.453694, 0.745054, -0.169408, -1.32184, 0.83459, 0.0, -0.0188162, 0.0], deviation: 1.131 },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Logistic, coefficients: [-4.09717, 0.224094, 1.47852, 0.0, 0.0, 0.0, -0.341353, 0.833178, -0.262823, -1.29135, 0.888097, 0.0, -0.0249222, 0.0], deviation: 1.451 },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Squared, coefficients: [-2.23779, 0.232515, 1.29838, 0.0, 0.0, 0.0, -0.276324, 0.514564, -0.21399, -1.71501, 1.31064, 0.0, -0.0229738, 0.0], deviation: 0.974 },
    Line { algorithm: "newton", alone: false, loss: Loss::Hinge, coefficients: [-0.855177, -0.0384591, 0.890272, 0.0, 0.0, 0.0, -0.108018, 0.155107, 0.0526526, 0.00182658, -0.0328133, 0.0, -0.000339167, 0.0], deviation: 0.439 },
    Line { algorithm: "newton", alone: false, loss: Loss::SmoothedHinge, coefficients: [-0.135647, 0.0515322, 0.222315, 0.0, 0.0, 0.0, -0.103068, 0.130749, -0.0475037, -0.108723, 0.176555, 0.0, -0.00484412, 0.0], deviation: 0.351 },
    Line { algorithm: "newton", alone: false, loss: Loss::Logistic, coefficients: [-0.812258, 0.0429364, 0.267867, 0.0, 0.0, 0.0, -0.0899978, 0.205412, -0.0904647, -0.108748, 0.129398, 0.0, -0.00338516, 0.0], deviation: 0.577 },
    Line { algorithm: "newton", alone: false, loss: Loss::Squared, coefficients: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], deviation: 0.100 },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Hinge, coefficients: [-4.35504, 0.763042, 1.22876, 0.309964, 0.201925, 0.29651, -0.0828886, 0.825632, -0.672946, 0.0101499, 0.359277, -0.0195804, -0.0207652, 0.0], deviation: 0.759 },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::SmoothedHinge, coefficients: [-2.30811, 0.739455, 0.704808, 0.122839, 0.258082, 0.0480132, -0.252175, 0.768927, -0.666411, 0.00581245, 0.232412, -0.0118796, -0.0238473, 0.0], deviation: 0.654 },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Logistic, coefficients: [-4.21272, 0.766244, 0.716149, 0.0228035, 0.209516, 0.219189, -0.286802, 0.804526, -0.611813, 0.0667537, 0.182889, -0.00488915, -0.022892, 0.0], deviation: 0.704 },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Squared, coefficients: [-1.64926, 0.739242, 0.325548, -0.0324803, 0.214778, -0.297423, -0.259748, 0.820748, -0.634473, 0.0169212, 0.16731, 0.00162691, -0.0232391, 0.0], deviation: 0.704 },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Hinge, coefficients: [1.87301, 0.400192, -0.588383, 0.0, 0.0, 0.0, 0.448161, 0.189461, -0.0221901, -0.0977007, 0.342957, 0.0, 0.0507941, 0.0], deviation: 0.950 },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::SmoothedHinge, coefficients: [2.01647, 0.317681, -0.088687, 0.0, 0.0, 0.0, 0.322849, 0.214711, -0.015811, -0.203008, 0.373011, 0.0, 0.0374069, 0.0], deviation: 0.839 },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Logistic, coefficients: [1.8445, 0.337002, -0.398138, 0.0, 0.0, 0.0, 0.418831, 0.169687, 0.0124307, -0.144583, 0.238053, 0.0, 0.039724, 0.0], deviation: 0.927 },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Squared, coefficients: [2.06312, 0.356908, -0.156209, 0.0, 0.0, 0.0, 0.35944, 0.180111, -0.010156, -0.331343, 0.495816, 0.0, 0.031676, 0.0], deviation: 0.839 },
];

#[rustfmt::skip]
pub(super) static FAMILIES: [FamilyLine; 16] = [
    FamilyLine { family: "dual", loss: Loss::Hinge, coefficients: [0.590273, -0.0461185, 0.852967, 0.000788124, 0.807914, -0.270362, -0.0403966, 0.0516391, -0.164871, -0.0953235, 0.0886248, 0.0596066, 0.0179677, 0.0], deviation: 1.441 },
    FamilyLine { family: "dual", loss: Loss::SmoothedHinge, coefficients: [-0.35997, -0.0342742, 1.1897, -0.281459, 1.03443, -0.20593, -0.424293, 0.167434, -0.110408, -0.0443179, -0.0979394, 0.0531625, 0.005657, 0.0], deviation: 1.328 },
    FamilyLine { family: "dual", loss: Loss::Logistic, coefficients: [-1.68574, 0.0294534, 1.16125, -0.297888, 0.874253, -0.0558287, -0.471998, 0.208587, -0.0460301, -0.0513194, -0.10585, 0.0402406, -0.000338891, 0.0], deviation: 1.380 },
    FamilyLine { family: "dual", loss: Loss::Squared, coefficients: [-0.475962, 0.0197037, 1.25812, -0.242801, 1.07173, -0.724135, -0.383908, 0.3163, -0.193011, -0.0784265, -0.103936, 0.0481308, -0.00094769, 0.0], deviation: 1.294 },
    FamilyLine { family: "batch", loss: Loss::Hinge, coefficients: [-1.44202, 0.247932, 0.989771, 0.0, 0.0, 0.0, 0.190474, 0.431665, -0.286045, -0.619685, 0.497449, 0.0, 0.0155036, 0.0], deviation: 3.004 },
    FamilyLine { family: "batch", loss: Loss::SmoothedHinge, coefficients: [-0.531666, 0.123693, 0.777834, 0.0, 0.0, 0.0, -0.225879, 0.457186, -0.188205, -0.604262, 0.430757, 0.0, -0.011112, 0.0], deviation: 2.893 },
    FamilyLine { family: "batch", loss: Loss::Logistic, coefficients: [-1.9767, 0.173027, 0.897759, 0.0, 0.0, 0.0, -0.268974, 0.593797, -0.246102, -0.561399, 0.346031, 0.0, -0.0159025, 0.0], deviation: 2.913 },
    FamilyLine { family: "batch", loss: Loss::Squared, coefficients: [-0.438434, 0.158135, 0.670989, 0.0, 0.0, 0.0, -0.196629, 0.356439, -0.195248, -0.78817, 0.583574, 0.0, -0.0121194, 0.0], deviation: 2.865 },
    FamilyLine { family: "second-order", loss: Loss::Hinge, coefficients: [-0.859221, -0.0390709, 0.89576, 0.0, 0.0, 0.0, -0.108598, 0.155753, 0.0522118, 0.001859, -0.0330838, 0.0, -0.00036598, 0.0], deviation: 2.716 },
    FamilyLine { family: "second-order", loss: Loss::SmoothedHinge, coefficients: [-0.13453, 0.0519565, 0.218042, 0.0, 0.0, 0.0, -0.102176, 0.12972, -0.0468391, -0.108959, 0.17768, 0.0, -0.00481223, 0.0], deviation: 2.705 },
    FamilyLine { family: "second-order", loss: Loss::Logistic, coefficients: [-0.815798, 0.0435773, 0.271106, 0.0, 0.0, 0.0, -0.0919861, 0.207788, -0.0922097, -0.108897, 0.128543, 0.0, -0.00348469, 0.0], deviation: 2.741 },
    FamilyLine { family: "second-order", loss: Loss::Squared, coefficients: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], deviation: 2.685 },
    FamilyLine { family: "stochastic", loss: Loss::Hinge, coefficients: [0.441864, 0.519884, -0.447945, -0.236588, 0.561411, 0.432301, -0.024704, 0.259807, -0.267372, -0.0422455, 0.370555, 0.0405979, 0.037719, 0.0], deviation: 4.500 },
    FamilyLine { family: "stochastic", loss: Loss::SmoothedHinge, coefficients: [1.28205, 0.491281, -0.227548, -0.287784, 0.533465, 0.0848322, -0.192744, 0.340969, -0.318697, -0.077336, 0.292474, 0.0336108, 0.0201497, 0.0], deviation: 4.484 },
    FamilyLine { family: "stochastic", loss: Loss::Logistic, coefficients: [0.386662, 0.506298, -0.537825, -0.424696, 0.506084, 0.232931, -0.188258, 0.288745, -0.222905, -0.0150106, 0.205422, 0.0393921, 0.0231103, 0.0], deviation: 4.492 },
    FamilyLine { family: "stochastic", loss: Loss::Squared, coefficients: [1.32654, 0.521403, -0.376507, -0.375908, 0.528788, -0.251272, -0.19994, 0.367741, -0.292005, -0.120426, 0.297875, 0.033974, 0.0169116, 0.0], deviation: 4.488 },
];

/// Algorithm, and whether it is a dual method on one worker: the rows and columns of [`CORRELATIONS`].
#[rustfmt::skip]
pub(super) static GROUPS: [(&str, bool); 8] = [
    ("cocoa", true),
    ("cocoa", false),
    ("cocoa-plus", false),
    ("l-bfgs", false),
    ("gradient-descent", false),
    ("newton", false),
    ("local-sgd", false),
    ("minibatch-sgd", false),
];

/// Between the residuals of two lines at one problem; on the diagonal between two numbers of workers.
#[rustfmt::skip]
pub(super) static CORRELATIONS: [[f64; 8]; 8] = [
    [1.000, 0.490, 0.490, 0.170, -0.010, -0.190, 0.290, 0.230],
    [0.490, 0.710, 0.490, 0.230, 0.270, 0.070, 0.190, 0.190],
    [0.490, 0.490, 0.630, 0.230, 0.030, 0.050, 0.130, 0.090],
    [0.170, 0.230, 0.230, 1.000, 0.730, 0.370, 0.110, 0.510],
    [-0.010, 0.270, 0.030, 0.730, 1.000, 0.490, -0.010, 0.630],
    [-0.190, 0.070, 0.050, 0.370, 0.490, 1.000, -0.030, 0.210],
    [0.290, 0.190, 0.130, 0.110, -0.010, -0.030, 0.470, 0.130],
    [0.230, 0.190, 0.090, 0.510, 0.630, 0.210, 0.130, 1.000],
];

/// The correlation of residuals along a run falls by this factor with every decade of the error.
#[rustfmt::skip]
pub(super) static PER_DECADE: [(&str, f64); 4] = [
    ("dual", 0.80),
    ("batch", 0.92),
    ("second-order", 0.89),
    ("stochastic", 0.68),
];

/// What the runs covered: ln m, ln(1+κ), ln(1+R²/λ), ln n, ln p, g.
#[rustfmt::skip]
pub(super) static RANGES: [(f64, f64); 6] = [
    (0.000, 5.545),
    (0.000, 15.785),
    (0.285, 23.163),
    (6.910, 10.822),
    (0.000, 0.000),
    (2.303, 11.513),
];
