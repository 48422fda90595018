//! Pilots: short runs on a sample of the rows, made before the run where what they tell is worth more than they take.
//!
//! Some algorithms take nearly as many rounds on a thousand rows as on all of them. How nearly is in the coefficients of
//! the prior; only algorithms that stand there have pilots. What a pilot is worth is the average of what knowing its outcome
//! would save: for each outcome that may come, the predicted cost of the present plan less that of the best plan then. The run
//! itself would tell, too, and a plan that goes wrong is given up: no outcome saves more than the present plan is predicted to
//! cost. And as all of this is uncertain, a pilot may only take a small share of the time.

use hemingway_train::{Cluster, Entry, Share};

use super::{Forecast, PastScore, PastStage, Planner};
use crate::forecast::Model;
use crate::prior::{PilotLine, pilot_line, seconds};
use crate::{Configuration, Profile};

/// Rows of a pilot.
const ROWS: usize = 1000;
/// Pilots are for data that has this many times their rows at least.
const LARGER: usize = 2;

/// A pilot that is worth its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Pilot {
    /// How it trains, on one worker.
    pub configuration: Configuration,
    /// The share of all rows that it trains on.
    pub fraction: f64,
    /// The error that it trains to.
    pub error: f64,
    /// What it is predicted to take.
    pub seconds: f64,
    /// What it is worth: it ends when it has taken as much.
    pub worth: f64,
    line: PilotLine,
}

impl Pilot {
    /// What it came to, as an earlier stage of the run: `scores` are its own.
    pub fn stage(&self, scores: impl Iterator<Item = PastScore>) -> PastStage {
        let on_all_rows =
            |score: PastScore| PastScore { rounds: score.rounds * self.line.shift.exp(), ..score };
        PastStage {
            configuration: self.configuration.clone(),
            from: 1.0,
            scores: scores.map(on_all_rows).collect(),
            rounds_deviation: self.line.deviation,
            pace_deviation: None,
        }
    }
}

/// What a pilot of an algorithm would take and tell.
#[derive(Debug, Clone)]
pub(super) struct Possible {
    /// Which model it is of; those that make the same rounds share what it tells.
    model: usize,
    fraction: f64,
    per_round: f64,
    line: PilotLine,
}

impl Possible {
    /// Of every algorithm that is predicted well by pilots, where the data is large enough.
    pub fn of(models: &[Model], profile: &Profile, cluster: &Cluster) -> Vec<Possible> {
        let rows = profile.data.rows;
        if rows < LARGER * ROWS {
            return Vec::new();
        }
        let fraction = ROWS as f64 / rows as f64;
        let mut possible: Vec<Possible> = Vec::new();
        for (at, model) in models.iter().enumerate() {
            let known = |other: &Possible| models[other.model].latent == model.latent;
            if possible.iter().any(known) {
                continue;
            }
            if let Some(line) = pilot_line(model.entry.name, profile.loss) {
                let per_round = per_round(model.entry, profile, cluster, fraction);
                possible.push(Possible { model: at, fraction, per_round, line });
            }
        }
        possible
    }
}

/// Seconds of a round on the sample, on one worker.
fn per_round(entry: &'static Entry, profile: &Profile, cluster: &Cluster, fraction: f64) -> f64 {
    let mut share = Share::new(&profile.data, &profile.problem(), 1, 1.0);
    for figure in [&mut share.total_rows, &mut share.rows, &mut share.values, &mut share.pairs] {
        *figure *= fraction;
    }
    seconds(&(entry.round)(&share), entry.name, 1, cluster)
}

/// An average over a standard normal distribution: points and weights of Gauss and Hermite.
const OUTCOMES: [(f64, f64); 5] = [
    (-2.856_970_013_872_806, 0.011_257_411_327_720_7),
    (-1.355_626_179_974_266, 0.222_075_922_005_612_6),
    (0.0, 0.533_333_333_333_333_3),
    (1.355_626_179_974_266, 0.222_075_922_005_612_6),
    (2.856_970_013_872_806, 0.011_257_411_327_720_7),
];

impl Planner {
    /// The pilot that gains most, if one is worth more than it takes. Asked again it is another one, or none. Where time or
    /// money is limited none is.
    pub fn next_pilot(&mut self) -> Option<Pilot> {
        let limited = self.goal.within.is_some() || self.goal.budget.is_some() || self.goal.cheapest;
        let goal = self.goal.progress().filter(|_| !limited && self.stage.is_none())?;
        let present = self.best()?;
        let most = self.settings.preparation * present.cost;
        let mut best: Option<(f64, usize, Pilot)> = None;
        for at in 0..self.pilots.len() {
            let Possible { model, fraction, per_round, line } = self.pilots[at].clone();
            let (mean, variance) = self.residual(model);
            let Some(rounds) = self.models[model].effort(0.0, goal, mean) else { continue };
            let seconds = rounds * (0.5 * variance).exp() * per_round;
            if seconds > most {
                continue;
            }
            let worth = self.worth(&present, model, line.deviation.powi(2));
            if worth > seconds && best.as_ref().is_none_or(|(gain, ..)| worth - seconds > *gain) {
                let configuration = Configuration { workers: 1, ..self.models[model].configuration.clone() };
                let error = (-goal).exp();
                best = Some((
                    worth - seconds,
                    at,
                    Pilot { configuration, fraction, error, seconds, worth, line },
                ));
            }
        }
        let (_, at, pilot) = best?;
        self.pilots.remove(at);
        Some(pilot)
    }

    /// What it would save on average to know the rounds of a model with so much noise, where `present` is done otherwise.
    fn worth(&mut self, present: &Forecast, model: usize, noise: f64) -> f64 {
        self.planning += OUTCOMES.len() as f64 * self.forecast_seconds();
        let (mean, variance) = self.residual(model);
        let deviation = (variance + noise).sqrt();
        let latent = self.models[model].latent;
        let saved = OUTCOMES.map(|(deviations, weight)| {
            self.shown = Some((latent, (mean + deviations * deviation, noise)));
            let stay = self.again(present).map_or(0.0, |present| present.cost);
            let change = self.cheapest().map_or(f64::INFINITY, |best| best.cost);
            // A plan that goes wrong is given up once it has taken what was predicted for it.
            weight * (stay.min(present.cost + change) - change).max(0.0)
        });
        self.shown = None;
        saved.iter().sum()
    }

    /// What would be done now.
    fn best(&self) -> Option<Forecast> {
        let single = self.cheapest();
        self.best_sequence(single.as_ref()).or(single)
    }

    /// The single configuration that costs least.
    fn cheapest(&self) -> Option<Forecast> {
        let open = (0..self.candidates).filter(|&model| !self.failed[model]);
        let forecasts = open.filter_map(|model| self.alone(model)).filter(|of| of.cost.is_finite());
        forecasts.min_by(|a, b| a.cost.total_cmp(&b.cost))
    }

    /// The same stages as in a forecast, from what is known now.
    fn again(&self, forecast: &Forecast) -> Option<Forecast> {
        let [first, second] = forecast.parts.as_slice() else { return self.alone(forecast.parts[0].model) };
        let before = self.part(first.model, self.progress, first.until)?;
        let after = self.part_after(second.model, first.until, second.until)?;
        Some(self.judged(vec![before, after], before.times.then(after.times), None))
    }
}
