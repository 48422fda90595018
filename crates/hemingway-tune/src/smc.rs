//! Sequential Monte Carlo: parameters drawn from a posterior.
//!
//! Particles start in the prior and are led to the posterior through powers β of the likelihood, from 0 to 1. Each power is as
//! large as half of the particles can follow; then they are resampled and moved by Metropolis steps whose shape is the
//! particles' own covariance. Without the powers a measurement with 1 % noise leaves one particle alive; without the moves
//! all would be copies of a few.

use rayon::prelude::*;

use crate::cholesky::Cholesky;
use crate::prior::Prior;
use crate::random::{Rng, normals, stream, uniform};

/// How many particles, and how long they move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Particles.
    pub particles: usize,
    /// Metropolis steps of each particle at each power.
    pub moves: usize,
}

/// A set of equally likely parameters.
#[derive(Debug, Clone, Default)]
pub struct Particles {
    /// One row of parameters each.
    pub values: Vec<Vec<f64>>,
}

impl Particles {
    /// Drawn from the posterior.
    pub fn sample(
        priors: &[Prior],
        log_likelihood: impl Fn(&[f64]) -> f64 + Sync,
        effort: Effort,
        seed: u64,
    ) -> Particles {
        let draw = |number: usize| {
            let mut rng = stream(seed, "prior", number as u64);
            let values: Vec<f64> = priors.iter().map(|prior| prior.draw(&mut rng)).collect();
            Particle { likelihood: finite(log_likelihood(&values)), prior: density(priors, &values), values }
        };
        let mut cloud: Vec<Particle> = (0..effort.particles).into_par_iter().map(draw).collect();
        let (mut power, mut step) = (0.0, 0);
        while power < 1.0 && !priors.is_empty() {
            let next = next_power(&cloud, power);
            cloud = resample(cloud, next - power, &mut stream(seed, "resampling", step));
            (power, step) = (next, step + 1);
            let shape = covariance(&cloud);
            // Each particle has its own random numbers, so that it does not matter who moves it.
            cloud.par_iter_mut().enumerate().for_each(|(number, particle)| {
                let mut rng = stream(seed, "moves", step << 32 | number as u64);
                particle.wander(priors, &log_likelihood, power, effort.moves, &shape, &mut rng);
            });
        }
        Particles { values: cloud.into_iter().map(|particle| particle.values).collect() }
    }

    /// The mean of each parameter.
    pub fn mean(&self) -> Vec<f64> {
        let width = self.values.first().map_or(0, Vec::len);
        let count = self.values.len().max(1) as f64;
        (0..width).map(|k| self.values.iter().map(|row| row[k]).sum::<f64>() / count).collect()
    }

    /// The standard deviation of each parameter.
    pub fn deviation(&self) -> Vec<f64> {
        let (mean, count) = (self.mean(), self.values.len().max(1) as f64);
        let square = |k: usize, mean: f64| self.values.iter().map(|row| (row[k] - mean).powi(2)).sum::<f64>();
        mean.iter().enumerate().map(|(k, mean)| (square(k, *mean) / count).sqrt()).collect()
    }
}

#[derive(Clone)]
struct Particle {
    values: Vec<f64>,
    prior: f64,
    likelihood: f64,
}

fn density(priors: &[Prior], values: &[f64]) -> f64 {
    priors.iter().zip(values).map(|(prior, value)| prior.log_density(*value)).sum()
}

/// A likelihood that is no number is that of something impossible.
fn finite(log_likelihood: f64) -> f64 {
    if log_likelihood.is_finite() { log_likelihood } else { -1e300 }
}

/// The largest next power at which weights still count for half of the particles.
fn next_power(cloud: &[Particle], power: f64) -> f64 {
    let best = cloud.iter().map(|particle| particle.likelihood).fold(f64::NEG_INFINITY, f64::max);
    let effective = |step: f64| {
        let weights = cloud.iter().map(|particle| (step * (particle.likelihood - best)).exp());
        let (sum, squares) = weights.fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        sum * sum / squares
    };
    let wanted = cloud.len() as f64 / 2.0;
    let (mut low, mut high) = (0.0, 1.0 - power);
    if effective(high) >= wanted {
        return 1.0;
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if effective(middle) >= wanted { low = middle } else { high = middle }
    }
    // However far away the likelihood is, every step gets somewhere.
    power + low.max(1e-12)
}

/// As many copies of each as its weight says (systematic resampling).
fn resample(cloud: Vec<Particle>, step: f64, rng: &mut Rng) -> Vec<Particle> {
    let best = cloud.iter().map(|particle| particle.likelihood).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> =
        cloud.iter().map(|particle| (step * (particle.likelihood - best)).exp()).collect();
    let each = weights.iter().sum::<f64>() / cloud.len() as f64;
    let (mut mark, mut passed) = (uniform(rng) * each, 0.0);
    let mut next = Vec::with_capacity(cloud.len());
    for (particle, weight) in cloud.iter().zip(&weights) {
        passed += weight;
        while mark < passed && next.len() < cloud.len() {
            next.push(particle.clone());
            mark += each;
        }
    }
    while next.len() < cloud.len() {
        next.push(cloud[cloud.len() - 1].clone()); // rounding
    }
    next
}

impl Particle {
    fn wander(
        &mut self,
        priors: &[Prior],
        log_likelihood: &impl Fn(&[f64]) -> f64,
        power: f64,
        moves: usize,
        shape: &Cholesky,
        rng: &mut Rng,
    ) {
        // The best scale for a normal posterior, and a smaller one for those that are not.
        let best = 2.38 / (priors.len() as f64).sqrt();
        for step in 0..moves {
            let scale = if step % 2 == 0 { best } else { 0.3 * best };
            let direction = shape.times(&normals(rng, priors.len()));
            let along =
                self.values.iter().zip(direction).map(|(value, along)| value + scale * along).collect();
            self.offer(along, 0.0, priors, log_likelihood, power, rng);

            // A number that is only bounded, or that another one explains, is far from where it was.
            let one = (uniform(rng) * priors.len() as f64) as usize;
            let mut fresh = self.values.clone();
            fresh[one] = priors[one].draw(rng);
            let unlikely = priors[one].log_density(self.values[one]) - priors[one].log_density(fresh[one]);
            self.offer(fresh, unlikely, priors, log_likelihood, power, rng);

            let other = (uniform(rng) * priors.len() as f64) as usize;
            let mut exchanged = self.values.clone();
            exchanged.swap(one, other);
            self.offer(exchanged, 0.0, priors, log_likelihood, power, rng);
        }
    }

    /// A Metropolis step to these values; `correction` is how much more likely the way back is drawn than the way there.
    fn offer(
        &mut self,
        values: Vec<f64>,
        correction: f64,
        priors: &[Prior],
        log_likelihood: &impl Fn(&[f64]) -> f64,
        power: f64,
        rng: &mut Rng,
    ) {
        let prior = density(priors, &values);
        if prior == f64::NEG_INFINITY || values == self.values {
            return;
        }
        let likelihood = finite(log_likelihood(&values));
        let gain = prior - self.prior + power * (likelihood - self.likelihood) + correction;
        if uniform(rng).ln() < gain {
            *self = Particle { values, prior, likelihood };
        }
    }
}

fn covariance(cloud: &[Particle]) -> Cholesky {
    let (count, width) = (cloud.len() as f64, cloud[0].values.len());
    let mean: Vec<f64> = (0..width).map(|k| cloud.iter().map(|p| p.values[k]).sum::<f64>() / count).collect();
    let entry = |i: usize, j: usize| {
        let products = cloud.iter().map(|p| (p.values[i] - mean[i]) * (p.values[j] - mean[j]));
        // Where all particles are equal they still get a little room.
        products.sum::<f64>() / count + if i == j { 1e-12 } else { 0.0 }
    };
    let lower: Vec<Vec<f64>> = (0..width).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect();
    Cholesky::new(&lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EFFORT: Effort = Effort { particles: 400, moves: 6 };

    #[test]
    fn a_normal_posterior_is_found_however_sharp() {
        let priors = [Prior::normal(0.0, 10.0), Prior::normal(0.0, 10.0)];
        for noise in [1.0, 1e-2, 1e-4] {
            // The sum is measured as 3, the difference as 1.
            let likelihood = |x: &[f64]| {
                -0.5 * (((x[0] + x[1] - 3.0) / noise).powi(2) + ((x[0] - x[1] - 1.0) / noise).powi(2))
            };
            let found = Particles::sample(&priors, likelihood, EFFORT, 7);
            let (mean, deviation) = (found.mean(), found.deviation());
            let wanted = noise / 2f64.sqrt();
            for (k, value) in [2.0, 1.0].into_iter().enumerate() {
                assert!((mean[k] - value).abs() < 0.3 * wanted, "{noise}: {mean:?}");
                assert!((deviation[k] / wanted - 1.0).abs() < 0.25, "{noise}: {deviation:?}");
            }
        }
    }

    #[test]
    fn what_is_only_bounded_stays_open() {
        // The larger of two is measured: one of them is near it, the other anywhere below.
        let priors = [Prior::normal(0.0, 1.0), Prior::normal(0.0, 1.0)];
        let likelihood = |x: &[f64]| -0.5 * ((x[0].max(x[1]) - 1.0) / 0.01).powi(2);
        let found = Particles::sample(&priors, likelihood, EFFORT, 8);
        let first = found.values.iter().filter(|x| x[0] > x[1]).count() as f64 / 400.0;
        assert!((0.3..0.7).contains(&first), "{first}");
        assert!(found.deviation().iter().all(|deviation| *deviation > 0.4), "{:?}", found.deviation());
    }

    #[test]
    fn what_another_number_explains_is_set_free_again() {
        // At first any of six may be the largest; in the end the first alone explains everything.
        let priors = [Prior::normal(0.0, 1.0); 6];
        let likelihood = |x: &[f64]| {
            let seen = [x.iter().copied().fold(f64::MIN, f64::max), x[0].max(x[1]).max(x[2]), x[0]];
            seen.iter().map(|value| -0.5 * ((value - 1.0) / 0.01).powi(2)).sum()
        };
        for seed in 0..20 {
            let found = Particles::sample(&priors, likelihood, Effort { particles: 384, moves: 12 }, seed);
            for number in 1..6 {
                // Of a standard normal number that is below 1, 0.594 are below 0.
                let low = found.values.iter().filter(|x| x[number] < 0.0).count() as f64 / 384.0;
                assert!((low - 0.594).abs() < 0.1, "seed {seed}, number {number}: {low}");
            }
        }
    }
}
