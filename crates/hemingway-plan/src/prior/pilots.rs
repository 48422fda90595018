//! How well rounds on a sample of the rows tell rounds on all of them.

use hemingway_train::Loss;

use super::coefficients::PILOTS;

/// What rounds on a thousand rows say of rounds on all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PilotLine {
    /// ln rounds on all rows less those on the sample, on average,
    pub shift: f64,
    /// and the standard deviation around that.
    pub deviation: f64,
}

/// For one algorithm and loss; none where pilots were not found to tell much.
pub(crate) fn pilot_line(algorithm: &str, loss: Loss) -> Option<PilotLine> {
    PILOTS.iter().find(|(name, of, _)| *name == algorithm && *of == loss).map(|(.., line)| *line)
}
