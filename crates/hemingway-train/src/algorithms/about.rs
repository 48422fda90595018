//! What is said of an algorithm to someone who chooses one: `hemingway algorithms NAME` prints it.

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
    /// Whether the noise of single rows sets a floor under its error, which falls only as its steps shrink.
    pub floor: bool,
}
