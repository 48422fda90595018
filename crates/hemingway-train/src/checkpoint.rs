//! All that a run needs to go on as if it had never stopped.

use hemingway_data::Fingerprint;
use serde::{Deserialize, Serialize};

use crate::drive::Progress;
use crate::{Effort, Error, Model, Run, Seconds, Stop};

/// A resumable state, taken between two rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The data that it was made on: what it proves is about no other.
    pub data: Fingerprint,
    /// Rounds finished.
    pub round: u64,
    /// Training clock.
    pub seconds: Seconds,
    /// Time waited so far.
    pub wall_seconds: Seconds,
    /// The iterate itself; duals by global row.
    pub model: Model,
    /// What the loop knows: best weights, bounds, scoring schedule.
    pub progress: Progress,
    /// What each worker's solver and scorer keep, in the order of ranks; nothing where the run was handed over.
    pub workers: Vec<[Vec<f64>; 2]>,
}

impl Checkpoint {
    /// Whether it was made for another algorithm, or another number of workers, to go on from.
    pub fn is_handed_over(&self) -> bool {
        self.workers.is_empty()
    }

    /// The run as it was here, for whoever interrupts it and cannot wait for the end of the round under way.
    pub fn interrupted(&self) -> Run {
        let certificate = self.progress.certificate();
        Run {
            stop: Stop::Interrupted,
            rounds: self.round,
            effort: self.progress.effort,
            seconds: self.seconds,
            wall_seconds: self.wall_seconds,
            scoring_seconds: self.progress.scoring_seconds(),
            primal: certificate.primal,
            dual: certificate.dual,
            certified_error: certificate.error(),
            relative_to_start: certificate.relative_to_start(),
            set_up: Seconds(0.0),
            step_size: None,
            model: Model { weights: self.progress.best_weights().to_vec(), duals: None },
        }
    }

    /// Where a solver that knows nothing of the one before begins: at the dual point with its weights, or at the best
    /// weights.
    pub(crate) fn to_begin_anew(&self, from_duals: bool) -> Model {
        match &self.model.duals {
            Some(_) if from_duals => self.model.clone(),
            _ => Model { weights: self.progress.best_weights().to_vec(), duals: None },
        }
    }

    /// How many numbers it takes to tell a worker where to begin.
    pub(crate) fn numbers_to_begin_anew(&self) -> usize {
        self.model.weights.len() + self.model.duals.as_ref().map_or(0, Vec::len)
    }

    /// Bytes for a store, with a checksum at the end. The effort stands behind what checkpoints have always had, so that
    /// those without it can still be read.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Effort { iterations, epochs, bytes_per_worker } = self.progress.effort;
        let effort = (iterations, epochs, bytes_per_worker);
        let mut bytes = postcard::to_stdvec(&(self, effort)).expect("a checkpoint has only plain data");
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// The checkpoint that [`to_bytes`](Checkpoint::to_bytes) wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint, Error> {
        let damaged = || Error::Checkpoint("its bytes are damaged".to_owned());
        let (content, sum) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
        if checksum(content) != u64::from_le_bytes(*sum) {
            return Err(damaged());
        }
        let unreadable = |error| Error::Checkpoint(format!("it cannot be read ({error})"));
        let (mut checkpoint, rest): (Checkpoint, _) =
            postcard::take_from_bytes(content).map_err(unreadable)?;
        if !rest.is_empty() {
            let (iterations, epochs, bytes_per_worker) = postcard::from_bytes(rest).map_err(unreadable)?;
            checkpoint.progress.effort = Effort { iterations, epochs, bytes_per_worker };
        }
        Ok(checkpoint)
    }
}

/// FNV-1a over words of eight bytes: tells damage, not malice.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(mix(hash, bytes.len() as u64), |hash, byte| mix(hash, u64::from(*byte)))
}
