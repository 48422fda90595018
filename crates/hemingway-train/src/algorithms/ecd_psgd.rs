//! Decentralised SGD with compressed extrapolations. Every worker keeps estimates ŷ of all neighbours' weights and of its
//! own; a round tells, in a few bits, a point beyond the step, and the estimates follow:
//!
//!   x_i' = Σ_j W_ij ŷ_j - η∇F_i(x_i),   z_i = (1 - t/2) x_i + (t/2) x_i',   ŷ_i' = (1 - 2/t) ŷ_i + (2/t) C(z_i)
//!
//! Rounding errors of earlier rounds fade from the estimates like 1/t. But z grows with t times the step, and what rounding
//! costs grows with it, round after round: the fewer the bits, the sooner the error grows again. With 8 it is good for a
//! rough model, where dcd-psgd gets by with 2 (`docs/algorithms.md`). Without a number of bits this is d-psgd.
//!
//! Tang, Gan, Zhang, Zhang, Liu, Communication compression for decentralized training, 2018.

use super::gossip::{self, Given, Gossip};
use super::sgd::Move;
use super::step_size::StepSize;
use super::{About, Entry, Family, Floor, TakeOver, apart, suits_all};
use crate::footprint::Vectors;
use crate::{Algorithm, Error, Model, Needs, Parameters, Solver, Worker};

/// Hyperparameters of decentralised SGD with compressed extrapolations.
#[derive(Debug, Clone, PartialEq)]
pub struct EcdPsgd(Given);

pub(super) static ENTRY: Entry = Entry {
    name: "ecd-psgd",
    summary: "d-psgd that sends extrapolations, rounded to bits; has a floor with fewer than 8",
    reference: "Tang et al. 2018",
    about: About {
        idea: "Decentralised SGD in which workers tell their neighbours an extrapolation of their \
            steps, rounded to a few bits without bias; estimates of the neighbours' weights follow \
            it.",
        suits: "Slow links, at least 8 bits and a rough model: what rounding costs grows with the \
            rounds, and the error with it, the sooner the fewer bits. dcd-psgd gets by with 2. \
            Without --bits it is d-psgd.",
        round: "A batch of rows, then one compressed message to each neighbour.",
        counts: "rounds",
        defaults: &["256 rows over all workers, at least one each", "searched for", "exact numbers", "ring"],
        floor: Floor::Falls,
    },
    parameters: &["batch", "step_size", "bits", "topology"],
    vectors: Vectors { weights: 10.0, rows: 0.5, saved_weights: 3.0, ..Vectors::NONE },
    family: Family::Decentralised,
    depends_on_workers: true,
    alone: Some("minibatch-sgd"),
    settles_alone: false,
    late: false,
    on_cores: 3.87,
    takes_over: |_| TakeOver::Never,
    unsuited: suits_all,
    set_up: gossip::set_up,
    round: gossip::round,
    build: |given| Box::new(EcdPsgd::new(given)),
};

impl EcdPsgd {
    /// With these hyperparameters.
    pub fn new(given: &Parameters) -> EcdPsgd {
        EcdPsgd(Given::of(given))
    }
}

impl Algorithm for EcdPsgd {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn needs(&self) -> Needs {
        Needs::Neighbours
    }

    fn check(&self, workers: usize) -> Result<(), Error> {
        self.0.topology.check(workers)
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let build = |gossip: Gossip, from: &[f64]| Extrapolations {
            gossip,
            mixed: from.to_vec(),
            next: vec![0.0; from.len()],
        };
        let (size, step) = self.0.set_up(worker, &from.weights, saved, build)?;
        apart::start(from, saved, size, step)
    }
}

/// Each worker tells a point beyond its step.
struct Extrapolations {
    gossip: Gossip,
    /// Σ_j W_ij ŷ_j.
    mixed: Vec<f64>,
    /// x', then z.
    next: Vec<f64>,
}

impl Move for Extrapolations {
    fn round(
        &mut self,
        worker: &mut Worker,
        size: StepSize,
        round: u64,
        weights: &mut [f64],
    ) -> Result<(), Error> {
        let (mut rng, t) = (worker.rng(round), (round + 1) as f64);
        self.gossip.step(worker, size, round, (weights, &mut rng));
        self.gossip.move_from(&self.mixed, &mut self.next);
        for (weight, next) in weights.iter_mut().zip(&mut self.next) {
            let before = std::mem::replace(weight, *next);
            *next = (1.0 - t / 2.0) * before + t / 2.0 * *next; // z
        }
        self.gossip.mix(worker, &self.next, &mut rng, (1.0 - 2.0 / t, 2.0 / t), &mut self.mixed, |_, _| {})
    }

    fn kept(&mut self) -> Option<&mut Vec<f64>> {
        Some(&mut self.mixed)
    }

    fn save(&self) -> Vec<f64> {
        self.mixed.clone()
    }
}

#[cfg(test)]
mod tests {
    use hemingway_data::{LoadOptions, load};

    use super::*;
    use crate::topology::Mixing;
    use crate::{
        Cluster, Engine, Event, Job, Loss, Machine, Problem, Scoring, Seconds, Simulated, Start, StopRules,
        Topology,
    };

    const FEATURES: usize = 20;

    /// How far the first worker of a ring of four is from the mean in the end, beside the mean's length. Each worker gives
    /// its own weights this share; nothing checks the matrix.
    fn apart(own: f64) -> f64 {
        let near = (1.0 - own) / 2.0;
        let row = |i: usize| (0..4).map(|j| [own, near, 0.0, near][(j + 4 - i) % 4]).collect();
        let topology = Some(Topology::Given(Mixing::unchecked((0..4).map(row).collect())));
        let data = format!("synthetic:separable,rows=400,features={FEATURES}");
        let job = Job {
            problem: Problem::new(Loss::Logistic, 1e-2).unwrap(),
            algorithm: &EcdPsgd::new(&Parameters { topology, ..Parameters::default() }),
            workers: 4,
            seed: 1,
            stop: StopRules { rounds: Some(400), ..StopRules::default() },
            scoring: Scoring::Every(100),
            start: Start::Zero,
            checkpoint_every: Some(Seconds(0.0)),
            interrupt: None,
            hand_over: None,
        };
        let mut apart = 0.0;
        let mut observe = |event: Event| {
            if let Event::Checkpoint(checkpoint) = event {
                // The step size, the rounds and the average come first.
                let own = &checkpoint.workers[0][0][2 + FEATURES..][..FEATURES];
                let length =
                    |weights: &mut dyn Iterator<Item = f64>| weights.map(|w| w * w).sum::<f64>().sqrt();
                let mean = &checkpoint.model.weights;
                apart = length(&mut own.iter().zip(mean).map(|(own, mean)| own - mean))
                    / length(&mut mean.iter().copied());
            }
            Ok(())
        };
        let data = load(&data, &LoadOptions::default()).unwrap();
        Simulated::new(Cluster::of(Machine::default())).run(&data, &job, &mut observe).unwrap();
        apart
    }

    #[test]
    fn an_even_ring_without_weights_of_its_own_explodes() {
        let (with, without) = (apart(1.0 / 3.0), apart(0.0));
        assert!(with < 0.3, "{with} of the mean apart");
        // Nothing but the reach of the optimum holds them.
        assert!(without > 1.0, "{without} of the mean apart");
    }
}
