//! From a request to a job that can run: every argument checked, every file read, nothing written.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hemingway_data::{
    Characters, Dataset, EachClass, Encoding, Features, Fingerprint, Format, LabelColumn, LoadOptions,
    Loaded, Matrix, MemoryLimit, Transform, load, load_counting, parse_delimiter,
};
use hemingway_plan::Profile;
use hemingway_train::protocol::Source;
use hemingway_train::{Checkpoint, CloserLook, DataProfile, Engine, Problem, Simulated, Threads, data_bytes};

use crate::default_choice::MPI;
use crate::inputs::profile_of;
use crate::pilots::PilotSetup;
use crate::ranks::{Ranks, Setup};
use crate::room::{Room, limit};
use crate::{Choice, DataRequest, DatasetSummary, Error, TableSummary, TrainRequest};

/// All that a run needs.
pub(crate) struct Ready {
    pub problem: Problem,
    pub summary: DatasetSummary,
    /// The features that have weights.
    pub features: Features,
    /// What became of the columns of a table.
    pub encoding: Option<Arc<Encoding>>,
    /// The memory that training may use; unknown of ranks that do not tell.
    pub room: Option<Room>,
    pub transform: Transform,
    pub test: Option<Loaded>,
    /// Several classes, if the rows are here and of several.
    pub several: Option<Several>,
    /// Reading the data.
    pub load_seconds: f64,
    /// The part of it that bringing rows into random order took, if that was asked for.
    pub shuffle_seconds: Option<f64>,
    /// Scaling it, which the user waits for like for training.
    pub transform_seconds: f64,
}

impl Ready {
    /// All of it but the test data.
    pub(crate) fn without_test(&self) -> Ready {
        let (summary, features) = (self.summary.clone(), self.features.clone());
        let (encoding, transform) = (self.encoding.clone(), self.transform.clone());
        Ready { summary, features, encoding, transform, test: None, several: None, ..*self }
    }

    /// The problem of one of several classes, whose rows are here, and which becomes +1 in them. Nobody waits for them to be
    /// read again.
    pub(crate) fn tell_apart(&self, class: usize, data: &mut Dataset) -> Ready {
        let mut ready = Ready { load_seconds: 0.0, transform_seconds: 0.0, ..self.without_test() };
        if let Some(several) = &self.several {
            several.tell_apart(class, data, &mut ready.summary);
        }
        ready
    }

    /// Refuses a choice whose vectors do not fit into the memory.
    pub(crate) fn check_room(&self, choice: &Choice) -> Result<(), Error> {
        self.room.map_or(Ok(()), |room| room.check(choice, &self.summary, &self.problem))
    }
}

/// Several classes of rows that are here.
pub(crate) struct Several {
    pub used: EachClass,
    /// What the file contains with each class against the rest.
    source: Vec<Fingerprint>,
}

impl Several {
    fn tell_apart(&self, class: usize, data: &mut Dataset, summary: &mut DatasetSummary) {
        self.used.tell_apart(class, data);
        summary.labels = data.labels.clone();
        (summary.fingerprint, summary.source) = (Some(data.fingerprint), Some(self.source[class]));
    }
}

/// What becomes of data with more than two classes, none of which was picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ManyClasses {
    /// It is an error.
    Refused,
    /// It is read with all of its classes.
    Kept,
}

/// Who has the data and trains on it.
pub(crate) enum Trainer {
    /// This process.
    Here {
        /// How its workers are arranged.
        engine: Box<dyn Engine>,
        /// All of the data.
        data: Arc<Dataset>,
    },
    /// Other processes, which wait for the word.
    Ranks {
        /// Those that were started.
        started: Box<Ranks>,
        /// How to start them again.
        setup: Box<Setup>,
    },
}

impl Trainer {
    /// What the problem is like, and how long it took to find out; nothing if nobody did.
    pub(crate) fn profile(&self, ready: &Ready) -> Option<(Profile, f64)> {
        match self {
            Trainer::Here { data, .. } => {
                let begun = Instant::now();
                let profile = profile_of(data, &ready.problem);
                Some((profile, begun.elapsed().as_secs_f64()))
            }
            Trainer::Ranks { started, .. } => {
                let profile = Profile::new(started.loaded.profile.clone()?, &ready.problem);
                Some((profile, started.loaded.profile_seconds))
            }
        }
    }

    /// What pilots are made with: ranks have the data in parts and make none.
    pub(crate) fn pilots<'a>(&'a self, interrupt: &'a AtomicBool) -> Option<PilotSetup<'a>> {
        let Trainer::Here { engine, data } = self else { return None };
        Some(PilotSetup { engine: engine.as_ref(), data, interrupt })
    }

    /// Numbers of workers to choose from, if not the usual ones: there are as many ranks as were started.
    pub(crate) fn workers(&self) -> Option<Vec<usize>> {
        let Trainer::Ranks { setup, .. } = self else { return None };
        Some(workers_to_choose(setup.most_workers()))
    }

    /// What reading the data took, and on how many workers, where every number of workers has to read it.
    pub(crate) fn reading(&self) -> Option<(f64, usize)> {
        let Trainer::Ranks { started, .. } = self else { return None };
        Some((started.loaded.load_seconds + started.loaded.transform_seconds, started.loaded_on))
    }
}

/// Checks what can be checked at once, then reads the data, or has it read, and checks the rest. A run that goes on
/// from a checkpoint hands it to whoever trains. Data of several classes is prepared as such, for each of them to be trained.
pub(crate) fn prepare(
    request: &TrainRequest,
    choice: &Choice,
    from: Option<&Checkpoint>,
    many: ManyClasses,
) -> Result<(Ready, Trainer), Error> {
    let problem = checked(request, choice)?;
    if choice.engine == MPI {
        have_it_read(request, choice, from, problem, many)
    } else {
        read_it_here(request, choice, problem, many)
    }
}

/// Data of a request, looked at closely.
pub(crate) struct LookedAt {
    pub data: DatasetSummary,
    pub profile: DataProfile,
    pub look: CloserLook,
    pub load_seconds: f64,
    pub profile_seconds: f64,
}

/// Reads the data of a request, here or on ranks, and looks at it closely.
pub(crate) fn look_closely(
    request: &TrainRequest,
    choice: &Choice,
    interrupt: &AtomicBool,
) -> Result<LookedAt, Error> {
    let problem = checked(request, choice)?;
    if choice.engine == MPI {
        return look_on_ranks(request, choice, interrupt);
    }
    let (ready, data) = read(request, choice, problem, ManyClasses::Refused)?;
    let limit = limit(request).bytes.saturating_sub(data_bytes(&data));
    let bytes = Characters::bytes(&data.matrix);
    check_bytes(&data.name, "its rows and what is found of each take", bytes, limit)?;
    let begun = Instant::now();
    let profile = DataProfile::of(&data);
    let profile_seconds = begun.elapsed().as_secs_f64();
    let look = CloserLook::at(&data, &problem);
    let load_seconds = ready.load_seconds + ready.transform_seconds;
    Ok(LookedAt { data: ready.summary, profile, look, load_seconds, profile_seconds })
}

fn look_on_ranks(request: &TrainRequest, choice: &Choice, interrupt: &AtomicBool) -> Result<LookedAt, Error> {
    let setup = set_up_ranks(request, choice, ManyClasses::Refused)?.with_closer_look();
    let ranks = setup.start(None, Some(interrupt))?;
    let loaded = ranks.loaded.clone();
    ranks.dismiss();
    let (Some(profile), Some(look)) = (loaded.profile, loaded.closer_look) else {
        return Err(Error::Garbled {
            program: "hemingway-worker".to_owned(),
            problem: "it says nothing of the data".to_owned(),
        });
    };
    let data = DatasetSummary {
        name: request.data.spec.clone(),
        rows: loaded.rows,
        features: loaded.features,
        occurring: loaded.used.as_ref().map(Vec::len),
        nonzeros: loaded.nonzeros,
        labels: loaded.labels,
        class_weights: loaded.class_weights,
        fingerprint: Some(loaded.fingerprint),
        source: Some(loaded.fingerprint.untreated()),
        table: loaded.encoding.as_ref().map(|encoding| TableSummary::new(encoding, loaded.unlabelled_rows)),
    };
    let load_seconds = loaded.load_seconds + loaded.transform_seconds;
    Ok(LookedAt { data, profile, look: *look, load_seconds, profile_seconds: loaded.profile_seconds })
}

/// What a plan needs to know of the problem of a request.
pub(crate) struct Profiled {
    pub data: DatasetSummary,
    pub profile: Profile,
    /// What making the profile took.
    pub seconds: f64,
    pub room: Option<Room>,
    /// Numbers of workers to choose from, if not the usual ones.
    pub workers: Option<Vec<usize>>,
    /// What is to be known where this is the first of several classes.
    pub first_of_several: Option<String>,
    /// Who would train, where that is this process.
    trainer: Option<Trainer>,
}

impl Profiled {
    /// What pilots are made with, where training would make some.
    pub(crate) fn pilots<'a>(&'a self, interrupt: &'a AtomicBool) -> Option<PilotSetup<'a>> {
        self.trainer.as_ref()?.pilots(interrupt)
    }
}

/// Reads the data of a request as training would, but here on every engine, and makes its profile.
pub(crate) fn profile(request: &TrainRequest, choice: &Choice) -> Result<Profiled, Error> {
    let problem = checked(request, choice)?;
    let workers = match choice.engine.as_str() {
        MPI => {
            let setup = set_up_ranks(request, choice, ManyClasses::Kept)?;
            Some(workers_to_choose(setup.most_workers()))
        }
        _ => None,
    };
    let (ready, mut data) = read(request, choice, problem, ManyClasses::Kept)?;
    let first_of_several = ready.several.as_ref().map(|several| {
        let names = &several.used.names;
        format!("{} classes: this is the plan for the first, {} against the rest", names.len(), names[0])
    });
    let ready = if first_of_several.is_some() { ready.tell_apart(0, &mut data) } else { ready };
    let begun = Instant::now();
    let profile = profile_of(&data, &problem);
    let seconds = begun.elapsed().as_secs_f64();
    let trainer = match choice.engine.as_str() {
        MPI => None,
        _ => Some(Trainer::Here { engine: engine(choice)?, data: Arc::new(data) }),
    };
    Ok(Profiled {
        data: ready.summary,
        profile,
        seconds,
        room: ready.room,
        workers,
        first_of_several,
        trainer,
    })
}

/// Powers of two, and as many as there may be.
fn workers_to_choose(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |m| Some(2 * m)).take_while(|m| *m < most);
    powers.chain([most]).collect()
}

/// Checks what can be checked without reading anything.
fn checked(request: &TrainRequest, choice: &Choice) -> Result<Problem, Error> {
    request.check_stop()?;
    request.check_fraction(&choice.engine)?;
    request.check_shuffle(&choice.engine)?;
    request.check_labels()?;
    let problem = problem(request)?;
    hemingway_train::algorithm(&choice.algorithm, &choice.parameters)?.check(choice.workers)?;
    check_place(choice)?;
    Ok(problem)
}

/// What the data of a request contains now, read for this alone.
pub(crate) fn source_fingerprint(request: &TrainRequest) -> Result<Fingerprint, Error> {
    Ok(load(&request.data.spec, &train_options(request, ManyClasses::Refused)?)?.fingerprint)
}

fn read_it_here(
    request: &TrainRequest,
    choice: &Choice,
    problem: Problem,
    many: ManyClasses,
) -> Result<(Ready, Trainer), Error> {
    let engine = engine(choice)?;
    let (ready, data) = read(request, choice, problem, many)?;
    Ok((ready, Trainer::Here { engine, data: Arc::new(data) }))
}

/// Reads all data of a request into this process.
fn read(
    request: &TrainRequest,
    choice: &Choice,
    problem: Problem,
    many: ManyClasses,
) -> Result<(Ready, Dataset), Error> {
    let begin = Instant::now();
    let limit = limit(request);
    let options = match request.class_of {
        // A sample has its share of each class, so the class is picked after it was taken.
        Some(_) => LoadOptions { positive: None, ..train_options(request, ManyClasses::Kept)? },
        None => train_options(request, many)?,
    };
    let loaded = load_counting(&request.data.spec, &within(limit.bytes, options))?;
    let Loaded { dataset: mut data, unlabelled_rows, .. } = loaded;
    let source = data.fingerprint;
    let each_class = EachClass::of(&data);
    if request.data.fraction < 1.0 {
        check_sample(request, &data, &limit)?;
        data = data.sample(request.data.fraction, request.seed);
    }
    let used = EachClass::of(&data);
    let shuffle_seconds = shuffle(request, &mut data, &limit)?;
    let several = each_class.zip(used).map(|(all, used)| Several {
        source: (0..all.names.len()).map(|class| all.content(class)).collect(),
        used: used.in_order_of(&data),
    });
    check_workers(choice.workers, &data)?;
    let asked = request.data.class_weight.as_ref();
    let class_weights = asked.map_or(Ok(Vec::new()), |asked| data.weigh_classes(asked))?;
    let table = data.encoding.as_deref().map(|encoding| TableSummary::new(encoding, unlabelled_rows));
    let mut summary =
        DatasetSummary { source: Some(source), class_weights, table, ..DatasetSummary::of(&data) };
    let left = limit.bytes.saturating_sub(data_bytes(&data));
    let mut test = load_test(request, &summary, &data.features, data.encoding.as_deref(), left)?;
    let load_seconds = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let transform = Transform::fit(&data, request.data.normalise_rows, request.data.is_standardised());
    transform.apply(&mut data);
    summary.fingerprint = Some(data.fingerprint);
    if let Some(test) = &mut test {
        check_centred(&transform, &test.dataset, left)?;
        transform.apply(&mut test.dataset);
    }
    let transform_seconds = begin.elapsed().as_secs_f64();
    let room = Some(Room::here(limit, [&data].into_iter().chain(test.as_ref().map(|test| &test.dataset))));
    let (features, encoding) = (data.features.clone(), data.encoding.clone());
    let ready = Ready {
        problem,
        summary,
        features,
        encoding,
        room,
        transform,
        test,
        several,
        load_seconds,
        shuffle_seconds,
        transform_seconds,
    };
    Ok(pick_class(request, ready, data))
}

/// A run of one of several classes goes on with that class alone.
fn pick_class(request: &TrainRequest, ready: Ready, mut data: Dataset) -> (Ready, Dataset) {
    let picked = request.class_of.as_ref().and(request.data.positive.as_ref());
    let class = picked.zip(ready.several.as_ref()).and_then(|(name, several)| several.used.place(name));
    let Some(class) = class else { return (ready, data) };
    let (load_seconds, transform_seconds) = (ready.load_seconds, ready.transform_seconds);
    let ready = Ready { load_seconds, transform_seconds, ..ready.tell_apart(class, &mut data) };
    (ready, data)
}

/// Brings the rows into random order, if that is asked for; how long it took.
fn shuffle(request: &TrainRequest, data: &mut Dataset, limit: &MemoryLimit) -> Result<Option<f64>, Error> {
    if !request.data.shuffle {
        return Ok(None);
    }
    let begin = Instant::now();
    let bytes = 2 * data_bytes(data);
    check_bytes(&data.name, "the data and its rows in random order take", bytes, limit.bytes)?;
    *data = data.shuffled(request.seed);
    Ok(Some(begin.elapsed().as_secs_f64()))
}

/// Each rank reads its own share. Test data is read here, where the model will be.
fn have_it_read(
    request: &TrainRequest,
    choice: &Choice,
    from: Option<&Checkpoint>,
    problem: Problem,
    many: ManyClasses,
) -> Result<(Ready, Trainer), Error> {
    let setup = set_up_ranks(request, choice, many)?;
    let ranks = setup.start(from, None)?;
    let loaded = ranks.loaded.clone();
    let summary = DatasetSummary {
        name: request.data.spec.clone(),
        rows: loaded.rows,
        features: loaded.features,
        occurring: loaded.used.as_ref().map(Vec::len),
        nonzeros: loaded.nonzeros,
        labels: loaded.labels,
        class_weights: loaded.class_weights,
        fingerprint: Some(loaded.fingerprint),
        source: Some(loaded.fingerprint.untreated()),
        table: loaded.encoding.as_ref().map(|encoding| TableSummary::new(encoding, loaded.unlabelled_rows)),
    };
    let features = Features { count: loaded.features, used: loaded.used };
    let encoding = loaded.encoding.map(Arc::new);
    let begin = Instant::now();
    let left = limit(request).bytes;
    let mut test = load_test(request, &summary, &features, encoding.as_deref(), left)?;
    if let Some(test) = &mut test {
        check_centred(&loaded.transform, &test.dataset, left)?;
        loaded.transform.apply(&mut test.dataset);
    }
    let ready = Ready {
        problem,
        summary,
        features,
        encoding,
        room: loaded.room.map(Room::on_ranks),
        transform: loaded.transform,
        test,
        several: None,
        load_seconds: loaded.load_seconds + begin.elapsed().as_secs_f64(),
        shuffle_seconds: None,
        transform_seconds: loaded.transform_seconds,
    };
    Ok((ready, Trainer::Ranks { started: Box::new(ranks), setup: Box::new(setup) }))
}

/// Ranks that will read the data of a request.
pub(crate) fn set_up_ranks(
    request: &TrainRequest,
    choice: &Choice,
    many: ManyClasses,
) -> Result<Setup, Error> {
    request.check_seen_by_ranks()?;
    let source = Source {
        spec: request.data.spec.clone(),
        // Each rank finds out for itself what its machine has.
        options: LoadOptions { memory_limit: request.memory_limit, ..train_options(request, many)? },
        class_weight: request.data.class_weight.clone(),
        normalise_rows: request.data.normalise_rows,
        standardise: request.data.is_standardised(),
    };
    Setup::new(request, choice, problem(request)?, source)
}

/// How to read data, from the words of the command line.
pub(crate) fn load_options(request: &DataRequest) -> Result<LoadOptions, Error> {
    let format = request.format.as_deref().map(str::parse).transpose()?;
    let delimiter = request.delimiter.as_deref().map(parse_delimiter).transpose()?;
    Ok(LoadOptions {
        format: Format::with_delimiter(format, delimiter)?,
        delimiter,
        zero_based: request.zero_based,
        label: request.label.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
        positive: request.positive.clone(),
        drop: request.drop.clone(),
        keep: request.keep.clone(),
        text: request.text.clone(),
        number: request.number.clone(),
        numbers: request.numbers,
        drop_unlabelled: request.drop_unlabelled,
        weight: request.weight.clone(),
        id: request.id.clone(),
        centre: request.is_standardised(),
        ..LoadOptions::default()
    })
}

fn train_options(request: &TrainRequest, many: ManyClasses) -> Result<LoadOptions, Error> {
    let fraction = request.data.fraction;
    let options = LoadOptions {
        regression: request.is_regression(),
        several: many == ManyClasses::Kept,
        learn_on: (fraction < 1.0).then_some((fraction, request.seed)),
        ..load_options(&request.data)?
    };
    if options.label == LabelColumn::Absent { Err(Error::Unlabelled) } else { Ok(options) }
}

fn within(bytes: u64, options: LoadOptions) -> LoadOptions {
    LoadOptions { memory_limit: Some(bytes), ..options }
}

/// While a sample is taken both are there.
fn check_sample(request: &TrainRequest, data: &Dataset, limit: &MemoryLimit) -> Result<(), Error> {
    let bytes = (data_bytes(data) as f64 * (1.0 + request.data.fraction)) as u64;
    check_bytes(&data.name, "the data and a sample of it take", bytes, limit.bytes)
}

/// Test data that is centred becomes dense.
fn check_centred(transform: &Transform, test: &Dataset, limit: u64) -> Result<(), Error> {
    let centred = transform.columns.iter().flat_map(|columns| &columns.mean).any(|mean| *mean != 0.0);
    match &test.matrix {
        Matrix::Sparse(sparse) if centred => {
            let values = (sparse.rows() as u64).saturating_mul(4 * sparse.columns() as u64);
            check_bytes(&test.name, "its rows, made dense to be centred, take", values, limit)
        }
        _ => Ok(()),
    }
}

fn check_bytes(file: &str, what: &str, bytes: u64, limit: u64) -> Result<(), Error> {
    if bytes <= limit {
        return Ok(());
    }
    let (file, what) = (file.to_owned(), what.to_owned());
    Err(hemingway_data::Error::OverLimit { file, what, bytes, limit }.into())
}

/// More data of the kind of the training data, beside it, with the same done to it.
pub(crate) fn more_data(spec: &str, request: &TrainRequest, ready: &Ready) -> Result<Loaded, Error> {
    let left = ready.room.map_or(u64::MAX, |room| room.left());
    let request = TrainRequest { test: Some(spec.to_owned()), ..request.clone() };
    let unlabelled = || Error::UnlabelledTest { spec: spec.to_owned() };
    let more = load_test(&request, &ready.summary, &ready.features, ready.encoding.as_deref(), left)?;
    let mut more = more.ok_or_else(unlabelled)?;
    check_centred(&ready.transform, &more.dataset, left)?;
    ready.transform.apply(&mut more.dataset);
    Ok(more)
}

/// Test data takes its features and its classes from the training data.
fn load_test(
    request: &TrainRequest,
    training: &DatasetSummary,
    features: &Features,
    encoding: Option<&Encoding>,
    limit: u64,
) -> Result<Option<Loaded>, Error> {
    let Some(spec) = &request.test else { return Ok(None) };
    let options = LoadOptions {
        columns: Some(features.count),
        used: features.used.clone(),
        encoding: encoding.cloned(),
        memory_limit: Some(limit),
        labels: Some(training.labels.clone()),
        positive: None,
        ..train_options(request, ManyClasses::Refused)?
    };
    let test = load_counting(spec, &options)?;
    if test.dataset.targets.is_empty() {
        Err(Error::UnlabelledTest { spec: spec.clone() })
    } else {
        Ok(Some(test))
    }
}

fn problem(request: &TrainRequest) -> Result<Problem, Error> {
    let problem = Problem::new(request.loss, request.lambda)?;
    Ok(if request.has_bias() { problem.with_bias() } else { problem })
}

pub(crate) fn engine(choice: &Choice) -> Result<Box<dyn Engine>, Error> {
    match (choice.engine.as_str(), &choice.cluster) {
        ("threads", _) => Ok(Box::new(Threads)),
        ("simulated", Some(cluster)) => Ok(Box::new(Simulated::new(cluster.clone()))),
        (name, _) => Err(Error::UnknownEngine { name: name.to_owned() }),
    }
}

/// Whether there are workers, places for them, and an engine that can do what the algorithm needs.
fn check_place(choice: &Choice) -> Result<(), Error> {
    if choice.workers == 0 {
        return Err(hemingway_train::Error::NoWorkers(0).into());
    }
    if let Some(cluster) = &choice.cluster {
        cluster.check_size(choice.workers)?;
    }
    Ok(hemingway_train::check_offers(&choice.engine, hemingway_train::named(&choice.algorithm)?)?)
}

fn check_workers(workers: usize, data: &Dataset) -> Result<(), Error> {
    let rows = data.matrix.rows();
    if workers > rows {
        return Err(hemingway_train::Error::TooManyWorkers { workers, rows }.into());
    }
    Ok(())
}
