//! Ctrl-C and SIGTERM: the first ends training cleanly, the second ends the program.
//!
//! Before training begins there is nothing to save, so there the first one ends the program already.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::output;

static TRAINING: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Begins to listen; the flag that is returned is set by the first signal during training.
pub fn listen() -> anyhow::Result<&'static AtomicBool> {
    ctrlc::set_handler(|| {
        let first = !INTERRUPTED.swap(true, Ordering::Relaxed);
        if !(first && TRAINING.load(Ordering::Relaxed)) {
            std::process::exit(130);
        }
        output::note("\nstopping after this round; once more to stop at once");
    })?;
    Ok(&INTERRUPTED)
}

/// From here on there is something to save.
pub fn training_begins() {
    TRAINING.store(true, Ordering::Relaxed);
}
