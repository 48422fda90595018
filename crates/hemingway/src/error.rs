//! What can go wrong, in words that name the file and the value, with the next step in [`Error::hint`].

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::LambdaError;

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data could not be read.
    #[error(transparent)]
    Data(#[from] hemingway_data::Error),
    /// The job makes no sense, or training failed.
    #[error(transparent)]
    Train(hemingway_train::Error),
    /// λ cannot be chosen.
    #[error(transparent)]
    Lambda(#[from] LambdaError),
    /// A goal or limit outside its range.
    #[error("{name} = {value} is out of range: {expected}")]
    OutOfRange {
        /// Its name on the command line.
        name: &'static str,
        /// As given.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },
    /// Nothing can do what is asked for, and trying would cost more than is allowed.
    #[error("{goal} is not possible: {best}")]
    Impossible {
        /// What was asked for.
        goal: String,
        /// What is.
        best: String,
    },
    /// A sample where every rank reads its own rows.
    #[error("--fraction does not work with --engine mpi, where each worker reads its own rows")]
    FractionOnRanks,
    /// Standard input where every rank reads for itself.
    #[error("standard input does not work with --engine mpi, where each worker reads its own rows of a file")]
    StandardInputOnRanks,
    /// A run whose data came through standard input.
    #[error("run {run} read data from standard input, so it cannot be resumed")]
    StandardInputGone {
        /// The run.
        run: String,
    },
    /// Random order where every rank reads its own rows.
    #[error(
        "--shuffle does not work with --engine mpi, where each worker reads consecutive rows of the file"
    )]
    ShuffleOnRanks,
    /// Weights of several classes where every rank knows of one class and the rest.
    #[error(
        "--class-weight does not work with --engine mpi for {0} classes, where ranks read one of them and the rest"
    )]
    ClassWeightsOnRanks(usize),
    /// A job file that cannot be used.
    #[error("{}: {problem}", .file.display())]
    JobFile {
        /// Where it is.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Nothing evaluates configurations.
    #[error("the job has no command to evaluate a configuration with")]
    NoCommand,
    /// No such simulation.
    #[error("there is no experiment `{name}`")]
    NoExperiment {
        /// As written.
        name: String,
    },
    /// No such experiment of a paper.
    #[error("there is no experiment `{name}`: there are {known}")]
    NotInPaper {
        /// As written.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// Results of other tuners that cannot be used.
    #[error("{}: {problem}", .file.display())]
    Rivals {
        /// Where they are.
        file: PathBuf,
        /// What is wrong with them.
        problem: String,
    },
    /// A command that does not keep to the protocol.
    #[error("evaluation {number} has no usable answer: `{command}`: {problem}{}", quoted(.said))]
    BadAnswer {
        /// The command.
        command: String,
        /// Which evaluation.
        number: usize,
        /// What is wrong.
        problem: String,
        /// What it said on standard error.
        said: Vec<String>,
    },
    /// No configuration works.
    #[error("all {count} evaluations failed; the last: {reason}")]
    AllFailed {
        /// How many.
        count: usize,
        /// Why the last one did.
        reason: String,
        /// The study.
        study: String,
    },
    /// The batch is open, and nobody says how much a batch is worth.
    #[error("the batch is open, but the answer has no gradient_noise_scale")]
    NoNoiseScale {
        /// The study.
        study: String,
    },
    /// No such study.
    #[error("there is no study `{study}` in {}", .store.display())]
    NoStudy {
        /// As written.
        study: String,
        /// Where it was looked for.
        store: PathBuf,
    },
    /// A study that says nothing about this job.
    #[error("study {study} cannot serve as history: {problem}")]
    Unrelated {
        /// The study.
        study: String,
        /// Why not.
        problem: String,
    },
    /// Somebody went on with it, or removed it.
    #[error("study {study} was taken over by another process or removed")]
    StudyLost {
        /// The study.
        study: String,
    },
    /// Somebody may be at it.
    #[error(
        "study {study} was last worked on by process {pid} on {host}, and whether that is gone cannot be seen from here"
    )]
    StudyElsewhere {
        /// The study.
        study: String,
        /// The process.
        pid: u32,
        /// Its machine.
        host: String,
    },
    /// Somebody is at it.
    #[error("study {study} is being worked on by process {pid} on {host}")]
    StudyRunning {
        /// The study.
        study: String,
        /// The process.
        pid: u32,
        /// Its machine.
        host: String,
    },
    /// Not an engine.
    #[error("there is no engine `{name}`; choose {}", hemingway_train::engines().join(" or "))]
    UnknownEngine {
        /// As written.
        name: String,
    },
    /// A cluster file describes simulated machines.
    #[error("a cluster file describes simulated machines, but the engine is {engine}")]
    ClusterWithoutSimulation {
        /// The engine asked for.
        engine: String,
    },
    /// Hosts and launchers are for MPI.
    #[error("{flag} says where ranks are started, but the engine is {engine}")]
    FlagWithoutMpi {
        /// The flag.
        flag: &'static str,
        /// The engine asked for.
        engine: String,
    },
    /// A hosts file that cannot be used.
    #[error("{}:{line}: {problem}", .file.display())]
    Hosts {
        /// Where it is.
        file: PathBuf,
        /// Which line.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// srun places ranks by itself.
    #[error("--hosts is for mpirun; srun starts its ranks on the nodes of its allocation")]
    HostsWithSrun,
    /// Quotes that do not match.
    #[error("--launcher `{text}` is not a command")]
    LauncherWords {
        /// As written.
        text: String,
    },
    /// No `mpirun`.
    #[error("cannot start `{program}`: {source}")]
    NoLauncher {
        /// What was to be run.
        program: String,
        /// Why not.
        source: io::Error,
    },
    /// No `hemingway-worker`.
    #[error("the program of the ranks was not found: {}", .tried.display())]
    NoWorkerProgram {
        /// Where it was looked for.
        tried: PathBuf,
    },
    /// Head and worker do not belong together.
    #[error("hemingway-worker is version {theirs}, this hemingway is {ours}")]
    WorkerVersion {
        /// Of the worker.
        theirs: String,
        /// Of this program.
        ours: String,
    },
    /// A rank said why it cannot go on.
    #[error("{}", failed(.who, .failure))]
    RankFailed {
        /// What it is, and its number.
        who: String,
        /// What it said.
        failure: hemingway_train::protocol::Failure,
    },
    /// A rank died.
    #[error("{who} died; {how}")]
    RankLost {
        /// What it is, its number and its machine.
        who: String,
        /// What became of the launcher.
        how: String,
    },
    /// Machines are gone.
    #[error("the host{} {} {} lost; {how}{note}", if .hosts.len() > 1 { "s" } else { "" }, .hosts.join(", "),
        if .hosts.len() > 1 { "were" } else { "was" })]
    HostLost {
        /// Their names.
        hosts: Vec<String>,
        /// What became of the launcher.
        how: String,
        /// What else may be the matter.
        note: String,
    },
    /// Nothing is heard of some ranks.
    #[error("no sign of life from {who} for {seconds:.0} s{note}")]
    RanksSilent {
        /// Ranks with their hosts.
        who: String,
        /// Since when.
        seconds: f64,
        /// What else may be the matter.
        note: String,
    },
    /// All ranks wait for one another.
    #[error("all workers have waited for one another for {seconds:.0} s and none computes: the network between {} \
        no longer carries their messages{}", .hosts.join(", "), laggards(.behind.as_deref()))]
    Standstill {
        /// All of them.
        hosts: Vec<String>,
        /// Ranks that have come less far than others, in words.
        behind: Option<String>,
        /// Their hosts.
        suspects: Vec<String>,
        /// Since when.
        seconds: f64,
    },
    /// A round does not end.
    #[error("{who}: a step of the round has taken {seconds:.0} s so far, and the others wait for it")]
    RoundTooLong {
        /// Ranks with their hosts.
        who: String,
        /// Since when.
        seconds: f64,
    },
    /// The user interrupted a run that has nothing to save yet.
    #[error("interrupted before the first checkpoint: there is no model to save yet")]
    Interrupted,
    /// The user interrupted a run of several classes that have not all been trained.
    #[error("interrupted with {done} of {of} classes done: there is no model before all of them have one")]
    ClassesMissing {
        /// The run.
        run: String,
        /// How many are done.
        done: usize,
        /// How many there are.
        of: usize,
    },
    /// The launcher died, and nobody knows why.
    #[error("the workers were lost: {how}{}", quoted(.words))]
    RanksLost {
        /// What became of the launcher.
        how: String,
        /// Its last words.
        words: Vec<String>,
    },
    /// The launcher could not start the ranks.
    #[error("the workers could not be started: {how}{}", quoted(.words))]
    RanksNotStarted {
        /// What became of the launcher.
        how: String,
        /// Its last words.
        words: Vec<String>,
    },
    /// The launcher hangs.
    #[error("{program} has not started the workers after {seconds} s{}", quoted(.words))]
    RanksDoNotStart {
        /// The launcher.
        program: String,
        /// How long it had.
        seconds: u64,
        /// What it said.
        words: Vec<String>,
    },
    /// No machine is left to go on with.
    #[error("none of the hosts answers any more: {}", .gone.join(", "))]
    NoHostLeft {
        /// Their names.
        gone: Vec<String>,
    },
    /// Something that is not the protocol.
    #[error("what {program} printed is not what hemingway-worker says: {problem}")]
    Garbled {
        /// The launcher.
        program: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A trace that cannot be used.
    #[error("{}, {problem}", .file.display())]
    Traces {
        /// Where it is.
        file: PathBuf,
        /// Which line, what is wrong with it, and what to do.
        problem: String,
    },
    /// Runs that no model follows from.
    #[error("no model can be fitted to the runs: {problem}")]
    Unfit {
        /// Why not, and what to do.
        problem: String,
    },
    /// Training without labels.
    #[error("training needs labels, but --label none says the data has none")]
    Unlabelled,
    /// Test data without labels.
    #[error("the data {spec} has no labels to compare with")]
    UnlabelledTest {
        /// As given.
        spec: String,
    },
    /// Probabilities of a model that gives none.
    #[error("the {0} loss gives no probabilities, only margins")]
    NoProbabilities(hemingway_train::Loss),
    /// Rows that a curve cannot be fitted to.
    #[error("all rows of {spec} are of one class, so no probabilities can be fitted")]
    OneClass {
        /// As given.
        spec: String,
    },
    /// Names of rows that are no rows of a table.
    #[error("{spec} is no table, so no column can name its rows")]
    NoIds {
        /// As given.
        spec: String,
    },
    /// A curve for margins of more than two classes.
    #[error("probabilities are fitted to the margins of two classes, but the model has {classes}")]
    CurveOfSeveral {
        /// How many.
        classes: usize,
    },
    /// Rows of another kind than those of training.
    #[error(
        "in {spec} larger margins go with the negative class: a curve fitted to them has slope {slope:.3}"
    )]
    OppositeMargins {
        /// As given.
        spec: String,
        /// What was fitted.
        slope: f64,
    },
    /// Probabilities of quantities.
    #[error("the model predicts numbers, which have no probabilities")]
    ProbabilitiesOfNumbers,
    /// A model that other programs cannot compute.
    #[error("the model cannot be written as ONNX: {problem}")]
    NotInOnnx {
        /// Why not.
        problem: String,
    },
    /// Quantities with a loss for classes.
    #[error("the {0} loss tells classes apart, but --regression says that labels are quantities")]
    LossForClasses(hemingway_train::Loss),
    /// Something a user named cannot be read.
    #[error("cannot read {}: {source}", .file.display())]
    Read {
        /// What was to be read.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The model cannot be written.
    #[error("cannot write the model to {}: {source}", .file.display())]
    WriteModel {
        /// Where it was to go.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file of a report cannot be written.
    #[error("cannot write {}: {source}", .file.display())]
    WriteFile {
        /// Where it was to go.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A folder to write into that is something else.
    #[error("cannot write into {}: it is not a directory", .path.display())]
    NotADirectory {
        /// What is there.
        path: PathBuf,
    },
    /// A place to write to that does not exist.
    #[error("cannot write {}: there is no directory {}", .file.display(), .directory.display())]
    NoDirectory {
        /// What was to be written.
        file: PathBuf,
        /// What is missing.
        directory: PathBuf,
    },
    /// A place that nothing can be written to.
    #[error("cannot write {}: {source}", .file.display())]
    Unwritable {
        /// What was to be written.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A place to write to that is a directory.
    #[error("cannot write {}: it is a directory", .file.display())]
    IsDirectory {
        /// What was to be written.
        file: PathBuf,
    },
    /// A file that is no model, or a damaged one.
    #[error("{} is not a model this version can use: {problem}", .file.display())]
    Model {
        /// Where it is.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Neither `XDG_DATA_HOME` nor `HOME` says where things go.
    #[error("there is no place for the store: neither XDG_DATA_HOME nor HOME is set")]
    NoHome,
    /// No store yet.
    #[error("there is no store at {}", .file.display())]
    NoStore {
        /// Where it would be.
        file: PathBuf,
    },
    /// A file of something else.
    #[error("{} is not a Hemingway store", .file.display())]
    NotAStore {
        /// Where it is.
        file: PathBuf,
    },
    /// A store written by a later version.
    #[error("the store {} has version {found}; this hemingway knows versions up to {known}", .file.display())]
    NewerStore {
        /// Where it is.
        file: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// A store that contradicts itself.
    #[error("the store {} is damaged: {problem}", .file.display())]
    DamagedStore {
        /// Where it is.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A run that cannot be read.
    #[error("run {run} in {} cannot be read: {problem}", .store.display())]
    DamagedRun {
        /// Its name, or its row.
        run: String,
        /// Where it lies.
        store: PathBuf,
        /// Which part of it, and why not.
        problem: String,
    },
    /// Another program does not let go of the store.
    #[error("the store {} is locked by another program", .file.display())]
    StoreLocked {
        /// Where it is.
        file: PathBuf,
    },
    /// No space left.
    #[error("the disk is full: cannot write to the store {}", .file.display())]
    StoreFull {
        /// Where it is.
        file: PathBuf,
    },
    /// No permission, or no such directory.
    #[error("cannot write to the store {}: {source}", .file.display())]
    StoreUnwritable {
        /// Where it is.
        file: PathBuf,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Anything else that the database says.
    #[error("the store {} failed: {source}", .file.display())]
    Store {
        /// Where it is.
        file: PathBuf,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No such run.
    #[error("there is no run `{run}` in {}{}", .store.display(), did_you_mean(.similar.as_deref()))]
    NoRun {
        /// As written.
        run: String,
        /// A run whose name is like it.
        similar: Option<String>,
        /// Where it was looked for.
        store: PathBuf,
    },
    /// A picture in no format that can be drawn.
    #[error("cannot draw {}: its name ends neither in .png nor in .svg", .file.display())]
    PictureFormat {
        /// Where it was to go.
        file: PathBuf,
    },
    /// A run of which no error is known.
    #[error("run {run} has no error to draw: nothing is proved about the best objective of its problem")]
    NothingToPlot {
        /// The run.
        run: String,
    },
    /// No runs on this data.
    #[error("no run in {} {wanted}; there are runs on {}", .store.display(), .known.join("; "))]
    NoRunsOn {
        /// What was asked for, in words.
        wanted: String,
        /// The problems that there are runs on.
        known: Vec<String>,
        /// Where they were looked for.
        store: PathBuf,
    },
    /// The beginning of more than one run's name.
    #[error("`{run}` could be any of the runs {}", .candidates.join(", "))]
    AmbiguousRun {
        /// As written.
        run: String,
        /// The runs that begin so.
        candidates: Vec<String>,
    },
    /// Someone is still at it.
    #[error("run {run} is still being trained by process {pid} on {host}")]
    StillRunning {
        /// The run.
        run: String,
        /// The process.
        pid: u32,
        /// Its machine.
        host: String,
    },
    /// Someone may still be at it, on a machine that cannot be looked at.
    #[error(
        "run {run} was begun by process {pid} on {host}; whether it is still being trained cannot be seen from here\n\
         hint: if that process is gone, go on with `hemingway train --resume {run} --take-over`"
    )]
    RunsElsewhere {
        /// The run.
        run: String,
        /// The process.
        pid: u32,
        /// Its machine.
        host: String,
    },
    /// Another process goes on with the run.
    #[error("run {run} was taken over by process {pid} on {host}")]
    TakenOver {
        /// The run.
        run: String,
        /// The process.
        pid: u32,
        /// Its machine.
        host: String,
    },
    /// The run is no longer in the store.
    #[error("run {run} was removed from {} while it was being trained", .store.display())]
    Removed {
        /// The run.
        run: String,
        /// Where it was.
        store: PathBuf,
    },
    /// A state to go on from that cannot be read.
    #[error("the state of run {run} at round {round} cannot be read: {problem}")]
    DamagedCheckpoint {
        /// The run.
        run: String,
        /// Where it would go on.
        round: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The data is not what the run began with.
    #[error("the data of run {run} has changed: {difference}")]
    DataChanged {
        /// The run.
        run: String,
        /// What is different now.
        difference: String,
    },
    /// Two runs on what seems to be the same data prove what cannot both be true.
    #[error(
        "runs {lower} and {upper} contradict each other: by {lower} no model has an objective below {dual}, by {upper} one \
         has {primal}; one of them was made on other data"
    )]
    RunsContradict {
        /// The run with the lower bound.
        lower: String,
        /// The run with the model.
        upper: String,
        /// What the one proves.
        dual: f64,
        /// What the other reached.
        primal: f64,
    },
}

impl Error {
    /// Whether what the user asked for cannot be done as written, rather than something failing on the way.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Error::Train(error) => error.is_bad_input(),
            Error::RankFailed { failure, .. } => failure.bad_input,
            Error::RankLost { .. }
            | Error::HostLost { .. }
            | Error::RanksLost { .. }
            | Error::RanksSilent { .. }
            | Error::Standstill { .. }
            | Error::RoundTooLong { .. }
            | Error::Interrupted
            | Error::ClassesMissing { .. }
            | Error::AllFailed { .. }
            | Error::StudyLost { .. }
            | Error::RanksNotStarted { .. }
            | Error::RanksDoNotStart { .. }
            | Error::NoHostLeft { .. }
            | Error::Garbled { .. }
            | Error::WriteModel { .. }
            | Error::WriteFile { .. }
            | Error::DamagedStore { .. }
            | Error::DamagedRun { .. }
            | Error::DamagedCheckpoint { .. }
            | Error::StoreLocked { .. }
            | Error::StoreFull { .. }
            | Error::TakenOver { .. }
            | Error::Removed { .. }
            | Error::StoreUnwritable { .. }
            | Error::Store { .. } => false,
            _ => true,
        }
    }

    /// Whether it ended before what the user asked for was reached, rather than that it was badly put.
    pub fn is_out_of_reach(&self) -> bool {
        matches!(
            self,
            Error::Impossible { .. }
                | Error::Interrupted
                | Error::ClassesMissing { .. }
                | Error::Lambda(LambdaError::Interrupted)
        )
    }

    /// What to do next, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Lambda(error) => error.hint(),
            Error::ClusterWithoutSimulation { .. } => Some("leave out --engine, or use --engine simulated"),
            Error::Impossible { .. } => {
                Some("ask for less, or `hemingway explain` without the limit shows what it takes")
            }
            Error::FlagWithoutMpi { .. } => Some("use --engine mpi, or leave it out"),
            Error::JobFile { .. } => Some("`hemingway tune --init FILE` writes a job file with comments"),
            Error::NoCommand => Some("add command = \"…\" to the job file, or give --command \"…\""),
            Error::NoExperiment { .. } => Some("`hemingway tune --simulate list` lists them"),
            Error::Rivals { .. } => {
                Some("`bench/tune/run --experiments c-speechnet-65536` makes one: results.jsonl")
            }
            Error::BadAnswer { .. } => Some(
                "try the command by hand with a configuration on standard input; `hemingway tune --resume last` then goes on",
            ),
            Error::AllFailed { .. } => Some(
                "try the command by hand with a configuration on standard input; `hemingway tune --resume last` then goes on",
            ),
            Error::NoNoiseScale { .. } => Some(
                "report it (see docs/tune.md), give batch = { from, to, noise_scale = N }, or a fixed batch",
            ),
            Error::NoStudy { .. } => Some("`hemingway tune --studies` lists them"),
            Error::Unrelated { .. } => {
                Some("leave out --earlier, or name a study of a job with the same types of machines")
            }
            Error::StudyLost { .. } => Some("`hemingway tune --studies` shows how it stands"),
            Error::StudyElsewhere { .. } => Some("once you know that it is gone, add --take-over"),
            Error::StudyRunning { .. } => Some("wait until it has ended, or end it"),
            Error::StandardInputOnRanks => Some("write the data to a file that all workers see"),
            Error::StandardInputGone { .. } => Some("train again, on a file if the run is to be resumed"),
            Error::ShuffleOnRanks => Some(
                "shuffle the file once, for example with `shuf` where it has no header, or use the threads engine",
            ),
            Error::ClassWeightsOnRanks(_) => {
                Some("use the threads engine, or --weight COLUMN, or --positive VALUE for one class")
            }
            Error::FractionOnRanks => Some("write a smaller file, or use the threads or simulated engine"),
            Error::HostsWithSrun => Some("leave out --hosts, or use --launcher mpirun"),
            Error::LauncherWords { .. } => Some("write it like --launcher \"mpirun --bind-to core\""),
            Error::NoLauncher { .. } => Some(
                "install an MPI (Debian: apt-get install openmpi-bin), or name its starter with --launcher",
            ),
            Error::NoWorkerProgram { .. } => Some(
                "build it with `cargo build --release -p hemingway-mpi`; it is looked for beside hemingway, on PATH and \
                 in HEMINGWAY_WORKER",
            ),
            Error::WorkerVersion { .. } => Some("install both from the same release"),
            Error::RankLost { .. }
            | Error::HostLost { .. }
            | Error::RanksLost { .. }
            | Error::RanksSilent { .. }
            | Error::Standstill { .. } => Some(
                "go on from the last checkpoint with `hemingway train --resume last`; --restarts N does so by itself",
            ),
            Error::RoundTooLong { .. } => Some(
                "if rounds may take that long, say so with --patience; `hemingway train --resume last` goes on from the \
                 last checkpoint",
            ),
            Error::Interrupted => Some("`hemingway train --resume last` begins it anew"),
            Error::ClassesMissing { .. } => {
                Some("`hemingway train --resume last` goes on with the classes that are missing")
            }
            Error::RanksNotStarted { .. } | Error::RanksDoNotStart { .. } => {
                Some("check the hosts with `mpirun --hostfile FILE -n 2 hemingway-worker --check`")
            }
            Error::UnlabelledTest { .. } => Some("name the column that holds them with --label COLUMN"),
            Error::NoProbabilities(_) => {
                Some("`hemingway platt MODEL DATA` fits some to its margins; --loss logistic has its own")
            }
            Error::NoIds { .. } => Some("leave out --id"),
            Error::CurveOfSeveral { .. } => Some("train with --loss logistic, which has its own"),
            Error::OneClass { .. } => Some("use rows of both classes that took no part in training"),
            Error::OppositeMargins { .. } => Some(
                "check that the data is of the same kind as in training, and which column holds its labels",
            ),
            Error::LossForClasses(_) => Some("use --loss squared, or leave out --regression"),
            Error::WriteModel { source, .. } if source.kind() == io::ErrorKind::StorageFull => Some(
                "free some space, then go on with `hemingway train --resume last`; --model FILE names another place",
            ),
            Error::WriteModel { .. } => Some("go on with `hemingway train --resume last --model FILE`"),
            Error::Unwritable { .. } => Some("choose a place that can be written to"),
            Error::WriteFile { .. } | Error::NotADirectory { .. } => {
                Some("choose another folder with --out DIR")
            }
            Error::NoDirectory { .. } => Some("create the directory first"),
            Error::IsDirectory { .. } => Some("add a file name"),
            Error::Model { .. } => Some("`hemingway train --model FILE` writes a model"),
            Error::NoHome | Error::StoreUnwritable { .. } => Some("choose a place with --store FILE"),
            Error::NoStore { .. } => Some("`hemingway train` makes one; --store FILE names another"),
            Error::NotAStore { .. } => Some("choose another file with --store FILE"),
            Error::NewerStore { .. } => Some("use a newer hemingway, or another file with --store FILE"),
            Error::DamagedStore { .. } => {
                Some("restore it from a copy, or choose another file with --store FILE")
            }
            Error::DamagedRun { .. } => Some("`hemingway runs repair` removes what cannot be read"),
            Error::DamagedCheckpoint { .. } => Some("train anew without --resume"),
            Error::StoreLocked { .. } => {
                Some("end that program (`fuser FILE` names it), or choose another file with --store FILE")
            }
            Error::StoreFull { .. } => Some("free some space, or choose another place with --store FILE"),
            Error::TakenOver { .. } => Some("`hemingway show RUN` shows how far it is"),
            Error::NoRun { .. } => Some("`hemingway runs` lists them"),
            Error::AmbiguousRun { .. } => Some("write one more letter"),
            Error::PictureFormat { .. } => Some("write it like --output error.svg"),
            Error::NothingToPlot { .. } => Some(
                "a run with --algorithm cocoa or l-bfgs on the same problem proves a bound that serves all runs on it",
            ),
            Error::NoRunsOn { .. } => {
                Some("leave out DATA, --loss or --lambda; `hemingway runs` lists the runs")
            }
            Error::StillRunning { .. } => Some("`hemingway show RUN` shows how far it is"),
            Error::DataChanged { .. } => Some("train anew without --resume"),
            Error::RunsContradict { .. } => Some("remove the wrong one with `hemingway runs rm RUN`"),
            _ => None,
        }
    }

    /// Whether workers or machines were lost, so that starting again may help.
    pub(crate) fn is_loss(&self) -> bool {
        matches!(
            self,
            Error::RankLost { .. }
                | Error::HostLost { .. }
                | Error::RanksLost { .. }
                | Error::RanksSilent { .. }
                | Error::Standstill { .. }
                | Error::RoundTooLong { .. }
        )
    }

    /// Whether the store could not be written to now, but may be later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Error::StoreLocked { .. } | Error::StoreFull { .. } | Error::StoreUnwritable { .. })
    }

    /// Says which file a database error is about, and what it means for the user.
    pub(crate) fn store(file: &Path, source: rusqlite::Error) -> Error {
        let file = file.to_path_buf();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Error::NotAStore { file },
            Some(ErrorCode::DiskFull) => Error::StoreFull { file },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::StoreLocked { file },
            Some(
                ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure,
            ) => Error::StoreUnwritable { file, source: source.into() },
            Some(ErrorCode::DatabaseCorrupt) => Error::DamagedStore { file, problem: source.to_string() },
            _ => Error::Store { file, source: source.into() },
        }
    }
}

/// An observer's refusal is the library's own error on its way through training.
impl From<hemingway_train::Error> for Error {
    fn from(error: hemingway_train::Error) -> Error {
        match error {
            hemingway_train::Error::Observer(source) => match source.downcast::<Error>() {
                Ok(own) => *own,
                Err(source) => Error::Train(hemingway_train::Error::Observer(source)),
            },
            error => Error::Train(error),
        }
    }
}

fn failed(who: &str, failure: &hemingway_train::protocol::Failure) -> String {
    let hemingway_train::protocol::Failure { host, message, bad_input, .. } = failure;
    if *bad_input { message.clone() } else { format!("{who} on {host} failed: {message}") }
}

fn laggards(who: Option<&str>) -> String {
    who.map_or_else(String::new, |who| format!("; behind the others: {who}"))
}

fn did_you_mean(similar: Option<&str>) -> String {
    similar.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// What a program said, below what is said about it.
fn quoted(words: &[String]) -> String {
    let plain = |line: &&String| !line.trim().is_empty() && !line.starts_with("-----");
    words.iter().filter(plain).map(|line| format!("\n  | {}", line.trim_end())).collect()
}
