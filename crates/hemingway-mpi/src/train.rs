//! The stages of a job, one after the other.

use std::path::Path;
use std::time::Instant;

use hemingway_data::{Part, Together, Transform, load_part};
use hemingway_train::protocol::{ExternalJob, Loaded, Message, Stage};
use hemingway_train::{
    Checkpoint, Event, Job, Local, Model, Quality, Run, Start, Transport, Worker, drive, predict,
};

use crate::communicator::Communicator;
use crate::job::{BadJob, STOP, read_checkpoint, read_job};
use crate::speech::{greet, say, say_checkpoint};
use crate::transport::Ranks;

/// Whether the user has to change something, rather than the machines.
pub fn is_bad_input(error: &anyhow::Error) -> bool {
    let training: Option<&hemingway_train::Error> = error.downcast_ref();
    error.is::<BadJob>()
        || error.is::<hemingway_data::Error>()
        || training.is_some_and(hemingway_train::Error::is_bad_input)
}

/// Whether another rank knows better what happened.
pub fn happened_elsewhere(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(hemingway_data::Error::Elsewhere { .. }))
}

/// Runs every stage of a job.
pub fn run(world: &Communicator, file: &Path) -> anyhow::Result<()> {
    let job = read_job(world, file)?;
    greet(world)?;
    let checkpoint = job.checkpoint.as_deref().map(read_checkpoint).transpose()?;
    let mut share = Share { job: &job, held: None };
    let mut model = None;
    for (at, stage) in job.stages.iter().enumerate() {
        let checkpoint = checkpoint.as_ref().filter(|_| at == 0);
        if let Some(active) = world.first(stage.workers) {
            let outcome = share.train(&active, stage, checkpoint, model.as_ref())?;
            model = outcome.map(|run| run.model);
        }
        world.rest();
        if at + 1 < job.stages.len() {
            model = Some(share_model(world, model));
        }
    }
    Ok(())
}

/// This rank's rows, kept from stage to stage as long as they stay the same.
struct Share<'a> {
    job: &'a ExternalJob,
    held: Option<Held>,
}

struct Held {
    workers: usize,
    part: Part,
}

impl Share<'_> {
    /// One stage on this rank; rank 0 returns the run.
    fn train(
        &mut self,
        active: &Communicator,
        stage: &Stage,
        checkpoint: Option<&Checkpoint>,
        model: Option<&Model>,
    ) -> anyhow::Result<Option<Run>> {
        let job = self.job;
        let part = self.load(active)?;
        let begun = Instant::now();
        let algorithm = hemingway_train::algorithm(&stage.algorithm, &stage.parameters)?;
        let start = match (checkpoint, model) {
            (Some(checkpoint), _) => Start::Checkpoint(checkpoint),
            (None, Some(model)) => Start::Model(model),
            (None, None) => Start::Zero,
        };
        start.check(part.total_rows, part.dataset.matrix.columns() + usize::from(job.problem.bias))?;
        let task = Job {
            problem: job.problem,
            algorithm: algorithm.as_ref(),
            workers: stage.workers,
            seed: job.seed,
            stop: stage.stop,
            scoring: job.scoring,
            start,
            checkpoint_every: job.checkpoint_every,
            interrupt: Some(&STOP),
            hand_over: None,
        };
        let mut ranks = Ranks::new(active, start.seconds());
        let run = {
            let local = Local::part(&part.dataset, part.first_row, part.total_rows, job.problem);
            let mut worker = Worker::new(local, job.seed, &mut ranks);
            drive(&mut worker, &task, begun, &mut |event| tell(event).map_err(refuse))?
        };
        let mut seconds = [run.as_ref().map_or(0.0, |run| run.seconds.0 - start.seconds().0)];
        ranks.broadcast(0, &mut seconds)?;
        let profile = ranks.profile(seconds[0]);
        let mut weights = run.as_ref().map_or_else(
            || vec![0.0; part.dataset.matrix.columns() + usize::from(job.problem.bias)],
            |run| run.model.weights.clone(),
        );
        ranks.broadcast(0, &mut weights)?;
        let mut sum = [Quality::sum(&predict(&part.dataset, &weights), &part.dataset)];
        ranks.sum(&mut sum)?;
        let quality = Quality::from_sum(&part.dataset.labels, sum[0], part.total_rows);
        if let Some(run) = &run {
            let model = Model { duals: None, ..run.model.clone() };
            say(
                0,
                &Message::Finished { run: Run { model, ..run.clone() }, quality, profile: Some(profile) },
            )?;
        }
        Ok(run)
    }

    /// This rank's rows for so many workers.
    fn load(&mut self, active: &Communicator) -> anyhow::Result<&Part> {
        let source = &self.job.data;
        let workers = active.size();
        if self.held.as_ref().is_none_or(|held| held.workers != workers) {
            self.held = None;
            let begin = Instant::now();
            let mut together = active;
            let mut part = load_part(&source.spec, &source.options, &mut together)?;
            let load_seconds = begin.elapsed().as_secs_f64();
            let begin = Instant::now();
            let transform =
                Transform::fit_part(&part, source.normalise_rows, source.standardise, &mut together)?;
            transform.apply(&mut part.dataset);
            let transform_seconds = begin.elapsed().as_secs_f64();
            let loaded = Loaded {
                rows: part.total_rows,
                features: part.dataset.matrix.columns(),
                nonzeros: part.total_nonzeros,
                labels: part.dataset.labels.clone(),
                transform,
                load_seconds,
                transform_seconds,
            };
            say(Together::rank(&together), &Message::Loaded(loaded))?;
            self.held = Some(Held { workers, part });
        }
        Ok(&self.held.as_ref().expect("it was just loaded").part)
    }
}

fn tell(event: Event) -> anyhow::Result<()> {
    match event {
        Event::Point(point) => say(0, &Message::Point(*point)),
        Event::Checkpoint(checkpoint) => say_checkpoint(checkpoint.round, &checkpoint.to_bytes()),
    }
}

fn refuse(error: anyhow::Error) -> hemingway_train::Error {
    hemingway_train::Error::Observer(error.into())
}

/// The model of the stage that has ended, for those who join the next.
fn share_model(world: &Communicator, model: Option<Model>) -> Model {
    let mine = model.filter(|_| world.rank() == 0);
    let bytes =
        mine.map_or_else(Vec::new, |model| serde_json::to_vec(&model).expect("a model is plain data"));
    serde_json::from_slice(&world.broadcast_bytes(bytes)).expect("rank 0 wrote it")
}
