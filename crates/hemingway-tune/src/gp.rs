//! Exact Gaussian processes: an unknown function of some numbers, plus a constant of each individual, plus noise.
//!
//! The kernel is Matérn 5/2 with a length per input (ARD). Its figures are fitted to their most likely values under priors. A
//! function drawn from the posterior is a draw from the prior, made of random waves, corrected by what the measurements say
//! about it (Matheron's rule); it can be asked anywhere, and answers the same every time.

use std::sync::Arc;

use crate::cholesky::{Cholesky, dot};
use crate::prior::Prior;
use crate::random::{Rng, normal, normals, uniform};

/// Where a function is asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// The inputs.
    pub at: Vec<f64>,
    /// Who is asked, if individuals differ.
    pub individual: usize,
}

/// How alike values are.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Standard deviation of the function.
    pub amplitude: f64,
    /// For each input, the distance over which the function changes.
    pub lengths: Vec<f64>,
    /// Standard deviation between individuals.
    pub individual: f64,
    /// Standard deviation of a measurement.
    pub noise: f64,
}

/// What is believed of the figures of a kernel: priors of their logarithms.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelPrior {
    /// Of the function.
    pub amplitude: Prior,
    /// Of each input.
    pub lengths: Vec<Prior>,
    /// Between individuals; nothing if they are all the same.
    pub individual: Option<Prior>,
    /// Of a measurement.
    pub noise: Prior,
}

impl KernelPrior {
    fn all(&self) -> Vec<Prior> {
        let individual = self.individual.unwrap_or(Prior::normal(-100.0, 1.0));
        [&[self.amplitude, individual, self.noise][..], &self.lengths].concat()
    }

    /// The most likely kernel before anything was measured.
    pub fn typical(&self) -> Kernel {
        let middle = |prior: Prior| match prior {
            Prior::Normal { mean, .. } => mean,
            Prior::Rare { rate } => 1.0 / rate,
        };
        Kernel::from_logs(&self.all().into_iter().map(middle).collect::<Vec<f64>>())
    }
}

impl Kernel {
    fn from_logs(logs: &[f64]) -> Kernel {
        let lengths = logs[3..].iter().map(|log| log.exp()).collect();
        Kernel { amplitude: logs[0].exp(), individual: logs[1].exp(), noise: logs[2].exp(), lengths }
    }

    fn logs(&self) -> Vec<f64> {
        let first = [self.amplitude, self.individual, self.noise];
        first.iter().chain(&self.lengths).map(|figure| figure.max(1e-300).ln()).collect()
    }

    fn smooth(&self, a: &[f64], b: &[f64]) -> f64 {
        let terms = a.iter().zip(b).zip(&self.lengths).map(|((a, b), length)| ((a - b) / length).powi(2));
        let distance = (5.0 * terms.sum::<f64>()).sqrt();
        self.amplitude.powi(2) * (1.0 + distance + distance * distance / 3.0) * (-distance).exp()
    }

    /// The covariance of the values at two points, without noise.
    pub fn covariance(&self, a: &Point, b: &Point) -> f64 {
        let same = if a.individual == b.individual { self.individual.powi(2) } else { 0.0 };
        self.smooth(&a.at, &b.at) + same
    }
}

/// A Gaussian process that was measured at some points.
#[derive(Debug, Clone)]
pub struct Gp {
    /// How alike values are.
    pub kernel: Kernel,
    points: Vec<Point>,
    factor: Cholesky,
}

impl Gp {
    /// With a kernel that is known.
    pub fn new(kernel: Kernel, points: Vec<Point>) -> Gp {
        let entry = |i: usize, j: usize| {
            let noise = if i == j { kernel.noise.powi(2) } else { 0.0 };
            kernel.covariance(&points[i], &points[j]) + noise
        };
        let lower: Vec<Vec<f64>> =
            (0..points.len()).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect();
        Gp { factor: Cholesky::new(&lower), kernel, points }
    }

    /// With the most likely kernel, searched from `start` on by steps in the logarithm of one figure at a time.
    pub fn fit(prior: &KernelPrior, start: &Kernel, points: &[Point], values: &[f64]) -> Gp {
        let priors = prior.all();
        let open: Vec<usize> = (0..priors.len()).filter(|k| *k != 1 || prior.individual.is_some()).collect();
        let judged = |logs: &[f64]| {
            let gp = Gp::new(Kernel::from_logs(logs), points.to_vec());
            let belief: f64 = priors.iter().zip(logs).map(|(prior, log)| prior.log_density(*log)).sum();
            (gp.log_likelihood(values) + belief, gp)
        };
        let mut logs = start.logs();
        let mut best = judged(&logs);
        let mut step = 1.0;
        while step > 0.1 && !points.is_empty() {
            let mut better = false;
            for &k in &open {
                for sign in [1.0, -1.0] {
                    let mut trial = logs.clone();
                    trial[k] += sign * step;
                    let found = judged(&trial);
                    if found.0 > best.0 {
                        (best, logs, better) = (found, trial, true);
                        break;
                    }
                }
            }
            if !better {
                step *= 0.5;
            }
        }
        best.1
    }

    /// ln p(values), but for a constant.
    pub fn log_likelihood(&self, values: &[f64]) -> f64 {
        let mut white = values.to_vec();
        self.factor.solve_lower(&mut white);
        -0.5 * dot(&white, &white) - self.factor.log_root_determinant()
    }

    /// The mean of the function, given the values measured.
    pub fn mean(self: &Arc<Gp>, values: &[f64]) -> Function {
        let mut weights = values.to_vec();
        self.factor.solve(&mut weights);
        Function { gp: self.clone(), waves: Vec::new(), individuals: Vec::new(), weights }
    }

    /// Mean and variance of the function at a point, given the values measured.
    pub fn predict(&self, values: &[f64], point: &Point) -> (f64, f64) {
        let mut weights = values.to_vec();
        self.factor.solve(&mut weights);
        let mut covariances: Vec<f64> = self.covariances(point).collect();
        let mean = dot(&covariances, &weights);
        self.factor.solve_lower(&mut covariances);
        (mean, (self.kernel.covariance(point, point) - dot(&covariances, &covariances)).max(0.0))
    }

    /// A function drawn from the posterior, given the values measured, with constants for so many individuals.
    pub fn draw(self: &Arc<Gp>, values: &[f64], individuals: usize, rng: &mut Rng) -> Function {
        let waves = (0..WAVES).map(|_| Wave::draw(&self.kernel, rng)).collect();
        let individuals = normals(rng, individuals).iter().map(|z| z * self.kernel.individual).collect();
        let mut function = Function { gp: self.clone(), waves, individuals, weights: Vec::new() };
        let surprise =
            |(value, point): (&f64, &Point)| value - function.before(point) - self.kernel.noise * normal(rng);
        let mut weights: Vec<f64> = values.iter().zip(&self.points).map(surprise).collect();
        self.factor.solve(&mut weights);
        function.weights = weights;
        function
    }

    fn covariances(&self, point: &Point) -> impl Iterator<Item = f64> {
        self.points.iter().map(|seen| self.kernel.covariance(point, seen))
    }
}

/// Waves in a draw from the prior.
const WAVES: usize = 48;

#[derive(Debug, Clone)]
struct Wave {
    frequency: Vec<f64>,
    phase: f64,
    height: f64,
}

impl Wave {
    /// The spectrum of the Matérn kernel 5/2 is Student's distribution with 5 degrees of freedom.
    fn draw(kernel: &Kernel, rng: &mut Rng) -> Wave {
        let chi: f64 = normals(rng, 5).iter().map(|z| z * z).sum();
        let spread = (chi / 5.0).sqrt();
        let frequency = kernel.lengths.iter().map(|length| normal(rng) / (spread * length)).collect();
        let height = kernel.amplitude * (2.0 / WAVES as f64).sqrt() * normal(rng);
        Wave { frequency, phase: std::f64::consts::TAU * uniform(rng), height }
    }

    fn at(&self, point: &[f64]) -> f64 {
        self.height * (dot(&self.frequency, point) + self.phase).cos()
    }
}

/// One function out of many that the measurements allow.
#[derive(Debug, Clone)]
pub struct Function {
    gp: Arc<Gp>,
    waves: Vec<Wave>,
    individuals: Vec<f64>,
    weights: Vec<f64>,
}

impl Function {
    /// Its value.
    pub fn at(&self, point: &Point) -> f64 {
        let learnt: f64 = self.gp.covariances(point).zip(&self.weights).map(|(a, b)| a * b).sum();
        self.before(point) + learnt
    }

    /// Its value without what is particular to an individual.
    pub fn common(&self, at: &[f64]) -> f64 {
        let nobody = Point { at: at.to_vec(), individual: usize::MAX };
        self.at(&nobody)
    }

    /// What is particular to an individual.
    pub fn particular(&self, individual: usize) -> f64 {
        let variance = self.gp.kernel.individual.powi(2);
        let own =
            self.gp.points.iter().zip(&self.weights).filter(|(point, _)| point.individual == individual);
        let learnt: f64 = own.map(|(_, weight)| weight * variance).sum();
        self.individuals.get(individual).copied().unwrap_or(0.0) + learnt
    }

    fn before(&self, point: &Point) -> f64 {
        let waves: f64 = self.waves.iter().map(|wave| wave.at(&point.at)).sum();
        waves + self.individuals.get(point.individual).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    fn point(x: f64, individual: usize) -> Point {
        Point { at: vec![x], individual }
    }

    fn prior() -> KernelPrior {
        KernelPrior {
            amplitude: Prior::log_normal(1.0, 4.0),
            lengths: vec![Prior::log_normal(1.0, 3.0)],
            individual: Some(Prior::log_normal(0.1, 5.0)),
            noise: Prior::log_normal(0.1, 5.0),
        }
    }

    #[test]
    fn a_function_and_its_noise_are_learnt() {
        let mut rng = stream(3, "gp", 0);
        let points: Vec<Point> = (0..60).map(|i| point(i as f64 / 10.0, 0)).collect();
        let values: Vec<f64> = points.iter().map(|p| p.at[0].sin() + 0.05 * normal(&mut rng)).collect();
        let gp = Gp::fit(&prior(), &prior().typical(), &points, &values);
        assert!((0.03..0.08).contains(&gp.kernel.noise), "{:?}", gp.kernel);
        let (mean, variance) = gp.predict(&values, &point(2.55, 0));
        assert!((mean - 2.55f64.sin()).abs() < 0.05, "{mean}");
        assert!(variance.sqrt() < 0.2);
        let far = gp.predict(&values, &point(60.0, 0));
        assert!((far.1.sqrt() / gp.kernel.amplitude - 1.0).abs() < 0.2, "nothing is known far away");
    }

    #[test]
    fn draws_have_the_mean_and_the_variance_of_the_posterior() {
        let points: Vec<Point> = [0.0, 1.0, 3.0].iter().map(|x| point(*x, 0)).collect();
        let values = [0.5, -0.3, 0.8];
        let kernel = Kernel { amplitude: 1.0, lengths: vec![1.0], individual: 0.3, noise: 0.1 };
        let gp = Arc::new(Gp::new(kernel, points));
        let mut rng = stream(4, "gp", 0);
        let functions: Vec<Function> = (0..2000).map(|_| gp.draw(&values, 2, &mut rng)).collect();
        for (x, individual) in [(0.5, 0), (2.0, 1), (8.0, 0)] {
            let asked = point(x, individual);
            let drawn: Vec<f64> = functions.iter().map(|function| function.at(&asked)).collect();
            let mean = drawn.iter().sum::<f64>() / 2000.0;
            let variance = drawn.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 2000.0;
            let exact = gp.predict(&values, &asked);
            assert!((mean - exact.0).abs() < 0.1, "{x}: {mean} {exact:?}");
            assert!((variance / exact.1 - 1.0).abs() < 0.15, "{x}: {variance} {exact:?}");
            let function = &functions[0];
            let parts = function.common(&asked.at) + function.particular(individual);
            assert!((function.at(&asked) - parts).abs() < 1e-9);
        }
    }

    #[test]
    fn an_individual_that_differs_is_told_from_noise() {
        let mut rng = stream(5, "gp", 0);
        let points: Vec<Point> = (0..40).map(|i| point(f64::from(i / 4) / 3.0, i as usize % 4)).collect();
        let value = |p: &Point| if p.individual == 2 { 0.5 } else { 0.0 };
        let values: Vec<f64> = points.iter().map(|p| value(p) + 0.01 * normal(&mut rng)).collect();
        let gp = Arc::new(Gp::fit(&prior(), &prior().typical(), &points, &values));
        let mean = gp.mean(&values);
        let differences: Vec<f64> = (0..4).map(|i| mean.particular(i) - mean.particular(0)).collect();
        assert!((differences[2] - 0.5).abs() < 0.05, "{differences:?}");
        assert!(differences[1].abs() < 0.05 && differences[3].abs() < 0.05, "{differences:?}");
    }
}
