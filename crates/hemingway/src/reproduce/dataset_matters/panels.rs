//! The panels of the paper's figures, and those beside them that tell why.

use super::data::{Kind, Resemblance, Rows};
use super::experiments::{Method, Panel};

/// The paper's step size.
pub(super) const STEP: f64 = 0.1;
/// As long relative to rows of 1,000 features as the paper's is to rows of 28.
pub(super) const STEP_OF_LONG_ROWS: f64 = STEP * 28.0 / 1000.0;
/// On rows that are mostly 1. With the paper's the loss of one worker jumps for thousands of iterations.
pub(super) const STEP_OF_ONES: f64 = STEP / 5.0;
/// Times the seeds of noisy curves in Table II, whose runs are short.
pub(super) const MORE_SEEDS: u64 = 3;

const HOGWILD: Method = Method::Hogwild { rows: 1 };
/// The paper takes four rows to get a stable curve on HIGGS.
const HOGWILD_OF_FOUR: Method = Method::Hogwild { rows: 4 };
const OF_28: Kind = Kind::Dense(28);
const OF_1000: Kind = Kind::Dense(1000);

/// All of them, in the order of the paper.
#[rustfmt::skip]
pub(super) const PANELS: [Panel; 34] = [
    noisy(panel("3a", "Mini-batch SGD on dense rows", Rows::Dense, Method::MiniBatch, 4000)),
    panel("3b", "Mini-batch SGD on sparse rows", Rows::Sparse, Method::MiniBatch, 1000),
    panel("3c", "Mini-batch SGD on scaled sparse rows", Rows::Scaled, Method::MiniBatch, 1000),
    panel("4a", "ECD-PSGD on sparse rows", Rows::Sparse, Method::Ecd, 500),
    noisy(panel("4b", "ECD-PSGD on dense rows", Rows::Dense, Method::Ecd, 4000)),
    panel("4c", "ECD-PSGD on scaled sparse rows", Rows::Scaled, Method::Ecd, 500),
    panel("5a", "Hogwild! on sparse rows", Rows::Sparse, HOGWILD, 4800),
    panel("5b", "Hogwild! on dense rows", Rows::Dense, HOGWILD_OF_FOUR, 4800),
    panel("5c", "Hogwild! on scaled sparse rows", Rows::Scaled, HOGWILD, 4800),
    panel("5d", "Our Hogwild! on sparse rows", Rows::Sparse, Method::OwnCopies, 4800),
    panel("5e", "Our Hogwild! on dense rows", Rows::Dense, Method::OwnCopies, 4800),
    panel("6a", "Mini-batch SGD, half of the rows different", Rows::ScaledMiddle, Method::MiniBatch, 1000),
    panel("6b", "Mini-batch SGD, a quarter of the rows different", Rows::ScaledLow, Method::MiniBatch, 1000),
    panel("6c", "Mini-batch SGD, 32 different rows", Rows::ScaledFew, Method::MiniBatch, 1000),
    panel("6d", "Mini-batch SGD on dense rows, a quarter of them different", Rows::DenseLow, Method::MiniBatch, 4000),
    dual("6e", "DADM, rows all different", Rows::Sparse, 1000),
    dual("6f", "DADM, half of the rows different", Rows::Middle, 1000),
    dual("6g", "DADM, a quarter of the rows different", Rows::Low, 1000),
    dual("6h", "DADM, 32 different rows", Rows::Few, 1000),
    ordered(panel("7a", "Mini-batch SGD, consecutive rows differ (large LS)", little(OF_28), Method::MiniBatch, 1000)),
    ordered(panel("7b", "Mini-batch SGD, consecutive rows alike (small LS)", much(OF_28), Method::MiniBatch, 1000)),
    ordered(panel("7c", "Mini-batch SGD, the rows of 7(b) rearranged", shuffled(OF_28), Method::MiniBatch, 1000)),
    long(panel("8a", "ECD-PSGD, consecutive rows differ (large LS)", little(OF_1000), Method::Ecd, 500)),
    long(panel("8b", "ECD-PSGD, consecutive rows alike (small LS)", much(OF_1000), Method::Ecd, 500)),
    long(panel("8c", "ECD-PSGD, the rows of 8(b) rearranged", shuffled(OF_1000), Method::Ecd, 500)),
    ordered(panel("9a", "Hogwild!, consecutive rows differ (large LS)", little(Kind::Sparse), HOGWILD, 4800)),
    ordered(panel("9b", "Hogwild!, consecutive rows alike (small LS)", much(Kind::Sparse), HOGWILD, 4800)),
    ordered(panel("9c", "Hogwild!, the rows of 9(b) rearranged", shuffled(Kind::Sparse), HOGWILD, 4800)),
    ordered(dual("10a", "DADM, consecutive rows differ (large LS)", little(Kind::Sparse), 1000)),
    ordered(dual("10b", "DADM, consecutive rows alike (small LS)", much(Kind::Sparse), 1000)),
    ordered(dual("10c", "DADM, the rows of 10(b) rearranged", shuffled(Kind::Sparse), 1000)),
    ones("t1", "Hogwild! on rows of 70 % ones", HOGWILD),
    ones("t2", "Our Hogwild! on rows of 70 % ones", Method::OwnCopies),
    dual("t3", "DADM on an eighth of the sparse rows", Rows::Eighth, 2500),
];

const fn panel(
    name: &'static str,
    title: &'static str,
    rows: Rows,
    method: Method,
    iterations: u64,
) -> Panel {
    Panel { name, title, rows, method, step: Some(STEP), iterations, times: 1, in_order: false }
}

const fn dual(name: &'static str, title: &'static str, rows: Rows, iterations: u64) -> Panel {
    Panel { step: None, ..panel(name, title, rows, Method::Dadm, iterations) }
}

const fn ones(name: &'static str, title: &'static str, method: Method) -> Panel {
    Panel { step: Some(STEP_OF_ONES), ..noisy(panel(name, title, Rows::UpperBound, method, 9600)) }
}

const fn noisy(panel: Panel) -> Panel {
    Panel { times: MORE_SEEDS, ..panel }
}

const fn ordered(panel: Panel) -> Panel {
    Panel { in_order: true, ..panel }
}

const fn long(panel: Panel) -> Panel {
    Panel { step: Some(STEP_OF_LONG_ROWS), ..ordered(panel) }
}

const fn little(kind: Kind) -> Rows {
    Rows::Similar(kind, Resemblance::Little)
}

const fn much(kind: Kind) -> Rows {
    Rows::Similar(kind, Resemblance::Much)
}

const fn shuffled(kind: Kind) -> Rows {
    Rows::Similar(kind, Resemblance::Shuffled)
}
