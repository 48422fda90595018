//! What is said of an algorithm to someone who chooses one: `hemingway algorithms NAME` prints it.

use crate::Share;

/// Texts about an algorithm, in whole sentences.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The idea, in a few sentences.
    pub idea: &'static str,
    /// Which losses and data it suits, and which not.
    pub suits: &'static str,
    /// What a round consists of and what it costs.
    pub round: &'static str,
    /// What its authors count as iterations: `rounds`, or what it makes in place of them.
    pub counts: &'static str,
    /// The default of each of its parameters, in their order.
    pub defaults: &'static [&'static str],
    /// What no number of equal steps gets its error below, and how it gets there all the same.
    pub floor: Floor,
}

/// A floor under the error of an algorithm.
#[derive(Debug, Clone, Copy)]
pub enum Floor {
    /// The error falls as far as numbers allow.
    None,
    /// The noise of single rows sets one. It falls as steps shrink, so that every error is reached in the end.
    Falls,
    /// Beside that there is one that no number of rounds gets below: on so large a share about this relative error, and
    /// many times as much where rows are in order or the loss has corners. Only a run can tell.
    Stays(fn(&Share) -> f64),
}

impl Floor {
    /// About the relative error that no number of rounds gets below; 0 if there is none.
    pub fn lasting(self, share: &Share) -> f64 {
        match self {
            Floor::None | Floor::Falls => 0.0,
            Floor::Stays(error) => error(share),
        }
    }
}
