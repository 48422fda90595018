//! Quantities with their units in the type.

use serde::{Deserialize, Serialize};

/// A length of time on some clock.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seconds(pub f64);

/// Local computation: what a simulated clock turns into time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Work {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes of data that have to come from memory.
    pub bytes: f64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.flops += other.flops;
        self.bytes += other.bytes;
    }
}
