//! The prior of rounds, fitted to simulated runs: written by `bench/prior/fit.py`, not by hand.

use hemingway_train::Loss;

use super::PilotLine;

/// How many terms there are.
pub(super) const TERMS: usize = 16;

/// ln N = coefficients · terms, N being rounds, or passes over all rows for dual methods on one worker.
pub(super) struct Line {
    pub algorithm: &'static str,
    /// A dual method on one worker.
    pub alone: bool,
    pub loss: Loss,
    /// Of [`super::line::TERM_NAMES`].
    pub coefficients: [f64; TERMS],
    /// The standard deviation of ln N, so that 90 % intervals hold nine of ten points on real data that was left out of the
    /// fit: at N = 1, and by how much it grows with ln N.
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
    Line { algorithm: "cocoa", alone: false, loss: Loss::Hinge, coefficients: [0.580457, 0.160705, 0.385676, 1.18225, 0.0476758, -0.122983, 0.914165, -0.0994582, -0.0772466, 0.077004, 0.0320122, -0.035251, 0.0324237, -0.233158, 0.00480724, -0.0328541], deviation: [0.079, 0.113] },
    Line { algorithm: "cocoa", alone: false, loss: Loss::SmoothedHinge, coefficients: [-0.0461476, 0.238177, 0.901535, 0.972189, 0.265432, -0.475227, 0.656342, 0.247657, -0.337617, -0.0326334, -0.0731283, -0.0245484, 0.00129133, -0.500891, 0.0804302, -0.017017], deviation: [0.556, 0.084] },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Logistic, coefficients: [-2.05506, 0.0981153, 1.01295, 0.932628, 0.0887522, -0.0867722, 0.727254, 0.0656256, -0.0557815, 0.0534543, -0.0258042, -0.0131282, 0.0128929, -0.271394, 0.0200804, -0.018443], deviation: [0.610, 0.088] },
    Line { algorithm: "cocoa", alone: false, loss: Loss::Squared, coefficients: [-0.878084, 0.203727, 0.797345, 0.790084, 0.350542, -0.437221, 0.585526, 0.28271, -0.208344, -0.140298, -0.0983917, -0.0218233, 0.00756416, -0.332444, 0.00591653, 0.0131883], deviation: [0.490, 0.123] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Hinge, coefficients: [0.103304, 0.00830556, 0.620952, 0.0, 0.0, 0.0, 0.630668, 0.104232, -0.130374, 0.0333616, 0.00818295, 0.0, 0.00764205, 0.0, 0.0, -0.0128479], deviation: [0.177, 0.165] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::SmoothedHinge, coefficients: [-0.0490198, 0.196533, 0.0950182, 0.0, 0.0, 0.0, 0.362012, 0.281447, -0.144559, 0.125977, -0.0875216, 0.0, -0.0111533, 0.0, 0.0, -0.0118895], deviation: [0.607, 0.000] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Logistic, coefficients: [-0.539074, 0.149926, 0.343856, 0.0, 0.0, 0.0, 0.426975, 0.15398, -0.0514665, 0.160036, -0.140716, 0.0, -0.00803535, 0.0, 0.0, -0.00696913], deviation: [0.251, 0.114] },
    Line { algorithm: "cocoa", alone: true, loss: Loss::Squared, coefficients: [0.128803, 0.150185, 0.1985, 0.0, 0.0, 0.0, 0.479835, 0.297379, -0.172326, 0.0424487, -0.0946016, 0.0, -0.00299488, 0.0, 0.0, -0.0108955], deviation: [0.655, 0.000] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Hinge, coefficients: [0.0945671, 0.345247, 0.249875, 0.160488, 0.861717, -0.101637, -0.272828, 0.236607, -0.344979, 0.105218, 0.101073, 0.00935077, 0.0234278, -0.367745, 0.0194665, -0.0681549], deviation: [0.439, 0.140] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::SmoothedHinge, coefficients: [1.68615, 0.196955, 0.00101963, -0.0273978, 0.99948, -0.114522, -0.335404, 0.123544, -0.292346, 0.0831107, -0.0662975, 0.00186576, 0.0290417, -0.604068, 0.0958522, -0.0430982], deviation: [0.369, 0.154] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Logistic, coefficients: [0.519592, -0.046014, 0.371235, -0.175443, 0.754219, 0.324466, -0.109952, -0.0787877, -0.00841383, 0.0991193, -0.134671, 0.00898714, 0.0410256, -0.435663, 0.0428095, -0.0331698], deviation: [0.558, 0.109] },
    Line { algorithm: "cocoa-plus", alone: false, loss: Loss::Squared, coefficients: [1.443, 0.0466948, 0.0017618, -0.0382732, 1.00958, -0.138689, -0.196538, 0.0990898, -0.215537, -0.029945, -0.12048, 0.0134145, 0.0481488, -0.730926, 0.0961065, -0.0154043], deviation: [0.415, 0.149] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Hinge, coefficients: [-1.5301, 0.070856, 1.45955, 0.0, 0.0, 0.0, 0.344279, 0.425944, -0.110259, -1.68555, 1.1817, 0.0, 0.0701542, 0.0, 0.0, -0.0341821], deviation: [0.067, 0.399] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::SmoothedHinge, coefficients: [1.45305, 0.366173, 0.196997, 0.0, 0.0, 0.0, -0.344846, 0.770985, -0.380305, -1.39555, 0.755988, 0.0, -0.0363741, 0.0, 0.0, 0.00394601], deviation: [0.494, 0.125] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Logistic, coefficients: [-0.966239, 0.366359, 0.388988, 0.0, 0.0, 0.0, -0.253732, 0.811098, -0.328046, -1.38033, 0.738417, 0.0, -0.0363203, 0.0, 0.0, 0.00748944], deviation: [0.462, 0.148] },
    Line { algorithm: "gradient-descent", alone: false, loss: Loss::Squared, coefficients: [-0.216718, 0.341144, 0.499155, 0.0, 0.0, 0.0, -0.35043, 0.657641, -0.298452, -1.66105, 1.02511, 0.0, -0.0318896, 0.0, 0.0, 0.0150731], deviation: [0.634, 0.095] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Hinge, coefficients: [3.43352, 0.289247, -0.5078, 0.0, 0.0, 0.0, 0.785288, 0.121582, -0.404663, -0.531478, 0.223488, 0.0, 0.022489, 0.0, 0.0, 0.0276529], deviation: [0.727, 0.238] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.615609, 0.0791878, 0.27146, 0.0, 0.0, 0.0, 0.00173422, 0.207618, -0.136292, -0.340297, 0.260618, 0.0, -0.00117708, 0.0, 0.0, -0.00770774], deviation: [0.186, 0.167] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Logistic, coefficients: [-0.305963, 0.0611078, 0.418696, 0.0, 0.0, 0.0, -0.000193779, 0.220364, -0.0786638, -0.287902, 0.151949, 0.0, -0.000907238, 0.0, 0.0, -0.00551945], deviation: [0.294, 0.103] },
    Line { algorithm: "l-bfgs", alone: false, loss: Loss::Squared, coefficients: [-0.117767, 0.0912375, 0.257134, 0.0, 0.0, 0.0, -0.0748202, 0.197315, -0.0903435, -0.360743, 0.348286, 0.0, -0.00167966, 0.0, 0.0, -0.00839757], deviation: [0.297, 0.133] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Hinge, coefficients: [2.90936, 0.356891, -0.0148428, -0.0415429, 0.90102, -0.225103, -0.119048, 0.246984, -0.632966, -0.222228, 0.0926206, 0.0383992, 0.0383143, -0.328988, 0.0238006, 0.0343424], deviation: [0.584, 0.165] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::SmoothedHinge, coefficients: [2.85198, 0.447816, -0.943901, 0.0585784, 0.686632, 0.00251522, 0.00225344, 0.174406, -0.478274, -0.300662, 0.0346882, 0.00266334, 0.0413444, -0.644505, 0.0724276, 0.0465876], deviation: [0.456, 0.121] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Logistic, coefficients: [1.15306, 0.423702, -1.53788, -0.0405675, 0.445448, 0.407803, 0.0689304, 0.0850538, -0.210788, -0.338832, 0.0398266, 0.0157808, 0.042673, -0.605777, 0.0799571, 0.0626131], deviation: [0.555, 0.100] },
    Line { algorithm: "local-sgd", alone: false, loss: Loss::Squared, coefficients: [2.43103, 0.579058, -1.43517, -0.0269099, 0.446116, 0.0415848, 0.0247001, 0.305741, -0.462173, -0.291008, 0.114886, 0.0207143, 0.0276041, -0.802029, 0.0756366, 0.0424256], deviation: [0.416, 0.137] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Hinge, coefficients: [1.48211, 0.535115, -0.124621, 0.0, 0.0, 0.0, 0.133154, 0.492388, -0.104452, -0.424577, 0.403376, 0.0, 0.00154564, 0.0, 0.0, 0.00796478], deviation: [0.959, 0.004] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::SmoothedHinge, coefficients: [0.927231, 0.393472, 0.848445, 0.0, 0.0, 0.0, 0.0162608, 0.587213, -0.152881, -0.320059, 0.395933, 0.0, -0.016142, 0.0, 0.0, 0.024972], deviation: [0.978, 0.000] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Logistic, coefficients: [-1.22493, 0.456083, 0.412051, 0.0, 0.0, 0.0, 0.0762136, 0.560395, 0.0661659, -0.423575, 0.377002, 0.0, -0.0127521, 0.0, 0.0, 0.0161893], deviation: [1.092, 0.000] },
    Line { algorithm: "minibatch-sgd", alone: false, loss: Loss::Squared, coefficients: [0.774219, 0.513552, 0.386363, 0.0, 0.0, 0.0, -0.0637893, 0.623956, -0.109351, -0.596938, 0.47172, 0.0, -0.0266373, 0.0, 0.0, 0.0382641], deviation: [0.942, 0.000] },
    Line { algorithm: "newton", alone: false, loss: Loss::Hinge, coefficients: [-0.555679, 0.0183049, 0.79459, 0.0, 0.0, 0.0, -0.0671291, 0.153314, 0.0404496, -0.100227, -0.00764098, 0.0, -0.00489521, 0.0, 0.0, 0.000920181], deviation: [0.351, 0.049] },
    Line { algorithm: "newton", alone: false, loss: Loss::SmoothedHinge, coefficients: [-0.149114, 0.047622, 0.230452, 0.0, 0.0, 0.0, -0.0515457, 0.157347, -0.058452, -0.106153, 0.115578, 0.0, -0.00456635, 0.0, 0.0, 0.00229755], deviation: [0.282, 0.114] },
    Line { algorithm: "newton", alone: false, loss: Loss::Logistic, coefficients: [0.0390558, 0.0472929, 0.223183, 0.0, 0.0, 0.0, -0.0628122, 0.174929, -0.104091, -0.142342, 0.0728929, 0.0, -0.00400449, 0.0, 0.0, 0.00328304], deviation: [0.414, 0.028] },
    Line { algorithm: "newton", alone: false, loss: Loss::Squared, coefficients: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], deviation: [0.100, 0.000] },
];

#[rustfmt::skip]
pub(super) static FAMILIES: [FamilyLine; 16] = [
    FamilyLine { family: "dual", loss: Loss::Hinge, coefficients: [-0.252541, 0.280244, 0.980806, 0.483444, 0.616748, -0.102461, -0.187501, 0.399215, -0.34509, 0.055153, 0.0149377, 0.0183522, -0.0196607, -0.278142, -2.0453e-06, -0.0352984], deviation: 1.706 },
    FamilyLine { family: "dual", loss: Loss::SmoothedHinge, coefficients: [0.79291, 0.186965, 0.5205, 0.293748, 0.802053, -0.101962, -0.223086, 0.254315, -0.302574, 0.0372316, -0.0831541, 0.0146146, -0.00202792, -0.419443, 0.0526439, -0.0224293], deviation: 1.571 },
    FamilyLine { family: "dual", loss: Loss::Logistic, coefficients: [-0.452196, 0.0132065, 0.849509, 0.234866, 0.514936, 0.359834, -0.075681, 0.0926717, -0.0787318, 0.0421756, -0.0980787, 0.00961272, 0.0110543, -0.274218, 0.00118392, -0.0156516], deviation: 1.561 },
    FamilyLine { family: "dual", loss: Loss::Squared, coefficients: [0.279181, 0.0776743, 0.653945, 0.144822, 0.838507, -0.0666718, -0.193433, 0.274503, -0.213134, -0.112398, -0.101853, 0.028222, 0.00609058, -0.396198, 0.0140778, 0.00381984], deviation: 1.587 },
    FamilyLine { family: "batch", loss: Loss::Hinge, coefficients: [5.54572, 0.537519, -1.78693, 0.0, 0.0, 0.0, 0.463131, 0.413474, -0.487743, -0.909638, 0.262205, 0.0, -0.0168339, 0.0, 0.0, 0.0697719], deviation: 2.584 },
    FamilyLine { family: "batch", loss: Loss::SmoothedHinge, coefficients: [3.36574, 0.460322, -1.36654, 0.0, 0.0, 0.0, -0.197647, 0.528286, -0.346282, -0.699079, 0.297679, 0.0, -0.0303439, 0.0, 0.0, 0.0155696], deviation: 1.966 },
    FamilyLine { family: "batch", loss: Loss::Logistic, coefficients: [0.241694, 0.412642, -0.588664, 0.0, 0.0, 0.0, -0.160029, 0.566373, -0.196853, -0.644299, 0.231207, 0.0, -0.0332831, 0.0, 0.0, 0.0159236], deviation: 1.749 },
    FamilyLine { family: "batch", loss: Loss::Squared, coefficients: [0.929804, 0.393171, -0.728254, 0.0, 0.0, 0.0, -0.225305, 0.476686, -0.198685, -0.67974, 0.419385, 0.0, -0.0261656, 0.0, 0.0, 0.0095169], deviation: 1.902 },
    FamilyLine { family: "second-order", loss: Loss::Hinge, coefficients: [-0.555679, 0.0183049, 0.79459, 0.0, 0.0, 0.0, -0.0671291, 0.153314, 0.0404496, -0.100227, -0.00764098, 0.0, -0.00489521, 0.0, 0.0, 0.000920181], deviation: 1.103 },
    FamilyLine { family: "second-order", loss: Loss::SmoothedHinge, coefficients: [-0.149114, 0.047622, 0.230452, 0.0, 0.0, 0.0, -0.0515457, 0.157347, -0.058452, -0.106153, 0.115578, 0.0, -0.00456635, 0.0, 0.0, 0.00229755], deviation: 1.104 },
    FamilyLine { family: "second-order", loss: Loss::Logistic, coefficients: [0.0390558, 0.0472929, 0.223183, 0.0, 0.0, 0.0, -0.0628122, 0.174929, -0.104091, -0.142342, 0.0728929, 0.0, -0.00400449, 0.0, 0.0, 0.00328304], deviation: 1.098 },
    FamilyLine { family: "second-order", loss: Loss::Squared, coefficients: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], deviation: 1.000 },
    FamilyLine { family: "stochastic", loss: Loss::Hinge, coefficients: [2.88733, 0.459304, -0.150479, -0.649966, 1.04933, 0.0471858, -0.440899, 0.360309, -0.428137, -0.262825, 0.177688, 0.0570966, 0.0047062, -0.894722, 0.173747, 0.0338358], deviation: 2.455 },
    FamilyLine { family: "stochastic", loss: Loss::SmoothedHinge, coefficients: [3.3554, 0.572845, -1.05506, -0.637293, 0.837884, 0.242629, -0.499002, 0.4144, -0.375293, -0.269218, 0.0415412, 0.0344207, -0.000396549, -1.16857, 0.196729, 0.0435028], deviation: 2.247 },
    FamilyLine { family: "stochastic", loss: Loss::Logistic, coefficients: [1.66375, 0.562902, -1.46957, -0.67165, 0.56873, 0.584719, -0.34627, 0.329526, -0.16403, -0.315665, 0.0538533, 0.036302, 0.00381443, -1.03897, 0.189939, 0.0632883], deviation: 2.198 },
    FamilyLine { family: "stochastic", loss: Loss::Squared, coefficients: [3.2723, 0.637437, -1.41399, -0.731348, 0.528925, 0.405691, -0.342495, 0.456215, -0.372934, -0.252431, 0.153739, 0.054873, -0.00504492, -1.27413, 0.210004, 0.0402451], deviation: 2.210 },
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
    [0.795, 0.608, 0.598, 0.160, 0.167, 0.360, 0.290, 0.019],
    [0.608, 1.000, 0.607, 0.022, -0.037, 0.355, 0.255, -0.151],
    [0.598, 0.607, 0.747, 0.101, 0.175, 0.423, 0.309, 0.010],
    [0.160, 0.022, 0.101, 1.000, 0.678, 0.219, 0.481, 0.399],
    [0.167, -0.037, 0.175, 0.678, 1.000, 0.295, 0.475, 0.385],
    [0.360, 0.355, 0.423, 0.219, 0.295, 0.588, 0.355, 0.029],
    [0.290, 0.255, 0.309, 0.481, 0.475, 0.355, 1.000, 0.192],
    [0.019, -0.151, 0.010, 0.399, 0.385, 0.029, 0.192, 1.000],
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
