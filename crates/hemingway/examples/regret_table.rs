//! Every fixed configuration of one problem, timed on several clusters at once: the oracle of `bench/regret`.
//!
//! What a run computes depends on the algorithm, the workers and the seed, not on the cluster; only the clock does. So
//! each configuration trains once, and its workers carry one virtual clock for each cluster, moved by the same rules and
//! the same luck as those of the simulated engine. One run is a line of JSON, added to a file when it ends: a second call
//! goes on where the first one stopped.
//!
//! A run ends at the last goal, or once it has lost on every cluster: after so many times the best time known.
//!
//!     regret_table REQUEST.json TABLE.jsonl

use std::collections::HashSet;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hemingway_data::{Dataset, LabelColumn, LoadOptions, load, shard};
use hemingway_train::{
    Cluster, Event, Job, Local, Loss, Meeting, Parameters, Point, Problem, Run, Scoring, Seconds, Start,
    StopRules, Transport, Work, Worker, algorithm, drive,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// One problem, and what to try on it.
#[derive(Deserialize)]
struct Request {
    data: String,
    label_last: bool,
    positive: Option<String>,
    loss: Loss,
    lambda: f64,
    seed: u64,
    clusters: Vec<String>,
    /// Certified errors, the smallest last.
    goals: Vec<f64>,
    /// The first ones should be good, since they bound the others.
    configurations: Vec<Configuration>,
    /// Real seconds after which a run is given up.
    patience: f64,
}

#[derive(Serialize, Deserialize, Clone)]
struct Configuration {
    algorithm: String,
    workers: usize,
    local_steps: Option<usize>,
    /// Has lost after this many times the best time.
    factor: u32,
}

impl Configuration {
    fn key(&self) -> (String, usize, Option<usize>) {
        (self.algorithm.clone(), self.workers, self.local_steps)
    }
}

/// One line of the table.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    configuration: Configuration,
    /// Why it ended: `goal`, `lost`, `patience`, or a stop of training itself.
    stop: String,
    rounds: u64,
    host_seconds: f64,
    /// First seconds at each goal on each cluster: `reached[goal][cluster]`, absent where it was not reached.
    reached: Vec<Option<Vec<f64>>>,
    /// Scored rounds, thinned: round, certified error, P, its lower bound, then seconds on each cluster.
    points: Vec<Vec<f64>>,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [request, table] = arguments.as_slice() else {
        return Err("usage: regret_table REQUEST.json TABLE.jsonl".into());
    };
    let request: Request = serde_json::from_reader(BufReader::new(File::open(request)?))?;
    let clusters = request.clusters.iter().map(|file| cluster(file)).collect::<Outcome<Vec<_>>>()?;
    let data = load(
        &request.data,
        &LoadOptions {
            label: if request.label_last { LabelColumn::Last } else { LabelColumn::Auto },
            positive: request.positive.clone(),
            ..LoadOptions::default()
        },
    )?;
    let mut lines = read_table(Path::new(table))?;
    let done: HashSet<_> = lines.iter().map(|line| line.configuration.key()).collect();
    let mut file = OpenOptions::new().create(true).append(true).open(table)?;
    for configuration in &request.configurations {
        if done.contains(&configuration.key()) {
            continue;
        }
        let bounds = bounds(&lines, clusters.len(), configuration.factor);
        let line = try_out(&request, &data, &clusters, configuration, &bounds)?;
        file.write_all(format!("{}\n", serde_json::to_string(&line)?).as_bytes())?;
        lines.push(line);
    }
    Ok(())
}

fn cluster(file: &str) -> Outcome<Cluster> {
    Ok(Cluster::from_toml(file, &std::fs::read_to_string(file)?)?)
}

fn read_table(path: &Path) -> Outcome<Vec<Line>> {
    match File::open(path) {
        Ok(file) => BufReader::new(file).lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect(),
        Err(_) => Ok(Vec::new()),
    }
}

/// The time on each cluster after which a run has lost: so many times the best one to the last goal.
fn bounds(lines: &[Line], clusters: usize, factor: u32) -> Vec<f64> {
    let at_last_goal: Vec<_> = lines.iter().filter_map(|line| line.reached.last()?.as_ref()).collect();
    let best = |at: usize| at_last_goal.iter().map(|seconds| seconds[at]).fold(f64::INFINITY, f64::min);
    (0..clusters).map(|at| f64::from(factor) * best(at)).collect()
}

/// Trains with one configuration.
fn try_out(
    request: &Request,
    data: &Dataset,
    clusters: &[Cluster],
    configuration: &Configuration,
    bounds: &[f64],
) -> Outcome<Line> {
    let parameters = Parameters { local_steps: configuration.local_steps, ..Parameters::default() };
    let algorithm = algorithm(&configuration.algorithm, &parameters)?;
    let interrupt = AtomicBool::new(false);
    let job = Job {
        problem: Problem::new(request.loss, request.lambda)?,
        algorithm: algorithm.as_ref(),
        workers: configuration.workers,
        seed: request.seed,
        stop: StopRules { rounds: Some(MOST_ROUNDS), ..StopRules::default() },
        scoring: Scoring::Share(SCORING),
        start: Start::Zero,
        checkpoint_every: None,
        interrupt: Some(&interrupt),
        hand_over: None,
    };
    let clocks = Mutex::new(vec![0.0; clusters.len()]);
    let begun = Instant::now();
    let mut seen =
        Seen { goals: &request.goals, reached: vec![None; request.goals.len()], points: Vec::new() };
    let mut ended = None;
    let outcome = run(data, &job, clusters, &clocks, &mut |point| {
        let seconds = clocks.lock().expect("no worker panics here").clone();
        seen.add(point, &seconds);
        ended = if seen.reached.last().is_some_and(Option::is_some) {
            Some("goal")
        } else if seconds.iter().zip(bounds).all(|(seconds, bound)| seconds > bound) {
            Some("lost")
        } else if begun.elapsed().as_secs_f64() > request.patience {
            Some("patience")
        } else {
            None
        };
        interrupt.store(ended.is_some(), Ordering::Relaxed);
    });
    let stop = match (ended, &outcome) {
        (Some(reason), _) => reason.to_string(),
        (None, Ok(run)) => run.stop.reason().to_string(),
        (None, Err(error)) => error.to_string(),
    };
    Ok(Line {
        configuration: configuration.clone(),
        stop,
        rounds: outcome.map_or(0, |run| run.rounds),
        host_seconds: begun.elapsed().as_secs_f64(),
        reached: seen.reached,
        points: seen.points,
    })
}

/// No run needs more.
const MOST_ROUNDS: u64 = 200_000;
/// Half of the work may be scoring: the time of a goal is then known to about a pass over the data.
const SCORING: f64 = 0.5;

/// What was seen of a run.
struct Seen<'a> {
    goals: &'a [f64],
    reached: Vec<Option<Vec<f64>>>,
    points: Vec<Vec<f64>>,
}

impl Seen<'_> {
    fn add(&mut self, point: &Point, seconds: &[f64]) {
        let mut news = false;
        for (reached, goal) in self.reached.iter_mut().zip(self.goals) {
            if reached.is_none() && point.dual > 0.0 && point.certified_error <= *goal {
                *reached = Some(seconds.to_vec());
                news = true;
            }
        }
        let last = self.points.last().map_or(0.0, |point| point[0]);
        if news || point.round as f64 >= THINNING * last {
            let figures = [point.round as f64, point.certified_error, point.primal, point.dual];
            self.points.push(figures.iter().chain(seconds).copied().collect());
        }
    }
}

/// Kept points are this factor of rounds apart.
const THINNING: f64 = 1.01;

/// Runs a job with one thread per worker, as the engines do.
fn run(
    data: &Dataset,
    job: &Job,
    clusters: &[Cluster],
    clocks: &Mutex<Vec<f64>>,
    observe: &mut dyn FnMut(&Point),
) -> Result<Run, hemingway_train::Error> {
    let meeting = Meeting::new(job.workers, false);
    let brought = [0, 1].map(|_| (0..job.workers).map(|_| Mutex::default()).collect());
    let (meeting, brought, begun) = (&meeting, &brought, Instant::now());
    let work = move |rank: usize, observe: &mut dyn FnMut(&Point)| {
        let mut clock = Clocks::new(rank, job, meeting, brought, clusters, clocks);
        let local = Local::new(data, shard(data.matrix.rows(), job.workers, rank), job.problem);
        let mut worker = Worker::new(local, job.seed, &mut clock);
        let mut tell = |event: Event| {
            if let Event::Point(point) = event {
                observe(point);
            }
            Ok(())
        };
        let outcome = drive(&mut worker, job, begun, &mut tell);
        if outcome.is_err() {
            meeting.break_up();
        }
        outcome
    };
    std::thread::scope(|scope| {
        for rank in 1..job.workers {
            scope.spawn(move || work(rank, &mut |_| ()));
        }
        work(0, observe).map(|run| run.expect("worker 0 returns the run"))
    })
}

/// What workers bring to a collective: their clocks. Two sets in turn, since nobody is two collectives ahead.
type Brought = [Vec<Mutex<Vec<f64>>>; 2];

/// One worker with a virtual clock for each cluster.
struct Clocks<'a> {
    rank: usize,
    size: usize,
    meeting: &'a Meeting,
    brought: &'a Brought,
    turn: usize,
    clusters: &'a [Cluster],
    clocks: Vec<f64>,
    /// Where worker 0 shows its clocks.
    shown: &'a Mutex<Vec<f64>>,
    running: bool,
    luck: Xoshiro256PlusPlus,
}

impl<'a> Clocks<'a> {
    fn new(
        rank: usize,
        job: &Job,
        meeting: &'a Meeting,
        brought: &'a Brought,
        clusters: &'a [Cluster],
        shown: &'a Mutex<Vec<f64>>,
    ) -> Clocks<'a> {
        Clocks {
            rank,
            size: job.workers,
            meeting,
            brought,
            turn: 0,
            clusters,
            clocks: vec![0.0; clusters.len()],
            shown,
            running: true,
            luck: Xoshiro256PlusPlus::seed_from_u64(
                job.seed ^ (rank as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            ),
        }
    }

    fn bring(&mut self) {
        self.turn = 1 - self.turn;
        *self.brought[self.turn][self.rank].lock().expect("nobody panics here") = self.clocks.clone();
    }

    /// Everyone leaves a collective at the same moment.
    fn leave(&mut self, cost: impl Fn(&Cluster) -> f64) {
        if self.running {
            for brought in &self.brought[self.turn] {
                let theirs = brought.lock().expect("nobody panics here");
                self.clocks
                    .iter_mut()
                    .zip(theirs.iter())
                    .for_each(|(mine, theirs)| *mine = mine.max(*theirs));
            }
            self.clocks.iter_mut().zip(self.clusters).for_each(|(clock, cluster)| *clock += cost(cluster));
        }
    }
}

impl Transport for Clocks<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn now(&self) -> Seconds {
        if self.rank == 0 {
            self.shown.lock().expect("nobody panics here").clone_from(&self.clocks);
        }
        Seconds(self.clocks[0])
    }

    fn charge(&mut self, work: Work) {
        if self.running && work != Work::default() {
            let chance = (self.luck.random::<f64>(), self.luck.random::<f64>());
            for (clock, cluster) in self.clocks.iter_mut().zip(self.clusters) {
                *clock += cluster.seconds(self.rank, work) * cluster.stragglers.factor(chance);
            }
        }
    }

    fn clock(&mut self, running: bool) {
        self.running = running;
    }

    fn sum(&mut self, buffer: &mut [f64]) -> Result<(), hemingway_train::Error> {
        self.bring();
        self.meeting.sum(self.rank, 0.0, buffer)?;
        let size = self.size;
        self.leave(|cluster| cluster.network.sum_seconds(size, buffer.len()));
        Ok(())
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [f64]) -> Result<(), hemingway_train::Error> {
        self.bring();
        self.meeting.broadcast(self.rank, root, 0.0, buffer)?;
        let size = self.size;
        self.leave(|cluster| cluster.network.broadcast_seconds(size, buffer.len()));
        Ok(())
    }

    fn send(&mut self, to: usize, message: &[f64]) -> Result<(), hemingway_train::Error> {
        assert!(!self.running, "no algorithm of the catalogue sends messages while the clock runs");
        self.meeting.send(self.rank, to, 0.0, message);
        Ok(())
    }

    fn receive(&mut self, from: usize, message: &mut [f64]) -> Result<(), hemingway_train::Error> {
        self.meeting.receive(self.rank, from, message).map(|_| ())
    }
}
