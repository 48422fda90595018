//! Every command and every flag, in one list.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use hemingway::data::ClassWeight;
use hemingway::{
    Keep, LambdaError, LambdaGrid, Loss, Place, PlanningRequest, PredictionFormat, Topology,
    parse_seconds as seconds,
};

use crate::failure::Usage;

/// Trains linear models to a proved error.
#[derive(Parser)]
#[command(name = "hemingway", version, arg_required_else_help = true, after_help = EXAMPLE)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLE: &str = "\
Example:
  hemingway train                 train on the embedded dataset
  hemingway train data.libsvm     train on a file
  hemingway runs                  what was trained so far

Environment:
  HEMINGWAY_STORE    the file that runs are kept in, as --store
  HEMINGWAY_MODELS   the folder for models, as --models-folder
  HEMINGWAY_CLUSTER  the machines to simulate, as --cluster, with --engine simulated
  HEMINGWAY_HOSTS    the machines to start workers on, as --hosts, with --engine mpi
  HEMINGWAY_WORKER   the program hemingway-worker, for --engine mpi
  HEMINGWAY_DATA     the folder with the datasets of `hemingway reproduce`
  HEMINGWAY_STORE_PATIENCE  how long to wait for other programs that use the store, like 30s
  NO_COLOR           no colours

A flag comes before its variable.";

#[derive(Subcommand)]
pub enum Command {
    Train(Box<Train>),
    Explain(Box<Explain>),
    Profile(Box<Profile>),
    Predict(Predict),
    Evaluate(Evaluate),
    Platt(Platt),
    Export(Export),
    Runs(Runs),
    Show(Show),
    Plot(Plot),
    Algorithms(Algorithms),
    Calibrate(Calibrate),
    Measure(Box<Measure>),
    Fit(Fit),
    Tune(Tune),
    Reproduce(Reproduce),
    Completions(Completions),
    Man(Man),
}

/// Find a schedule for unequal machines: who computes, who serves parameters, how much each device gets.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway tune                            tune a simulated cluster, in seconds
  hemingway tune --init job.toml            write a job file to begin with
  hemingway tune job.toml                   tune your own job
  hemingway tune job.toml --command \"python train.py\" --evaluations 15 --parallel 2
  hemingway tune job.toml --earlier last    begin from the last study: another batch, a machine more
  hemingway tune --resume last
  hemingway tune --remove k3f9q x7p2m

An evaluation is a command: it gets a configuration as JSON on standard input and prints what it measured as JSON (docs/tune.md).

Exit code: 0 done, 3 interrupted, 2 bad usage, bad job file or answer, 1 anything else, for example all evaluations failed.")]
pub struct Tune {
    /// The job file; without one a simulated cluster is tuned
    #[arg(value_name = "JOB")]
    pub job: Option<PathBuf>,

    /// Write a job file with comments
    #[arg(long, value_name = "FILE", conflicts_with_all = ["job", "simulate", "resume"], help_heading = "Job")]
    pub init: Option<PathBuf>,

    /// Tune a simulated experiment of the paper, like c-speechnet-65536; `list` lists them
    #[arg(long, value_name = "NAME", conflicts_with_all = ["job", "resume"], help_heading = "Job")]
    pub simulate: Option<String>,

    /// With --simulate: describe the cluster as JSON, with its exact optimum
    #[arg(long, requires = "simulate", help_heading = "Job")]
    pub describe: bool,

    /// With --simulate: evaluate configurations for another tuner, one in a line of standard input
    #[arg(long, requires = "simulate", conflicts_with = "describe", help_heading = "Job")]
    pub serve: bool,

    /// What evaluates a configuration [default: the job file's]
    #[arg(long, value_name = "COMMAND", conflicts_with = "simulate", help_heading = "Evaluations")]
    pub command: Option<String>,

    /// How many evaluations, with those already made [default: the job file's, or 10]
    #[arg(long, value_name = "N", help_heading = "Evaluations")]
    pub evaluations: Option<usize>,

    /// How many at the same time
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Evaluations")]
    pub parallel: usize,

    /// An evaluation that takes longer has failed [default: the job file's, or 1h]
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Evaluations")]
    pub timeout: Option<f64>,

    /// Stop once no schedule is expected to be better by this share; 0 makes all evaluations [default: 0.005]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = "Evaluations")]
    pub stop_below: Option<f64>,

    /// The random seed
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Evaluations")]
    pub seed: u64,

    /// Condition on a study of a similar job: another batch, other machines of the same types
    #[arg(long, value_name = "STUDY", help_heading = "Keeping")]
    pub earlier: Option<String>,

    /// Go on with a study, by its name or `last`
    #[arg(long, value_name = "STUDY", conflicts_with_all = ["job", "earlier"], help_heading = "Keeping")]
    pub resume: Option<String>,

    /// With --resume or --remove: also a study that a process on another machine began and may still be at
    #[arg(long, help_heading = "Keeping")]
    pub take_over: bool,

    /// List the studies in the store
    #[arg(long, conflicts_with_all = ["job", "init", "simulate", "resume"], help_heading = "Keeping")]
    pub studies: bool,

    /// Remove studies from the store; those that are being worked on are refused
    #[arg(
        long,
        value_name = "STUDY",
        num_args = 1..,
        conflicts_with_all = ["job", "init", "simulate", "resume", "studies"],
        help_heading = "Keeping"
    )]
    pub remove: Vec<String>,

    #[command(flatten)]
    pub store: StoreFile,

    /// Write plots of what was found and what the model predicts into a folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub plots: Option<PathBuf>,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// No progress; warnings are still shown
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Train a model and prove how close it is to the best possible.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway train
  hemingway train data.libsvm --error 1e-4 --test more.libsvm
  hemingway train data.libsvm --within 60s
  hemingway train data.libsvm --lambda auto --path-plot path.png
  hemingway train data.libsvm --lambda 1e-2,1e-3,1e-4 --validation more.libsvm --select accuracy
  hemingway train data.libsvm --error 1e-4 --within 1h --cheapest --cluster cluster.toml
  hemingway train titanic.csv --label survived --drop name,ticket
  hemingway train wine.csv --label quality --regression
  hemingway train 'logs/2024-*.csv.zst' --label outcome
  zcat rows.csv.gz | grep -v test | hemingway train - --label outcome
  hemingway train data.libsvm --workers 64 --engine simulated --within 60s
  hemingway train data.libsvm --engine mpi --workers 8 --hosts hosts --restarts 2
  hemingway train --resume last
  hemingway train --resume last --error 1e-6
  hemingway train --resume k3f9q --take-over

Algorithm and workers that are not given are planned, and changed while it runs where that is predicted to be better;
`hemingway explain` shows the plan beforehand.

Exit code: 0 the goal was reached, 3 stopped before it, 2 bad usage or bad input, 1 anything else.")]
pub struct Train {
    #[command(flatten)]
    pub task: Task,

    /// On how many workers [default: planned]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub workers: Option<usize>,

    #[command(flatten)]
    pub choosing: Choosing,

    #[command(flatten)]
    pub running: Running,

    /// Go on with a run, by its name or `last`; new goals replace the old ones
    #[arg(long, value_name = "RUN", conflicts_with_all = FIXED, help_heading = "Keeping")]
    pub resume: Option<String>,

    /// With --resume: go on although a process on another machine began it and may still be at it
    #[arg(long, help_heading = "Keeping")]
    pub take_over: bool,

    /// Say what became of every column of a table
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
}

/// What to train and until when, for `train` and `explain` alike.
#[derive(Args)]
pub struct Task {
    #[command(flatten)]
    pub problem: Problem,

    /// More data of the same kind, to measure the model on
    #[arg(long, value_name = "DATA", help_heading = "Data")]
    pub test: Option<String>,

    /// Use this share of the rows, chosen at random
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1.0,
        allow_negative_numbers = true,
        help_heading = "Data"
    )]
    pub fraction: f64,

    #[command(flatten)]
    pub stop: Stop,

    #[command(flatten)]
    pub planning: Planning,

    /// The algorithm; `hemingway algorithms` lists them [default: planned]
    #[arg(long, value_name = "NAME", help_heading = "Method")]
    pub algorithm: Option<String>,
}

/// How a run is made, for `train` and `explain` alike.
#[derive(Args)]
pub struct Running {
    /// threads (this machine's cores), simulated (any cluster, on a virtual clock) or mpi (many machines)
    #[arg(long, value_name = "NAME", help_heading = "Method")]
    pub engine: Option<String>,

    /// The machines to simulate, as a TOML file
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub cluster: Option<PathBuf>,

    #[command(flatten)]
    pub ranks: Ranks,

    /// How often to start again from the last checkpoint when workers are lost
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Machines, with --engine mpi")]
    pub restarts: u32,

    /// How long a worker may be silent, or a round may take, before the run ends with an error: a time, or auto, 30 s and
    /// ten times the longest step so far
    #[arg(
        long,
        value_name = "TIME",
        default_value = "auto",
        value_parser = patience,
        help_heading = "Machines, with --engine mpi"
    )]
    pub patience: Patience,

    /// Local steps per worker and round
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub local_steps: Option<usize>,

    /// Rows per round over all workers
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub batch: Option<usize>,

    /// Step size at the start
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Method")]
    pub step_size: Option<f64>,

    /// Curvature pairs kept by quasi-Newton methods
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub memory: Option<usize>,

    /// Parameter servers that hold the weights, for methods that need them [default: 1]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub servers: Option<usize>,

    /// Bits per number in compressed messages, from 2 to 32 [default: 64, exact]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub bits: Option<usize>,

    /// Who talks to whom, for methods that know neighbours only: ring, torus, complete, or a file with a mixing matrix, a
    /// row of numbers for each worker [default: ring]
    #[arg(long, value_name = "NAME|FILE", value_parser = Topology::read, help_heading = "Method")]
    pub topology: Option<Topology>,

    /// The random seed
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    pub seed: u64,

    /// Score after every N rounds [default: as often as a small share of the work allows, half of it on the simulated
    /// engine, whose clock does not see it]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub score_every: Option<u64>,

    /// Where the model goes; a link is followed, a pipe or device written to [default: beside the store]
    #[arg(long, value_name = "FILE", help_heading = "Keeping")]
    pub model: Option<PathBuf>,

    /// At least this long between two states that --resume can go on from
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = seconds, help_heading = "Keeping")]
    pub checkpoint_every: f64,

    #[command(flatten)]
    pub store: StoreFile,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// No progress; warnings are still shown
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// What a run that is resumed has been given already.
const FIXED: [&str; 57] = [
    "data",
    "format",
    "delimiter",
    "label",
    "zero_based",
    "drop_unlabelled",
    "drop",
    "keep",
    "text",
    "number",
    "decimal_comma",
    "thousands",
    "weight",
    "positive",
    "class_weight",
    "regression",
    "normalise",
    "standardise",
    "no_standardise",
    "shuffle",
    "test",
    "fraction",
    "loss",
    "lambda",
    "folds",
    "fold_file",
    "validation",
    "select",
    "one_standard_error",
    "path_error",
    "path_plot",
    "bias",
    "no_bias",
    "algorithm",
    "workers",
    "engine",
    "cluster",
    "hosts",
    "launcher",
    "restarts",
    "patience",
    "local_steps",
    "batch",
    "step_size",
    "memory",
    "servers",
    "bits",
    "topology",
    "seed",
    "score_every",
    "checkpoint_every",
    "budget",
    "cheapest",
    "risk",
    "max_workers",
    "adapt",
    "hysteresis",
];

/// Say which algorithm on how many workers would do what is asked, how long it would take, and why not another.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway explain data.libsvm --error 1e-4 --engine simulated
  hemingway explain data.libsvm --error 1e-4 --within 60s --cheapest --cluster cluster.toml
  hemingway explain data.libsvm --within 10s --workers 1,2,4,8,16 --engine simulated
  hemingway explain data.libsvm --algorithms cocoa,l-bfgs --pilots --engine simulated

Nothing is trained. The plan is the one that `train` makes with the same flags, from a profile of the data and the runs
in the store; with --pilots short runs are made first, and stay in the store. docs/reading-plans.md explains the output.

Exit code: 0 a plan does what is asked, 3 none does, 2 bad usage or bad input, 1 anything else.")]
pub struct Explain {
    #[command(flatten)]
    pub task: Task,

    /// The algorithms to choose from [default: all that suit the data]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "algorithm",
        help_heading = "Method"
    )]
    pub algorithms: Vec<String>,

    /// The numbers of workers to choose from [default: up to this machine's cores, or to 64 if simulated]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', help_heading = "Method")]
    pub workers: Vec<usize>,

    /// Make short runs first: of every algorithm that is left, on few, some and many workers
    #[arg(long, help_heading = "Method")]
    pub pilots: bool,

    /// Show every configuration, not only the best of each algorithm
    #[arg(long, help_heading = "Output")]
    pub all: bool,

    #[command(flatten)]
    pub running: Running,
}

/// Say what data is like, which algorithms suit it and how many workers pay, before anything is trained.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway profile data.libsvm
  hemingway profile table.csv --label outcome --html profile.html
  hemingway profile data.libsvm --loss hinge --lambda 1e-5 --json
  hemingway profile data.libsvm --engine mpi --workers 8 --hosts hosts

Nothing is trained and nothing is kept. One pass over all rows is exact; what has an interval comes from sampled rows.
docs/profile.md says what each figure means.

Exit code: 0 done, 2 bad usage or bad input, 1 anything else.")]
pub struct Profile {
    #[command(flatten)]
    pub problem: Problem,

    /// Use this share of the rows, chosen at random
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1.0,
        allow_negative_numbers = true,
        help_heading = "Data"
    )]
    pub fraction: f64,

    /// The random seed of --fraction and --shuffle
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    pub seed: u64,

    /// threads (this process reads all rows) or mpi (each worker its own) [default: threads]
    #[arg(long, value_name = "NAME", help_heading = "Method")]
    pub engine: Option<String>,

    /// With --engine mpi: how many workers read the rows [default: one for each slot or core]
    #[arg(long, value_name = "N", help_heading = "Machines, with --engine mpi")]
    pub workers: Option<usize>,

    #[command(flatten)]
    pub ranks: Ranks,

    /// Write a page with charts, all in one file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Predict the labels of data with a trained model, one per line.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway predict model.json new.libsvm > labels.txt
  hemingway predict model.json new.csv --label none --probabilities
  hemingway predict model.json new.csv --id PassengerId --output predictions.csv
  generate | hemingway predict model.json -")]
pub struct Predict {
    /// A model file that `hemingway train` wrote
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Files, a folder of them, 'a*pattern', - for standard input, or the name of embedded or generated data
    #[arg(value_name = "DATA", required = true)]
    pub data: Vec<String>,

    #[command(flatten)]
    pub reading: Reading,

    /// The column that names rows: each prediction stands beside its name, in a table unless --output-format says otherwise
    #[arg(long, value_name = "COLUMN", help_heading = "Output")]
    pub id: Option<String>,

    /// Print margins x·w in place of labels, or beside them in tables and JSON lines
    #[arg(long, help_heading = "Output")]
    pub margins: bool,

    /// Print the probability of the positive class in place of labels, or of each class beside them
    #[arg(long, help_heading = "Output")]
    pub probabilities: bool,

    /// lines (one value each), csv (with a header) or jsonl (one JSON object per line) [default: lines]
    #[arg(long, value_name = "FORMAT", conflicts_with = "json", help_heading = "Output")]
    pub output_format: Option<PredictionFormat>,

    /// Where predictions go [default: printed]
    #[arg(long, short, value_name = "FILE", conflicts_with = "json", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Print one JSON object with labels and margins
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Measure how well a model predicts data that has labels.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway evaluate model.json more.libsvm
  hemingway evaluate model.json more.csv --label quality --json")]
pub struct Evaluate {
    /// A model file that `hemingway train` wrote
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Files, a folder of them, 'a*pattern', - for standard input, or the name of embedded or generated data
    #[arg(value_name = "DATA", required = true)]
    pub data: Vec<String>,

    #[command(flatten)]
    pub reading: Reading,

    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Give a model probabilities: fit a logistic curve to its margins (Platt scaling), on rows that took no part in training.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway platt model.json more.libsvm
  hemingway predict model.json new.libsvm --probabilities

Models of the logistic loss have probabilities already. On rows of the training data margins are larger than on others, and
a curve fitted to them would be too sure.")]
pub struct Platt {
    /// A model file that `hemingway train` wrote
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Data with labels that took no part in training: files, a folder of them, 'a*pattern' or - for standard input
    #[arg(value_name = "DATA", required = true)]
    pub data: Vec<String>,

    #[command(flatten)]
    pub reading: Reading,

    /// Where the model with probabilities goes [default: in place of the model]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Write a model as a file for other programs: its coefficients as CSV, or all of it as ONNX.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway export model.json coefficients.csv
  hemingway export model.json model.onnx

The file's ending says what it becomes. docs/predictions.md describes both.")]
pub struct Export {
    /// A model file that `hemingway train` wrote
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Where it goes; ends in .csv or .onnx
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Print one JSON object that says what was written
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// List the runs in the store, or remove some.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Example:
  hemingway runs
  hemingway runs --json
  hemingway runs rm k3f9q
  hemingway runs prune --keep 30d
  hemingway runs repair"
)]
pub struct Runs {
    #[command(subcommand)]
    pub action: Option<RunsAction>,

    #[command(flatten)]
    pub store: StoreFile,

    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

#[derive(Subcommand)]
pub enum RunsAction {
    Rm(RemoveRuns),
    Prune(PruneRuns),
    Repair(RepairRuns),
}

/// Remove runs from the store.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway runs rm k3f9q x7p2m
  hemingway runs rm last --models

Runs that are being trained are not removed. Models stay, unless --models says that those beside the store go too.")]
pub struct RemoveRuns {
    /// Their names, the beginnings of them, or `last`
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,

    /// Also those that a process on another machine began and may still be at
    #[arg(long)]
    pub take_over: bool,

    #[command(flatten)]
    pub cleaning: Cleaning,
}

/// Remove all ended runs and studies but the latest, and give the space back.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway runs prune --keep 30d     those used in the last 30 days stay
  hemingway runs prune --keep 100     the 100 latest stay

Runs that are being trained are not removed, nor studies that are being worked on (of which as many stay). Models stay,
unless --models says that those beside the store go too. The states of runs that stay are made small, as those of new runs are.")]
pub struct PruneRuns {
    /// Which ended runs and studies stay: a number of each, or a time like 30d, 12h or 90m
    #[arg(long, value_name = "WHICH", value_parser = keep)]
    pub keep: Keep,

    #[command(flatten)]
    pub cleaning: Cleaning,
}

/// Remove what cannot be read: damaged runs, points and states.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway runs repair

Other commands leave damaged runs out and warn. What a newer hemingway seems to have written is left alone; `hemingway
runs rm` removes it by name.")]
pub struct RepairRuns {
    #[command(flatten)]
    pub store: StoreFile,

    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// What all commands that remove runs take.
#[derive(Args)]
pub struct Cleaning {
    /// Remove their models, too, where they lie beside the store
    #[arg(long)]
    pub models: bool,

    #[command(flatten)]
    pub store: StoreFile,

    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Show one run: its settings, its plan beside what it took, its progress and its result; or the coefficients of a model.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway show last
  hemingway show k3f9q --json
  hemingway show last --coefficients
  hemingway show model.json --coefficients 50")]
pub struct Show {
    /// The run's name, the beginning of it, or `last`; or a model file, whose coefficients are shown
    #[arg(value_name = "RUN")]
    pub run: String,

    /// Show the N most important coefficients of its model, in the units of the data [default: 20, in JSON all]
    #[arg(long, value_name = "N", num_args = 0..=1, help_heading = "Output")]
    pub coefficients: Option<Option<usize>>,

    #[command(flatten)]
    pub store: StoreFile,

    /// Print one JSON object, with every point
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Draw the error of runs against time and rounds, as PNG or SVG.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway plot last
  hemingway plot k3f9q x7p2m --output both.svg
  hemingway plot last --against seconds -o error.png

A line is the error that the run had proved by then. The area below it says, where that is known, between which bounds the
error was, by all that the runs in the store have proved about the same problem since.")]
pub struct Plot {
    /// The runs' names, the beginnings of them, or `last`
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,

    /// One panel with this on its horizontal axis [default: two panels, seconds and rounds]
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    pub against: Option<Against>,

    /// Where the picture goes: PNG or SVG by the ending [default: RUN.png, or runs.png of several]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub store: StoreFile,

    /// Print one JSON object with the points
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// List the algorithms, or describe one: the idea, when it suits, what a round costs, its parameters.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway algorithms
  hemingway algorithms cocoa-plus
  hemingway algorithms --json

Names are read as people write them: lbfgs, CoCoA+, sgd.")]
pub struct Algorithms {
    /// The one to describe
    #[arg(value_name = "NAME")]
    pub name: Option<String>,

    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Where the ranks of an MPI run are started.
#[derive(Args)]
pub struct Ranks {
    /// The machines to start workers on, one per line, as `mpirun --hostfile` reads them
    #[arg(long, value_name = "FILE", help_heading = "Machines, with --engine mpi")]
    pub hosts: Option<PathBuf>,

    /// The command that starts the workers [default: srun inside a Slurm allocation, else mpirun]
    #[arg(long, value_name = "COMMAND", help_heading = "Machines, with --engine mpi")]
    pub launcher: Option<String>,
}

/// Measure an MPI cluster, for simulations of it: its machines, its network, and the algorithms on some data.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway calibrate data.libsvm --workers 4 --hosts hosts --output cluster.toml
  hemingway train data.libsvm --workers 4 --cluster cluster.toml --rounds 50")]
pub struct Calibrate {
    #[command(flatten)]
    pub input: Input,

    /// hinge, smoothed-hinge, logistic or squared
    #[arg(long, default_value = "logistic", help_heading = "Problem")]
    pub loss: Loss,

    /// How many workers take part
    #[arg(long, value_name = "N", help_heading = "Machines, with --engine mpi")]
    pub workers: usize,

    #[command(flatten)]
    pub ranks: Ranks,

    /// Where the cluster file goes [default: printed]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Print one JSON object instead
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub json: bool,
}

/// Make experiments: runs with several algorithms, numbers of workers and shares of the data, for the models.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway measure --engine simulated
  hemingway measure data.libsvm --algorithms cocoa,cocoa-plus --workers 1,2,4,8 --engine simulated
  hemingway measure data.libsvm --workers 1,2 --fractions 0.05,0.1 --rounds 20
  hemingway measure data.libsvm --engine simulated --budget 10s
  hemingway fit                   the models of them

Experiments are runs in the store. Those that are there already are not made again, so the same command goes on
where it was interrupted. Each round is scored, which the training clock does not see.")]
pub struct Measure {
    #[command(flatten)]
    pub problem: Problem,

    /// The algorithms [default: cocoa, cocoa-plus, l-bfgs, local-sgd and minibatch-sgd]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Experiments")]
    pub algorithms: Vec<String>,

    /// The numbers of workers [default: powers of two, to this machine's cores, or to 64 if simulated]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', help_heading = "Experiments")]
    pub workers: Vec<usize>,

    /// The shares of the rows [default: 1; with --budget also 1/2, 1/4, 1/8 and 1/16]
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Experiments"
    )]
    pub fractions: Vec<f64>,

    /// Choose the most instructive of all these experiments, for so much training time together
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Experiments")]
    pub budget: Option<f64>,

    /// The most rounds of each
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Experiments")]
    pub rounds: u64,

    /// Each ends once its proved relative error is this small
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1e-5,
        allow_negative_numbers = true,
        help_heading = "Experiments"
    )]
    pub error: f64,

    /// threads, simulated or mpi
    #[arg(long, value_name = "NAME", help_heading = "Method")]
    pub engine: Option<String>,

    #[command(flatten)]
    pub ranks: Ranks,

    #[command(flatten)]
    pub trials: Trials,
}

/// Fit models of time and convergence to runs, say how good they are, and predict runs that nobody made.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway fit                                        the models of the latest problem in the store, and their errors
  hemingway fit data.libsvm --loss hinge               those of the latest problem with this data and loss
  hemingway fit --goal 1e-3 --workers 1,2,4,8,16,32    rounds and seconds to a relative error
  hemingway fit --within 60s                           the objective after a minute
  hemingway fit --traces runs.csv                      models of what another program did
  hemingway fit --traces runs.csv --predict wanted.csv --json

runs.csv has the columns run, algorithm, workers, fraction, iteration, seconds (since the run began) and value;
wanted.csv has algorithm, workers, fraction and iteration.")]
pub struct Fit {
    /// The data of the runs in the store [default: that of the latest run]
    #[arg(value_name = "DATA", conflicts_with = "traces")]
    pub data: Option<String>,

    /// Only runs with this loss
    #[arg(long, conflicts_with = "traces")]
    pub loss: Option<Loss>,

    /// Only runs with this strength of the penalty
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with = "traces")]
    pub lambda: Option<f64>,

    /// Runs of any program, as CSV, in place of those in the store
    #[arg(long, value_name = "FILE")]
    pub traces: Option<PathBuf>,

    /// What to predict, as CSV
    #[arg(long, value_name = "FILE", conflicts_with_all = ["goal", "within"])]
    pub predict: Option<PathBuf>,

    /// Predict how long this takes: a relative error, or a value in traces of other programs
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with = "within")]
    pub goal: Option<f64>,

    /// Predict what is reached in this time
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub within: Option<f64>,

    /// On how many workers, for --goal and --within [default: those that were measured]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub workers: Vec<usize>,

    #[command(flatten)]
    pub store: StoreFile,

    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Make the figures of a paper again: the runs, the figures with their data, and a page that compares.
#[derive(Args)]
#[command(subcommand_value_name = "PAPER", subcommand_help_heading = "Papers")]
pub struct Reproduce {
    #[command(subcommand)]
    pub paper: Paper,
}

/// The papers whose figures can be made again.
#[derive(Subcommand)]
pub enum Paper {
    Hemingway(ReproduceHemingway),
    Bespoke(ReproduceBespoke),
    DatasetMatters(ReproduceDatasetMatters),
}

/// Pan et al. 2016, on models of distributed training: Figures 1 and 3 to 10.
#[derive(Args)]
#[command(after_help = "\
Example:
  HEMINGWAY_DATA=FOLDER hemingway reproduce hemingway
  hemingway reproduce hemingway --data digits.libsvm --positive 3 --out figures

FOLDER has mnist-train-images-idx3-ubyte.gz and mnist-train-labels-idx1-ubyte.gz; without it the embedded digits are
used. The machines are simulated. Runs are kept in the store: those that are there already are not made again, so the
same command goes on where it was interrupted.

Exit code: 0 done, 3 interrupted, 2 bad usage or bad input, 1 anything else.")]
pub struct ReproduceHemingway {
    /// What to train on [default: MNIST from the folder HEMINGWAY_DATA, or else the embedded digits]
    #[arg(long, value_name = "DATA", help_heading = "Data")]
    pub data: Option<String>,

    /// The label that becomes +1, against the rest
    #[arg(long, value_name = "LABEL", default_value = "5", help_heading = "Data")]
    pub positive: String,

    /// Strength of the L2 penalty; the paper does not give it
    #[arg(
        long,
        value_name = "NUMBER",
        default_value = "4e-3",
        allow_negative_numbers = true,
        help_heading = "Problem"
    )]
    pub lambda: f64,

    /// The most rounds of each run
    #[arg(long, value_name = "N", default_value_t = 500, help_heading = "Problem")]
    pub rounds: u64,

    /// The folder that page, figures and data go into
    #[arg(long, value_name = "DIR", default_value = "reproduce/hemingway", help_heading = "Output")]
    pub out: PathBuf,

    #[command(flatten)]
    pub store: StoreFile,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// No progress; warnings are still shown
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Dalibard et al. 2016, on tuning the schedule of distributed SGD: Figures 1 and 2.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway reproduce bespoke
  hemingway reproduce bespoke --rivals bench/tune/results.jsonl --out docs/reproduce
  hemingway reproduce bespoke --experiments c-alexnet --seeds 1

The machines are simulated, and nothing goes into the store. `hemingway tune --simulate list` lists the experiments;
`bench/tune/run --experiments c-speechnet-65536` in the repository runs the other tuners of Figure 2.

Exit code: 0 done, 3 interrupted, 2 bad usage or bad input, 1 anything else.")]
pub struct ReproduceBespoke {
    /// Names of experiments or their beginnings, like c or c-alexnet; that of Figure 2 is always made [default: all 36]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Method")]
    pub experiments: Vec<String>,

    /// Studies of each experiment, each with another random seed
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Method")]
    pub seeds: u64,

    /// Results of other tuners for Figure 2: results.jsonl of bench/tune/run
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub rivals: Option<PathBuf>,

    /// The folder that page, figures and data go into
    #[arg(long, value_name = "DIR", default_value = "reproduce/bespoke", help_heading = "Output")]
    pub out: PathBuf,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// No progress; warnings are still shown
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Cheng et al. 2019, on which data scales with workers: Figures 3 to 10 and Table II.
#[derive(Args)]
#[command(after_help = "\
Example:
  HEMINGWAY_DATA=FOLDER hemingway reproduce dataset-matters
  hemingway reproduce dataset-matters --experiments figure-3,table-2
  hemingway reproduce dataset-matters --full --out docs/reproduce

FOLDER has higgs-11k.csv.gz and newsgroups20-binary.libsvm.gz; without them generated data of their kind is used. Workers are
simulated on the paper's perfect computer, on all cores of this machine. Every claim of the paper gets a verdict that is
computed from the runs: confirmed, not confirmed, or confirmed with a restriction.

Exit code: 0 done, 3 interrupted, 2 bad usage or bad input, 1 anything else.")]
pub struct ReproduceDatasetMatters {
    /// Names of experiments or their beginnings, like figure-3, figure or table-2; rearranging is one, too [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Method")]
    pub experiments: Vec<String>,

    /// Runs of each curve, each with another random seed [default: 3, with --full 9]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub seeds: Option<u64>,

    /// Four times the iterations, and more seeds
    #[arg(long, help_heading = "Method")]
    pub full: bool,

    /// The folder that page, figures and data go into
    #[arg(long, value_name = "DIR", default_value = "reproduce/dataset-matters", help_heading = "Output")]
    pub out: PathBuf,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// No progress; warnings are still shown
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Print a script that completes commands and flags in a shell.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway completions bash > ~/.local/share/bash-completion/completions/hemingway
  hemingway completions zsh > ~/.zfunc/_hemingway
  hemingway completions fish > ~/.config/fish/completions/hemingway.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Print the man page, or write a page for every command into a folder.
#[derive(Args)]
#[command(after_help = "\
Example:
  hemingway man | man -l -
  hemingway man ~/.local/share/man/man1")]
pub struct Man {
    /// The folder for the pages; it is made if it is not there
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// What all commands that make experiments take.
#[derive(Args)]
pub struct Trials {
    /// The machines to simulate, as a TOML file
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub cluster: Option<PathBuf>,

    /// The random seed
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    pub seed: u64,

    #[command(flatten)]
    pub store: StoreFile,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// No progress; warnings are still shown
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// How lambda is chosen.
#[derive(Args, Default)]
pub struct Choosing {
    /// Deal the rows into so many folds, and try each lambda on one after the other [default: 5]
    #[arg(long, value_name = "N", help_heading = "Choosing lambda")]
    pub folds: Option<usize>,

    /// A file with the fold of each row, a line for each
    #[arg(long, value_name = "FILE", conflicts_with = "folds", help_heading = "Choosing lambda")]
    pub fold_file: Option<PathBuf>,

    /// Try each lambda on this data, and train on all rows of DATA
    #[arg(long, value_name = "DATA", conflicts_with_all = ["folds", "fold_file"], help_heading = "Choosing lambda")]
    pub validation: Option<String>,

    /// Choose by the loss on rows held out, of regression the rms error, or by the accuracy [default: loss]
    #[arg(long, value_name = "WHAT", help_heading = "Choosing lambda")]
    pub select: Option<SelectBy>,

    /// Choose the largest lambda within one standard error of the best score
    #[arg(long, help_heading = "Choosing lambda")]
    pub one_standard_error: bool,

    /// Train the models to choose from to this proved relative error [default: 1e-3]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Choosing lambda")]
    pub path_error: Option<f64>,

    /// Draw the score over lambda, as PNG or SVG
    #[arg(long, value_name = "FILE", help_heading = "Choosing lambda")]
    pub path_plot: Option<PathBuf>,
}

impl Choosing {
    /// The first flag that was given.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [
            (self.folds.is_some(), "--folds"),
            (self.fold_file.is_some(), "--fold-file"),
            (self.validation.is_some(), "--validation"),
            (self.select.is_some(), "--select"),
            (self.one_standard_error, "--one-standard-error"),
            (self.path_error.is_some(), "--path-error"),
            (self.path_plot.is_some(), "--path-plot"),
        ];
        flags.into_iter().find(|(given, _)| *given).map(|(_, flag)| flag)
    }
}

/// What lambda is chosen by.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum SelectBy {
    Loss,
    Accuracy,
}

/// One lambda, or several to choose from.
#[derive(Clone)]
pub enum Lambda {
    One(f64),
    Several(LambdaGrid),
}

impl std::str::FromStr for Lambda {
    type Err = String;

    fn from_str(text: &str) -> Result<Lambda, String> {
        if let Ok(number) = text.parse() {
            return Ok(Lambda::One(number));
        }
        text.parse().map(Lambda::Several).map_err(|error| match error {
            LambdaError::Grid { problem, .. } => {
                format!("{problem}; write auto, auto,points=20,from=1,to=1e-6 or 1e-2,1e-3,1e-4")
            }
            other => other.to_string(),
        })
    }
}

/// What is to be minimised on which data.
#[derive(Args)]
pub struct Problem {
    #[command(flatten)]
    pub input: Input,

    /// The labels are quantities, not classes [implied by --loss squared without --positive]
    #[arg(long, conflicts_with = "positive", help_heading = "Data")]
    pub regression: bool,

    /// How often rows of a class count: balanced, so that all classes count alike, or NAME=WEIGHT,… by their labels
    #[arg(long, value_name = "WEIGHTS", conflicts_with = "regression", help_heading = "Data")]
    pub class_weight: Option<ClassWeight>,

    /// Scale each row to length 1
    #[arg(long, value_name = "WHAT", help_heading = "Data")]
    pub normalise: Option<Normalise>,

    /// Scale each column to standard deviation 1 [default for tables]
    #[arg(long, help_heading = "Data")]
    pub standardise: bool,

    /// Leave the columns of a table as they are
    #[arg(long, conflicts_with = "standardise", help_heading = "Data")]
    pub no_standardise: bool,

    /// Bring the rows into random order, from the random seed; takes a second copy of the rows for a moment
    #[arg(long, help_heading = "Data")]
    pub shuffle: bool,

    /// hinge (svm), smoothed-hinge, logistic (logreg) or squared (ridge) [default: logistic; squared for regression]
    #[arg(long, help_heading = "Problem")]
    pub loss: Option<Loss>,

    /// Strength of the L2 penalty; `auto` or a list like 1e-2,1e-3,1e-4 has `train` choose it, auto,points=20,from=1,to=1e-6
    /// from a grid
    #[arg(
        long,
        value_name = "NUMBER|auto",
        default_value = "1e-4",
        allow_negative_numbers = true,
        help_heading = "Problem"
    )]
    pub lambda: Lambda,

    /// Give the model a constant term, which the penalty leaves alone [default for tables]
    #[arg(long, help_heading = "Problem")]
    pub bias: bool,

    /// Give a model of a table no constant term
    #[arg(long, conflicts_with = "bias", help_heading = "Problem")]
    pub no_bias: bool,

    /// Memory that may be used on each machine, like 8G or 500M [default: 90 % of what is available]
    #[arg(long, value_name = "SIZE", value_parser = hemingway::data::parse_size, help_heading = "Method")]
    pub memory_limit: Option<u64>,
}

/// Data with two classes, or what is to become two.
#[derive(Args)]
pub struct Input {
    /// Files (LIBSVM, tables or IDX, each also .gz, .zst, .bz2 or .xz), a folder of them, 'a*pattern', - for standard input,
    /// or the name of embedded or generated data
    #[arg(value_name = "DATA")]
    pub data: Vec<String>,

    #[command(flatten)]
    pub reading: Reading,

    #[command(flatten)]
    pub columns: Columns,

    /// The label that becomes +1; of more than two classes it alone is told from the rest, not each of them in turn
    #[arg(long, value_name = "LABEL", help_heading = "Data")]
    pub positive: Option<String>,
}

/// How to read data.
#[derive(Args)]
pub struct Reading {
    /// libsvm, csv, tsv, space or idx [default: found out from the content]
    #[arg(long, value_name = "FORMAT", help_heading = "Data")]
    pub format: Option<String>,

    /// What stands between the fields of a table: a character, tab or space [default: found out from the first line]
    #[arg(long, value_name = "CHAR", help_heading = "Data")]
    pub delimiter: Option<String>,

    /// Which column holds the label: first, last, none, a number from 1, or a name
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub label: Option<String>,

    /// Feature numbers in LIBSVM files begin at 0
    #[arg(long, help_heading = "Data")]
    pub zero_based: bool,

    /// Leave rows of a table out that have no label, instead of refusing them
    #[arg(long, help_heading = "Tables")]
    pub drop_unlabelled: bool,
}

/// What the columns of a table are; a model knows that of its training data.
#[derive(Args)]
pub struct Columns {
    /// Columns that are not features
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Tables")]
    pub drop: Vec<String>,

    /// The columns that are features [default: all that say something]
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        conflicts_with = "drop",
        help_heading = "Tables"
    )]
    pub keep: Vec<String>,

    /// Columns that hold text, whatever they look like
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Tables")]
    pub text: Vec<String>,

    /// Columns that hold numbers, whatever they look like
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Tables")]
    pub number: Vec<String>,

    /// Numbers are written with a decimal comma: 1,5
    #[arg(long, help_heading = "Tables")]
    pub decimal_comma: bool,

    /// Numbers are written with separators: 1,234, or 1.234 with --decimal-comma
    #[arg(long, help_heading = "Tables")]
    pub thousands: bool,

    /// The column that holds the weight of each row
    #[arg(long, value_name = "COLUMN", help_heading = "Tables")]
    pub weight: Option<String>,
}

/// Goals and limits; the first one reached ends the run.
#[derive(Args)]
pub struct Stop {
    /// Stop once the proved relative error is this small [default: 1e-3 if nothing else ends the run]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Goal")]
    pub error: Option<f64>,

    /// Stop once the objective is this small, or once it is proved that no model has it
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Goal")]
    pub objective: Option<f64>,

    /// Stop after this much training time: 60, 60s, 2m, 1h, 500ms
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Goal")]
    pub within: Option<f64>,

    /// Stop after this many rounds
    #[arg(long, value_name = "N", help_heading = "Goal")]
    pub rounds: Option<u64>,
}

/// What is planned for, where algorithm or workers are left open.
#[derive(Args)]
pub struct Planning {
    /// The money that may be spent, in the unit of the prices in the cluster file
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Goal")]
    pub budget: Option<f64>,

    /// The cheapest plan rather than the fastest
    #[arg(long, help_heading = "Goal")]
    pub cheapest: bool,

    /// Compare plans by what this share of cases stays below, from 0 to 1, rather than by the average
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = "Goal")]
    pub risk: Option<f64>,

    /// Use no more workers than this
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub max_workers: Option<usize>,

    /// Whether to change algorithm and workers while it runs, where that is predicted to be better
    #[arg(
        long,
        value_name = "WHETHER",
        default_value = "on",
        hide_possible_values = true,
        help_heading = "Method"
    )]
    pub adapt: Adapt,

    /// The share of the time left that such a change has to gain
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = PlanningRequest::default().hysteresis,
        allow_negative_numbers = true,
        help_heading = "Method"
    )]
    pub hysteresis: f64,
}

/// On or off.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Adapt {
    On,
    Off,
}

/// Where runs are kept.
#[derive(Args)]
pub struct StoreFile {
    /// Where runs are kept [default: hemingway/store.sqlite in the user's data directory]
    #[arg(
        long,
        value_name = "FILE",
        env = "HEMINGWAY_STORE",
        hide_env_values = true,
        help_heading = "Keeping"
    )]
    store: Option<PathBuf>,

    /// Where models go that have no place of their own [default: models beside the store]
    #[arg(
        long,
        value_name = "DIR",
        env = "HEMINGWAY_MODELS",
        hide_env_values = true,
        help_heading = "Keeping"
    )]
    models_folder: Option<PathBuf>,
}

/// What a plot shows the error against.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Against {
    Seconds,
    Rounds,
    Epochs,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Normalise {
    Rows,
}

impl StoreFile {
    pub fn place(&self) -> anyhow::Result<Place> {
        let place = self.store.as_ref().map_or_else(Place::usual, |file| Ok(Place::at(file)))?;
        let place = match &self.models_folder {
            Some(folder) => place.with_models(folder),
            None => place,
        };
        Ok(match std::env::var(PATIENCE) {
            Ok(text) => place.with_patience(Duration::from_secs_f64(store_patience(&text)?)),
            Err(_) => place,
        })
    }
}

/// How long to wait for another program that uses the store.
const PATIENCE: &str = "HEMINGWAY_STORE_PATIENCE";

fn store_patience(text: &str) -> anyhow::Result<f64> {
    seconds(text).ok().filter(|seconds| *seconds < 1e6).ok_or_else(|| {
        Usage(format!("{PATIENCE} is `{text}`: write a positive time like 30s or 500ms")).into()
    })
}

/// What stays of the ended runs: a number, or a time with `m`, `h` or `d` behind it.
fn keep(text: &str) -> Result<Keep, String> {
    let parsed = match text.strip_suffix('d').map(|days| days.trim().parse::<f64>()) {
        _ if text.parse::<usize>().is_ok() => text.parse().ok().map(Keep::Latest),
        Some(days) => days.ok().map(|days| Keep::Seconds(days * 86_400.0)),
        None => text.ends_with(['s', 'm', 'h']).then(|| seconds(text).ok().map(Keep::Seconds)).flatten(),
    };
    match parsed {
        Some(Keep::Seconds(seconds)) if !(seconds > 0.0 && seconds.is_finite()) => None,
        parsed => parsed,
    }
    .ok_or_else(|| "write a number of runs like 100, or a time like 30d, 12h or 90m".to_owned())
}

/// How long to wait for workers; nothing where that follows from how long rounds take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience(pub Option<f64>);

fn patience(text: &str) -> Result<Patience, String> {
    if text == "auto" { Ok(Patience(None)) } else { seconds(text).map(|time| Patience(Some(time))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn runs_are_kept_by_number_or_by_age() {
        let days = |days: f64| Ok(Keep::Seconds(days * 86_400.0));
        assert_eq!([keep("30d"), keep("12h"), keep("0.5d")], [days(30.0), days(0.5), days(0.5)]);
        assert_eq!([keep("7"), keep("0")], [Ok(Keep::Latest(7)), Ok(Keep::Latest(0))]);
        for text in ["", "d", "-1", "-1d", "1.5", "soon", "nand", "infd"] {
            assert!(keep(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_read_with_their_units() {
        for (text, expected) in
            [("60", 60.0), ("60s", 60.0), ("2m", 120.0), ("1h", 3600.0), ("500ms", 0.5), ("1.5 s", 1.5)]
        {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "-1", "0", "1d", "nan", "inf", "1 2"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
