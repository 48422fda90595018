//! From a request to a job that can run: every argument checked, every file read, nothing written.

use std::path::Path;
use std::time::Instant;

use hemingway_data::{Dataset, LabelColumn, LoadOptions, Loaded, Transform, load, load_counting};
use hemingway_train::{Algorithm, Engine, Needs, Problem, Simulated, Threads};

use crate::place::check_writable;
use crate::{Choice, DataRequest, DatasetSummary, Error, TrainRequest};

/// All that a run needs.
pub(crate) struct Ready {
    pub problem: Problem,
    pub algorithm: Box<dyn Algorithm>,
    pub engine: Box<dyn Engine>,
    pub data: Dataset,
    pub summary: DatasetSummary,
    pub transform: Transform,
    pub test: Option<Loaded>,
    /// Reading the data.
    pub load_seconds: f64,
    /// Scaling it, which the user waits for like for training.
    pub transform_seconds: f64,
}

/// Checks what can be checked at once, then reads the data and checks the rest.
pub(crate) fn prepare(request: &TrainRequest, choice: &Choice) -> Result<Ready, Error> {
    request.check_stop()?;
    request.check_labels()?;
    check_model_path(request.model.as_deref())?;
    let problem = problem(request)?;
    let algorithm = hemingway_train::algorithm(&choice.algorithm, &choice.parameters)?;
    let engine = engine(choice)?;
    check_engine(engine.as_ref(), algorithm.as_ref(), choice)?;

    let begin = Instant::now();
    let mut data = load(&request.data.spec, &train_options(request)?)?;
    check_workers(choice.workers, &data)?;
    let mut test = load_test(request, &data)?;
    let load_seconds = begin.elapsed().as_secs_f64();
    let summary = DatasetSummary::of(&data);

    let begin = Instant::now();
    let transform = Transform::fit(&data, request.data.normalise_rows, request.data.standardise);
    transform.apply(&mut data);
    if let Some(test) = &mut test {
        transform.apply(&mut test.dataset);
    }
    let transform_seconds = begin.elapsed().as_secs_f64();
    Ok(Ready { problem, algorithm, engine, data, summary, transform, test, load_seconds, transform_seconds })
}

/// How to read data, from the words of the command line.
pub(crate) fn load_options(request: &DataRequest) -> Result<LoadOptions, Error> {
    Ok(LoadOptions {
        format: request.format.as_deref().map(str::parse).transpose()?,
        zero_based: request.zero_based,
        label: request.label.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
        positive: request.positive.clone(),
        ..LoadOptions::default()
    })
}

fn train_options(request: &TrainRequest) -> Result<LoadOptions, Error> {
    let options = LoadOptions { regression: request.is_regression(), ..load_options(&request.data)? };
    if options.label == LabelColumn::Absent { Err(Error::Unlabelled) } else { Ok(options) }
}

/// Test data takes its dimension and its classes from the training data.
fn load_test(request: &TrainRequest, data: &Dataset) -> Result<Option<Loaded>, Error> {
    let Some(spec) = &request.test else { return Ok(None) };
    let options = LoadOptions {
        columns: Some(data.matrix.columns()),
        labels: Some(data.labels.clone()),
        positive: None,
        ..train_options(request)?
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
    Ok(if request.bias { problem.with_bias() } else { problem })
}

fn engine(choice: &Choice) -> Result<Box<dyn Engine>, Error> {
    match (choice.engine.as_str(), &choice.cluster) {
        ("threads", _) => Ok(Box::new(Threads)),
        ("simulated", Some(cluster)) => Ok(Box::new(Simulated::new(cluster.clone()))),
        (name, _) => Err(Error::UnknownEngine { name: name.to_owned() }),
    }
}

fn check_engine(engine: &dyn Engine, algorithm: &dyn Algorithm, choice: &Choice) -> Result<(), Error> {
    if choice.workers == 0 {
        return Err(hemingway_train::Error::NoWorkers(0).into());
    }
    if let Some(cluster) = &choice.cluster {
        cluster.check_size(choice.workers)?;
    }
    if engine.offers(algorithm.needs()) {
        return Ok(());
    }
    let needs = match algorithm.needs() {
        Needs::Collectives => "collectives",
        Needs::Neighbours => "messages between neighbours",
        Needs::SharedVector => "shared vector",
    };
    Err(hemingway_train::Error::Unsupported { engine: engine.name(), algorithm: algorithm.name(), needs }
        .into())
}

fn check_workers(workers: usize, data: &Dataset) -> Result<(), Error> {
    let rows = data.matrix.rows();
    if workers > rows {
        return Err(hemingway_train::Error::TooManyWorkers { workers, rows }.into());
    }
    Ok(())
}

fn check_model_path(file: Option<&Path>) -> Result<(), Error> {
    file.map_or(Ok(()), check_writable)
}
