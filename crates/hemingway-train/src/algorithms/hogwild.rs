//! Hogwild!: stochastic gradient descent by all cores at once, on weights in memory that they share.
//!
//! Every worker draws its own rows and steps along their gradients without locks and without waiting. Only the features of
//! the row are touched, so the penalty is shared out among the rows that have a feature: λ n/n_j for a feature that n_j
//! rows have, which in the mean is λ. Steps shrink like 1/t over the steps of all workers. The noise of single rows, and of
//! weights that are some steps old, sets a floor under the error, which falls as steps shrink.
//!
//! The authors let all cores write to the same weights at every step. Then the lines of cache travel: two cores were no
//! faster than one. Here each worker steps on a copy of its own and exchanges what it has changed, every so many steps,
//! for the features of the row at which it is: so a feature is exchanged the more often the more it changes. What
//! others have changed and this worker does not see yet is bounded, in steps and in the penalty. Two exchanges of one
//! feature at the same moment may cost one of them; that is rare, and the gradients are noisy anyway.
//!
//! Recht, Ré, Wright, Niu, Hogwild!: a lock-free approach to parallelizing stochastic gradient descent, 2011.

use std::sync::Arc;

use super::step_size::StepSize;
use super::{About, Entry, Family, Floor, TakeOver, late, suits_all};
use crate::engines::shared_memory::{change_racing, load};
use crate::footprint::Vectors;
use crate::kernels::{Rows, Task, fastest, with_rows};
use crate::loss::{Losses, Shape, with_losses};
use crate::recent::Recent;
use crate::{Algorithm, Error, Model, Needs, Phase, Share, SharedMemory, Solver, Worker};

/// Hyperparameters of Hogwild!.
#[derive(Debug, Clone, PartialEq)]
pub struct Hogwild {
    /// First step size (η); searched for if not given.
    pub step_size: Option<f64>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "hogwild",
    summary: "asynchronous stochastic steps in shared memory",
    reference: "Recht et al. 2011",
    about: About {
        idea: "Every worker draws its own rows and steps along their gradients, and exchanges its changes every few \
            steps with weights in memory that all share, without locks and without waiting. Two exchanges of one \
            feature at the same moment may cost one of them; that is rare. Steps shrink with time.",
        suits: "Sparse rows with any loss, on the cores of one machine, where a rough model is wanted soon. On \
            dense rows all workers write to the same features, and more of them hardly help.",
        round: "As many steps of all workers together as there are rows. Nothing is sent; a fast worker makes \
            more of the steps.",
        counts: "steps",
        defaults: &["searched for"],
        floor: Floor::Falls,
    },
    parameters: &["step_size"],
    vectors: Vectors { weights: 6.0, rows: 0.5, saved_weights: 1.0, ..Vectors::NONE },
    family: Family::Stochastic,
    depends_on_workers: true,
    alone: None,
    settles_alone: false,
    late: false,
    on_cores: 0.97,
    takes_over: |_| TakeOver::Never,
    unsuited: suits_all,
    set_up,
    round,
    build: |given| Box::new(Hogwild { step_size: given.step_size }),
};

impl Algorithm for Hogwild {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn needs(&self) -> Needs {
        Needs::SharedMemory
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let given = saved.and_then(|saved| saved.first().copied()).or(self.step_size);
        let shares = penalty_shares(worker)?;
        let size = late::choose(worker, given, 1, &shares)?;
        let mut recent = Recent::new(&from.weights);
        let mut before = 0.0;
        if let Some(saved) = saved {
            before = saved.get(1).copied().ok_or_else(Error::damaged_worker)?;
            let rest = recent.restore(&saved[2..])?;
            rest.is_empty().then_some(()).ok_or_else(Error::damaged_worker)?;
        }
        let memory = worker.share(&from.weights)?;
        Ok(Box::new(InMemory {
            size,
            shares,
            view: View { memory, own: from.weights.clone(), known: from.weights.clone() },
            untold: Untold::default(),
            held: None,
            before,
            rounds: 0,
            picked: 0,
            made: before,
            recent,
            weights: from.weights.clone(),
        }))
    }
}

/// The search for a step size, and the rows that have each feature.
pub(super) fn set_up(share: &Share) -> Vec<Phase> {
    let mut phases = late::search_cost(share).to_vec();
    phases.push(Phase::once(share.squares(), share.dimension));
    phases
}

/// A step on as many rows as there are, which all workers make together, some of them with an exchange.
fn round(share: &Share) -> Vec<Phase> {
    let exchanges = 1.0 / (MOST_STEPS / (share.workers - 1.0)).ceil();
    vec![Phase::apart(share.steps(share.rows, 2.0 + exchanges) + exchanges_of_all(share) * share.weights())]
}

/// How often a worker exchanges all features in a round: whenever the penalty of its steps, Σ ηλ, asks for it. Over the steps
/// of a run, from a usual first one of 1/R² on, that is ln(1 + R/κ) over R rounds.
fn exchanges_of_all(share: &Share) -> f64 {
    let first = (1.0 / share.curvature).min(share.total_rows);
    let penalty = (USUAL_ROUNDS * first).ln_1p() / share.workers;
    penalty * (share.workers - 1.0) / MOST_PENALTY / USUAL_ROUNDS
}

/// For each feature all rows over those that have it.
pub(super) fn penalty_shares(worker: &mut Worker) -> Result<Vec<f64>, Error> {
    let mut rows = vec![0.0; worker.local.features()];
    worker.local.count_features(&mut rows);
    worker.sum(&mut rows)?;
    let n = worker.local.total_rows as f64;
    rows.iter_mut().for_each(|rows| *rows = n / rows.max(1.0));
    Ok(rows)
}

/// Stochastic steps on memory that is shared.
struct InMemory {
    size: StepSize,
    shares: Vec<f64>,
    view: View,
    untold: Untold,
    held: Option<Step>,
    /// Steps of all workers before this process.
    before: f64,
    /// Rounds of this process.
    rounds: u64,
    /// Rows that this worker has picked in this process.
    picked: u64,
    /// Steps of all workers when they last came together.
    made: f64,
    recent: Recent,
    /// As they were at the end of the last round.
    weights: Vec<f64>,
}

/// A step that is known and has not been made yet.
#[derive(Clone, Copy)]
struct Step {
    row: usize,
    slope: f64,
    size: f64,
}

impl Solver for InMemory {
    /// As many steps of all workers together as there are rows.
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let mut rng = worker.rng(self.recent.rounds);
        self.rounds += 1;
        let until = self.rounds * worker.local.total_rows as u64;
        while let Some(steps) = worker.turn(until)? {
            let rows = worker.pick(&mut rng, worker.local.rows(), self.picked, steps);
            self.picked += steps as u64;
            let made = self.steps(worker, &rows);
            worker.made(made);
        }
        if worker.rank() == 0 {
            self.view.look(&mut self.weights);
            self.recent.add(&self.weights);
        } else {
            self.recent.rounds += 1;
        }
        Ok(())
    }

    /// The weights are those in memory with all that workers have not told yet. It stays untold: what they train on must
    /// not depend on who looks when. The average is the first worker's.
    fn bring_together(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.made = self.done(worker);
        self.view.untold(&mut self.weights);
        worker.sum(&mut self.weights)?;
        if worker.rank() == 0 {
            self.view.add_memory(&mut self.weights);
        }
        worker.broadcast(0, &mut self.weights)?;
        worker.broadcast(0, &mut self.recent.average)
    }

    fn iterations(&self) -> Option<u64> {
        Some(self.made as u64)
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn proposal(&self) -> &[f64] {
        &self.recent.average
    }

    fn step_size(&self) -> Option<f64> {
        Some(self.size.first)
    }

    fn save(&self) -> Vec<f64> {
        let mut saved = vec![self.size.first, self.made];
        saved.extend(self.recent.save());
        saved
    }
}

impl InMemory {
    /// Steps of all workers so far.
    fn done(&self, worker: &Worker) -> f64 {
        self.before + worker.steps() as f64
    }

    /// Makes the step that was held back, then one for each row but the last, which is held back in turn. Returns how
    /// many were made.
    fn steps(&mut self, worker: &mut Worker, rows: &[u32]) -> u64 {
        let (matrix, range) = worker.local.matrix();
        let done = self.done(worker);
        let (loss, row_weights) = (worker.local.problem.loss, worker.local.weights());
        let (made, values) = with_rows!(matrix, matrix => with_losses!(loss, row_weights, losses => {
            fastest(Steps {
                matrix, losses, first: range.start, targets: worker.local.targets(), size: self.size, done,
                workers: worker.size() as f64, rows, shares: &self.shares, view: &mut self.view,
                untold: &mut self.untold, held: &mut self.held, values: 0.0,
            })
        }));
        self.untold.penalty += made as f64 * self.size.at(done) * self.size.lambda;
        if self.untold.penalty * (worker.size() - 1) as f64 > MOST_PENALTY {
            self.untold.penalty = 0.0;
            (0..self.weights.len()).for_each(|place| self.view.exchange(place));
            worker.local.meter(self.weights.len() as f64);
        }
        worker.local.meter(values);
        worker.local.meter_visits(rows.len() as f64);
        made
    }
}

/// Weights in memory as one worker sees them.
struct View {
    memory: Arc<SharedMemory>,
    /// With all that this worker has changed,
    own: Vec<f64>,
    /// and as this worker left them in memory.
    known: Vec<f64>,
}

impl View {
    /// Tells the others what this worker has changed here, and sees what they have.
    #[inline(always)]
    fn exchange(&mut self, place: usize) {
        let change = self.own[place] - self.known[place];
        change_racing(&self.memory.cells()[place], |weight| {
            self.own[place] = weight + change;
            self.own[place]
        });
        self.known[place] = self.own[place];
    }

    /// What this worker has changed and not told.
    fn untold(&self, into: &mut [f64]) {
        for (at, change) in into.iter_mut().enumerate() {
            *change = self.own[at] - self.known[at];
        }
    }

    fn add_memory(&self, weights: &mut [f64]) {
        weights.iter_mut().zip(self.memory.cells()).for_each(|(weight, cell)| *weight += load(cell));
    }

    /// The weights in memory with what this worker has not told.
    fn look(&self, into: &mut [f64]) {
        self.untold(into);
        self.add_memory(into);
    }
}

/// What a worker has not told.
#[derive(Default)]
struct Untold {
    /// Steps since the features of a row were exchanged.
    steps: u64,
    /// The part of a weight that the penalty has taken since all features were.
    penalty: f64,
}

/// Steps along a feature that the others may have made, all together, before a worker sees them. With fewer, cores wait for one
/// another's caches; with more, steps are too long where rows are alike (docs/decisions/016).
const MOST_STEPS: f64 = 16.0;
/// The part of a weight that the penalty may take in them, for features that few rows have.
const MOST_PENALTY: f64 = 0.25;
/// Rounds of a usual run, as far as its cost is predicted: the longer it is, the fewer exchanges of all features a round has.
const USUAL_ROUNDS: f64 = 10.0;

struct Steps<'a, R, L> {
    matrix: R,
    losses: L,
    first: usize,
    targets: &'a [f32],
    size: StepSize,
    /// Steps of all workers so far; while this worker makes one, so does each of the others.
    done: f64,
    workers: f64,
    rows: &'a [u32],
    shares: &'a [f64],
    view: &'a mut View,
    untold: &'a mut Untold,
    held: &'a mut Option<Step>,
    /// Stored values that were read.
    values: f64,
}

impl<R: Rows, L: Losses> Task for Steps<'_, R, L> {
    type Output = (u64, f64);

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> (u64, f64) {
        let mut made = 0;
        for (at, row) in self.rows.iter().enumerate() {
            if let Some(step) = self.held.take() {
                self.make(step);
                made += 1;
            }
            if let Some(soon) = self.rows.get(at + 3) {
                self.matrix.prefetch(self.first + *soon as usize);
            }
            let row = *row as usize;
            let (weights, bias) = self.view.own.split_at(self.shares.len());
            let constant = bias.first().copied().unwrap_or(0.0);
            let prediction = self.matrix.dot::<FMA>(self.first + row, weights) + constant;
            let slope = self.losses.of(row).slope(prediction, f64::from(self.targets[row]));
            *self.held = Some(Step { row, slope, size: self.size.at(self.done + at as f64 * self.workers) });
            self.values += 2.0 * self.matrix.length(self.first + row) as f64;
        }
        (made, self.values)
    }
}

impl<R: Rows, L: Losses> Steps<'_, R, L> {
    /// Every feature of the row moves along the loss and shrinks by its share of the penalty.
    #[inline(always)]
    fn make(&mut self, Step { row, slope, size }: Step) {
        let (weights, bias) = self.view.own.split_at_mut(self.shares.len());
        for (feature, value) in self.matrix.entries(self.first + row) {
            let shrink = (1.0 - size * self.size.lambda * self.shares[feature]).max(0.0);
            weights[feature] = weights[feature] * shrink - size * slope * f64::from(value);
        }
        bias.iter_mut().for_each(|bias| *bias -= size * slope);
        self.untold.steps += 1;
        if self.untold.steps as f64 * (self.workers - 1.0) >= MOST_STEPS {
            self.untold.steps = 0;
            self.matrix.entries(self.first + row).for_each(|(feature, _)| self.view.exchange(feature));
            (self.shares.len()..self.view.own.len()).for_each(|bias| self.view.exchange(bias));
            self.values += self.matrix.length(self.first + row) as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use hemingway_data::{Dataset, Dense, Labels, Matrix};

    use super::*;
    use crate::{Engine, Job, Loss, Problem, Scoring, Start, StopRules, Threads};

    /// Steps touch all values of a dense row, so the zeros among them have their share of the penalty.
    #[test]
    fn dense_rows_with_zeros_have_the_same_optimum_as_sparse_ones() {
        let (rows, columns) = (60, 6);
        // A feature is the rarer the later it comes, and the last one decides.
        let has = |row: usize, column: usize| row.is_multiple_of(column + 2);
        let value = |at: usize| f32::from(u8::from(has(at / columns, at % columns)));
        let matrix = Matrix::Dense(Dense::new(rows, columns, (0..rows * columns).map(value).collect()));
        let target = |row: usize| if has(row, columns - 1) { 1.0 } else { -1.0 };
        let labels = Labels::Classes { negative: "0".into(), positive: "1".into() };
        let data = Dataset::new("", matrix, (0..rows).map(target).collect(), labels);
        let job = Job {
            problem: Problem::new(Loss::Logistic, 1e-2).unwrap(),
            algorithm: &Hogwild { step_size: None },
            workers: 1,
            seed: 0,
            stop: StopRules { error: Some(1e-2), rounds: Some(5000), ..StopRules::default() },
            scoring: Scoring::default(),
            start: Start::Zero,
            checkpoint_every: None,
            interrupt: None,
            hand_over: None,
        };
        let run = Threads.run(&data, &job, &mut |_| Ok(())).unwrap();
        assert!(run.certified_error <= 1e-2, "{run:?}");
    }

    #[test]
    fn what_workers_have_not_told_is_missed_by_the_others_alone() {
        let memory = Arc::new(SharedMemory::new(&[1.0, 2.0]));
        let view = || View { memory: memory.clone(), own: vec![1.0, 2.0], known: vec![1.0, 2.0] };
        let (mut first, mut second) = (view(), view());
        let look = |view: &View| {
            let mut weights = vec![0.0; 2];
            view.look(&mut weights);
            weights
        };
        first.own[0] += 4.0;
        second.own[0] += 8.0;
        second.own[1] += 16.0;
        assert_eq!((look(&first), look(&second)), (vec![5.0, 2.0], vec![9.0, 18.0]));
        first.exchange(0);
        second.exchange(0);
        assert_eq!((look(&first), look(&second)), (vec![13.0, 2.0], vec![13.0, 18.0]));
        // The first worker has not looked at the change of the second yet, and has nothing to tell.
        assert_eq!((first.own[0], second.own[0]), (5.0, 13.0));
        first.exchange(0);
        second.exchange(0);
        assert_eq!((first.own[0], memory.get(0), memory.get(1)), (13.0, 13.0, 2.0));
    }
}
