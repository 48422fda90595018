//! How much memory a run takes, known before it begins.
//!
//! Each algorithm says in the catalogue which vectors a worker holds. To these come what scoring holds, what the workers
//! exchange, and the copies of a checkpoint on its way into the store. The figure is what is held at once at most, and
//! is meant to be somewhat too large rather than too small; `tests/footprint.rs` holds it against what runs allocate.

use hemingway_data::{Dataset, MemoryLimit, size};

use crate::algorithms::{Entry, Quantiser};
use crate::engines::STACK_BYTES;
use crate::{Error, Loss, Needs, Parameters, Problem, Topology, entry};

/// Vectors of 64-bit numbers that one worker holds at once.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Vectors {
    /// As long as the weights.
    pub weights: f64,
    /// One number for each row of the worker.
    pub rows: f64,
    /// Matrices of features by features.
    pub squares: f64,
    /// Pairs as long as the weights that are kept if the user does not say how many.
    pub pairs: usize,
    /// What a checkpoint has of them: as long as the weights,
    pub saved_weights: f64,
    /// and one number for each row. All pairs are saved too.
    pub saved_rows: f64,
    /// More numbers for each row on the hinge; half of them are saved too.
    pub hinge_rows: f64,
    /// Changes of its weights that it holds until the others have read them.
    pub changes: usize,
    /// Whether it leaves duals behind, or whole gradients, so that scoring needs no dual point of its own.
    pub leaves: Leaves,
}

/// What a round leaves for scoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Leaves {
    /// Nothing but weights.
    #[default]
    Weights,
    /// The whole gradient, which on smooth losses is as good as duals.
    Gradient,
    /// Duals.
    Duals,
}

/// Scoring: the best weights, those of a dual point, and those on the line between two.
const SCORING: Vectors = Vectors { weights: 3.0, rows: 5.0, ..NONE };
/// Scoring with a dual point of its own, improved by coordinate steps.
const SCORING_BY_SHADOW: Vectors =
    Vectors { weights: 8.0, rows: 9.0, saved_weights: 1.0, saved_rows: 1.0, ..NONE };
/// What workers of one process bring to a sum, and the sum.
const EXCHANGE: Vectors = Vectors { weights: 2.0, ..NONE };
/// The model that a run begins from and the one it ends with.
const MODEL: Vectors = Vectors { weights: 2.0, rows: 1.0, ..NONE };
/// Predictions of the best weights, which every checkpoint has.
const SAVED_BY_SCORING: f64 = 1.0;
/// Copies of a checkpoint on its way into the store: as sent, as gathered, and as bytes that grow while they are written.
const COPIES: f64 = 4.0;

/// Copies of its part of the vector with a server: the part itself, what it is put as or looked at by, and that message as
/// MPI has it.
const SERVING: f64 = 3.0;

/// A change of weights: a row, and how far they moved along it.
const NUMBERS_OF_A_CHANGE: f64 = 2.0;

const NONE: Vectors = Vectors::NONE;

impl Vectors {
    /// None at all.
    pub const NONE: Vectors = Vectors {
        weights: 0.0,
        rows: 0.0,
        squares: 0.0,
        pairs: 0,
        saved_weights: 0.0,
        saved_rows: 0.0,
        hinge_rows: 0.0,
        changes: 0,
        leaves: Leaves::Weights,
    };
}

/// The memory that a run takes besides its data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Footprint {
    /// Vectors of the workers.
    pub vectors: u64,
    /// Whichever is more: what scoring holds, or the copies of a checkpoint.
    pub scoring: u64,
    /// Threads that are started.
    threads: usize,
}

/// The size of what is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Rows of all workers.
    pub rows: usize,
    /// Columns of the matrix.
    pub columns: usize,
    /// Workers.
    pub workers: usize,
    /// Rounds, if they are limited: a run of few rounds keeps few pairs.
    pub rounds: Option<u64>,
}

impl Footprint {
    /// Of a run whose workers are all in this process. An algorithm that does not exist takes nothing.
    pub fn here(algorithm: &str, given: &Parameters, problem: &Problem, extent: Extent) -> Footprint {
        let threads = extent.workers.saturating_sub(1);
        Footprint { threads, ..Footprint::of(algorithm, given, problem, extent, extent.workers as f64) }
    }

    /// Of the process of one worker, the one that has the most: it gathers the checkpoint.
    pub fn on_rank(algorithm: &str, given: &Parameters, problem: &Problem, extent: Extent) -> Footprint {
        Footprint::of(algorithm, given, problem, extent, 1.0)
    }

    /// Of the process of a server, one of so many that hold a vector of this length together.
    pub fn on_server(dimension: usize, servers: usize) -> Footprint {
        let share = dimension.div_ceil(servers.max(1)) as f64;
        Footprint { vectors: (8.0 * SERVING * share) as u64, scoring: 0, threads: 0 }
    }

    fn of(algorithm: &str, given: &Parameters, problem: &Problem, extent: Extent, here: f64) -> Footprint {
        let Some(entry) = entry(algorithm) else {
            return Footprint { vectors: 0, scoring: 0, threads: 0 };
        };
        let (workers, vectors) = (extent.workers.max(1) as f64, &entry.vectors);
        let dimension = (extent.columns + usize::from(problem.bias)) as f64;
        let (rows, rows_here) = (extent.rows as f64, extent.rows as f64 * here / workers);
        let pairs = 2.0 * pairs(entry, given, extent.rounds);
        let exchange = if workers > 1.0 { EXCHANGE } else { NONE };
        let scoring = match vectors.leaves {
            Leaves::Duals => SCORING,
            Leaves::Gradient if problem.loss.smoothness().is_some() => SCORING,
            _ => SCORING_BY_SHADOW,
        };
        let hinge_rows = if problem.loss == Loss::Hinge { vectors.hinge_rows } else { 0.0 };
        let held = vectors.weights + pairs + exchange.weights + MODEL.weights;
        let held = here * dimension * (held + dimension * vectors.squares)
            + rows_here * (vectors.rows + hinge_rows + MODEL.rows)
            + here * (drawn(entry, given, workers) + messages(entry, given, extent.workers, dimension))
            + here * NUMBERS_OF_A_CHANGE * vectors.changes as f64;
        let scored = here * dimension * scoring.weights + rows_here * scoring.rows;
        let saved = workers * dimension * (vectors.saved_weights + scoring.saved_weights + pairs)
            + rows * (vectors.saved_rows + hinge_rows / 2.0 + scoring.saved_rows + SAVED_BY_SCORING)
            + MODEL.weights * dimension
            + MODEL.rows * rows;
        let bytes = |numbers: f64| (8.0 * numbers) as u64;
        Footprint { vectors: bytes(held), scoring: bytes(scored.max(COPIES * saved)), threads: 0 }
    }

    /// All of it.
    pub fn bytes(&self) -> u64 {
        self.vectors.saturating_add(self.scoring)
    }

    /// Whether it fits beside data of so many bytes.
    pub fn fits(&self, data: u64, limit: &MemoryLimit) -> bool {
        self.needed(data, limit) <= limit.bytes
    }

    /// Refuses what does not fit, in one sentence.
    pub fn check(&self, who: &str, data: u64, limit: &MemoryLimit) -> Result<(), Error> {
        if self.fits(data, limit) {
            return Ok(());
        }
        Err(Error::Memory(format!("this run needs {}", self.describe(who, data, limit))))
    }

    /// How much it needs, for what, and what the limit is.
    pub fn describe(&self, who: &str, data: u64, limit: &MemoryLimit) -> String {
        let set_aside = limit.set_aside(self.threads, STACK_BYTES as u64);
        let threads = if set_aside > 0 { format!(", threads {}", size(set_aside)) } else { String::new() };
        format!(
            "about {} of memory (data {}, {who} {}, scoring and checkpoints {}{threads}), the limit is {} ({})",
            size(self.needed(data, limit)),
            size(data),
            size(self.vectors),
            size(self.scoring),
            size(limit.bytes),
            limit.set_by
        )
    }

    fn needed(&self, data: u64, limit: &MemoryLimit) -> u64 {
        let set_aside = limit.set_aside(self.threads, STACK_BYTES as u64);
        self.bytes().saturating_add(data).saturating_add(set_aside)
    }
}

/// Bytes of a dataset.
pub fn data_bytes(data: &Dataset) -> u64 {
    let values = match &data.matrix {
        hemingway_data::Matrix::Sparse(sparse) => 8 * sparse.values().len() + 8 * sparse.offsets().len(),
        hemingway_data::Matrix::Dense(dense) => 4 * dense.values().len(),
    };
    let features = 4 * data.features.used.as_ref().map_or(0, Vec::len);
    let weights = 4 * data.weights.as_ref().map_or(0, Vec::len);
    (values + 4 * data.targets.len() + weights + features) as u64
}

/// Pairs that are kept in the end.
fn pairs(entry: &Entry, given: &Parameters, rounds: Option<u64>) -> f64 {
    let kept = given.memory.unwrap_or(entry.vectors.pairs) as f64;
    let kept = rounds.map_or(kept, |rounds| kept.min(rounds as f64));
    // Where there are any, one is dropped only after the next is there.
    if entry.vectors.pairs > 0 { kept + 1.0 } else { 0.0 }
}

/// Messages that neighbours have sent to a worker and it has not read yet, in numbers of 64 bits.
fn messages(entry: &Entry, given: &Parameters, workers: usize, dimension: f64) -> f64 {
    if entry.needs() != Needs::Neighbours {
        return 0.0;
    }
    let neighbours = given.topology.as_ref().unwrap_or(&Topology::Ring).most_neighbours(workers);
    neighbours as f64 * Quantiser::new(given.bits).bytes(dimension as usize) as f64 / 8.0
}

/// The rows that a worker of a stochastic method draws in a round, 32 bits each, in numbers of 64.
fn drawn(entry: &Entry, given: &Parameters, workers: f64) -> f64 {
    let batch = given.batch.unwrap_or(0) as f64 / workers;
    let draws = entry.vectors.leaves != Leaves::Duals;
    if draws { batch.max(given.local_steps.unwrap_or(0) as f64) / 2.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use hemingway_data::SetBy;

    use super::*;

    #[test]
    fn a_run_that_does_not_fit_says_so_in_one_sentence() {
        let extent = Extent { rows: 100, columns: 1000, workers: 4, rounds: None };
        let problem = Problem::new(Loss::Logistic, 1e-3).unwrap();
        let footprint = Footprint::here("newton", &Parameters::default(), &problem, extent);
        let limit = |bytes| MemoryLimit { bytes, set_by: SetBy::Request };
        let data = 400_400;
        assert!(footprint.fits(data, &limit(1 << 30)));
        let message = footprint.check("4 workers of newton", data, &limit(50 << 20)).unwrap_err().to_string();
        assert!(message.starts_with("this run needs about 92 MiB of memory (data "), "{message}");
        assert!(message.contains("4 workers of newton 92 MiB") && !message.contains('\n'), "{message}");
        assert!(message.ends_with("the limit is 50 MiB (set by --memory-limit): use fewer workers, another algorithm, or another --memory-limit"), "{message}");
    }

    #[test]
    fn a_server_holds_its_part_and_no_rows() {
        let limit = |bytes| MemoryLimit { bytes, set_by: SetBy::Request };
        let [one, four] = [1, 4].map(|servers| Footprint::on_server(1000, servers));
        assert_eq!((one.bytes(), four.bytes()), (24_000, 6_000));
        assert!(four.fits(0, &limit(6_000)) && !one.fits(0, &limit(6_000)));
    }

    #[test]
    fn rows_and_messages_of_a_round_count() {
        let problem = Problem::new(Loss::Logistic, 1e-3).unwrap();
        let extent = Extent { rows: 100, columns: 1000, workers: 64, rounds: None };
        let bytes = |name, given| Footprint::here(name, &given, &problem, extent).vectors;
        let given = || Parameters::default();
        for name in ["local-sgd", "one-shot-sgd", "splash", "svrg"] {
            let steps = Parameters { local_steps: Some(1_000_000_000), ..given() };
            assert!(bytes(name, steps) > 64 * 4_000_000_000, "{name}");
        }
        let among = |topology| Parameters { topology: Some(topology), ..given() };
        let more = bytes("d-psgd", among(Topology::Complete)) - bytes("d-psgd", among(Topology::Ring));
        assert_eq!(more, 64 * (63 - 2) * 8 * 1000);
        assert!(bytes("passcode", given()) > 64 << 20, "each worker writes down what it changes");
    }

    #[test]
    fn pairs_that_are_never_made_do_not_count() {
        let problem = Problem::new(Loss::Logistic, 1e-3).unwrap();
        let bytes = |memory, rounds| {
            let extent = Extent { rows: 100, columns: 1000, workers: 1, rounds };
            let given = Parameters { memory: Some(memory), ..Parameters::default() };
            Footprint::here("l-bfgs", &given, &problem, extent).bytes()
        };
        assert!(bytes(1_000_000_000, None) > 1 << 40);
        assert_eq!(bytes(1_000_000_000, Some(5)), bytes(5, None));
    }
}
