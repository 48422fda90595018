//! The stages of a job, one after the other: those it names, or those that rank 0 is asked for.

use std::path::Path;
use std::time::Instant;

use hemingway_data::{Labels, LoadOptions, MemoryLimit, Part, Transform, load_part};
use hemingway_train::protocol::{Doing, ExternalJob, Loaded, Message, Stage};
use hemingway_train::{
    Checkpoint, CloserLook, DataProfile, Event, Extent, Footprint, HandOver, Job, Local, Model, Quality, Run,
    Start, Transport, Worker, data_bytes, drive, predict,
};

use crate::communicator::Communicator;
use crate::guard;
use crate::job::{BadJob, Order, Orders, STOP, first_ranks, read_checkpoint, read_job};
use crate::pulse;
use crate::server::serve;
use crate::servers::Servers;
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
    let (job, orders) = read_job(world, file)?;
    if let Some(every) = job.heartbeat {
        pulse::beat(world.rank(), every);
    }
    greet(world)?;
    let checkpoint = job.checkpoint.as_deref().map(read_checkpoint).transpose()?;
    let limit = MemoryLimit::new(job.data.options.memory_limit, neighbours(world));
    let mut share = Share { job: &job, held: Vec::new(), limit };
    match job.workers {
        None => as_planned(world, &mut share, checkpoint.as_ref()),
        Some(workers) => as_told(world, &mut share, &orders, workers, checkpoint),
    }
}

/// How many ranks share this machine and its memory.
fn neighbours(world: &Communicator) -> usize {
    let here = guard::host();
    world.gather(here.as_bytes()).iter().filter(|host| **host == here.as_bytes()).count()
}

/// The stages of the job, each from the model of the one before.
fn as_planned(
    world: &Communicator,
    share: &mut Share,
    checkpoint: Option<&Checkpoint>,
) -> anyhow::Result<()> {
    let mut model = None;
    let stages = &share.job.stages;
    for (at, stage) in stages.iter().enumerate() {
        match places(world, stage, &first_ranks(stage)) {
            Place::Worker { team, active } => {
                share.load(&active)?;
                let start = match (checkpoint.filter(|_| at == 0), &model) {
                    (Some(checkpoint), _) => Start::Checkpoint(checkpoint),
                    (None, Some(model)) => Start::Model(model),
                    (None, None) => Start::Zero,
                };
                let outcome = share.train((&team, &active), stage, start, None)?;
                model = outcome.map(|outcome| outcome.run.model);
            }
            Place::Server { team } => share.serve(&team, stage)?,
            Place::Nowhere => {}
        }
        world.rest();
        if at + 1 < stages.len() {
            model = Some(share_model(world, model));
        }
    }
    Ok(())
}

/// Loads the data, then does the stages that rank 0 is asked for, each from what the one before handed over.
fn as_told(
    world: &Communicator,
    share: &mut Share,
    orders: &Orders,
    workers: usize,
    checkpoint: Option<Checkpoint>,
) -> anyhow::Result<()> {
    load_first(world, share, workers)?;
    // Every rank has the checkpoint of the job, but only rank 0 what was handed over.
    let (mut begins, mut handed, mut wanted) = (true, None, true);
    while let Some(Order { stage, ranks, hand_over }) = orders.next(world, wanted)? {
        match places(world, &stage, &ranks) {
            Place::Worker { team, active } => {
                share.load(&active)?;
                let taken_over = if begins { None } else { Some(take_over(&active, handed.take())?) };
                let start =
                    taken_over.as_ref().or(checkpoint.as_ref()).map_or(Start::Zero, Start::Checkpoint);
                let outcome = share.train((&team, &active), &stage, start, Some(&hand_over))?;
                wanted = outcome.as_ref().is_some_and(|outcome| outcome.run.stop.hands_over());
                handed = outcome.and_then(|outcome| outcome.handed);
            }
            Place::Server { team } => share.serve(&team, &stage)?,
            Place::Nowhere => {}
        }
        begins = false;
    }
    Ok(())
}

/// What a rank is in a stage.
enum Place<'a> {
    /// It has rows, and talks to the other workers; and with servers, where there are any.
    Worker { team: Communicator<'a>, active: Communicator<'a> },
    /// It has a part of the vector.
    Server { team: Communicator<'a> },
    /// It rests.
    Nowhere,
}

/// What this rank is in a stage of these ranks, workers before servers. Everyone has to call this.
fn places<'a>(world: &Communicator<'a>, stage: &Stage, ranks: &[usize]) -> Place<'a> {
    let Some(team) = world.some(ranks) else { return Place::Nowhere };
    match team.first(stage.workers) {
        Some(active) => Place::Worker { team, active },
        None => Place::Server { team },
    }
}

/// Loads the data for the first time, on fewer ranks if they are more than there are rows.
fn load_first(world: &Communicator, share: &mut Share, workers: usize) -> anyhow::Result<()> {
    let Some(first) = world.first(workers) else { return Ok(()) };
    let Err(error) = share.load(&first) else { return Ok(()) };
    match error.downcast_ref() {
        Some(hemingway_data::Error::TooManyWorkers { rows, .. }) => {
            first.first(*rows).map_or(Ok(()), |fewer| share.load(&fewer))
        }
        _ => Err(error),
    }
}

/// What a stage has handed over, and when.
struct Handed {
    checkpoint: Checkpoint,
    at: Instant,
}

/// What rank 0 was handed, on every rank that goes on from it. The time since then is on its clock.
fn take_over(active: &Communicator, handed: Option<Handed>) -> anyhow::Result<Checkpoint> {
    let bytes = handed.as_ref().map_or_else(Vec::new, |handed| handed.checkpoint.to_bytes());
    let mut checkpoint = Checkpoint::from_bytes(&active.broadcast_bytes(bytes))?;
    let mut since = [handed.map_or(0.0, |handed| handed.at.elapsed().as_secs_f64())];
    active.broadcast(0, &mut since);
    checkpoint.seconds.0 += since[0];
    checkpoint.wall_seconds.0 += since[0];
    say(active.rank(), &Message::Begun { seconds: checkpoint.seconds })?;
    Ok(checkpoint)
}

/// This rank's rows, for its last places among workers: coming back to one of them costs nothing.
struct Share<'a> {
    job: &'a ExternalJob,
    held: Vec<Held>,
    /// The memory that this rank may use.
    limit: MemoryLimit,
}

struct Held {
    /// The worker that this rank was, and of how many: that alone says which rows, whichever ranks the others were.
    place: (usize, usize),
    part: Part,
}

/// How a stage ended; only rank 0 knows.
struct Outcome {
    run: Run,
    handed: Option<Handed>,
}

/// For so many places among workers a rank keeps its rows.
const KEPT: usize = 2;

impl Share<'_> {
    /// One stage on this rank, on the rows that were loaded last, among the workers of a team.
    fn train(
        &self,
        (team, active): (&Communicator, &Communicator),
        stage: &Stage,
        start: Start,
        hand_over: Option<&HandOver>,
    ) -> anyhow::Result<Option<Outcome>> {
        let job = self.job;
        let part = &self.held.last().expect("rows are loaded before they are trained on").part;
        let begun = Instant::now();
        if let Labels::Several(names) = &part.dataset.labels {
            anyhow::bail!("{} classes cannot be trained at once; pick one against the rest", names.len());
        }
        let algorithm = hemingway_train::algorithm(&stage.algorithm, &stage.parameters)?;
        self.check_room(stage, part)?;
        let dimension = part.dataset.matrix.columns() + usize::from(job.problem.bias);
        start.check(part.total_rows, dimension, part.dataset.fingerprint)?;
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
            hand_over,
        };
        let mut handed = None;
        let mut observe = |event: Event| {
            if let Event::Checkpoint(checkpoint) = &event
                && checkpoint.is_handed_over()
            {
                handed = Some(Handed { checkpoint: (*checkpoint).clone(), at: Instant::now() });
            }
            say_event(event).map_err(refuse)
        };
        let servers = (team.size() > active.size()).then(|| {
            agree(team, dimension);
            Servers::new(team, active.size())
        });
        let mut ranks = Ranks::new(active, start.seconds()).with_servers(servers);
        let run = {
            let local = Local::part(&part.dataset, part.first_row, part.total_rows, job.problem);
            let mut worker = Worker::new(local, job.seed, &mut ranks);
            drive(&mut worker, &task, begun, &mut observe)?
        };
        ranks.leave_servers();
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
        Ok(run.map(|run| Outcome { run, handed }))
    }

    /// One stage on this rank, without rows, for the workers of a team.
    fn serve(&self, team: &Communicator, stage: &Stage) -> anyhow::Result<()> {
        let dimension = agree(team, 0);
        let footprint = Footprint::on_server(dimension, team.size() - stage.workers);
        footprint.check(&format!("one server of {}", stage.algorithm), self.held_bytes(), &self.limit)?;
        serve(team, stage.workers);
        Ok(())
    }

    /// Makes this rank's rows for so many workers the present ones. Everyone active has to call this.
    fn load(&mut self, active: &Communicator) -> anyhow::Result<()> {
        let place = (active.rank(), active.size());
        let mine = self.held.iter().position(|held| held.place == place);
        // A rank that was idle may still have what others no longer have.
        let mut have = [f64::from(mine.is_some())];
        active.sum(&mut have);
        let mine = mine.map(|at| self.held.remove(at)).filter(|_| have[0] == active.size() as f64);
        let held = match mine {
            Some(held) => held,
            None => {
                self.held.drain(..self.held.len().saturating_sub(KEPT - 1));
                Held { place, part: pulse::during(Doing::Loading, 0, || self.read(active))? }
            }
        };
        self.held.push(held);
        Ok(())
    }

    fn read(&self, active: &Communicator) -> anyhow::Result<Part> {
        let source = &self.job.data;
        let begin = Instant::now();
        let mut together = active;
        let options = LoadOptions { memory_limit: Some(self.left().bytes), ..source.options.clone() };
        let mut part = load_part(&source.spec, &options, &mut together)?;
        let asked = source.class_weight.as_ref();
        let class_weights = asked.map_or(Ok(Vec::new()), |asked| part.weigh_classes(asked, &mut together))?;
        let load_seconds = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let transform = Transform::fit_part(&part, source.normalise_rows, source.standardise, &mut together)?;
        transform.apply(&mut part.dataset);
        let transform_seconds = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let profile = self.job.workers.map(|_| profile(active, &part));
        let profile_seconds = begin.elapsed().as_secs_f64();
        let closer_look = match self.job.closer_look {
            true => CloserLook::at_part(&part, &self.job.problem, &mut together)?.map(Box::new),
            false => None,
        };
        let loaded = Loaded {
            rows: part.total_rows,
            features: part.dataset.features.count,
            used: part.dataset.features.used.clone(),
            encoding: part.dataset.encoding.as_deref().cloned(),
            unlabelled_rows: part.unlabelled_rows,
            room: Some(self.room(active, &part)),
            nonzeros: part.total_nonzeros,
            fingerprint: part.dataset.fingerprint,
            labels: part.dataset.labels.clone(),
            class_weights,
            transform,
            load_seconds,
            transform_seconds,
            profile,
            profile_seconds,
            closer_look,
        };
        say(active.rank(), &Message::Loaded(loaded))?;
        Ok(part)
    }
}

impl Share<'_> {
    /// The memory that is left beside the rows that are kept.
    fn left(&self) -> MemoryLimit {
        MemoryLimit { bytes: self.limit.bytes.saturating_sub(self.held_bytes()), ..self.limit }
    }

    fn held_bytes(&self) -> u64 {
        self.held.iter().map(|held| data_bytes(&held.part.dataset)).sum()
    }

    /// What is left beside these rows too, with the rank that has least. Everyone active has to call this.
    fn room(&self, active: &Communicator, part: &Part) -> MemoryLimit {
        let mine = self.left().bytes.saturating_sub(data_bytes(&part.dataset));
        let least = active.gather_numbers(mine as f64).into_iter().fold(f64::INFINITY, f64::min);
        MemoryLimit { bytes: least as u64, ..self.limit }
    }

    /// Refuses a stage whose vectors do not fit beside the rows.
    fn check_room(&self, stage: &Stage, part: &Part) -> anyhow::Result<()> {
        let (rows, columns) = (part.total_rows, part.dataset.matrix.columns());
        let extent = Extent { rows, columns, workers: stage.workers, rounds: stage.stop.rounds };
        let footprint = Footprint::on_rank(&stage.algorithm, &stage.parameters, &self.job.problem, extent);
        let data = self.limit.bytes - self.left().bytes;
        footprint.check(&format!("one worker of {}", stage.algorithm), data, &self.limit)?;
        Ok(())
    }
}

/// How long the vector is that servers hold, which workers know once they have loaded. Servers leave their cores to others
/// until then.
fn agree(team: &Communicator, dimension: usize) -> usize {
    team.rest();
    let mut agreed = [dimension as f64];
    team.broadcast(0, &mut agreed);
    agreed[0] as usize
}

/// What the ranks see of the data together.
fn profile(active: &Communicator, part: &Part) -> DataProfile {
    DataProfile::of_part(&part.dataset, part.first_row, part.total_rows, &mut |sums| active.sum(sums))
}

fn say_event(event: Event) -> anyhow::Result<()> {
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
