//! What is predicted before anything ran, from the profile of a problem and the catalogue alone.
//!
//! - `Line`: rounds to an error, g(i, m) turned round. Its coefficients were fitted to runs on many datasets.
//! - `seconds`: seconds per round, f(m). No regression: the phases that the catalogue lists, on the given machines.

mod coefficients;
mod line;
mod pilots;
mod seconds;

pub(crate) use line::Line;
pub use line::{TERM_NAMES, terms};
pub(crate) use pilots::{PilotLine, pilot_line};
pub(crate) use seconds::{seconds, variation};

#[cfg(test)]
mod tests;
