//! How far families scale, fitted to measured curves: written by `bench/scaling/fit.py`, not by hand.

use super::line::{Line, Term};

#[rustfmt::skip]
pub(super) static LINES: [Line; 4] = [
    Line { family: "asynchronous", typical: 6.1480, turns: 0.25, terms: &[
        Term { character: "spread", slope: 0.6858, typical: 1.3515, least: 0.0118, most: 5.0566 },
        Term { character: "varied", slope: 0.4792, typical: -0.4431, least: -4.3831, most: 0.0000 },
        Term { character: "condition", slope: -0.0589, typical: 7.8379, least: 1.3869, most: 12.7521 },
        Term { character: "second", slope: 0.1571, typical: 2.8870, least: 0.9659, most: 5.1342 },
    ] },
    Line { family: "mini-batch", typical: 6.2362, turns: 0.15, terms: &[
        Term { character: "spread", slope: 1.2910, typical: 1.3489, least: 0.0118, most: 5.0566 },
    ] },
    Line { family: "decentralised", typical: 3.3592, turns: 0.85, terms: &[
        Term { character: "spread", slope: 0.4227, typical: 1.2860, least: 0.0118, most: 5.0566 },
        Term { character: "steepness", slope: -0.1637, typical: 9.0200, least: 2.8198, most: 15.0240 },
        Term { character: "varied", slope: 0.5014, typical: -0.4716, least: -4.3831, most: 0.0000 },
    ] },
    Line { family: "dual", typical: 6.0931, turns: 0.00, terms: &[
        Term { character: "condition", slope: -0.2207, typical: 7.7262, least: 1.3869, most: 12.7521 },
        Term { character: "spread", slope: 0.4432, typical: 1.3441, least: 0.0118, most: 5.0566 },
        Term { character: "second", slope: 0.2990, typical: 2.9054, least: 0.9659, most: 5.1342 },
        Term { character: "settled", slope: 0.2198, typical: 1.0573, least: -0.8583, most: 9.6051 },
    ] },
];
