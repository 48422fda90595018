//! How a program outside this process trains for it: one job in, JSON lines out.
//!
//! The program gets its [`ExternalJob`] as one line of JSON (a file, or the first line of its standard input), and
//! answers with [`Message`]s, one per line, on its standard output. It reads [`Command`]s from the rest of its
//! standard input; the end of that input means that whoever asked is gone, and the program ends too. A [`Failure`] is
//! one line on standard error, from whichever rank it happened on, and so is a [`Beat`], from every rank. `docs/protocol.md` describes all this for those
//! who write an engine of their own.
//!
//! A job may say all its stages in advance. One without stages is for whoever decides while training goes on: the engine
//! loads the data, sends its profile, and then waits for stages as commands.

use hemingway_data::{
    ClassWeight, CountedClass, Encoding, Fingerprint, Labels, LoadOptions, MemoryLimit, Transform,
};
use serde::{Deserialize, Serialize};

use crate::{
    CloserLook, DataProfile, Jitter, Machine, Parameters, Point, Problem, Quality, Run, Scoring, Seconds,
    StopRules, Work,
};

/// The version of this protocol. Programs that speak another one are refused.
pub const PROTOCOL: u32 = 3;

/// What an external engine is asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalJob {
    /// [`PROTOCOL`] of whoever asks.
    pub protocol: u32,
    /// The training data.
    pub data: Source,
    /// What to minimise on it.
    pub problem: Problem,
    /// All randomness comes from here.
    pub seed: u64,
    /// How much to spend on scoring.
    pub scoring: Scoring,
    /// Checkpoints are at least this far apart in wall time; none without it.
    #[serde(default)]
    pub checkpoint_every: Option<Seconds>,
    /// One after the other, each from the model of the one before. None: they come as [`Command::Stage`].
    #[serde(default)]
    pub stages: Vec<Stage>,
    /// Without stages: on how many workers the data is loaded at first.
    #[serde(default)]
    pub workers: Option<usize>,
    /// Without stages: whether the data is looked at closely, for someone who wants to know what it is like.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closer_look: bool,
    /// The state of a [`Message::Checkpoint`] to begin from, in the first stage.
    #[serde(default)]
    pub checkpoint: Option<String>,
    /// Every rank says this often that it is alive, as a [`Beat`] on its standard error; never without it.
    #[serde(default)]
    pub heartbeat: Option<Seconds>,
}

/// Data and how to read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// A file, or the name of embedded or generated data.
    pub spec: String,
    /// How to read it.
    #[serde(default)]
    pub options: LoadOptions,
    /// How often the rows of each class count; once, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_weight: Option<ClassWeight>,
    /// Whether each row is scaled to length 1.
    #[serde(default)]
    pub normalise_rows: bool,
    /// Whether each column is scaled to standard deviation 1.
    #[serde(default)]
    pub standardise: bool,
}

/// A part of a run with one algorithm on so many workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// The algorithm's name in the catalogue.
    pub algorithm: String,
    /// Its hyperparameters.
    #[serde(default)]
    pub parameters: Parameters,
    /// On how many workers. With the servers that the algorithm needs beside them, at most as many as were started.
    pub workers: usize,
    /// When to end.
    pub stop: StopRules,
}

impl Stage {
    /// How many servers it takes beside its workers. An algorithm that does not exist takes none.
    pub fn servers(&self) -> usize {
        crate::algorithm(&self.algorithm, &self.parameters).map_or(0, |algorithm| algorithm.needs().servers())
    }
}

/// What an external engine says, in this order: hello, then for each stage loaded, if it divides the data anew, begun, if
/// it takes over from another, any number of points and checkpoints, and finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Message {
    /// All ranks are there.
    Hello {
        /// [`PROTOCOL`] of the engine.
        protocol: u32,
        /// The version of its program.
        version: String,
        /// Where the ranks are, in their order.
        ranks: Vec<Rank>,
    },
    /// The data has been read and scaled.
    Loaded(Loaded),
    /// A stage has taken over where another one ended.
    Begun {
        /// The training clock before its first round: what came between two stages is on it.
        seconds: Seconds,
    },
    /// A round was scored.
    Point(Point),
    /// A state to begin from, should the run be interrupted. It is the engine's own business what it looks like.
    Checkpoint {
        /// Rounds finished.
        round: u64,
        /// To be handed back in [`ExternalJob::checkpoint`].
        state: String,
    },
    /// What was asked to be measured, in place of training.
    Measured(Measurement),
    /// A stage has ended.
    Finished {
        /// How; without duals.
        run: Run,
        /// How well its model predicts the training data.
        quality: Quality,
        /// Where the time went, if the engine knows.
        #[serde(default)]
        profile: Option<Profile>,
    },
}

/// A process of an external engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// The machine it runs on.
    pub host: String,
    /// Its process number there.
    pub pid: u32,
}

/// What an external engine found in the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// Number of examples.
    pub rows: usize,
    /// Number of features, as the user counts them.
    pub features: usize,
    /// The features that have weights, counted from 0 and increasing; nothing where all have.
    #[serde(default)]
    pub used: Option<Vec<u32>>,
    /// What became of the columns of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// Rows of a table left out because they have no label.
    #[serde(default)]
    pub unlabelled_rows: usize,
    /// The memory that a rank has left for training, the one that has least; nothing if the engine does not tell.
    #[serde(default)]
    pub room: Option<MemoryLimit>,
    /// Number of values that are not zero.
    pub nonzeros: usize,
    /// What it contains, after it was scaled.
    pub fingerprint: Fingerprint,
    /// What the targets stand for.
    pub labels: Labels,
    /// How often a row of each class counts, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_weights: Vec<CountedClass>,
    /// What was done to the features.
    pub transform: Transform,
    /// Reading the data.
    pub load_seconds: f64,
    /// Scaling it.
    pub transform_seconds: f64,
    /// What it is like, in a job without stages.
    #[serde(default)]
    pub profile: Option<DataProfile>,
    /// Making that profile.
    #[serde(default)]
    pub profile_seconds: f64,
    /// What a closer look shows, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closer_look: Option<Box<CloserLook>>,
}

/// What whoever asked may say while the engine runs. All but [`Command::Stop`] are for jobs without stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// End after this round, with everything that belongs to an end.
    Stop,
    /// End the present stage after the next score, so that another one can take over.
    HandOver {
        /// Whether that one can begin from a dual point.
        duals: bool,
    },
    /// Begin this stage, from what the one before has handed over. Only a stage that was handed over, got stuck or
    /// diverged is followed by another; any other end is the end of the job.
    Stage {
        /// What to do.
        stage: Box<Stage>,
        /// The ranks that take part: workers in ascending order from 0, then servers; if empty, the first ones.
        #[serde(default)]
        ranks: Vec<usize>,
    },
    /// There will be no further stage.
    Done,
}

/// Why an external engine cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename = "failed")]
pub struct Failure {
    /// Where it happened.
    pub rank: usize,
    /// The machine of that rank.
    pub host: String,
    /// Whether the job or its data is at fault, rather than the engine.
    pub bad_input: bool,
    /// What happened and what to do next.
    pub message: String,
}

/// One rank is alive, and what it is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename = "beat")]
pub struct Beat {
    /// Which one.
    pub rank: usize,
    /// How often it has communicated so far: a rank whose count stands still makes no progress.
    pub done: u64,
    /// How many sums, broadcasts and gatherings of the present stage it has left behind, the same on all ranks that have
    /// come equally far.
    #[serde(default)]
    pub step: u64,
    /// What it is doing now.
    pub doing: Doing,
    /// The bytes of the communication that it waits for.
    #[serde(default)]
    pub bytes: u64,
}

/// What a rank is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// Reading its rows.
    Loading,
    /// Training or scoring on them.
    Computing,
    /// In the middle of a communication: for the others, or for the network.
    Waiting,
    /// Not part of the present stage, or waiting for the next; a server that nobody asks.
    Resting,
}

/// Where the training time of a run went.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// What a rank was metered to compute, in the mean.
    pub work: Work,
    /// What the ranks computed while others waited.
    pub compute_seconds: f64,
    /// What sums took beyond that.
    pub sum_seconds: f64,
    /// What a rank computes for that work when nothing disturbs it, in the mean: time on its core, without any waiting,
    /// and no round slower for its work than the median one.
    #[serde(default)]
    pub undisturbed_seconds: f64,
    /// The lengths of sums, and how many there were of each.
    pub sums: Vec<(usize, u64)>,
    /// Operations per second of each worker while it computed, waiting left out; 0 where too little was seen to tell.
    #[serde(default)]
    pub rates: Vec<f64>,
}

/// What an external engine measured of its machines and their network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// How fast each is while it has its core, and all compute.
    pub machines: Vec<Machine>,
    /// How often each does not have it.
    #[serde(default)]
    pub jitter: Vec<Jitter>,
    /// Seconds before a message arrives.
    pub latency: f64,
    /// Bytes per second of a long message.
    pub bandwidth: f64,
    /// What sums over all ranks take.
    pub sums: Vec<MeasuredSum>,
}

/// What one sum over all ranks took: medians of several.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeasuredSum {
    /// The length of the buffer.
    pub numbers: usize,
    /// Through the engine.
    pub seconds: f64,
    /// The mean of a long row of them.
    pub seconds_in_a_row: f64,
    /// By a bare call, for comparison.
    pub bare_seconds: f64,
    /// The quickest through the seam and the quickest bare one, in seconds: noise only ever adds.
    pub quickest: [f64; 2],
}
