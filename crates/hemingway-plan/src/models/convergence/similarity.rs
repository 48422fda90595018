//! Which run on all of the data goes like one on a part of it: the exponents p and q of `subset`.
//!
//! All runs are compared by the logarithms of their rounds to common levels: a base for each level, a bent line in the
//! logarithm of effective workers, steeper or flatter along the run, and q·ln s. Where rounds grow evenly with workers p
//! and q can hardly be distinguished, and where they do not grow p does not matter; so p is one of a few powers, the one
//! that predicts the largest fraction from the others best, and rows for each worker (p = 1) are favoured.

use super::curves::Curve;
use super::least_squares::minimise;

/// How many levels are compared.
const LEVELS: usize = 24;
/// Powers p that are tried, with what their errors are multiplied by.
const POWERS: [(f64, f64); 3] = [(1.0, 1.0), (0.5, 1.15), (0.0, 1.3)];
/// How strongly each coefficient is held near nothing: slope, bend, slope by stage, q.
const HELD: [f64; 4] = [0.05, 1.0, 0.5, 0.2];

/// The share of errors that an interval is made of: fewer than nine in ten, since the bent line that makes them is
/// cruder than the model that predicts.
const SHARE: f64 = 0.7;

/// The runs on one fraction of the data.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub fraction: f64,
    pub curves: Vec<Curve>,
}

/// How workers and rounds on a fraction s translate into those on all of the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Similarity {
    /// p: effective workers are m·s^−p.
    pub workers: f64,
    /// q: a round is s^q effective ones.
    pub rounds: f64,
    /// What most errors of log rounds on the largest fraction did not exceed, when the smaller ones predicted it; for a
    /// step of a factor of e in data, errors of many small steps being independent.
    pub width: Option<f64>,
}

impl Similarity {
    /// From runs on fractions in rising order.
    pub fn fit(parts: &[Part]) -> Similarity {
        let unknown = Similarity { workers: 1.0, rounds: 0.0, width: None };
        let [.., before, largest] = parts else { return unknown };
        let Some(table) = Table::new(parts) else { return unknown };
        let step = (largest.fraction / before.fraction).ln();
        let judged = POWERS.iter().filter_map(|&(power, handicap)| {
            let errors = table.held_out(power, largest.fraction.ln())?;
            Some((handicap * (0.02 + quantile(&errors, 0.5)), power, quantile(&errors, SHARE) / step.sqrt()))
        });
        let best = judged.min_by(|a, b| a.0.total_cmp(&b.0));
        let (power, width) = best.map_or((1.0, None), |(_, power, width)| (power, Some(width)));
        let rounds = table.fit(power, &|_| true).map_or(0.0, |trend| trend.coefficients[3]);
        Similarity { workers: power, rounds, width }
    }
}

/// Log rounds of each run to each level.
struct Table {
    levels: usize,
    rows: Vec<Row>,
}

struct Row {
    log_workers: f64,
    log_fraction: f64,
    times: Vec<Option<f64>>,
}

/// Coefficients in the order of [`HELD`], and a base for each level that was seen.
struct Trend {
    power: f64,
    coefficients: Vec<f64>,
    base: Vec<Option<f64>>,
}

impl Table {
    fn new(parts: &[Part]) -> Option<Table> {
        let curves = || parts.iter().flat_map(|part| part.curves.iter().filter(|c| c.points.len() > 1));
        let top = curves().map(|c| c.first().1).fold(f64::NEG_INFINITY, f64::max);
        let bottom = curves().map(|c| c.last().1).fold(f64::INFINITY, f64::min);
        let level = |k: usize| top - (top - bottom) * (k as f64 + 0.999) / LEVELS as f64;
        let row = |part: &Part, curve: &Curve| Row {
            log_workers: curve.workers.ln(),
            log_fraction: part.fraction.ln(),
            times: (0..LEVELS).map(|k| Some(curve.crossing(level(k))?.ln())).collect(),
        };
        let rows: Vec<Row> = parts
            .iter()
            .flat_map(|part| part.curves.iter().filter(|c| c.points.len() > 1).map(move |c| (part, c)))
            .map(|(part, curve)| row(part, curve))
            .collect();
        (rows.len() > 1 && top > bottom).then_some(Table { levels: LEVELS, rows })
    }

    /// To some of the runs.
    fn fit(&self, power: f64, kept: &dyn Fn(&Row) -> bool) -> Option<Trend> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| kept(row)).collect();
        let held = (self.levels as f64).sqrt();
        let residuals = |coefficients: &[f64], out: &mut Vec<f64>| {
            let base = self.base(&rows, power, coefficients);
            for row in &rows {
                for (k, base) in base.iter().enumerate() {
                    let left =
                        || Some(row.times[k]? - (*base)? - row.form(power, coefficients, self.stage(k)));
                    out.push(left().unwrap_or(0.0));
                }
            }
            out.extend(coefficients.iter().zip(HELD).map(|(c, weight)| held * weight * c));
        };
        let (coefficients, _) = minimise(&residuals, &[vec![0.3, 0.0, 0.0, 0.0]])?;
        let base = self.base(&rows, power, &coefficients);
        Some(Trend { power, coefficients, base })
    }

    /// The mean over runs of what the form leaves, at each level that was reached.
    fn base(&self, rows: &[&Row], power: f64, coefficients: &[f64]) -> Vec<Option<f64>> {
        let at = |k: usize| {
            let left = rows
                .iter()
                .filter_map(|row| Some(row.times[k]? - row.form(power, coefficients, self.stage(k))));
            let (sum, count) = left.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
            (count > 0).then(|| sum / f64::from(count))
        };
        (0..self.levels).map(at).collect()
    }

    /// Errors on the runs of one fraction, predicted from the others; nothing if nothing can be compared.
    fn held_out(&self, power: f64, log_fraction: f64) -> Option<Vec<f64>> {
        let trend = self.fit(power, &|row| row.log_fraction != log_fraction)?;
        let mut errors = Vec::new();
        for row in self.rows.iter().filter(|row| row.log_fraction == log_fraction) {
            errors.extend((0..self.levels).filter_map(|k| {
                let form = row.form(trend.power, &trend.coefficients, self.stage(k));
                Some((row.times[k]? - trend.base[k]? - form).abs())
            }));
        }
        (!errors.is_empty()).then_some(errors)
    }

    /// From −1 at the first level to 1 at the last.
    fn stage(&self, level: usize) -> f64 {
        2.0 * level as f64 / (self.levels - 1) as f64 - 1.0
    }
}

impl Row {
    fn form(&self, power: f64, coefficients: &[f64], stage: f64) -> f64 {
        let effective = self.log_workers - power * self.log_fraction;
        let bent = coefficients[0] + coefficients[1] * 0.1 * effective + coefficients[2] * stage;
        bent * effective - coefficients[3] * self.log_fraction
    }
}

/// The value that a share of all does not exceed.
fn quantile(errors: &[f64], share: f64) -> f64 {
    let mut sorted = errors.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
