//! The bandwidth of a machine's link, where the kernel does not limit it.
//!
//! All connections of a machine share one bucket for what they send and one for what they receive. A receiver that reads
//! no faster than its link makes the sender wait, through TCP's own flow control.

use std::time::Duration;

use crate::bucket::Bucket;

/// Bytes that are sent or read at once: 1.3 ms at 100 Mbit/s.
pub const PIECE: usize = 16 * 1024;

/// How much unused time on the link can be caught up; about what a switch would buffer.
const CATCH_UP: Duration = Duration::from_millis(2);

/// A link with the same bandwidth in both directions.
pub struct Link {
    sending: Bucket,
    receiving: Bucket,
}

impl Link {
    /// A link of so many Mbit/s.
    pub fn new(megabits: f64) -> Link {
        let bucket = || Bucket::new(megabits * 1e6 / 8.0, CATCH_UP);
        Link { sending: bucket(), receiving: bucket() }
    }

    /// Waits until the bytes have passed.
    pub fn send(&self, bytes: usize) {
        std::thread::sleep(self.sending.take(bytes as f64));
    }

    /// The same for bytes that arrived.
    pub fn receive(&self, bytes: usize) {
        std::thread::sleep(self.receiving.take(bytes as f64));
    }
}
