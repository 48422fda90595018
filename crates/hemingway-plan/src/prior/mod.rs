//! What a planner knows before anything has run: priors from what the data shows at a glance.
//!
//! - [`Rounds`]: how many rounds a certified error takes. A regression on simulated runs over real and generated
//!   data (`bench/prior`), with intervals as wide as its errors on real sources that it had not seen.
//! - [`seconds_per_round`]: how long a round takes on a cluster. No regression: the work that the trainer meters, and
//!   the cost of its sums.
//! - [`unsuited`]: why an algorithm need not be considered at all; [`leads`]: whether it may still go first.
//!
//! A prior decides what is tried first. As soon as there are runs, the models of this crate know better.

mod coefficients;
mod glance;
mod rounds;
mod seconds;
mod terms;
mod unsuited;

pub use glance::Glance;
pub use rounds::Rounds;
pub(crate) use rounds::SAME_ANYWHERE;
pub use seconds::seconds_per_round;
pub use unsuited::{leads, unsuited};

#[cfg(test)]
mod tests;
