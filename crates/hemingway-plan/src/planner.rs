//! The planner: what to begin with, and after each score whether to go on or to hand over.
//!
//! One model of every configuration ([`Model`]), one posterior over how far the models are off, one decision. It answers
//! before the run, after each score and after a stage that failed; what it knows differs, the question does not.

use hemingway_train::{Cluster, entry};

use crate::distribution::{TWENTIETH, deviations};
use crate::forecast::{Model, Residual, Times, Underway, at_goal};
use crate::posterior::Posterior;
use crate::{Candidate, Configuration, Decision, Estimate, Goal, Profile, Rejected, Settings, Stage, Unit};

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

/// A stage of an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct PastStage {
    /// How it trained.
    pub configuration: Configuration,
    /// The certified error that it began from; 1 is the start of training.
    pub from: f64,
    /// What it came to, in order.
    pub scores: Vec<PastScore>,
    /// Whether its data only looks like this problem's.
    pub similar: bool,
    /// Whether it ran on the same machines.
    pub same_machines: bool,
}

/// A scored round of an earlier stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PastScore {
    /// Rounds since the stage began.
    pub rounds: f64,
    /// Seconds since then.
    pub seconds: f64,
    /// The certified error.
    pub error: f64,
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
}

/// What is left of a run under one or two configurations.
#[derive(Debug, Clone)]
struct Forecast {
    parts: Vec<Part>,
    times: Times,
    /// Money; nothing if prices are not known.
    money: Option<f64>,
    /// ln 1/e at the deadline: its median, what 95 % of cases exceed, and what 5 % exceed.
    reached: Option<[f64; 3]>,
    cost: f64,
}

/// One stage of a forecast.
#[derive(Debug, Clone, Copy)]
struct Part {
    model: usize,
    until: f64,
    effort: f64,
    times: Times,
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
        let pace = Posterior::new(&places, |&a, &b| {
            let same_algorithm =
                if models[a].entry.name == models[b].entry.name { of_algorithm } else { 0.0 };
            shared + same_algorithm + if a == b { own } else { 0.0 }
        });
        let size = models.len() as f64;
        let planning = size * MODEL_SECONDS + 2.0 * size * size * PAIR_SECONDS;
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
        };
        planner.reference = planner.goal.progress().unwrap_or_else(|| planner.expected_progress());
        history.iter().for_each(|past| planner.remember(past));
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

    /// Takes in what an earlier stage has shown.
    fn remember(&mut self, past: &PastStage) {
        let Some(at) = self.position(&past.configuration) else { return };
        let model = &self.models[at];
        let Some(first) = past.scores.first().map(|score| (score.rounds, score.seconds)) else { return };
        if let Some((value, noise)) = past
            .scores
            .last()
            .filter(|_| past.same_machines)
            .and_then(|last| pace_of(model, first, (last.rounds, last.seconds), &self.settings))
        {
            self.pace.condition(at, value, noise + self.real_repeat());
        }
        // The error nearest to the goal says most of it.
        let reached = past.scores.iter().map(|score| (progress(score.error), score));
        let reached = reached.filter(|(now, _)| *now >= progress(past.from).max(std::f64::consts::LN_10));
        let near = |now: f64| (now.min(self.reference) - self.reference).abs();
        let Some((now, score)) = reached.min_by(|a, b| near(a.0).total_cmp(&near(b.0))) else { return };
        let predicted = first.1 / first.0.max(1.0);
        let made = effort(model, first, (score.rounds, score.seconds), predicted);
        let Some(expected) = model.effort(progress(past.from), now, 0.0) else { return };
        let (value, noise) =
            at_goal(&model.line, now.min(self.reference), (made / expected).ln(), self.reference);
        let repeat = if past.similar { self.settings.similar } else { self.settings.repeat };
        self.rounds.condition(model.latent, value, noise + repeat * repeat);
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
        let others = (0..self.candidates)
            .filter(|&other| other != stage.model && !self.failed[other])
            .filter_map(|other| self.alone(other));
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

    /// Cost, those that do not keep a deadline or a budget behind all others.
    fn rank(&self, forecast: &Forecast) -> f64 {
        let behind = if self.objection(forecast).is_some() { BEHIND } else { 1.0 };
        behind * forecast.cost
    }

    fn reason(&self, stay: &Forecast, other: &Forecast) -> String {
        let seconds = |forecast: &Forecast| forecast.times.at(0.0);
        let name = |forecast: &Forecast| self.models[forecast.parts[0].model].configuration.name();
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

    /// Two stages, if they are better than the best single one by what a change of plan has to gain.
    fn best_sequence(&self, single: Option<&Forecast>) -> Option<Forecast> {
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
            let first = quickest(&mut open().filter_map(|model| self.part(model, self.progress, until)))?;
            let another = |model: usize| self.models[model].entry.name != self.models[first.model].entry.name;
            let second = open().filter(|&model| another(model));
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
    fn alone(&self, model: usize) -> Option<Forecast> {
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
    fn reached(&self, model: usize, seconds: f64, deviations: f64) -> Option<f64> {
        let takes = |to: f64| self.part(model, self.progress, to).map(|part| part.times.at(deviations));
        let (mut low, mut high) = (self.progress, LARGEST_PROGRESS.max(self.progress));
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
    fn part(&self, model: usize, from: f64, to: f64) -> Option<Part> {
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
    fn part_after(&self, model: usize, from: f64, to: f64) -> Option<Part> {
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

    fn judged(&self, parts: Vec<Part>, times: Times, reached: Option<[f64; 3]>) -> Forecast {
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
            None if self.goal.cheapest => money(&taken).unwrap_or(f64::INFINITY),
            None => taken(&times),
        };
        Forecast { money: money(&|times| times.at(0.0)), parts, times, reached, cost }
    }

    /// Why a forecast does not keep what is asked, if it does not.
    fn objection(&self, forecast: &Forecast) -> Option<String> {
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

    fn candidate(&self, forecast: &Forecast) -> Candidate {
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
    fn expected_progress(&self) -> f64 {
        let left = self.goal.within.unwrap_or(0.0);
        let reached = (0..self.candidates).filter_map(|model| self.reached(model, left, 0.0));
        reached.fold(std::f64::consts::LN_10, f64::max)
    }
}

/// How much worse than its cost a forecast is that keeps no deadline.
const BEHIND: f64 = 1e6;
/// A number is found to a millionth.
const HALVINGS: usize = 30;

/// What a stage shows of its residual at the error that residuals refer to.
fn shown(stage: &Underway, model: &Model, reference: f64, settings: &Settings) -> Option<(usize, Residual)> {
    Some((model.latent, stage.residual(model, reference, settings)?))
}

/// ln 1/e.
fn progress(error: f64) -> f64 {
    -error.clamp(f64::MIN_POSITIVE, 1.0).ln()
}

/// The effort of a stage, given its rounds and seconds: rounds, or passes over all rows where rounds become shorter.
fn effort(model: &Model, first: (f64, f64), (rounds, seconds): (f64, f64), per_round: f64) -> f64 {
    if !model.settles() {
        return rounds;
    }
    let whole = if first.0 <= WHOLE_ROUNDS && first.1 > 0.0 { first.1 / first.0 } else { per_round };
    seconds / whole.max(f64::MIN_POSITIVE)
}

/// In the first rounds no row has settled.
const WHOLE_ROUNDS: f64 = 2.0;

/// How far ln seconds per round are off, with the variance of the noise.
fn pace_of(model: &Model, first: (f64, f64), last: (f64, f64), settings: &Settings) -> Option<(f64, f64)> {
    let (rounds, seconds) = match model.settles() {
        true if first.0 > WHOLE_ROUNDS => return None,
        true => first,
        // What came before the first score has the set-up in it.
        false if last.0 > first.0 => (last.0 - first.0, last.1 - first.1),
        false => (first.0, first.1 - model.set_up),
    };
    let value = (seconds / rounds / model.per_round).ln();
    value.is_finite().then_some((value, model.disturbance(rounds, settings)))
}

#[cfg(test)]
mod tests;
