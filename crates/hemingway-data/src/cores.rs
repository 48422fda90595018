//! How many threads of this machine are ours.

/// The threads that this process may use at once: the cores it is allowed, or what `RAYON_NUM_THREADS` says.
///
/// Reading data has asked the system already, which takes a tenth of a millisecond.
pub fn cores() -> usize {
    rayon::current_num_threads()
}
