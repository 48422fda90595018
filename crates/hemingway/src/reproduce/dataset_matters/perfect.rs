//! The paper's perfect computer: any number of workers that are equally fast, on a network that takes no time.
//!
//! Without times there is no clock, only an order. Workers are coroutines of one thread and take turns, worker 0 first. Where
//! they wait for one another, each runs until all have met. Where they do not, each makes one step in its turn, so a step
//! misses those of all other workers, the paper's τ = m − 1. Nothing is scored but the held-out loss, and that costs nothing.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use hemingway_data::{Dataset, shard};
use hemingway_train::{
    Algorithm, Error, Local, Model, Needs, Problem, Request, Seconds, SharedMemory, Transport, Work, Worker,
    predict,
};

/// A run to be made.
pub(super) struct Run {
    pub training: Arc<Dataset>,
    pub heldout: Arc<Dataset>,
    pub problem: Problem,
    pub algorithm: Box<dyn Algorithm>,
    /// Rows of an iteration where workers do not wait for one another.
    pub rows: u64,
    pub workers: usize,
    pub seed: u64,
    /// Rows are visited in their order, dealt to the workers like cards.
    pub in_order: bool,
    /// The iterations after which the held-out loss is taken, increasing.
    pub stops: Vec<u64>,
}

/// Enough for the shallow calls of a solver, as in the engines.
const STACK_BYTES: usize = 1 << 20;

impl Run {
    /// The held-out loss at the beginning and at each stop; nothing if interrupted.
    pub fn losses(mut self, interrupt: &AtomicBool) -> Result<Option<Vec<f64>>, Error> {
        if self.in_order {
            self.training = Arc::new(dealt(&self.training, self.workers));
        }
        let workers = self.workers;
        let room = Rc::new(Room::new(self));
        let mut coroutines: Vec<_> = (0..workers)
            .map(|rank| {
                let room = Rc::clone(&room);
                let stack = DefaultStack::new(STACK_BYTES).expect("memory for a stack");
                Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| room.work(rank, yielder))
            })
            .collect();
        let mut failed = None;
        while coroutines.iter().any(|each| !each.done()) {
            for coroutine in coroutines.iter_mut().filter(|each| !each.done()) {
                if let CoroutineResult::Return(Err(error)) = coroutine.resume(()) {
                    room.over.set(true);
                    failed = failed.or(Some(error));
                }
            }
            if interrupt.load(Ordering::Relaxed) {
                room.over.set(true);
            }
        }
        match failed {
            Some(_) if interrupt.load(Ordering::Relaxed) => Ok(None),
            Some(error) => Err(error),
            None => Ok(Some(room.losses.take())),
        }
    }
}

/// The rows in the order in which consecutive shards are what each of so many workers gets when they are dealt like cards.
fn dealt(data: &Dataset, workers: usize) -> Dataset {
    let rows: Vec<usize> =
        (0..workers).flat_map(|rank| (rank..data.matrix.rows()).step_by(workers)).collect();
    data.rows_at(&rows)
}

/// What the workers share. Collectives alternate between two exchanges, since nobody is two collectives ahead.
struct Room {
    run: Run,
    exchanges: [RefCell<Exchange>; 2],
    mail: Vec<RefCell<Mailbox>>,
    memory: RefCell<Option<Arc<SharedMemory>>>,
    /// Rows that asynchronous steps were made on, and how many there are to be at the next stop.
    steps: Cell<u64>,
    until: Cell<u64>,
    losses: RefCell<Vec<f64>>,
    over: Cell<bool>,
}

/// Messages that were not yet received, each with its sender.
type Mailbox = VecDeque<(usize, Vec<u8>)>;

/// A collective under way.
#[derive(Default)]
struct Exchange {
    arrived: usize,
    buffer: Vec<f64>,
}

impl Room {
    fn new(run: Run) -> Room {
        Room {
            exchanges: Default::default(),
            mail: (0..run.workers).map(|_| RefCell::default()).collect(),
            memory: RefCell::default(),
            steps: Cell::new(0),
            until: Cell::new(0),
            losses: RefCell::default(),
            over: Cell::new(false),
            run,
        }
    }

    /// One worker, from its first round to its last.
    fn work(&self, rank: usize, yielder: &Yielder<(), ()>) -> Result<(), Error> {
        let Run { training, problem, algorithm, rows, workers, seed, in_order, stops, .. } = &self.run;
        let mut place = Place { rank, room: self, yielder, turn: 0 };
        let local = Local::new(training, shard(training.matrix.rows(), *workers, rank), *problem);
        let mut worker = Worker::new(local, *seed, &mut place);
        if *in_order {
            worker = worker.in_order();
        }
        let mut solver = algorithm.start(&mut worker, &Model::zero(training.matrix.columns()), None)?;
        self.score(rank, solver.weights());
        let mut last = 0;
        for &stop in stops {
            self.until.set(stop * rows);
            let rounds = match algorithm.needs() {
                Needs::Collectives | Needs::Neighbours => stop - last,
                // They end their round at the stop.
                Needs::SharedMemory | Needs::Servers(_) => 1,
            };
            for _ in 0..rounds {
                solver.round(&mut worker)?;
                yielder.suspend(());
                if self.over.get() {
                    return Err(Error::WorkerLost);
                }
            }
            solver.bring_together(&mut worker)?;
            self.score(rank, solver.weights());
            last = stop;
        }
        Ok(())
    }

    fn score(&self, rank: usize, weights: &[f64]) {
        if rank == 0 {
            let Run { heldout, problem, .. } = &self.run;
            let predictions = predict(heldout, weights);
            let losses = predictions.iter().zip(&heldout.targets);
            let sum: f64 = losses.map(|(p, y)| problem.loss.value(*p, f64::from(*y))).sum();
            self.losses.borrow_mut().push(sum / predictions.len() as f64);
        }
    }
}

/// One worker's place in the room.
struct Place<'a> {
    rank: usize,
    room: &'a Room,
    yielder: &'a Yielder<(), ()>,
    /// Which of the exchanges is next.
    turn: usize,
}

impl Place<'_> {
    /// Everyone else has a turn.
    fn pause(&self) -> Result<(), Error> {
        self.yielder.suspend(());
        if self.room.over.get() { Err(Error::WorkerLost) } else { Ok(()) }
    }

    /// One collective: `bring` is called on arrival with whether this worker is the first one, `take` when all are there.
    fn meet(
        &mut self,
        bring: impl FnOnce(&mut Vec<f64>, bool),
        take: impl FnOnce(&[f64]),
    ) -> Result<(), Error> {
        let exchange = &self.room.exchanges[self.turn];
        self.turn = 1 - self.turn;
        {
            let Exchange { arrived, buffer } = &mut *exchange.borrow_mut();
            *arrived %= self.room.run.workers;
            bring(buffer, *arrived == 0);
            *arrived += 1;
        }
        // Who comes last pauses too, so that turns stay in order.
        loop {
            self.pause()?;
            if exchange.borrow().arrived == self.room.run.workers {
                break;
            }
        }
        take(&exchange.borrow().buffer);
        Ok(())
    }

    fn memory(&self) -> Arc<SharedMemory> {
        self.room.memory.borrow().clone().expect("weights are shared before they are asked for")
    }

    /// Whether this worker's turn has come before the next stop has.
    fn has_turn(&self) -> Result<bool, Error> {
        self.pause()?;
        Ok(self.room.steps.get() < self.room.until.get())
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

    /// Added in the order of arrival, which is always the same.
    fn sum(&mut self, buffer: &mut [f64]) -> Result<(), Error> {
        let buffer = RefCell::new(buffer);
        self.meet(
            |sum, first| {
                if first {
                    sum.clear();
                    sum.resize(buffer.borrow().len(), 0.0);
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
            {
                let mut mail = self.room.mail[self.rank].borrow_mut();
                if let Some(at) = mail.iter().position(|(sender, _)| *sender == from) {
                    return Ok(mail.remove(at).expect("found just now").1);
                }
            }
            self.pause()?;
        }
    }

    fn share(&mut self, values: &[f64]) -> Result<Arc<SharedMemory>, Error> {
        let mut memory = self.room.memory.borrow_mut();
        Ok(memory.get_or_insert_with(|| Arc::new(SharedMemory::new(values))).clone())
    }

    fn turn(&mut self, _: u64) -> Result<Option<usize>, Error> {
        Ok(self.has_turn()?.then_some(1))
    }

    fn made(&mut self, steps: u64) {
        self.room.steps.set(self.room.steps.get() + steps);
    }

    fn steps(&self) -> u64 {
        self.room.steps.get()
    }

    fn serve(&mut self, values: &[f64]) -> Result<(), Error> {
        self.share(values).map(drop)
    }

    fn look(&mut self, values: &mut [f64]) -> Result<(), Error> {
        self.memory().read(values);
        Ok(())
    }

    fn exchange(&mut self, request: &Request, _: u64, answer: &mut Vec<f64>) -> Result<bool, Error> {
        if !self.has_turn()? {
            return Ok(false);
        }
        let memory = self.memory();
        for (at, value) in request.add_at.iter().zip(&request.add) {
            memory.add(*at as usize, *value);
        }
        answer.clear();
        answer.extend(request.read_at.iter().map(|at| memory.get(*at as usize)));
        self.made(request.steps);
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
