//! A simulated run with one virtual clock for each of several clusters.
//!
//! What a run computes depends on the algorithm, the workers and the seed, not on the cluster; only the clock does. So one
//! run serves all clusters. Its clocks follow the rules and the luck of the simulated engine: the seconds are the same.
//!
//! Workers are coroutines of one thread rather than threads, because 256 threads that meet in every round spend most of
//! their time on waking each other. Each runs until its next collective; when all have, the collective is complete.
//!
//! What asynchronous methods compute does depend on the clock. They run on the simulated engine itself, on one cluster.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use hemingway_data::{Dataset, shard};
use hemingway_train::{
    Algorithm, Cluster, Engine, Error, Event, Job, Local, Needs, Point, Problem, Run, Scoring, Seconds,
    Simulated, Start, StopRules, Transport, Work, Worker, drive,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A run to be made.
pub struct Simulation {
    pub data: Rc<Dataset>,
    pub problem: Problem,
    pub algorithm: Box<dyn Algorithm>,
    pub workers: usize,
    pub seed: u64,
    pub clusters: Vec<Cluster>,
}

/// Gets each scored point and the seconds on each cluster; answers whether the run goes on.
pub type Observe = Box<dyn FnMut(&Point, &[f64]) -> bool>;

/// Enough for the shallow calls of a solver, as in the engines.
const STACK_BYTES: usize = 1 << 20;
/// No run needs more.
const MOST_ROUNDS: u64 = 200_000;
/// What the simulated engine spends on scoring where nothing else is asked for.
const SCORING: f64 = 0.5;

impl Simulation {
    pub fn run(self, observe: Observe) -> Result<Run, Error> {
        match self.algorithm.needs() {
            Needs::Collectives | Needs::Neighbours => self.run_on_all(observe),
            Needs::SharedMemory | Needs::Servers(_) => self.run_on_one(observe),
        }
    }

    fn run_on_one(self, mut observe: Observe) -> Result<Run, Error> {
        let [cluster] = self.clusters.as_slice() else {
            panic!("what an asynchronous method computes depends on the cluster");
        };
        let interrupt = AtomicBool::new(false);
        Simulated::new(cluster.clone()).run(&self.data, &self.job(&interrupt), &mut |event| {
            if let Event::Point(point) = event {
                let goes_on = observe(point, &[point.seconds.0]);
                interrupt.store(!goes_on, Ordering::Relaxed);
            }
            Ok(())
        })
    }

    fn job<'a>(&'a self, interrupt: &'a AtomicBool) -> Job<'a> {
        Job {
            problem: self.problem,
            algorithm: self.algorithm.as_ref(),
            workers: self.workers,
            seed: self.seed,
            stop: StopRules { rounds: Some(MOST_ROUNDS), ..StopRules::default() },
            scoring: Scoring::Share(SCORING),
            start: Start::Zero,
            checkpoint_every: None,
            interrupt: Some(interrupt),
            hand_over: None,
        }
    }

    fn run_on_all(self, observe: Observe) -> Result<Run, Error> {
        let workers = self.workers;
        let room = Rc::new(Room::new(self, observe));
        let mut coroutines: Vec<_> = (0..workers)
            .map(|rank| {
                let room = Rc::clone(&room);
                let stack = DefaultStack::new(STACK_BYTES).expect("memory for a stack");
                Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| room.work(rank, yielder))
            })
            .collect();
        let mut outcome = None;
        while coroutines.iter().any(|each| !each.done()) {
            for coroutine in coroutines.iter_mut().filter(|each| !each.done()) {
                match coroutine.resume(()) {
                    CoroutineResult::Yield(()) | CoroutineResult::Return(Ok(None)) => {}
                    CoroutineResult::Return(Ok(Some(run))) => outcome = outcome.or(Some(Ok(run))),
                    CoroutineResult::Return(Err(error)) => {
                        room.broken.set(true);
                        outcome = outcome.or(Some(Err(error)));
                    }
                }
            }
        }
        outcome.expect("worker 0 returns the run")
    }
}

/// What the workers share. Collectives alternate between two exchanges, since nobody is two collectives ahead.
struct Room {
    simulation: Simulation,
    observe: RefCell<Observe>,
    /// The clocks of worker 0 when they were last read.
    shown: RefCell<Vec<f64>>,
    exchanges: [RefCell<Exchange>; 2],
    mail: Vec<RefCell<Mailbox>>,
    interrupt: AtomicBool,
    broken: Cell<bool>,
}

/// Messages that were not yet received.
type Mailbox = VecDeque<Message>;

struct Message {
    from: usize,
    /// When it left on each cluster.
    sent: Vec<f64>,
    bytes: Vec<u8>,
}

/// A collective under way.
#[derive(Default)]
struct Exchange {
    arrived: usize,
    buffer: Vec<f64>,
    /// The latest clock on each cluster.
    latest: Vec<f64>,
}

impl Room {
    fn new(simulation: Simulation, observe: Observe) -> Room {
        Room {
            observe: RefCell::new(observe),
            shown: RefCell::new(vec![0.0; simulation.clusters.len()]),
            exchanges: Default::default(),
            mail: (0..simulation.workers).map(|_| RefCell::default()).collect(),
            interrupt: AtomicBool::new(false),
            broken: Cell::new(false),
            simulation,
        }
    }

    /// One worker, from its first round to its last.
    fn work(&self, rank: usize, yielder: &Yielder<(), ()>) -> Result<Option<Run>, Error> {
        let Simulation { data, problem, workers, seed, .. } = &self.simulation;
        let job = self.simulation.job(&self.interrupt);
        let mut clocks = Clocks::new(rank, self, yielder);
        let local = Local::new(data, shard(data.matrix.rows(), *workers, rank), *problem);
        let mut worker = Worker::new(local, *seed, &mut clocks);
        drive(&mut worker, &job, Instant::now(), &mut |event| {
            if let Event::Point(point) = event {
                let goes_on = (self.observe.borrow_mut())(point, &self.shown.borrow());
                self.interrupt.store(!goes_on, Ordering::Relaxed);
            }
            Ok(())
        })
    }
}

/// One worker with a virtual clock for each cluster.
struct Clocks<'a> {
    rank: usize,
    room: &'a Room,
    yielder: &'a Yielder<(), ()>,
    clocks: Vec<f64>,
    /// Until when, on each cluster, this worker's link is busy with what it receives, and with what it sends.
    link_in: Vec<f64>,
    link_out: Vec<f64>,
    turn: usize,
    running: bool,
    luck: Xoshiro256PlusPlus,
}

impl<'a> Clocks<'a> {
    fn new(rank: usize, room: &'a Room, yielder: &'a Yielder<(), ()>) -> Clocks<'a> {
        let seed = room.simulation.seed ^ (rank as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let zeros = vec![0.0; room.simulation.clusters.len()];
        Clocks {
            rank,
            room,
            yielder,
            clocks: zeros.clone(),
            link_in: zeros.clone(),
            link_out: zeros,
            turn: 0,
            running: true,
            luck: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// One collective: `bring` is called on arrival with whether this worker is the first one, `take` when all are there.
    fn meet(
        &mut self,
        bring: impl FnOnce(&mut Vec<f64>, bool),
        take: impl FnOnce(&[f64]),
        cost: impl Fn(&Cluster) -> f64,
    ) -> Result<(), Error> {
        let room = self.room;
        let exchange = &room.exchanges[self.turn];
        self.turn = 1 - self.turn;
        exchange.borrow_mut().arrive(room.simulation.workers, &self.clocks, bring);
        self.yielder.suspend(());
        if room.broken.get() {
            return Err(Error::WorkerLost);
        }
        let exchange = exchange.borrow();
        assert_eq!(exchange.arrived, room.simulation.workers, "all workers meet in the same collective");
        take(&exchange.buffer);
        if self.running {
            for ((clock, latest), cluster) in
                self.clocks.iter_mut().zip(&exchange.latest).zip(&room.simulation.clusters)
            {
                *clock = latest + cost(cluster);
            }
        }
        Ok(())
    }
}

impl Exchange {
    fn arrive(&mut self, workers: usize, clocks: &[f64], bring: impl FnOnce(&mut Vec<f64>, bool)) {
        let first = self.arrived == workers || self.arrived == 0;
        if first {
            self.arrived = 0;
            self.latest.clear();
            self.latest.extend_from_slice(clocks);
        }
        self.arrived += 1;
        self.latest.iter_mut().zip(clocks).for_each(|(latest, clock)| *latest = latest.max(*clock));
        bring(&mut self.buffer, first);
    }
}

impl Transport for Clocks<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.room.simulation.workers
    }

    fn now(&self) -> Seconds {
        if self.rank == 0 {
            self.room.shown.borrow_mut().clone_from(&self.clocks);
        }
        Seconds(self.clocks[0])
    }

    fn charge(&mut self, work: Work) {
        if self.running && work != Work::default() {
            let chance = (self.luck.random::<f64>(), self.luck.random::<f64>());
            for (clock, cluster) in self.clocks.iter_mut().zip(&self.room.simulation.clusters) {
                *clock += cluster.seconds(self.rank, work) * cluster.stragglers.factor(chance);
            }
        }
    }

    fn clock(&mut self, running: bool) {
        self.running = running;
    }

    /// Workers arrive in the order of ranks, so sums are added in that order, as in the engines.
    fn sum(&mut self, buffer: &mut [f64]) -> Result<(), Error> {
        let (size, length) = (self.size(), buffer.len());
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
            |cluster| cluster.network.sum_seconds(size, length),
        )
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [f64]) -> Result<(), Error> {
        let (size, length, mine) = (self.size(), buffer.len(), self.rank == root);
        let buffer = RefCell::new(buffer);
        self.meet(
            |sent, _| {
                if mine {
                    sent.clear();
                    sent.extend_from_slice(&buffer.borrow());
                }
            },
            |sent| buffer.borrow_mut().copy_from_slice(sent),
            |cluster| cluster.network.broadcast_seconds(size, length),
        )
    }

    /// Messages to several workers leave one after the other.
    fn send(&mut self, to: usize, message: &[u8]) -> Result<(), Error> {
        let clusters = &self.room.simulation.clusters;
        if self.running {
            for ((busy, clock), cluster) in self.link_out.iter_mut().zip(&self.clocks).zip(clusters) {
                *busy = busy.max(*clock) + cluster.network.transfer_seconds(message.len());
            }
        }
        let message = Message { from: self.rank, sent: self.link_out.clone(), bytes: message.to_vec() };
        self.room.mail[to].borrow_mut().push_back(message);
        Ok(())
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Error> {
        let message = self.next_from(from)?;
        if self.running {
            let clusters = &self.room.simulation.clusters;
            let links = self.link_in.iter_mut().zip(&mut self.clocks);
            for (((busy, clock), sent), cluster) in links.zip(&message.sent).zip(clusters) {
                let transfer = cluster.network.transfer_seconds(message.bytes.len());
                *busy = (sent + cluster.network.latency).max(*busy + transfer);
                *clock = clock.max(*busy);
            }
        }
        Ok(message.bytes)
    }
}

impl Clocks<'_> {
    fn next_from(&mut self, from: usize) -> Result<Message, Error> {
        loop {
            let mut mail = self.room.mail[self.rank].borrow_mut();
            if let Some(at) = mail.iter().position(|message| message.from == from) {
                return Ok(mail.remove(at).expect("found just now"));
            }
            drop(mail);
            if self.room.broken.get() {
                return Err(Error::WorkerLost);
            }
            self.yielder.suspend(());
        }
    }
}
