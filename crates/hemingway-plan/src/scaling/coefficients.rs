//! How far families scale, fitted to measured curves: written by `bench/scaling/fit.py`, not by hand.

use super::line::{Line, Term};

#[rustfmt::skip]
pub(super) static LINES: [Line; 4] = [
    Line { family: "asynchronous", typical: 6.1018, turns: 0.20, terms: &[
        Term { character: "spread", slope: 1.0066, typical: 1.2959, least: 0.0118, most: 5.0566 },
    ] },
    Line { family: "mini-batch", typical: 6.0675, turns: 0.15, terms: &[
        Term { character: "spread", slope: 0.8420, typical: 1.3102, least: 0.0118, most: 5.0566 },
        Term { character: "varied", slope: 0.4545, typical: -0.4947, least: -4.3831, most: 0.5996 },
    ] },
    Line { family: "decentralised", typical: 3.1364, turns: 0.90, terms: &[
        Term { character: "varied", slope: 0.4169, typical: -0.5066, least: -4.3831, most: 0.5996 },
        Term { character: "spread", slope: 0.3134, typical: 1.2602, least: 0.0118, most: 5.0566 },
        Term { character: "late noise", slope: 0.2276, typical: 6.6388, least: 4.7842, most: 7.6246 },
    ] },
    Line { family: "dual", typical: 5.9221, turns: 0.00, terms: &[
        Term { character: "spread", slope: 0.5814, typical: 1.3122, least: 0.0118, most: 5.0566 },
        Term { character: "kappa", slope: -0.2060, typical: 2.2449, least: 0.0354, most: 5.8968 },
        Term { character: "delta", slope: -0.4880, typical: -0.3090, least: -1.8817, most: 0.0000 },
        Term { character: "longest", slope: -0.1512, typical: 0.6806, least: 0.0000, most: 4.6301 },
    ] },
];
