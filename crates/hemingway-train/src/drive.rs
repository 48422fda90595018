//! The one loop around every algorithm: rounds, scoring, stopping, checkpoints.
//!
//! All workers run it in step. Worker 0 decides and tells the others; it alone observes.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::round_lengths::RoundLengths;
use crate::schedule::Schedule;
use crate::score::{Scorer, Shadow, Standing, weights_of};
use crate::{
    Certificate, Checkpoint, Effort, Error, Event, Job, Model, Point, Run, Scoring, Seconds, Solver, Start,
    Stop, Work, Worker,
};

/// What the loop has to remember to go on from a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    standing: Standing,
    schedule: Schedule,
    patience: Patience,
    training_work: Work,
    scoring_seconds: Seconds,
    confer_at: u64,
    /// Written behind everything else: see [`Checkpoint::to_bytes`].
    #[serde(skip, default = "Effort::unknown")]
    pub(crate) effort: Effort,
}

impl Progress {
    /// The best weights so far.
    pub(crate) fn best_weights(&self) -> &[f64] {
        &self.standing.best
    }

    /// The bracket around P* so far.
    pub(crate) fn certificate(&self) -> Certificate {
        self.standing.certificate
    }

    /// What scoring took so far.
    pub(crate) fn scoring_seconds(&self) -> Seconds {
        self.scoring_seconds
    }
}

/// Runs one worker of a job to its end; worker 0 returns the run.
pub fn drive(
    worker: &mut Worker,
    job: &Job,
    begun: Instant,
    observe: &mut dyn FnMut(Event) -> Result<(), Error>,
) -> Result<Option<Run>, Error> {
    let mut state = Loop::start(worker, job, begun)?;
    let stop = loop {
        // A run that was stuck when it was saved makes no more rounds.
        if !state.solver.stuck() {
            state.solver.round(worker)?;
            state.round += 1;
        }
        worker.clock(false);
        let stop = state.after_round(worker, observe)?;
        if let Some(stop) = stop {
            break stop;
        }
        worker.clock(true);
    };
    let run = state.finish(worker, stop)?;
    if job.hand_over.is_some() && stop.hands_over() {
        state.hand_over(worker, observe)?;
    } else if job.checkpoint_every.is_some() {
        state.checkpoint(worker, observe)?;
    }
    Ok(run)
}

/// The state of the loop on one worker.
struct Loop<'a> {
    job: &'a Job<'a>,
    begun: Instant,
    /// Waited before this process resumed the run.
    waited: f64,
    solver: Box<dyn Solver>,
    scorer: Scorer,
    schedule: Schedule,
    patience: Patience,
    round: u64,
    /// Metered work of this process so far, by purpose; training work includes what came before a checkpoint.
    training_work: Work,
    metered: Work,
    scoring_seconds: f64,
    /// Rows visited and bytes sent by this worker, in this process.
    visited: f64,
    sent: f64,
    /// What came before this process, less what the solver counts of it, and what there was at the last score.
    effort_before: Effort,
    effort: Effort,
    last_checkpoint: Instant,
    /// Rounds that are so short that the workers need not confer after each: none before this one.
    confer_at: u64,
    /// The training clock when it was last looked at, and the lengths of the last rounds.
    clock: f64,
    lengths: RoundLengths,
    /// The training clock when the solver was set up.
    set_up: Seconds,
    /// Whether to hand over to another configuration, and if so whether that needs a dual point.
    handing_over: Option<bool>,
}

impl<'a> Loop<'a> {
    fn start(worker: &mut Worker, job: &'a Job<'a>, begun: Instant) -> Result<Loop<'a>, Error> {
        worker.clock(false);
        if worker.local.weights().is_some() && worker.total_weight()? == 0.0 {
            return Err(Error::NoWeight);
        }
        let (scorer, saved) = match job.start {
            Start::Checkpoint(checkpoint) if checkpoint.workers.len() == worker.size() => {
                let [solver, scorer] = &checkpoint.workers[worker.rank()];
                let scorer = Scorer::restore(worker, &checkpoint.progress.standing, scorer)?;
                (scorer, Some(solver.as_slice()))
            }
            Start::Checkpoint(checkpoint) => {
                // Nothing is saved of the solver, but the weights are those of the dual point.
                let known = checkpoint.model.duals.is_some() && job.algorithm.starts_from_duals();
                (Scorer::rebuild(worker, &checkpoint.progress.standing)?, known.then_some(&[][..]))
            }
            Start::Zero | Start::Model(_) => (Scorer::new(worker)?, None),
        };
        worker.local.take_work();
        worker.clock(true);
        let from = match job.start {
            Start::Zero => Model::zero(worker.local.dimension()),
            Start::Model(model) => model.clone(),
            Start::Checkpoint(checkpoint) if checkpoint.workers.len() == worker.size() => {
                checkpoint.model.clone()
            }
            Start::Checkpoint(checkpoint) => checkpoint.to_begin_anew(job.algorithm.starts_from_duals()),
        };
        let solver = job.algorithm.start(worker, &from, saved)?;
        let first = worker.local.cost_of_a_pass();
        let mut state = Loop {
            job,
            begun,
            waited: 0.0,
            solver,
            scorer,
            schedule: Schedule::new(first),
            patience: Patience::default(),
            round: 0,
            training_work: Work::default(),
            metered: Work::default(),
            scoring_seconds: 0.0,
            visited: 0.0,
            sent: 0.0,
            effort_before: Effort::default(),
            effort: Effort::default(),
            last_checkpoint: begun,
            confer_at: 0,
            clock: job.start.seconds().0,
            lengths: RoundLengths::default(),
            set_up: Seconds(0.0),
            handing_over: None,
        };
        if let Start::Checkpoint(checkpoint) = job.start {
            state.go_on_from(checkpoint);
            // Setting up again is no part of the run.
            state.metered = worker.local.total_work();
            worker.local.take_visited();
            worker.take_sent();
        }
        state.set_up = worker.now();
        state.clock = state.set_up.0;
        Ok(state)
    }

    fn go_on_from(&mut self, checkpoint: &Checkpoint) {
        self.round = checkpoint.round;
        self.waited = checkpoint.wall_seconds.0;
        if !checkpoint.is_handed_over() {
            self.schedule = checkpoint.progress.schedule.clone();
            self.patience = checkpoint.progress.patience.clone();
        }
        self.training_work = checkpoint.progress.training_work;
        self.scoring_seconds = checkpoint.progress.scoring_seconds.0;
        self.confer_at = checkpoint.progress.confer_at;
        self.effort = checkpoint.progress.effort;
        let before = if self.effort.iterations == 0 { self.round } else { self.effort.iterations };
        let counted = self.solver.iterations().unwrap_or(self.round);
        self.effort_before = Effort { iterations: before.saturating_sub(counted), ..self.effort };
    }

    /// Everything between two rounds, with the clock stopped.
    fn after_round(
        &mut self,
        worker: &mut Worker,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<Option<Stop>, Error> {
        let trained = self.newly_metered(worker);
        self.training_work += trained;
        self.visited += worker.local.take_visited();
        self.sent += worker.take_sent();
        if self.round < self.confer_at && !self.solver.stuck() {
            return Ok(None);
        }
        self.solver.estimate_together(worker)?;
        let decision = self.decide(worker)?;
        let mut stop = decision.limit;
        if decision.score || decision.checkpoint {
            self.solver.bring_together(worker)?;
            self.effort = self.effort(worker)?;
        }
        if decision.score {
            let point = self.score(worker)?;
            if worker.rank() == 0 {
                observe(Event::Point(&point))?;
            }
            stop = self.judge(&point).or(stop);
            if stop.is_none() && self.asked_to_hand_over(worker)? {
                stop = Some(Stop::HandedOver);
            }
        }
        if decision.checkpoint && stop.is_none() {
            self.checkpoint(worker, observe)?;
        }
        Ok(stop)
    }

    /// Worker 0 knows whether it was asked to, and tells the others.
    fn asked_to_hand_over(&mut self, worker: &mut Worker) -> Result<bool, Error> {
        let Some(request) = self.job.hand_over else { return Ok(false) };
        let mut asked = [request.asked().map_or(-1.0, f64::from)];
        worker.broadcast(0, &mut asked)?;
        self.handing_over = (asked[0] >= 0.0).then_some(asked[0] > 0.0);
        Ok(self.handing_over.is_some())
    }

    fn newly_metered(&mut self, worker: &mut Worker) -> Work {
        let total = worker.local.total_work();
        let new = Work { flops: total.flops - self.metered.flops, bytes: total.bytes - self.metered.bytes };
        self.metered = total;
        new
    }

    /// What worker 0 decides, known to all.
    fn decide(&mut self, worker: &mut Worker) -> Result<Decision, Error> {
        let limit = if self.job.interrupted() {
            Some(Stop::Interrupted)
        } else if self.solver.stuck() {
            Some(Stop::NoProgress)
        } else {
            let now = self.look_at_the_clock(worker);
            self.job.stop.exhausted(self.round, now, Seconds(self.lengths.next()))
        };
        let due = self.schedule.due(
            self.job.scoring,
            &self.job.stop,
            self.round,
            self.training_work,
            self.solver.estimate(),
            &self.scorer.certificate,
        );
        let every = self.job.checkpoint_every;
        let checkpoint = every.is_some_and(|every| self.last_checkpoint.elapsed().as_secs_f64() >= every.0);
        let asked = self.job.hand_over.is_some_and(|request| request.asked().is_some());
        let score = due || asked || limit.is_some();
        let mine = Decision { limit, score, checkpoint, skip: self.rounds_to_skip() };
        let mut numbers = mine.to_numbers();
        worker.broadcast(0, &mut numbers)?;
        let decision = Decision::from_numbers(numbers);
        self.confer_at = self.round + 1 + decision.skip;
        Ok(decision)
    }

    /// What a deadline is held against.
    fn look_at_the_clock(&mut self, worker: &mut Worker) -> Seconds {
        let now = worker.now();
        self.lengths.observe(now.0 - self.clock);
        self.clock = now.0;
        now
    }

    /// How many rounds may pass before the workers confer again: few enough that nobody notices.
    fn rounds_to_skip(&self) -> u64 {
        let per_round = self.training_work.flops / self.round.max(1) as f64;
        let skip = (CONFER_FLOPS / per_round.max(1.0)) as u64;
        let confers_each_round =
            matches!(self.job.scoring, Scoring::Every(_)) || self.job.stop.within.is_some();
        let left = self.job.stop.rounds.map_or(u64::MAX, |rounds| rounds.saturating_sub(self.round + 1));
        if confers_each_round { 0 } else { skip.min(left).min(self.round / 10) }
    }

    fn score(&mut self, worker: &mut Worker) -> Result<Point, Error> {
        let began = Instant::now();
        let current = self.scorer.score(worker, self.solver.as_ref())?;
        let cost = self.newly_metered(worker);
        self.schedule.scored(
            self.round,
            self.training_work,
            cost,
            self.solver.estimate(),
            &self.scorer.certificate,
        );
        worker.local.take_visited();
        self.scoring_seconds += began.elapsed().as_secs_f64();
        let certificate = self.scorer.certificate;
        Ok(Point {
            round: self.round,
            effort: self.effort,
            seconds: worker.now(),
            wall_seconds: self.wall_seconds(),
            current,
            primal: certificate.primal,
            dual: certificate.dual,
            certified_error: certificate.error(),
        })
    }

    /// Of all workers, from the beginning of the run.
    fn effort(&self, worker: &mut Worker) -> Result<Effort, Error> {
        let mut sums = [self.visited, self.sent];
        worker.sum(&mut sums)?;
        let [visited, sent] = sums;
        Ok(Effort {
            iterations: self.effort_before.iterations + self.solver.iterations().unwrap_or(self.round),
            epochs: self.effort_before.epochs + visited / worker.local.total_rows as f64,
            bytes_per_worker: self.effort_before.bytes_per_worker + sent / worker.size() as f64,
        })
    }

    fn wall_seconds(&self) -> Seconds {
        Seconds(self.waited + self.begun.elapsed().as_secs_f64())
    }

    /// Whether a scored round is the last one. Every worker sees the same figures and comes to the same verdict.
    fn judge(&mut self, point: &Point) -> Option<Stop> {
        let at_zero = self.scorer.certificate.at_zero;
        // The dual never falls under methods that climb it. Their weights may begin anywhere, and come back.
        let climbs = self.job.algorithm.starts_from_duals();
        if let Some(goal) = self.job.stop.reached(point) {
            Some(goal)
        } else if self.job.stop.unreachable(point) {
            Some(Stop::Unreachable)
        } else if point.current.is_nan() || (point.current > DIVERGED * at_zero.max(1.0) && !climbs) {
            Some(Stop::Diverged)
        } else if self.job.stop.only_time() && point.certified_error <= NOTHING_LEFT {
            Some(Stop::NoProgress)
        } else if self.patience.exhausted(point) {
            Some(if point.current > at_zero && !climbs { Stop::Diverged } else { Stop::NoProgress })
        } else {
            None
        }
    }

    fn checkpoint(
        &mut self,
        worker: &mut Worker,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let solver = gather(worker, self.solver.save())?;
        let scorer = gather(worker, self.scorer.save())?;
        let duals = gather_duals(worker, self.solver.duals())?;
        let workers = solver.into_iter().zip(scorer).map(|(solver, scorer)| [solver, scorer]).collect();
        let model = Model { weights: self.solver.weights().to_vec(), duals };
        self.say(worker, model, workers, observe)?;
        self.last_checkpoint = Instant::now();
        Ok(())
    }

    /// The last checkpoint, without what only this solver can use. Its making is on the clock.
    fn hand_over(
        &mut self,
        worker: &mut Worker,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        worker.clock(true);
        let weights = self.solver.weights().to_vec();
        let point = match self.solver.duals() {
            _ if self.handing_over == Some(false) => None,
            Some(duals) if self.solver.weights_belong_to_duals() => {
                Some(Shadow { duals, weights: weights.clone() })
            }
            Some(duals) => Some(Shadow { weights: weights_of(worker, &duals)?, duals }),
            None => self.scorer.dual_point(worker)?,
        };
        let (duals, weights) = point.map_or((None, weights), |point| (Some(point.duals), point.weights));
        let duals = gather_duals(worker, duals)?;
        worker.clock(false);
        self.say(worker, Model { weights, duals }, Vec::new(), observe)
    }

    fn say(
        &self,
        worker: &mut Worker,
        model: Model,
        workers: Vec<[Vec<f64>; 2]>,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if worker.rank() > 0 {
            return Ok(());
        }
        observe(Event::Checkpoint(&Checkpoint {
            data: worker.local.fingerprint,
            round: self.round,
            seconds: worker.now(),
            wall_seconds: self.wall_seconds(),
            model,
            progress: Progress {
                standing: self.scorer.standing(),
                schedule: self.schedule.clone(),
                patience: self.patience.clone(),
                training_work: self.training_work,
                scoring_seconds: Seconds(self.scoring_seconds),
                confer_at: self.confer_at,
                effort: self.effort,
            },
            workers,
        }))
    }

    fn finish(&self, worker: &mut Worker, stop: Stop) -> Result<Option<Run>, Error> {
        // Whoever takes over gets them with the checkpoint.
        let duals = if stop == Stop::HandedOver { None } else { self.solver.duals() };
        let duals = gather_duals(worker, duals)?;
        if worker.rank() != 0 {
            return Ok(None);
        }
        let certificate = self.scorer.certificate;
        Ok(Some(Run {
            stop,
            rounds: self.round,
            effort: self.effort,
            seconds: worker.now(),
            wall_seconds: self.wall_seconds(),
            scoring_seconds: Seconds(self.scoring_seconds),
            primal: certificate.primal,
            dual: certificate.dual,
            certified_error: certificate.error(),
            relative_to_start: certificate.relative_to_start(),
            set_up: self.set_up,
            step_size: self.solver.step_size(),
            model: Model { weights: self.scorer.best.clone(), duals },
        }))
    }
}

/// What happens between two rounds.
struct Decision {
    limit: Option<Stop>,
    score: bool,
    checkpoint: bool,
    skip: u64,
}

impl Decision {
    /// The limits that worker 0 can announce.
    const LIMITS: [Stop; 4] = [Stop::Within, Stop::Rounds, Stop::Interrupted, Stop::NoProgress];

    fn to_numbers(&self) -> [f64; 4] {
        let limit = self.limit.and_then(|limit| Self::LIMITS.iter().position(|stop| *stop == limit));
        [
            limit.map_or(-1.0, |at| at as f64),
            f64::from(self.score),
            f64::from(self.checkpoint),
            self.skip as f64,
        ]
    }

    fn from_numbers([limit, score, checkpoint, skip]: [f64; 4]) -> Decision {
        let limit = (limit >= 0.0).then(|| Self::LIMITS[limit as usize]);
        Decision { limit, score: score > 0.0, checkpoint: checkpoint > 0.0, skip: skip as u64 }
    }
}

/// Workers confer about scoring and stopping after about this many operations, or a round if that takes longer.
const CONFER_FLOPS: f64 = 2e5;
/// An objective this many times that of zero weights will not come back.
const DIVERGED: f64 = 1e10;

/// With such an error there is nothing left to gain in whatever time is left.
const NOTHING_LEFT: f64 = 1e-10;

/// Notices when a run no longer gets anywhere.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Patience {
    /// Gap and round at the last real improvement.
    best: Option<(f64, u64)>,
    /// Scores since then.
    scores: u64,
}

impl Patience {
    fn exhausted(&mut self, point: &Point) -> bool {
        let gap = (point.primal - point.dual).max(0.0);
        match self.best {
            Some((best, since)) if gap >= best * (1.0 - IMPROVEMENT) => {
                self.scores += 1;
                self.scores >= SCORES && point.round >= since + since / 2 + ROUNDS
            }
            _ => {
                (self.best, self.scores) = (Some((gap, point.round)), 0);
                false
            }
        }
    }
}

/// A gap has to shrink by this factor to count as progress.
const IMPROVEMENT: f64 = 1e-3;
/// So many scores without progress,
const SCORES: u64 = 20;
/// and so many rounds (and half as many again as the run had), end a run.
const ROUNDS: u64 = 200;

/// The duals of all rows on worker 0, where there are any.
fn gather_duals(worker: &mut Worker, mine: Option<Vec<f64>>) -> Result<Option<Vec<f64>>, Error> {
    mine.map(|duals| Ok(gather(worker, duals)?.concat())).transpose()
}

/// Every worker's vector on worker 0, in the order of ranks; empty elsewhere.
fn gather(worker: &mut Worker, mine: Vec<f64>) -> Result<Vec<Vec<f64>>, Error> {
    if worker.rank() > 0 {
        worker.send_numbers(0, &mine)?;
        return Ok(Vec::new());
    }
    let mut all = vec![mine];
    for rank in 1..worker.size() {
        all.push(worker.receive_numbers(rank)?);
    }
    Ok(all)
}
