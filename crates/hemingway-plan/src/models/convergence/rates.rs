//! Forms that theory suggests: linear, 1/i, 1/√i and free powers of i, slowed down by workers.
//!
//! All share log gap = a + b·log m − decay(i/τ(m)) with τ(m) = c₀ + c₁·m^q, the number of iterations that one unit
//! of progress takes, and those that end in noise a floor below which they do not get. Parameters are fitted by robust
//! least squares; one worker alone, with nobody to agree with, may be faster than the rest
//! suggests. Weak priors see to it that few m still give a sober answer.

use super::curves::Curve;
use super::form::Form;
use super::least_squares::minimise;

/// How the gap decays in stretched iterations x = i/τ(m).
#[derive(Debug, Clone, Copy, PartialEq)]
enum Decay {
    /// exp(−x): smooth and strongly convex.
    Linear,
    /// (1 + x)^(−p), over a floor where the exponent is given.
    Power(Option<f64>),
}

#[derive(Debug)]
struct Rate {
    decay: Decay,
    /// a, b, ln c₀, ln c₁, q, how much faster one worker alone is (log); for powers also ln p or the floor's level and its slope in log m.
    parameters: Vec<f64>,
}

/// log gap = a − i/τ(m).
pub(crate) fn fit_linear(curves: &[Curve]) -> Option<Box<dyn Form>> {
    fit(curves, Decay::Linear)
}

/// gap = A/(1 + i/τ(m)) + floor.
pub(crate) fn fit_inverse(curves: &[Curve]) -> Option<Box<dyn Form>> {
    fit(curves, Decay::Power(Some(1.0)))
}

/// gap = A/√(1 + i/τ(m)) + floor.
pub(crate) fn fit_root(curves: &[Curve]) -> Option<Box<dyn Form>> {
    fit(curves, Decay::Power(Some(0.5)))
}

/// log gap = a − p·ln(1 + i/τ(m)).
pub(crate) fn fit_power(curves: &[Curve]) -> Option<Box<dyn Form>> {
    fit(curves, Decay::Power(None))
}

fn fit(curves: &[Curve], decay: Decay) -> Option<Box<dyn Form>> {
    let lowest = curves.iter().map(|c| c.last().1).fold(f64::INFINITY, f64::min);
    let floor = lowest - 2.0;
    let residuals = |p: &[f64], out: &mut Vec<f64>| {
        for curve in curves {
            let at = decay.at(p, curve.workers);
            out.extend(curve.thinned.iter().map(|k| (at.level(k.iteration) - k.level) * k.weight));
        }
        out.extend([0.3 * p[1], 0.3 * (p[4] - 0.6), 0.03 * (p[2] - p[3]), 0.3 * p[5]]);
        match decay {
            Decay::Linear => {}
            Decay::Power(None) => out.push(0.1 * p[6]),
            Decay::Power(Some(_)) => out.extend([0.1 * (p[6] - floor), 0.3 * p[7]]),
        }
    };
    let (parameters, _) = minimise(&residuals, &starts(curves, decay, floor))?;
    Some(Box::new(Rate { decay, parameters }))
}

/// A few exponents of m; τ such that the curve in the middle is met half-way.
fn starts(curves: &[Curve], decay: Decay, floor: f64) -> Vec<Vec<f64>> {
    let middle = &curves[curves.len() / 2];
    let (first, last) = (middle.first(), middle.last());
    let half = middle.crossing(0.5 * (first.1 + last.1)).unwrap_or((first.0 * last.0).sqrt());
    let depth = (0.5 * (first.1 - last.1)).max(0.1);
    let tau = match decay {
        Decay::Linear => half / depth,
        Decay::Power(power) => (half / (depth / power.unwrap_or(1.0)).min(20.0).exp_m1()).max(1e-3),
    };
    let start = |q: f64| {
        let scale = (0.5 * tau).ln();
        let mut p = vec![first.1, 0.0, scale, scale - q * middle.workers.ln(), q, 0.0];
        match decay {
            Decay::Linear => {}
            Decay::Power(None) => p.push(0.0),
            Decay::Power(Some(_)) => p.extend([floor, 0.0]),
        }
        p
    };
    [0.3, 1.0].map(start).to_vec()
}

/// A decay with everything that depends on m worked out.
struct Slice {
    top: f64,
    tau: f64,
    power: f64, // 0 for the linear rate
    floor: f64,
}

impl Decay {
    fn at(self, p: &[f64], workers: f64) -> Slice {
        let log = workers.ln();
        let tau = p[2].min(60.0).exp() + (p[3] + p[4].clamp(-3.0, 3.0) * log).min(60.0).exp();
        let (power, floor) = match self {
            Self::Linear => (0.0, 0.0),
            Self::Power(None) => (p[6].clamp(-4.0, 4.0).exp(), 0.0),
            Self::Power(Some(power)) => (power, (p[6] + p[7] * log).exp()),
        };
        let tau = if workers == 1.0 { tau * (-p[5]).exp() } else { tau };
        Slice { top: p[0] + p[1] * log, tau: tau.max(1e-12), power, floor }
    }
}

impl Slice {
    fn level(&self, iteration: f64) -> f64 {
        let x = iteration / self.tau;
        let level = self.top - if self.power > 0.0 { self.power * x.ln_1p() } else { x };
        if self.floor > 0.0 { (level.exp() + self.floor).ln() } else { level }
    }
}

impl Form for Rate {
    fn level(&self, workers: f64, iteration: f64) -> f64 {
        self.decay.at(&self.parameters, workers).level(iteration)
    }

    fn describe(&self) -> String {
        let p = &self.parameters;
        let tau = format!("τ = {:.3} + {:.3}·m^{:.2}", p[2].exp(), p[3].exp(), p[4]);
        match self.decay {
            Decay::Linear => format!("log gap = {:.2} {:+.2}·log m − i/τ, {tau}", p[0], p[1]),
            Decay::Power(None) => {
                format!("log gap = {:.2} {:+.2}·log m − {:.2}·log(1 + i/τ), {tau}", p[0], p[1], p[6].exp())
            }
            Decay::Power(Some(power)) => {
                format!(
                    "gap = {:.2e}·m^{:.2}/(1 + i/τ)^{power} + {:.1e}, {tau}",
                    p[0].exp(),
                    p[1],
                    p[6].exp()
                )
            }
        }
    }
}
