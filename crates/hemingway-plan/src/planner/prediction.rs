//! What is left of a run under one or two configurations, and what that costs.

use crate::distribution::{TWENTIETH, deviations};
use crate::forecast::{Times, Underway};
use crate::{Candidate, Estimate, Goal, Stage, Unit};

use super::{LARGEST_PROGRESS, Planner};

/// What is left of a run under one or two configurations.
#[derive(Debug, Clone)]
pub(super) struct Forecast {
    pub parts: Vec<Part>,
    pub times: Times,
    /// Money; nothing if prices are not known.
    pub money: Option<f64>,
    /// ln 1/e at the deadline: its median, what 95 % of cases exceed, and what 5 % exceed.
    pub reached: Option<[f64; 3]>,
    pub cost: f64,
}

/// One stage of a forecast.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub model: usize,
    pub until: f64,
    pub effort: f64,
    pub times: Times,
}

impl Planner {
    /// Cost, those that do not keep a deadline or a budget behind all others.
    pub(super) fn rank(&self, forecast: &Forecast) -> f64 {
        let behind = if self.objection(forecast).is_some() { BEHIND } else { 1.0 };
        behind * forecast.cost
    }

    /// Two stages, if they are better than the best single one by what a change of plan has to gain.
    pub(super) fn best_sequence(&self, single: Option<&Forecast>) -> Option<Forecast> {
        let goal = self.goal.progress()?;
        let single = single?;
        let mut best: Option<Forecast> = None;
        for until in self.settings.hand_overs.map(|decades| decades * std::f64::consts::LN_10) {
            if until <= self.progress || until >= goal - 0.5 {
                continue;
            }
            let open = || (0..self.candidates).filter(|&model| !self.failed[model]);
            let quickest = |parts: &mut dyn Iterator<Item = Part>| {
                parts.min_by(|a, b| a.times.expected().total_cmp(&b.times.expected()))
            };
            let first = open().filter(|&model| self.models[model].most_progress() > until);
            let first = quickest(&mut first.filter_map(|model| self.part(model, self.progress, until)))?;
            let another = |model: usize| self.models[model].entry.name != self.models[first.model].entry.name;
            let second = open().filter(|&model| another(model) && !self.has_floor(model));
            let Some(second) = quickest(&mut second.filter_map(|model| self.part_after(model, until, goal)))
            else {
                continue;
            };
            let forecast = self.judged(vec![first, second], first.times.then(second.times), None);
            if self.objection(&forecast).is_none()
                && best.as_ref().is_none_or(|best| forecast.cost < best.cost)
            {
                best = Some(forecast);
            }
        }
        best.filter(|best| best.cost < (1.0 - self.settings.switch_gain) * single.cost)
    }

    /// One configuration from here to the goal, or to the deadline.
    pub(super) fn alone(&self, model: usize) -> Option<Forecast> {
        if let Some(goal) = self.goal.progress() {
            let part = self.part(model, self.progress, goal)?;
            return Some(self.judged(vec![part], part.times, None));
        }
        let left = (self.goal.within.unwrap_or(f64::INFINITY) - self.seconds).max(0.0);
        let at = |deviations: f64| self.reached(model, left, deviations);
        let reached = [at(0.0)?, at(TWENTIETH)?, at(-TWENTIETH)?];
        let part = Part {
            times: Times { fixed: left, ..Times::default() },
            ..self.part(model, self.progress, reached[0].max(self.progress + 1e-6))?
        };
        Some(self.judged(vec![part], part.times, Some(reached)))
    }

    /// ln 1/e that is reached in a time, where everything takes as long as so many standard deviations above its median.
    pub(super) fn reached(&self, model: usize, seconds: f64, deviations: f64) -> Option<f64> {
        let takes = |to: f64| self.part(model, self.progress, to).map(|part| part.times.at(deviations));
        let most = LARGEST_PROGRESS.min(self.models[model].most_progress());
        let (mut low, mut high) = (self.progress, most.max(self.progress));
        takes(high)?;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if takes(middle)? <= seconds {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    /// A configuration from one error to another: the stage under way, or another one.
    pub(super) fn part(&self, model: usize, from: f64, to: f64) -> Option<Part> {
        match &self.stage {
            Some(stage) if stage.model == model => {
                let (effort, deviation) = self.left(stage, model, to);
                Some(self.timed(model, to, effort, deviation, 0.0))
            }
            Some(_) => self.part_after(model, from, to),
            None => {
                let (mean, variance) = self.residual(model);
                let predicted = &self.models[model];
                let effort = predicted.effort(from, to, mean)?;
                let fixed = predicted.set_up + self.reading_on(predicted.configuration.workers);
                Some(self.timed(model, to, effort, variance.sqrt(), fixed))
            }
        }
    }

    /// A configuration that takes over at an error.
    pub(super) fn part_after(&self, model: usize, from: f64, to: f64) -> Option<Part> {
        let predicted = &self.models[model];
        let (effort, deviation) = match &self.stage {
            // The rounds are those of the stage under way, wherever they are made.
            Some(stage) if predicted.same_rounds(&self.models[stage.model]) && from <= self.progress => {
                let (left, deviation) = self.left(stage, model, to);
                (left + predicted.takes_over.rounds()?, deviation)
            }
            _ => {
                let (mean, variance) = self.residual(model);
                (predicted.effort(from.max(f64::MIN_POSITIVE), to, mean)?, variance.sqrt())
            }
        };
        let reading = self.reading_on(predicted.configuration.workers);
        Some(self.timed(model, to, effort, deviation, predicted.set_up + predicted.switch + reading))
    }

    /// The effort that the rounds of the stage under way have left to an error, and the standard deviation of its logarithm.
    fn left(&self, stage: &Underway, model: usize, to: f64) -> (f64, f64) {
        let (mean, variance) = self.residual(model);
        let predicted = &self.models[model];
        let (effort, whole) = stage.left(predicted, to, mean, &self.settings);
        let widened = variance.sqrt() * (whole / effort).max(1.0).sqrt();
        (effort, widened.min(predicted.line.deviation))
    }

    fn timed(&self, model: usize, until: f64, effort: f64, deviation: f64, fixed: f64) -> Part {
        let per_round = self.models[model].per_round * self.pace.mean(model).exp();
        // However much is known, no run is like another.
        let of = &self.models[model];
        let repeat = self.settings.repeat.powi(2);
        let luck = repeat + of.disturbance(effort, &self.settings) + self.real_repeat();
        let deviation = (deviation * deviation + self.pace.variance(model) + luck).sqrt();
        let times = Times { fixed, variable: effort * per_round, deviation };
        Part { model, until, effort, times }
    }

    /// Reading the data again for another number of workers.
    fn reading_on(&self, workers: usize) -> f64 {
        let read = self.stage.as_ref().map(|stage| self.models[stage.model].configuration.workers);
        match self.reading {
            Some((seconds, on)) if read.unwrap_or(on) != workers => seconds * on as f64 / workers as f64,
            _ => 0.0,
        }
    }

    pub(super) fn judged(&self, parts: Vec<Part>, times: Times, reached: Option<[f64; 3]>) -> Forecast {
        let money = |seconds: &dyn Fn(&Times) -> f64| -> Option<f64> {
            let of = |part: &Part| Some(self.models[part.model].price? * seconds(&part.times));
            parts.iter().map(of).sum()
        };
        let risk = self.goal.risk.deviations();
        let taken = |times: &Times| risk.map_or_else(|| times.expected(), |deviations| times.at(deviations));
        let cost = match reached {
            Some([median, ..]) => {
                let cautious = risk.and_then(|deviations| {
                    let left = times.fixed;
                    self.reached(parts[0].model, left, deviations)
                });
                (-cautious.unwrap_or(median)).exp()
            }
            // Whatever comes before: who finishes a run has to come to its goal, and only a run can tell where a floor is.
            None if parts.last().is_some_and(|last| self.has_floor(last.model)) => f64::INFINITY,
            None if self.goal.cheapest => money(&taken).unwrap_or(f64::INFINITY),
            None => taken(&times),
        };
        Forecast { money: money(&|times| times.at(0.0)), parts, times, reached, cost }
    }

    /// Whether no number of rounds brings a model to every error, and there are others to choose from, for whom some does.
    fn has_floor(&self, model: usize) -> bool {
        let candidates = &self.models[..self.candidates];
        self.models[model].floor > 0.0 && candidates.iter().any(|other| other.floor == 0.0)
    }

    /// Why a forecast does not keep what is asked, if it does not.
    pub(super) fn objection(&self, forecast: &Forecast) -> Option<String> {
        if forecast.reached.is_none()
            && let Some(last) = forecast.parts.last().filter(|last| self.has_floor(last.model))
        {
            let floor = self.models[last.model].floor;
            return Some(format!(
                "no number of rounds gets its error below a floor: about {floor:.1e}, or more where rows are in order"
            ));
        }
        let Goal { error, within, budget, cheapest, .. } = self.goal;
        let sure = deviations(self.settings.sure);
        let percent = 100.0 * self.settings.sure;
        if let (Some(_), Some(within)) = (error, within)
            && self.seconds + forecast.times.at(sure) > within
        {
            let [median, late] = [0.0, sure].map(|at| crate::words::seconds(forecast.times.at(at)));
            return Some(format!("takes {median}, and up to {late} in {percent:.0} % of cases"));
        }
        if budget.is_none() && !cheapest {
            return None;
        }
        let Some(money) = forecast.money else { return Some("its price is not known".to_owned()) };
        let at_worst = money * forecast.times.at(sure) / forecast.times.at(0.0).max(f64::MIN_POSITIVE);
        let over = budget.is_some_and(|budget| self.money + at_worst > budget);
        over.then(|| format!("would cost up to {at_worst:.4}"))
    }

    pub(super) fn candidate(&self, forecast: &Forecast) -> Candidate {
        let stages = forecast.parts.iter().map(|part| self.stage_of(part, forecast.reached));
        let error = forecast.reached.map(|[mean, low, high]| Estimate {
            low: (-high).exp(),
            mean: (-mean).exp(),
            high: (-low).exp(),
        });
        Candidate {
            stages: stages.collect(),
            seconds: forecast.reached.is_none().then(|| forecast.times.estimate()),
            error,
            cost: forecast.money.filter(|money| money.is_finite()),
            criterion: forecast.cost,
        }
    }

    fn stage_of(&self, part: &Part, reached: Option<[f64; 3]>) -> Stage {
        let model = &self.models[part.model];
        let (_, variance) = self.residual(part.model);
        let rounds = Times { fixed: 0.0, variable: part.effort.max(1.0), deviation: variance.sqrt() };
        let to_goal = reached.is_none();
        Stage {
            configuration: model.configuration.clone(),
            until_error: to_goal.then(|| (-part.until).exp()),
            rounds: to_goal.then(|| rounds.estimate()),
            unit: if model.settles() { Unit::Passes } else { Unit::Rounds },
            seconds: to_goal.then(|| part.times.estimate()),
            cost: model.price.map(|price| price * part.times.at(0.0)),
        }
    }

    /// ln 1/e that the best configuration is expected to reach in the time.
    pub(super) fn expected_progress(&self) -> f64 {
        let left = self.goal.within.unwrap_or(0.0);
        let reached = (0..self.candidates).filter_map(|model| self.reached(model, left, 0.0));
        reached.fold(std::f64::consts::LN_10, f64::max)
    }
}

/// How much worse than its cost a forecast is that keeps no deadline.
const BEHIND: f64 = 1e6;
/// A number is found to a millionth.
pub(super) const HALVINGS: usize = 30;
