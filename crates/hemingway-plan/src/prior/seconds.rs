//! Seconds per round on a cluster, before the first round was made.
//!
//! The trainer meters what its kernels do, and the simulated engine turns that into time; here both are foretold. A
//! round is a few stretches of local work, each ended by a sum over all workers: the slowest worker and the cost of the
//! sum make up its time. The figures are those of the trainer's own meter; a test that runs it notices when they part.

use hemingway_train::{Cluster, Loss, Work};

use super::Glance;
use super::coefficients::AWAKE;
use super::terms::{Asked, terms};

/// What a row costs in a plain pass, and when a step is taken on it.
const ROW_FLOPS: f64 = 30.0;
const VISIT_FLOPS: f64 = 80.0;
const VISIT_LOSSES: f64 = 8.0;
/// So many weights are near; each doubling beyond makes values of sparse rows cost this share more.
const NEAR_WEIGHTS: f64 = 4096.0;
const FAR_WEIGHTS: f64 = 0.28;
/// Rows of a mini-batch over all workers, by default.
const BATCH: f64 = 256.0;
/// How often a line search tries a length.
const TRIES: f64 = 1.3;
/// What an interior point method does for each row and direction, and how many of its rounds correct their direction.
const INTERIOR_FLOPS: f64 = 20.0;
const CORRECTIONS: f64 = 0.9;

/// Local work, and the length of the sum that ends it; `times` of both in a round.
struct Stretch {
    work: Work,
    numbers: usize,
    times: f64,
}

/// Seconds that a round is expected to take, on average until the error is `error`, where 1 stands for the first round;
/// nothing for algorithms that are not known and machines that do not exist.
pub fn seconds_per_round(
    glance: &Glance,
    algorithm: &str,
    workers: usize,
    passes: f64,
    error: f64,
    cluster: &Cluster,
) -> Option<f64> {
    if workers == 0 || cluster.check_size(workers).is_err() {
        return None;
    }
    let round = Share { glance, workers: workers as f64 }.round(algorithm, passes, error)?;
    let pace = cluster.algorithms.get(algorithm).copied().unwrap_or(1.0) * waiting(cluster, workers);
    let seconds = |stretch: &Stretch| {
        let slowest = (0..workers).map(|rank| cluster.seconds(rank, stretch.work)).fold(0.0, f64::max);
        let network = &cluster.network;
        let (sum, in_a_row) = match workers {
            1 => (0.0, 0.0),
            _ => (
                network.sum_seconds(workers, stretch.numbers),
                network.sum_seconds_in_a_row(workers, stretch.numbers),
            ),
        };
        let computing = pace * slowest;
        let computing = computing + cluster.jitter.longest_delay(computing, workers);
        stretch.times * (computing + sum).max(in_a_row)
    };
    Some(round.iter().map(seconds).sum())
}

/// How many times longer the slowest of all workers is expected to take than one that nothing disturbs.
fn waiting(cluster: &Cluster, workers: usize) -> f64 {
    let stragglers = &cluster.stragglers;
    let m = workers as f64;
    let someone = 1.0 - (1.0 - stragglers.probability).powf(m);
    (1.0 + someone * (stragglers.slowdown.max(1.0) - 1.0)) * (1.0 + stragglers.noise * m / (m + 1.0))
}

/// One worker's part of the data.
struct Share<'a> {
    glance: &'a Glance,
    workers: f64,
}

impl Share<'_> {
    fn round(&self, algorithm: &str, passes: f64, error: f64) -> Option<Vec<Stretch>> {
        let (d, rows, values) = (self.glance.features, self.rows(), self.values());
        let once = |work: Work, numbers: usize| Stretch { work, numbers, times: 1.0 };
        let steps = |passes: f64, reads: f64| {
            added(self.reading(passes * reads * values), self.visiting(passes * rows))
        };
        let averaging = Work { flops: 4.0 * d as f64, bytes: 0.0 };
        Some(match algorithm {
            "cocoa" | "cocoa-plus" if self.workers == 1.0 => {
                let asked = Asked { workers: 1.0, passes, goal: -error.clamp(f64::MIN_POSITIVE, 1.0).ln() };
                vec![once(steps(passes * self.awake(asked), 2.0), d + 4)]
            }
            "cocoa" | "cocoa-plus" => vec![once(steps(passes, 1.0 + self.changed()), d + 4)],
            "local-sgd" => vec![once(added(steps(passes, 2.0), averaging), d)],
            "minibatch-sgd" => {
                let batch = BATCH.min(self.glance.rows as f64).max(self.workers) / self.workers;
                vec![once(added(steps(batch / rows, 2.0), averaging), d)]
            }
            "gradient-descent" => vec![once(steps(1.0, 2.0), d + 1)],
            "l-bfgs" => self.line_search().into(),
            "newton" => {
                let pairs = self.reading(self.glance.pairs() / self.workers);
                let solving = flops((d as f64).powi(3) / 6.0);
                let (system, half) = (added(pairs, solving), d * (d + 1) / 2);
                match self.glance.loss {
                    Loss::Hinge => {
                        let mut stretches = self.interior_point();
                        stretches.push(once(added(system, self.half_pass()), half + d));
                        stretches
                    }
                    _ => {
                        let [along, gradient] = self.line_search();
                        vec![once(system, half), along, gradient]
                    }
                }
            }
            _ => return None,
        })
    }

    /// Half a pass for each right side but the first, which goes with the system, and half a pass along each direction.
    fn interior_point(&self) -> Vec<Stretch> {
        let d = self.glance.features;
        let solving = flops((d * d) as f64 + INTERIOR_FLOPS * self.rows());
        let along = Stretch {
            work: added(self.half_pass(), solving),
            numbers: self.workers as usize + 4,
            times: 2.0 + CORRECTIONS,
        };
        vec![along, Stretch { work: self.half_pass(), numbers: d, times: 1.0 + CORRECTIONS }]
    }

    /// Predictions of all rows, or a sum over them.
    fn half_pass(&self) -> Work {
        added(self.reading(self.values()), flops(ROW_FLOPS * self.rows()))
    }

    /// Half a pass for the direction and tries along it, then half a pass for the gradient.
    fn line_search(&self) -> [Stretch; 2] {
        let half = self.half_pass();
        let try_ = flops(self.rows() * loss_flops(self.glance.loss) + half.flops / TRIES);
        let along = Work { flops: try_.flops, bytes: half.bytes / TRIES };
        let numbers = self.glance.features + 1;
        [Stretch { work: along, numbers: 2, times: TRIES }, Stretch { work: half, numbers, times: 1.0 }]
    }

    fn rows(&self) -> f64 {
        (self.glance.rows as f64 / self.workers).ceil().max(1.0)
    }

    fn values(&self) -> f64 {
        self.glance.stored() / self.glance.rows.max(1) as f64 * self.rows()
    }

    /// Stored values read, each used for a multiplication and an addition.
    fn reading(&self, values: f64) -> Work {
        if self.glance.is_dense() {
            return Work { flops: 0.5 * values, bytes: 4.0 * values };
        }
        let far = (self.glance.features as f64 / NEAR_WEIGHTS).max(1.0).log2();
        Work { flops: 2.0 * values * (1.0 + FAR_WEIGHTS * far), bytes: 8.0 * values }
    }

    /// Rows visited one after the other, with a step on each.
    fn visiting(&self, rows: f64) -> Work {
        flops(rows * (VISIT_FLOPS + VISIT_LOSSES * loss_flops(self.glance.loss)))
    }

    /// The share of visits that change a dual: duals of the hinge are often at an end of their range, and stay there.
    fn changed(&self) -> f64 {
        if self.glance.loss == Loss::Hinge { CHANGED_ON_HINGE } else { 1.0 }
    }

    /// The share of rows that are not settled: one worker alone skips those that are. In the first round none is.
    fn awake(&self, asked: Asked) -> f64 {
        if asked.goal <= 0.0 {
            return 1.0;
        }
        let cornered = self.glance.loss == Loss::Hinge;
        let coefficients = AWAKE[usize::from(cornered)];
        let log: f64 = terms(self.glance, asked).iter().zip(coefficients).map(|(term, by)| term * by).sum();
        log.exp().clamp(LEAST_AWAKE, 1.0)
    }
}

/// About the middle of what the runs of `bench/prior` showed: from nearly none to nearly all.
const CHANGED_ON_HINGE: f64 = 0.6;
/// Some are always visited, to see whether they still are settled.
const LEAST_AWAKE: f64 = 0.02;

fn loss_flops(loss: Loss) -> f64 {
    if loss == Loss::Logistic { 20.0 } else { 3.0 }
}

fn flops(flops: f64) -> Work {
    Work { flops, bytes: 0.0 }
}

fn added(a: Work, b: Work) -> Work {
    Work { flops: a.flops + b.flops, bytes: a.bytes + b.bytes }
}
