//! What a user asks for, as plain data: stored with the run, so that it can be resumed from that alone.

use std::path::{Path, PathBuf};

use hemingway_data::{
    ClassWeight, Format, NumberStyle, absolute_spec, is_standard_input, parse_delimiter, recognised,
};
use hemingway_plan::{Goal, Risk};
use hemingway_train::{Loss, Parameters, Scoring, Seconds, StopRules, Topology};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::default_choice::MPI;

/// A training run as asked for. What is left open is decided by [`choose`](crate::choose).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainRequest {
    /// What to train on.
    pub data: DataRequest,
    /// More data of the same kind, to measure the model on.
    pub test: Option<String>,
    /// The loss.
    pub loss: Loss,
    /// Strength of the L2 penalty.
    pub lambda: f64,
    /// Whether the model has a constant term; if not said, it has one for tables.
    pub bias: Option<bool>,
    /// The algorithm's name in the catalogue.
    pub algorithm: Option<String>,
    /// Its hyperparameters.
    pub parameters: Parameters,
    /// On how many workers.
    pub workers: Option<usize>,
    /// On which engine.
    pub engine: Option<String>,
    /// The machines to simulate.
    pub cluster: Option<PathBuf>,
    /// How ranks are started, on the mpi engine.
    pub ranks: RanksRequest,
    /// Goals and limits.
    pub stop: StopRules,
    /// What counts besides goals and limits, where something is left open.
    pub planning: PlanningRequest,
    /// How often to score; if not given, more often where the training clock is virtual.
    pub scoring: Option<Scoring>,
    /// All randomness comes from here.
    pub seed: u64,
    /// At least this far apart in wall time are the states one can resume from.
    pub checkpoint_every: Seconds,
    /// Where the model goes, if not beside the store.
    pub model: Option<PathBuf>,
    /// Bytes of memory that may be used on each machine; most of what it has available if not given.
    pub memory_limit: Option<u64>,
    /// The run of all classes that this one is part of: it tells one of several from the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_of: Option<String>,
}

/// What the planner is told, where algorithm or workers are left open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanningRequest {
    /// Money that may be spent, in the unit of the prices in the cluster file.
    pub budget: Option<f64>,
    /// Whether less money is better than less time.
    pub cheapest: bool,
    /// What counts of a predicted distribution.
    pub risk: Risk,
    /// The most workers to use.
    pub max_workers: Option<usize>,
    /// Whether the run may change its configuration once another one is predicted to be better.
    pub adapt: bool,
    /// The share of the time left that a switch has to gain.
    pub hysteresis: f64,
}

impl Default for PlanningRequest {
    fn default() -> PlanningRequest {
        PlanningRequest {
            budget: None,
            cheapest: false,
            risk: Risk::Expected,
            max_workers: None,
            adapt: true,
            hysteresis: 0.3,
        }
    }
}

/// How the ranks of an MPI run are started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RanksRequest {
    /// The machines to start them on, as a hosts file.
    pub hosts: Option<PathBuf>,
    /// The command that starts them, in place of `mpirun` or `srun`.
    pub launcher: Option<String>,
    /// How often to start again from the last checkpoint when ranks are lost.
    pub restarts: u32,
    /// How long ranks may be silent, or a round may take; if not given, it follows from how long rounds take.
    pub patience: Option<Seconds>,
}

/// Data and how to read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DataRequest {
    /// A file, several with ` + ` between them, a folder, a pattern, `-`, or the name of embedded or generated data.
    pub spec: String,
    /// The format, if the file's name does not tell.
    pub format: Option<String>,
    /// What stands between the fields of a table: a character, `tab` or `space`.
    pub delimiter: Option<String>,
    /// Whether feature numbers begin at 0.
    pub zero_based: bool,
    /// Which column holds the label: `first`, `last`, `none`, a number or a name.
    pub label: Option<String>,
    /// The label that becomes +1.
    pub positive: Option<String>,
    /// How often the rows of each class count; once, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_weight: Option<ClassWeight>,
    /// Whether labels are quantities rather than classes.
    pub regression: bool,
    /// Whether each row is scaled to length 1.
    pub normalise_rows: bool,
    /// Whether each column is scaled to standard deviation 1; if not said, those of tables are.
    pub standardise: Option<bool>,
    /// Columns of a table that are not features.
    pub drop: Vec<String>,
    /// The columns of a table that are features, if any are named.
    pub keep: Vec<String>,
    /// Columns of a table that hold text, whatever they look like.
    pub text: Vec<String>,
    /// Columns of a table that hold numbers, whatever they look like.
    pub number: Vec<String>,
    /// How the numbers of a table are written.
    pub numbers: NumberStyle,
    /// Whether rows of a table without a label are left out rather than refused.
    pub drop_unlabelled: bool,
    /// The column of a table that holds the weights of rows.
    pub weight: Option<String>,
    /// A column of a table that names rows.
    pub id: Option<String>,
    /// The share of the rows to use, chosen at random from the run's seed.
    pub fraction: f64,
    /// Whether rows are brought into random order, from the run's seed.
    pub shuffle: bool,
}

/// What may be different when a run is resumed: when to end, where the model goes, and how much memory may be used.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// New goals and limits, in place of all the old ones unless empty.
    pub stop: StopRules,
    /// Another place for the model.
    pub model: Option<PathBuf>,
    /// Another limit of memory.
    pub memory_limit: Option<u64>,
    /// Whether to take the run over from a process on another machine, where nobody can see whether it still works on it.
    pub take_over: bool,
}

impl Default for TrainRequest {
    fn default() -> TrainRequest {
        TrainRequest {
            data: DataRequest::default(),
            test: None,
            loss: Loss::Logistic,
            lambda: 1e-4,
            bias: None,
            algorithm: None,
            parameters: Parameters::default(),
            workers: None,
            engine: None,
            cluster: None,
            ranks: RanksRequest::default(),
            stop: StopRules::default(),
            planning: PlanningRequest::default(),
            scoring: None,
            seed: 0,
            checkpoint_every: Seconds(5.0),
            model: None,
            memory_limit: None,
            class_of: None,
        }
    }
}

impl Default for DataRequest {
    fn default() -> DataRequest {
        DataRequest {
            spec: hemingway_data::EMBEDDED.to_owned(),
            format: None,
            delimiter: None,
            zero_based: false,
            label: None,
            positive: None,
            class_weight: None,
            regression: false,
            normalise_rows: false,
            standardise: None,
            drop: Vec::new(),
            keep: Vec::new(),
            text: Vec::new(),
            number: Vec::new(),
            numbers: NumberStyle::default(),
            drop_unlabelled: false,
            weight: None,
            id: None,
            fraction: 1.0,
            shuffle: false,
        }
    }
}

impl TrainRequest {
    /// The same request with every path absolute, the algorithm by its name in the catalogue, the workers that a mixing
    /// matrix is for, and what the kind of data decides, so that it can be repeated from any directory and compared with
    /// others.
    pub fn in_full(mut self) -> TrainRequest {
        let canonical = |name: String| hemingway_train::canonical(&name).map_or(name, str::to_owned);
        self.algorithm = self.algorithm.map(canonical);
        let of_topology = || self.parameters.topology.as_ref().and_then(Topology::workers);
        self.workers = self.workers.or_else(of_topology);
        self.data.spec = absolute_spec(&self.data.spec);
        self.test = self.test.map(|spec| absolute_spec(&spec));
        if self.bias.is_none() || self.data.standardise.is_none() {
            let is_table = self.data.is_table();
            self.bias = self.bias.or(Some(is_table));
            self.data.standardise = self.data.standardise.or(Some(is_table));
        }
        self.cluster = self.cluster.map(|path| absolute(&path));
        self.ranks.hosts = self.ranks.hosts.map(|path| absolute(&path));
        self.model = self.model.map(|path| absolute(&path));
        self
    }

    /// Whether the model has a constant term.
    pub fn has_bias(&self) -> bool {
        self.bias.unwrap_or(false)
    }

    /// The same request with other goals, or another place for the model.
    pub fn with(mut self, changes: &Changes) -> TrainRequest {
        if changes.stop != StopRules::default() {
            self.stop = changes.stop;
        }
        if let Some(model) = &changes.model {
            self.model = Some(absolute(model));
        }
        self.memory_limit = changes.memory_limit.or(self.memory_limit);
        self
    }

    /// Whether the targets are numbers to come close to rather than classes to tell apart.
    pub fn is_regression(&self) -> bool {
        self.data.regression || (self.loss == Loss::Squared && self.data.positive.is_none())
    }

    /// Refuses quantities where the loss knows only classes, or classes are to count more or less.
    pub(crate) fn check_labels(&self) -> Result<(), Error> {
        if self.data.class_weight.is_some() && self.is_regression() {
            let file = self.data.spec.clone();
            return Err(hemingway_data::Error::ClassWeightOfNumbers { file }.into());
        }
        let classes_only = self.loss != Loss::Squared;
        if classes_only && self.is_regression() { Err(Error::LossForClasses(self.loss)) } else { Ok(()) }
    }

    /// Refuses a share of the rows that is none, and one that ranks cannot choose.
    pub(crate) fn check_fraction(&self, engine: &str) -> Result<(), Error> {
        match self.data.fraction {
            1.0 => Ok(()),
            fraction if !(fraction > 0.0 && fraction < 1.0) => {
                out_of_range("--fraction", fraction, "above 0 and at most 1")
            }
            _ if engine == MPI => Err(Error::FractionOnRanks),
            _ => Ok(()),
        }
    }

    /// Refuses data that other processes cannot see.
    pub(crate) fn check_seen_by_ranks(&self) -> Result<(), Error> {
        if is_standard_input(&self.data.spec) { Err(Error::StandardInputOnRanks) } else { Ok(()) }
    }

    /// Refuses to go on with data that went with the process that read it.
    pub(crate) fn check_still_there(&self, run: &str) -> Result<(), Error> {
        let gone = [Some(&self.data.spec), self.test.as_ref()]
            .into_iter()
            .flatten()
            .any(|spec| is_standard_input(spec));
        if gone { Err(Error::StandardInputGone { run: run.to_owned() }) } else { Ok(()) }
    }

    /// Refuses to shuffle rows that ranks read in the order of the file.
    pub(crate) fn check_shuffle(&self, engine: &str) -> Result<(), Error> {
        if self.data.shuffle && engine == MPI { Err(Error::ShuffleOnRanks) } else { Ok(()) }
    }

    /// Whether something is left for the planner to decide.
    pub(crate) fn is_open(&self) -> bool {
        self.algorithm.is_none() || self.workers.is_none()
    }

    /// Whether the planner decides: something is left open, and there is a goal to plan by.
    pub(crate) fn is_planned(&self, stop: &StopRules) -> bool {
        let asked = self.goal(stop);
        self.is_open() && (asked.error.is_some() || asked.within.is_some())
    }

    /// What is asked for, in the words of the planner.
    pub(crate) fn goal(&self, stop: &StopRules) -> Goal {
        let PlanningRequest { budget, cheapest, risk, .. } = self.planning;
        // How far an objective is from the best one is not known before the run: some usual error stands in.
        let goal = stop.error.or(stop.objective.map(|_| crate::default_choice::USUAL_ERROR));
        Goal { error: goal, within: stop.within.map(|within| within.0), budget, cheapest, risk }
    }

    /// Refuses goals and limits that cannot be meant.
    pub(crate) fn check_stop(&self) -> Result<(), Error> {
        let StopRules { error, objective, within, rounds } = self.stop;
        match error {
            // It will not be reached, but one may want to go as far as can be.
            Some(0.0) => {}
            error => positive("--error", error)?,
        }
        self.planning.check()?;
        positive("--within", within.map(|limit| limit.0))?;
        positive("--checkpoint-every", Some(self.checkpoint_every.0))?;
        match self.ranks.patience {
            Some(Seconds(patience)) if !(patience >= LEAST_PATIENCE && patience.is_finite()) => {
                out_of_range("--patience", patience, "at least 5 s")?;
            }
            _ => {}
        }
        match (objective, rounds, self.scoring) {
            (Some(value), _, _) if !value.is_finite() => {
                out_of_range("--objective", value, "a finite number")
            }
            (_, Some(0), _) => out_of_range("--rounds", 0.0, "at least 1"),
            (_, _, Some(Scoring::Every(0))) => out_of_range("--score-every", 0.0, "at least 1"),
            _ => Ok(()),
        }
    }
}

impl DataRequest {
    /// Whether each column is scaled to standard deviation 1.
    pub fn is_standardised(&self) -> bool {
        self.standardise.unwrap_or(false)
    }

    /// Whether it is a table, as far as that can be seen before it is read: a pipe has to say so with its format.
    fn is_table(&self) -> bool {
        let named = self.format.as_deref().and_then(|name| name.parse().ok());
        let delimiter = self.delimiter.as_deref().and_then(|text| parse_delimiter(text).ok());
        let named = Format::with_delimiter(named, delimiter).ok().flatten();
        recognised(&self.spec, named).is_some_and(Format::is_table)
    }
}

/// Less than a few heartbeats of a rank says nothing about it, in seconds.
const LEAST_PATIENCE: f64 = 5.0;

impl PlanningRequest {
    fn check(&self) -> Result<(), Error> {
        positive("--budget", self.budget)?;
        match (self.risk, self.max_workers) {
            (Risk::Quantile(share), _) if !(share > 0.0 && share < 1.0) => {
                out_of_range("--risk", share, "between 0 and 1")
            }
            (_, Some(0)) => out_of_range("--max-workers", 0.0, "at least 1"),
            _ if !(self.hysteresis >= 0.0 && self.hysteresis.is_finite()) => {
                out_of_range("--hysteresis", self.hysteresis, "0 or more")
            }
            _ => Ok(()),
        }
    }
}

pub(crate) fn positive(name: &'static str, value: Option<f64>) -> Result<(), Error> {
    match value {
        Some(value) if !(value > 0.0 && value.is_finite()) => out_of_range(name, value, "a positive number"),
        _ => Ok(()),
    }
}

fn out_of_range(name: &'static str, value: f64, expected: &'static str) -> Result<(), Error> {
    Err(Error::OutOfRange { name, value, expected })
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}
