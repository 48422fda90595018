//! The perfect computer of the paper: nothing takes time but iterations, and every worker makes one of them at a time.
//!
//! Algorithms run as they are, over a transport without a clock. Workers are coroutines of one thread, as in `regret/clocks.rs`:
//! each runs until its next collective, message or step on shared memory, in the order of ranks. So asynchronous workers make
//! their steps in turn, and with m workers a step knows nothing of the m - 1 before it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use hemingway_data::{Dataset, shard};
use hemingway_train::{
    Algorithm, Error, Local, Model, Problem, Seconds, SharedMemory, Solver, Transport, Work, Worker,
};

/// A run to be made.
pub struct Perfect {
    pub data: Rc<Dataset>,
    pub problem: Problem,
    pub algorithm: Box<dyn Algorithm>,
    pub workers: usize,
    pub seed: u64,
}

/// Gets iterations per worker and the objective after them; answers whether the run goes on.
pub type Observe = Box<dyn FnMut(f64, f64) -> bool>;

/// Enough for the shallow calls of a solver, as in the engines.
const STACK_BYTES: usize = 1 << 20;
/// The next round that is looked at is this many times as late as the last.
const GROWTH: f64 = 1.1;
/// Asynchronous methods are looked at after every round, which is as many steps as there are rows: here it is this part of them.
const PARTS: u64 = 8;

impl Perfect {
    /// Runs until the observer has seen enough.
    pub fn run(self, observe: Observe) -> Result<(), Error> {
        let workers = self.workers;
        let room = Rc::new(Room {
            observe: RefCell::new(observe),
            exchanges: Default::default(),
            mail: (0..workers).map(|_| RefCell::default()).collect(),
            memory: RefCell::default(),
            steps: Cell::new(0),
            next: Cell::new(0),
            broken: Cell::new(false),
            run: self,
        });
        let mut coroutines: Vec<_> = (0..workers)
            .map(|rank| {
                let room = Rc::clone(&room);
                let stack = DefaultStack::new(STACK_BYTES).expect("memory for a stack");
                Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| room.work(rank, yielder))
            })
            .collect();
        let mut outcome = Ok(());
        let mut at_work = workers;
        while at_work > 0 {
            for coroutine in coroutines.iter_mut().filter(|each| !each.done()) {
                if let CoroutineResult::Return(returned) = coroutine.resume(()) {
                    at_work -= 1;
                    room.broken.set(room.broken.get() || returned.is_err());
                    outcome = outcome.and(returned);
                }
            }
        }
        outcome
    }
}

/// What the workers share. Collectives alternate between two exchanges, since nobody is two collectives ahead.
struct Room {
    run: Perfect,
    observe: RefCell<Observe>,
    exchanges: [RefCell<Exchange>; 2],
    mail: Vec<RefCell<Mailbox>>,
    memory: RefCell<Option<Arc<SharedMemory>>>,
    /// On that memory.
    steps: Cell<u64>,
    /// Whose turn it is to make one.
    next: Cell<usize>,
    broken: Cell<bool>,
}

/// Messages that were not yet received, and from whom.
type Mailbox = VecDeque<(usize, Vec<u8>)>;

/// A collective under way.
#[derive(Default)]
struct Exchange {
    arrived: usize,
    buffer: Vec<f64>,
}

impl Room {
    /// One worker, from its first round to its last.
    fn work(&self, rank: usize, yielder: &Yielder<(), ()>) -> Result<(), Error> {
        let Perfect { data, problem, algorithm, workers, seed, .. } = &self.run;
        let mut place = Place { rank, room: self, yielder, turn: 0 };
        let local = Local::new(data, shard(data.matrix.rows(), *workers, rank), *problem);
        let mut worker = Worker::new(local, *seed, &mut place);
        let zero = Model::zero(worker.local.dimension());
        let mut solver = algorithm.start(&mut worker, &zero, None)?;
        let (mut rounds, mut next) = (0_u64, 1);
        loop {
            solver.round(&mut worker)?;
            rounds += 1;
            if rounds < next {
                continue;
            }
            next = (rounds + 1).max((GROWTH * rounds as f64) as u64);
            solver.bring_together(&mut worker)?;
            let mut goes_on = [0.0];
            if rank == 0 {
                let all = solver.iterations().map_or(rounds as f64, |steps| steps as f64 / *workers as f64);
                goes_on[0] = f64::from((self.observe.borrow_mut())(all, self.objective(solver.as_ref())));
            }
            worker.broadcast(0, &mut goes_on)?;
            if goes_on[0] == 0.0 {
                return Ok(());
            }
        }
    }

    /// P at the weights or at what the method proposes instead, whichever is lower.
    fn objective(&self, solver: &dyn Solver) -> f64 {
        let Perfect { data, problem, .. } = &self.run;
        let rows = data.matrix.rows();
        let mut local = Local::new(data, 0..rows, *problem);
        let mut predictions = vec![0.0; rows];
        let mut at = |weights: &[f64]| {
            local.predict(weights, &mut predictions);
            let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
            local.loss(&predictions) / rows as f64 + problem.lambda / 2.0 * squares
        };
        let (weights, proposal) = (solver.weights(), solver.proposal());
        let here = at(weights);
        if weights.as_ptr() == proposal.as_ptr() { here } else { at(proposal).min(here) }
    }
}

/// One worker's connection to the others.
struct Place<'a> {
    rank: usize,
    room: &'a Room,
    yielder: &'a Yielder<(), ()>,
    turn: usize,
}

impl Place<'_> {
    /// The others get on.
    fn wait(&self) -> Result<(), Error> {
        self.yielder.suspend(());
        if self.room.broken.get() { Err(Error::WorkerLost) } else { Ok(()) }
    }

    /// One collective: `bring` is called on arrival with whether this worker is the first one, `take` when all are there.
    fn meet(
        &mut self,
        bring: impl FnOnce(&mut Vec<f64>, bool),
        take: impl FnOnce(&[f64]),
    ) -> Result<(), Error> {
        let (exchange, workers) = (&self.room.exchanges[self.turn], self.size());
        self.turn = 1 - self.turn;
        {
            let mut exchange = exchange.borrow_mut();
            let first = exchange.arrived == workers || exchange.arrived == 0;
            exchange.arrived = if first { 1 } else { exchange.arrived + 1 };
            bring(&mut exchange.buffer, first);
        }
        self.wait()?;
        while exchange.borrow().arrived < workers {
            self.wait()?;
        }
        take(&exchange.borrow().buffer);
        Ok(())
    }
}

impl Transport for Place<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.room.run.workers
    }

    fn now(&self) -> Seconds {
        Seconds(0.0)
    }

    fn charge(&mut self, _: Work) {}

    fn clock(&mut self, _: bool) {}

    /// Workers arrive in the order of ranks, so sums are added in that order, as in the engines.
    fn sum(&mut self, buffer: &mut [f64]) -> Result<(), Error> {
        let length = buffer.len();
        let buffer = RefCell::new(buffer);
        self.meet(
            |sum, first| {
                if first {
                    sum.clear();
                    sum.resize(length, 0.0);
                }
                sum.iter_mut().zip(buffer.borrow().iter()).for_each(|(sum, value)| *sum += value);
            },
            |sum| buffer.borrow_mut().copy_from_slice(sum),
        )
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [f64]) -> Result<(), Error> {
        let mine = self.rank == root;
        let buffer = RefCell::new(buffer);
        self.meet(
            |sent, _| {
                if mine {
                    sent.clear();
                    sent.extend_from_slice(&buffer.borrow());
                }
            },
            |sent| buffer.borrow_mut().copy_from_slice(sent),
        )
    }

    fn send(&mut self, to: usize, message: &[u8]) -> Result<(), Error> {
        self.room.mail[to].borrow_mut().push_back((self.rank, message.to_vec()));
        Ok(())
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Error> {
        loop {
            let mut mail = self.room.mail[self.rank].borrow_mut();
            if let Some(at) = mail.iter().position(|(sender, _)| *sender == from) {
                return Ok(mail.remove(at).expect("found just now").1);
            }
            drop(mail);
            self.wait()?;
        }
    }

    fn share(&mut self, values: &[f64]) -> Result<Arc<SharedMemory>, Error> {
        let mut memory = self.room.memory.borrow_mut();
        Ok(Arc::clone(memory.get_or_insert_with(|| Arc::new(SharedMemory::new(values)))))
    }

    fn turn(&mut self, until: u64) -> Result<Option<usize>, Error> {
        loop {
            self.wait()?;
            if self.room.steps.get() >= until / PARTS {
                return Ok(None);
            }
            if self.room.next.get() == self.rank {
                return Ok(Some(1));
            }
        }
    }

    fn made(&mut self, steps: u64) {
        self.room.steps.set(self.room.steps.get() + steps);
        self.room.next.set((self.rank + 1) % self.size());
    }

    fn steps(&self) -> u64 {
        self.room.steps.get()
    }
}

#[cfg(test)]
mod tests {
    use hemingway_data::{LoadOptions, load};
    use hemingway_train::{
        Cluster, Engine, Event, Job, Loss, Machine, Parameters, Scoring, Simulated, Start, StopRules,
    };

    use super::*;

    #[test]
    fn rounds_are_those_of_the_simulated_engine() {
        let data = load("synthetic:text,rows=200,features=50", &LoadOptions::default()).unwrap();
        let problem = Problem::new(Loss::Logistic, 1e-2).unwrap();
        let dadm = || {
            hemingway_train::algorithm("dadm", &Parameters { batch: Some(4), ..Parameters::default() })
                .expect("in the catalogue")
        };
        let algorithm = dadm();
        let job = Job {
            problem,
            algorithm: algorithm.as_ref(),
            workers: 4,
            seed: 7,
            stop: StopRules { rounds: Some(20), ..StopRules::default() },
            scoring: Scoring::Every(1),
            start: Start::Zero,
            checkpoint_every: None,
            interrupt: None,
            hand_over: None,
        };
        let mut simulated = Vec::new();
        let mut note = |event: Event| {
            if let Event::Point(point) = event {
                simulated.push((point.round as f64, point.current));
            }
            Ok(())
        };
        Simulated::new(Cluster::of(Machine::default())).run(&data, &job, &mut note).unwrap();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let (to, perfect) = (Rc::clone(&seen), Rc::new(data.clone()));
        let perfect = Perfect { data: perfect, problem, algorithm: dadm(), workers: 4, seed: 7 };
        perfect
            .run(Box::new(move |rounds, objective| {
                to.borrow_mut().push((rounds, objective));
                rounds < 20.0
            }))
            .unwrap();
        assert!(seen.borrow().len() > 10);
        for (round, objective) in seen.borrow().iter() {
            let there = simulated.iter().find(|point| point.0 == *round).expect("every round was scored").1;
            assert!((there - objective).abs() < 1e-12, "round {round}: {objective}, {there}");
        }
    }
}
