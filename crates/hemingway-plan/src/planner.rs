//! The planner: what to begin with, and after each score whether to go on or to hand over.
//!
//! One model of every configuration ([`Model`]), one posterior over how far the models are off, one decision. It answers
//! before the run, after each score and after a stage that failed; what it knows differs, the question does not.

use hemingway_train::{Cluster, entry};

use crate::forecast::{Model, Residual, Underway};
use crate::posterior::Posterior;
use crate::{Candidate, Configuration, Decision, Goal, Profile, Rejected, Settings, Stage};

mod past;
mod pilot;
mod prediction;

pub use past::{PastScore, PastStage};
pub use pilot::Pilot;

use past::{effort, pace_of};
use pilot::Possible;
use prediction::{Forecast, HALVINGS};

/// All that a plan is made from.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// The problem.
    pub profile: Profile,
    /// The machines.
    pub cluster: Cluster,
    /// What to choose from.
    pub configurations: Vec<Configuration>,
    /// What is asked for.
    pub goal: Goal,
    /// Whether the training clock is a real one.
    pub real_clock: bool,
    /// What reading the data took, and on how many workers, where every other number has to read it again.
    pub reading: Option<(f64, usize)>,
    /// Stages of earlier runs.
    pub history: Vec<PastStage>,
    /// The constants.
    pub settings: Settings,
}

/// Where a run is after a scored round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Rounds since training began, over all stages.
    pub rounds: u64,
    /// The training clock.
    pub seconds: f64,
    /// The certified relative error; 1 if nothing is certified yet.
    pub error: f64,
}

/// What a run does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// What it does now.
    GoOn,
    /// Another stage.
    HandOver(HandOver),
}

/// A stage that takes over, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct HandOver {
    /// How to go on.
    pub to: Configuration,
    /// Why, in a sentence.
    pub reason: String,
    /// Whether the plan had it from the beginning.
    pub planned: bool,
}

/// Plans a run and follows it.
#[derive(Debug, Clone)]
pub struct Planner {
    goal: Goal,
    settings: Settings,
    real_clock: bool,
    reading: Option<(f64, usize)>,
    models: Vec<Model>,
    /// Models that only history needs are behind this one.
    candidates: usize,
    failed: Vec<bool>,
    /// How far ln rounds are off, at [`Planner::reference`].
    rounds: Posterior,
    /// How far ln seconds per round are off, by model.
    pace: Posterior,
    /// ln 1/e that residuals refer to: the goal, or what is expected to be reached in time.
    reference: f64,
    stage: Option<Underway>,
    /// What it shows of its residual of ln rounds. Every forecast asks for it, and it takes all scores to say.
    shown: Option<(usize, Residual)>,
    /// What the plan does after the present stage, and from which error on.
    then: Option<(f64, usize)>,
    progress: f64,
    seconds: f64,
    money: f64,
    planning: f64,
    /// Pilots that may still be made.
    pilots: Vec<Possible>,
}

/// Smaller errors are of no interest to anybody.
const LARGEST_PROGRESS: f64 = 27.6;

impl Planner {
    /// Unknown algorithms are left out.
    pub fn new(inputs: Inputs) -> Planner {
        let Inputs { profile, cluster, configurations, goal, real_clock, reading, history, settings } =
            inputs;
        let model = |configuration: Configuration| {
            let entry = entry(&configuration.algorithm)?;
            Some(Model::new(configuration, entry, &profile, &cluster, &goal, &settings))
        };
        let mut models: Vec<Model> = configurations.into_iter().filter_map(model).collect();
        let candidates = models.len();
        for past in &history {
            if models.iter().all(|model| model.configuration != past.configuration) {
                models.extend(model(past.configuration.clone()));
            }
        }
        let mut latents: Vec<usize> = Vec::new();
        for at in 0..models.len() {
            let known = latents.iter().position(|&first| models[first].same_rounds(&models[at]));
            models[at].latent = known.unwrap_or_else(|| {
                latents.push(at);
                latents.len() - 1
            });
        }
        let rounds = Posterior::new(&latents, |&a, &b| {
            let (a_line, b_line) = (&models[a].line, &models[b].line);
            let correlation = if a == b { 1.0 } else { a_line.correlation(b_line) };
            correlation * a_line.deviation * b_line.deviation
        });
        let pace = if real_clock { settings.real_pace } else { settings.virtual_pace };
        let [shared, of_algorithm, own] = pace.map(|deviation| deviation * deviation);
        let places: Vec<usize> = (0..models.len()).collect();
        let sharing = if real_clock { settings.real_sharing.powi(2) } else { 0.0 };
        let pace = Posterior::new(&places, |&a, &b| {
            let same_algorithm = match models[a].entry.name == models[b].entry.name {
                true if models[a].shares_memory() && models[b].shares_memory() => of_algorithm + sharing,
                true => of_algorithm,
                false => 0.0,
            };
            shared + same_algorithm + if a == b { own } else { 0.0 }
        });
        let size = models.len() as f64;
        let planning = size * MODEL_SECONDS + 2.0 * size * size * PAIR_SECONDS;
        let pilots = Possible::of(&models[..candidates], &profile, &cluster);
        let mut planner = Planner {
            failed: vec![false; models.len()],
            goal,
            settings,
            real_clock,
            reading,
            models,
            candidates,
            rounds,
            pace,
            reference: 0.0,
            stage: None,
            shown: None,
            then: None,
            progress: 0.0,
            seconds: 0.0,
            money: 0.0,
            planning,
            pilots,
        };
        planner.reference = planner.goal.progress().unwrap_or_else(|| planner.expected_progress());
        history.iter().for_each(|past| planner.condition_on(past));
        planner
    }

    /// What is best from here, what else could be done, and what could not.
    pub fn decide(&self) -> Decision {
        let mut rejected = Vec::new();
        let mut possible: Vec<Forecast> = Vec::new();
        for model in (0..self.candidates).filter(|&model| !self.failed[model]) {
            let name = || self.models[model].configuration.name();
            match self.alone(model).map(|forecast| (self.objection(&forecast), forecast)) {
                None => {}
                Some((None, forecast)) if forecast.cost.is_finite() => possible.push(forecast),
                Some((reason, forecast)) => {
                    let reason = reason.unwrap_or_else(|| "no error is predicted to be reached".to_owned());
                    rejected.push((forecast.cost, Rejected { name: name(), reason }));
                }
            }
        }
        rejected.sort_by(|a, b| a.0.total_cmp(&b.0));
        let rejected = rejected.into_iter().map(|(_, rejected)| rejected).collect();
        let by_cost = |a: &Forecast, b: &Forecast| {
            let workers = |forecast: &Forecast| self.models[forecast.parts[0].model].configuration.workers;
            let unlucky = |forecast: &Forecast| forecast.reached.map_or(0.0, |[_, low, _]| -low);
            let luck = unlucky(a).total_cmp(&unlucky(b));
            a.cost.total_cmp(&b.cost).then(luck).then(workers(a).cmp(&workers(b)))
        };
        possible.sort_by(by_cost);
        if let Some(sequence) = self.best_sequence(possible.first()) {
            possible.insert(0, sequence);
        }
        let mut ordered = possible.iter().map(|forecast| self.candidate(forecast));
        Decision { plan: ordered.next(), reason: None, alternatives: ordered.collect(), rejected }
    }

    /// The run begins with this plan.
    pub fn begin(&mut self, plan: &Candidate) {
        let position = |stage: &Stage| self.position(&stage.configuration);
        self.then = match plan.stages.as_slice() {
            [first, second, ..] => first.until_error.map(|error| -error.ln()).zip(position(second)),
            _ => None,
        };
        self.start(plan.first(), 0.0, 0.0);
    }

    /// A run goes on that was begun before: under this configuration, from this score.
    pub fn go_on(&mut self, configuration: &Configuration, score: Option<Score>) {
        let score = score.unwrap_or(Score { rounds: 0, seconds: 0.0, error: 1.0 });
        self.progress = progress(score.error);
        self.spend(score.seconds);
        self.start(configuration, score.rounds as f64, score.seconds);
    }

    /// A scored round of the present stage.
    pub fn observe(&mut self, score: Score) -> Next {
        self.spend(score.seconds);
        self.progress = self.progress.max(progress(score.error));
        let (progress, real_repeat) = (self.progress, self.real_repeat());
        let Some(stage) = &mut self.stage else { return Next::GoOn };
        let model = &self.models[stage.model];
        let (rounds, seconds) = (score.rounds as f64 - stage.begun.0, score.seconds - stage.begun.1);
        if rounds <= 0.0 {
            return Next::GoOn;
        }
        let first = *stage.first.get_or_insert((rounds, seconds));
        let predicted = model.per_round * self.pace.mean(stage.model).exp();
        let effort = effort(model, first, (rounds, seconds), predicted);
        stage.scores.push((effort, progress.max(stage.from)));
        self.shown = shown(stage, model, self.reference, &self.settings);
        if let Some((value, noise)) = pace_of(model, first, (rounds, seconds), &self.settings) {
            let noise = noise + real_repeat;
            let at = stage.model;
            // All rounds so far count once.
            let (mean, variance) = (self.pace.mean(at), self.pace.variance(at));
            if (value - mean).abs() > 1e-3 && variance > 0.1 * noise {
                self.pace.condition(at, value, noise);
            }
        }
        if self.real_clock && score.seconds < self.settings.earliest {
            return Next::GoOn;
        }
        self.reconsider()
    }

    /// The present stage has taken until now to get ready, which says nothing of its rounds.
    pub fn waited(&mut self, seconds: f64) {
        self.spend(seconds);
        if let Some(stage) = self.stage.as_mut().filter(|stage| stage.first.is_none()) {
            stage.begun.1 = seconds;
        }
    }

    /// The present stage led nowhere. Neither it nor a configuration that would fail like it is chosen from now on.
    pub fn failed(&mut self, reason: &str) -> Next {
        let Some(stage) = &self.stage else { return Next::GoOn };
        for at in 0..self.models.len() {
            self.failed[at] |= self.models[at].fails_like(&self.models[stage.model]);
        }
        let best = (0..self.candidates).filter(|&model| !self.failed[model]).filter_map(|model| {
            let forecast = self.alone(model)?;
            forecast.cost.is_finite().then_some(forecast)
        });
        match best.min_by(|a, b| a.cost.total_cmp(&b.cost)) {
            Some(best) => self.hand_over(&best, reason.to_owned(), false),
            None => Next::GoOn,
        }
    }

    /// The run goes on under this configuration; `rounds` and `seconds` are those of the run when it begins.
    pub fn switched(&mut self, to: &Configuration, rounds: u64, seconds: f64) {
        if let Some((latent, (value, noise))) = self.shown {
            self.rounds.condition(latent, value, noise);
        }
        self.spend(seconds);
        self.then = None;
        self.start(to, rounds as f64, seconds);
    }

    /// What planning has taken since the last time somebody asked: counted, not timed, so that a virtual clock that it is
    /// charged to stays the same from run to run.
    pub fn take_seconds(&mut self) -> f64 {
        std::mem::take(&mut self.planning)
    }

    /// The configurations that no run has measured: their prior is that of their family.
    pub fn unmeasured(&self) -> Vec<&str> {
        let models = self.models[..self.candidates].iter().filter(|model| !model.line.measured);
        let mut names: Vec<&str> = models.map(|model| model.entry.name).collect();
        names.dedup();
        names
    }
}

/// What one model takes on a usual core, one pair of them in the posterior, and one forecast: `cargo bench --bench planning`.
const MODEL_SECONDS: f64 = 7e-7;
const PAIR_SECONDS: f64 = 2e-9;
const FORECAST_SECONDS: f64 = 1e-7;

impl Planner {
    fn position(&self, configuration: &Configuration) -> Option<usize> {
        self.models.iter().position(|model| model.configuration == *configuration)
    }

    fn start(&mut self, configuration: &Configuration, rounds: f64, seconds: f64) {
        let found = self.progress;
        self.stage = self.position(configuration).map(|model| {
            let anew = self.models[model].takes_over == hemingway_train::TakeOver::Anew;
            let from = if anew { 0.0 } else { found };
            let found = if anew { found } else { 0.0 };
            Underway { model, from, found, begun: (rounds, seconds), first: None, scores: Vec::new() }
        });
        self.shown = None;
    }

    /// What forecasts of all candidates take; where the error at a deadline is looked for, each is many.
    fn forecast_seconds(&self) -> f64 {
        let each = if self.goal.error.is_some() { 1.0 } else { HALVINGS as f64 };
        FORECAST_SECONDS * each * self.candidates as f64
    }

    /// The variance of ln seconds per round between runs on real machines.
    fn real_repeat(&self) -> f64 {
        if self.real_clock { self.settings.real_repeat.powi(2) } else { 0.0 }
    }

    fn spend(&mut self, seconds: f64) {
        if let Some(price) = self.stage.as_ref().and_then(|stage| self.models[stage.model].price) {
            self.money += price * (seconds - self.seconds).max(0.0);
        }
        self.seconds = self.seconds.max(seconds);
    }

    /// Mean and variance of the residual of ln rounds.
    fn residual(&self, model: usize) -> (f64, f64) {
        let latent = self.models[model].latent;
        match self.shown {
            Some((at, (value, noise))) => {
                self.rounds.given(latent, (at, value, noise + self.settings.repeat.powi(2)))
            }
            None => (self.rounds.mean(latent), self.rounds.variance(latent)),
        }
    }

    /// Whether to go on.
    fn reconsider(&mut self) -> Next {
        self.planning += self.forecast_seconds();
        let Some(stage) = &self.stage else { return Next::GoOn };
        let goal = self.goal.progress();
        if goal.is_some_and(|goal| self.progress >= goal) {
            return Next::GoOn;
        }
        let Some(alone) = self.alone(stage.model) else { return Next::GoOn };
        let due = self.then.filter(|(until, _)| self.progress >= *until);
        if let Some(next) = due.and_then(|(_, model)| self.alone(model))
            && (1.0 - self.settings.switch_gain) * self.rank(&next) < self.rank(&alone)
        {
            let reason = format!("as planned, at error {:.1e}", (-self.progress).exp());
            return self.hand_over(&next, reason, true);
        }
        let as_planned = self.as_planned().filter(|planned| self.rank(planned) < self.rank(&alone));
        let stay = as_planned.unwrap_or(alone);
        // A shorter tail alone is no reason: what is handed over to has to be faster in the median too.
        let faster = |other: &Forecast| {
            let stuck = stay.cost.is_infinite();
            stuck || self.goal.cheapest || other.reached.is_some() || other.times.at(0.0) < stay.times.at(0.0)
        };
        let others = (0..self.candidates)
            .filter(|&other| other != stage.model && !self.failed[other])
            .filter_map(|other| self.alone(other).filter(faster));
        let Some(best) = others.min_by(|a, b| self.rank(a).total_cmp(&self.rank(b))) else {
            return Next::GoOn;
        };
        if self.rank(&best) >= (1.0 - self.settings.switch_gain) * self.rank(&stay) {
            return Next::GoOn;
        }
        self.hand_over(&best, self.reason(&stay, &best), false)
    }

    fn hand_over(&self, to: &Forecast, reason: String, planned: bool) -> Next {
        let to = self.models[to.parts[0].model].configuration.clone();
        Next::HandOver(HandOver { to, reason, planned })
    }

    /// The present stage until the plan hands over, and what comes then.
    fn as_planned(&self) -> Option<Forecast> {
        let (until, second) = self.then.filter(|(until, _)| self.progress < *until)?;
        let first = self.part(self.stage.as_ref()?.model, self.progress, until)?;
        let second = self.part_after(second, until, self.goal.progress()?)?;
        Some(self.judged(vec![first, second], first.times.then(second.times), None))
    }

    fn reason(&self, stay: &Forecast, other: &Forecast) -> String {
        let seconds = |forecast: &Forecast| forecast.times.at(0.0);
        let name = |forecast: &Forecast| self.models[forecast.parts[0].model].configuration.name();
        if let Some(objection) = stay.cost.is_infinite().then(|| self.objection(stay)).flatten() {
            return format!("{}: {objection}", name(stay));
        }
        match (stay.reached, other.reached) {
            (Some([stay, ..]), Some([there, ..])) => {
                format!("error {:.1e} in time is predicted instead of {:.1e}", (-there).exp(), (-stay).exp())
            }
            _ => format!(
                "{} needs {} more, {} is predicted to need {}",
                name(stay),
                crate::words::seconds(seconds(stay)),
                name(other),
                crate::words::seconds(seconds(other))
            ),
        }
    }
}

/// What a stage shows of its residual at the error that residuals refer to.
fn shown(stage: &Underway, model: &Model, reference: f64, settings: &Settings) -> Option<(usize, Residual)> {
    Some((model.latent, stage.residual(model, reference, settings)?))
}

/// ln 1/e.
fn progress(error: f64) -> f64 {
    -error.clamp(f64::MIN_POSITIVE, 1.0).ln()
}

#[cfg(test)]
mod tests;
