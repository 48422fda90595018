//! Ctrl-C and SIGTERM: the first ends training cleanly, the second ends the program.
//!
//! Before training begins there is nothing to save, so there the first one ends the program already. A round that does not
//! end within some seconds is cut short: the run is closed with its last checkpoint, and the program ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hemingway::{Closer, GRACE, TrainReport};

use crate::commands::train::BEFORE_THE_GOAL;
use crate::{failure, output};

static TRAINING: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// What a signal is answered with where evaluations are made instead of rounds.
static ANSWER: OnceLock<&str> = OnceLock::new();
/// The run that is being trained.
static CLOSER: Mutex<Option<Arc<Closer>>> = Mutex::new(None);
/// How its report is printed.
static TELL: Mutex<Option<Tell>> = Mutex::new(None);
/// Whoever holds this reports how the run ended; it is never given back.
static LAST_WORD: Mutex<()> = Mutex::new(());

type Tell = Box<dyn Fn(&TrainReport) -> anyhow::Result<()> + Send>;

/// Begins to listen; the flag that is returned is set by the first signal during training.
pub fn listen() -> anyhow::Result<&'static AtomicBool> {
    ctrlc::set_handler(|| {
        let first = !INTERRUPTED.swap(true, Ordering::Relaxed);
        if !(first && TRAINING.load(Ordering::Relaxed)) {
            std::process::exit(130);
        }
        match ANSWER.get() {
            Some(answer) => output::note(&format!("\n{answer}")),
            None => {
                let seconds = GRACE.as_secs();
                output::note(&format!(
                    "\nstopping after this round, or in {seconds} s with the last checkpoint; once more to stop at once"
                ));
            }
        }
        std::thread::spawn(close_after_grace);
    })?;
    Ok(&INTERRUPTED)
}

/// From here on there is something to save.
pub fn training_begins() {
    TRAINING.store(true, Ordering::Relaxed);
}

/// The same, where evaluations are made instead of rounds; says how a signal is answered.
pub fn work_begins(answer: &'static str) {
    ANSWER.get_or_init(|| answer);
    training_begins();
}

/// This run can be closed while its round goes on.
pub fn can_be_closed(closer: Arc<Closer>) {
    *lock(&CLOSER) = Some(closer);
}

/// How the report of a run is printed that had to be closed.
pub fn when_closed(tell: impl Fn(&TrainReport) -> anyhow::Result<()> + Send + 'static) {
    *lock(&TELL) = Some(Box::new(tell));
}

/// Training has returned, and whoever called it reports how it ended.
pub fn training_ended() {
    std::mem::forget(lock(&LAST_WORD));
}

fn close_after_grace() {
    std::thread::sleep(GRACE);
    let _last_word = lock(&LAST_WORD);
    let closer = lock(&CLOSER).clone();
    let Some(outcome) = closer.and_then(|closer| closer.close()) else { return };
    let reported = outcome.map_err(anyhow::Error::from).and_then(|report| match &*lock(&TELL) {
        Some(tell) => tell(&report),
        None => Ok(()),
    });
    let code = reported.map_or_else(|error| failure::tell(&error), |()| BEFORE_THE_GOAL);
    std::process::exit(code.into());
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
