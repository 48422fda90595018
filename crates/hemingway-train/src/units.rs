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

impl Work {
    /// Operations on numbers in cache.
    pub fn flops(flops: f64) -> Work {
        Work { flops, bytes: 0.0 }
    }
}

impl std::ops::Add for Work {
    type Output = Work;
    fn add(mut self, other: Work) -> Work {
        self += other;
        self
    }
}

impl std::ops::Mul<Work> for f64 {
    type Output = Work;
    fn mul(self, work: Work) -> Work {
        Work { flops: self * work.flops, bytes: self * work.bytes }
    }
}
