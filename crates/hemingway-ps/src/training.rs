//! How a run goes: a fixed number of iterations, or as many as a loss takes.
//!
//! The step is η = η_max / (1 + B_noise/B) (McCandlish et al. 2018, equation 2.6): proportional to the batch B as long as that is
//! small beside the noise scale, and η_max for large batches, where the gradient has next to no noise.
//! With it a loss takes 1 + B_noise/B times as many iterations as with the full gradient.

use crate::answer::{Goal, Measured};
use crate::arguments::Job;
use crate::cluster::Cluster;
use crate::error::{Error, Result};
use crate::head::Head;
use crate::measurements::Measurements;
use crate::noise::NoiseScale;
use crate::problem::Data;
use crate::random::Stream;

/// Examples that the loss is evaluated on.
const EVALUATION: usize = 1024;

/// The loss is evaluated each time that iterations have grown by this fraction, so it is the precision of when it was reached.
const EVALUATE_EVERY: f64 = 0.05;

/// A run in progress.
pub struct Training<'a> {
    job: &'a Job,
    cluster: &'a Cluster,
    head: Head,
    measurements: Measurements,
    /// Of the whole run, for the answer.
    noise: NoiseScale,
    /// Of late, for the learning rate.
    recent_noise: NoiseScale,
}

impl<'a> Training<'a> {
    /// With machines that are ready.
    pub fn new(job: &'a Job, cluster: &'a Cluster, head: Head) -> Training<'a> {
        let (noise, recent_noise) = (NoiseScale::of_all(), NoiseScale::of_recent());
        Training { job, cluster, head, measurements: Measurements::new(), noise, recent_noise }
    }

    /// Runs the iterations that were asked for, or until the loss is reached.
    pub fn run(mut self) -> Result<Measured> {
        let goal = match self.job.until_loss {
            None => {
                self.iterate(self.job.warm_up + self.job.iterations)?;
                None
            }
            Some(loss) => Some(self.until(loss)?),
        };
        let (time, communication_time) = self.measurements.times(self.job.warm_up);
        Ok(Measured {
            time,
            communication_time,
            machines: self.measurements.machines(self.job.warm_up, self.cluster, &self.head.schedule),
            gradient_noise_scale: self.noise.inputs(),
            goal,
        })
    }

    fn iterate(&mut self, iterations: u64) -> Result<()> {
        let reports = self.head.run(iterations, self.learning_rate())?;
        for sample in self.measurements.add(&self.head.schedule, reports) {
            self.noise.add(&sample);
            self.recent_noise.add(&sample);
        }
        Ok(())
    }

    fn until(&mut self, goal: f64) -> Result<Goal> {
        let evaluation = Data::generate(&self.head.problem, Stream::Evaluation, EVALUATION);
        let mut loss = self.head.problem.loss(&self.head.problem.initial_weights(), &evaluation);
        while loss > goal {
            let done = self.measurements.count();
            let next = ((done as f64 * EVALUATE_EVERY) as u64).max(1);
            let weights = self.iterate(next).and_then(|()| self.head.weights());
            let weights = weights.map_err(|error| self.out_of_time(error, loss, goal))?;
            loss = self.head.problem.loss(&weights, &evaluation);
            self.tell(loss);
            if !loss.is_finite() {
                return Err(Error::Diverged { iterations: self.measurements.count() });
            }
        }
        let (seconds_to_loss, iterations_to_loss) = (self.measurements.seconds(), self.measurements.count());
        Ok(Goal { seconds_to_loss, iterations_to_loss, loss })
    }

    /// Until there is an estimate, the noise scale is taken to be the number of features, which it is for a
    /// linear model at the beginning.
    fn learning_rate(&self) -> f64 {
        let features = self.head.problem.features as f64;
        let noise_scale = self.job.noise_scale.or(self.recent_noise.inputs()).unwrap_or(features);
        let full = self.cluster.problem.learning_rate.unwrap_or(self.head.problem.default_learning_rate());
        full / (1.0 + noise_scale / self.head.schedule.batch as f64)
    }

    fn out_of_time(&self, error: Error, loss: f64, goal: f64) -> Error {
        let (iterations, seconds) = (self.measurements.count(), self.measurements.seconds());
        match error {
            Error::Limit(_) => Error::LossNotReached { loss, goal, iterations, seconds },
            error => error,
        }
    }

    fn tell(&self, loss: f64) {
        if self.job.verbose {
            let (iterations, seconds) = (self.measurements.count(), self.measurements.seconds());
            let rate = self.learning_rate();
            eprintln!("iteration {iterations}, {seconds:.2} s: loss {loss:.4}, learning rate {rate:.4}");
        }
    }
}
