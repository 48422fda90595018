//! What is left of a run under a configuration: h(t, m) = g(t / f(m), m), from the prior, from earlier runs and from the
//! run itself.

use std::f64::consts::LN_10;

use hemingway_train::{Cluster, Entry, Needs, Share, TakeOver};

use crate::distribution::TWENTIETH;
use crate::prior::{Line, seconds, variation};
use crate::{Configuration, Estimate, Goal, Profile, Settings};

/// Seconds that have a fixed part and one that varies by a log-normal factor.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Times {
    pub fixed: f64,
    pub variable: f64,
    /// The standard deviation of the logarithm of the varying part.
    pub deviation: f64,
}

impl Times {
    /// So many standard deviations above the median.
    pub fn at(&self, deviations: f64) -> f64 {
        self.fixed + self.variable * (deviations * self.deviation).exp()
    }

    /// The average.
    pub fn expected(&self) -> f64 {
        self.fixed + self.variable * (0.5 * self.deviation * self.deviation).exp()
    }

    /// One after the other.
    pub fn then(self, next: Times) -> Times {
        let variable = self.variable + next.variable;
        let spread = (self.variable * self.deviation).hypot(next.variable * next.deviation);
        let deviation = if variable > 0.0 { spread / variable } else { 0.0 };
        Times { fixed: self.fixed + next.fixed, variable, deviation }
    }

    pub fn estimate(&self) -> Estimate {
        Estimate { low: self.at(-TWENTIETH), mean: self.at(0.0), high: self.at(TWENTIETH) }
    }
}

/// Where no error is asked for, lines are as wide as at 1e-3.
const USUAL_PROGRESS: f64 = 3.0 * LN_10;

/// What is predicted of one configuration before anything ran.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub configuration: Configuration,
    pub entry: &'static Entry,
    /// Rounds to an error: g(i, m) turned round.
    pub line: Line,
    /// Seconds of a round, f(m),
    pub per_round: f64,
    /// and the variance of the seconds of one round, over their square.
    pub variation: f64,
    /// Seconds before the first round: the solver is set up, and after a switch the model goes to all workers.
    pub set_up: f64,
    pub switch: f64,
    pub takes_over: TakeOver,
    /// About the relative error that no number of rounds gets below; 0 if there is none.
    pub floor: f64,
    /// Money per second, if prices are known.
    pub price: Option<f64>,
    /// Which residual of ln rounds it has: shared by configurations that make the same rounds.
    pub latent: usize,
}

impl Model {
    pub fn new(
        configuration: Configuration,
        entry: &'static Entry,
        profile: &Profile,
        cluster: &Cluster,
        goal: &Goal,
        settings: &Settings,
    ) -> Model {
        let Configuration { workers, passes, .. } = configuration;
        let share = Share::new(&profile.data, &profile.problem(), workers, passes);
        let on_cluster = |phases: &[_]| seconds(phases, entry.name, workers, cluster);
        let numbers = profile.data.rows + profile.dimension();
        Model {
            line: Line::of(
                profile,
                entry,
                workers,
                passes,
                goal.progress().unwrap_or(USUAL_PROGRESS),
                settings,
            ),
            per_round: on_cluster(&(entry.round)(&share)),
            variation: variation(&(entry.round)(&share), entry.name, workers, cluster),
            set_up: on_cluster(&(entry.set_up)(&share)),
            switch: cluster.network.broadcast_seconds(workers, numbers),
            takes_over: (entry.takes_over)(profile.loss),
            floor: entry.about.floor.lasting(&share),
            price: cluster.price_per_second(workers),
            latent: 0,
            entry,
            configuration,
        }
    }

    /// Whether its rounds become shorter, so that its effort is counted in passes over all rows.
    pub fn settles(&self) -> bool {
        self.entry.settles_alone && self.configuration.workers == 1
    }

    /// ln 1/e of about the error that it never gets below.
    pub fn most_progress(&self) -> f64 {
        -self.floor.ln()
    }

    /// Whether its workers race on memory that they share.
    pub fn shares_memory(&self) -> bool {
        self.entry.needs() == Needs::SharedMemory && self.configuration.workers > 1
    }

    /// The variance of ln seconds per round between runs, for a mean over `rounds` rounds.
    pub fn disturbance(&self, rounds: f64, settings: &Settings) -> f64 {
        (self.variation + settings.one_round * settings.one_round) / rounds.max(1.0)
    }

    /// Whether it makes the same rounds as another: its workers only change how long they take.
    pub fn same_rounds(&self, other: &Model) -> bool {
        let (a, b) = (&self.configuration, &other.configuration);
        let workers = !self.entry.depends_on_workers || a.workers == b.workers;
        self.entry.name == other.entry.name && workers && a.passes == b.passes
    }

    /// Whether what ended in failure here would do so there. Local work does not change that.
    pub fn fails_like(&self, other: &Model) -> bool {
        let workers =
            !self.entry.depends_on_workers || self.configuration.workers == other.configuration.workers;
        self.entry.name == other.entry.name && workers
    }

    /// The effort from an error of e^-from to one of e^-to, where the residual of ln rounds is known; nothing if the
    /// configuration does not go on from where another one came to.
    pub fn effort(&self, from: f64, to: f64, residual: f64) -> Option<f64> {
        let all = (self.line.log_rounds(to) + residual).min(MOST).exp();
        match self.takes_over {
            _ if from <= 0.0 => Some(all),
            TakeOver::After { rounds } => Some(all * ((to - from) / to).max(0.0) + rounds),
            TakeOver::Anew => Some(all),
            TakeOver::Never => None,
        }
    }
}

/// A stage under way.
#[derive(Debug, Clone)]
pub(crate) struct Underway {
    /// Which model.
    pub model: usize,
    /// ln 1/e of the error that it began from, 0 if it makes nothing of it.
    pub from: f64,
    /// ln 1/e that was reached before it began.
    pub found: f64,
    /// Rounds and seconds of the run when it began.
    pub begun: (f64, f64),
    /// Its first score: rounds and seconds since it began.
    pub first: Option<(f64, f64)>,
    /// Its scores: effort since it began, and the smallest error so far as ln 1/e.
    pub scores: Vec<(f64, f64)>,
}

/// An observation of a residual of ln rounds: its value at the goal, and the variance of its noise.
pub(crate) type Residual = (f64, f64);

impl Underway {
    /// Effort made so far.
    pub fn made(&self) -> f64 {
        self.scores.last().map_or(0.0, |score| score.0)
    }

    /// ln 1/e, as far as this stage has brought it.
    pub fn progress(&self) -> f64 {
        self.scores.last().map_or(self.from, |score| score.1).max(self.from)
    }

    /// What the stage shows of its residual at the goal: from the last error that it came to, or from the next one that is
    /// overdue.
    pub fn residual(&self, model: &Model, goal: f64, settings: &Settings) -> Option<Residual> {
        let now = self.progress();
        let next = (now + settings.level * LN_10).min(goal);
        let log_effort = |to: f64| (model.effort(self.from, to, 0.0)).map(f64::ln);
        let overdue = (next, self.made().ln() - log_effort(next)?);
        let reached = self.scores.iter().find(|score| score.1 >= now).filter(|_| now >= self.from.max(LN_10));
        let reached = match reached {
            Some((effort, _)) if now > self.found && *effort > 0.0 && !model.entry.late => {
                Some((now, effort.ln() - log_effort(now)?))
            }
            _ => None,
        };
        let late = model.entry.late.then(|| Some((goal, self.made().ln() - log_effort(goal)?)));
        let (at, value) = match (reached, late.flatten()) {
            (_, Some(late)) if late.1 > 0.0 => late,
            (_, Some(_)) => return None,
            (Some(reached), _) if reached.1 >= overdue.1 => reached,
            _ if overdue.1 > 0.0 => overdue,
            (Some(reached), _) => reached,
            (None, _) => return None,
        };
        Some(at_goal(&model.line, at, value, goal))
    }

    /// The effort left to an error of e^-to, given the residual of ln rounds, with that of the whole stage.
    pub fn left(&self, model: &Model, to: f64, residual: f64, settings: &Settings) -> (f64, f64) {
        let whole = model.effort(self.from, to, residual).unwrap_or(f64::INFINITY);
        let (now, made) = (self.progress(), self.made());
        let done = ((now - self.from) / (to - self.from)).clamp(0.0, 1.0);
        let done = if now > self.found { done } else { 0.0 };
        let by_prior = (whole - made).max(settings.least_left * whole * (1.0 - done)).max(1e-9 * whole);
        let by_pace = self.pace(now).map(|pace| pace * (to - now).max(0.0));
        let by_pace = by_pace.filter(|by_pace| *by_pace > 0.0 && by_pace.is_finite());
        let left = match by_pace {
            // Where the error falls late it falls ever faster.
            Some(by_pace) if model.entry.late => by_prior.min(by_pace),
            Some(by_pace) => {
                let weight = settings.pace_weight * done;
                ((1.0 - weight) * by_prior.ln() + weight * by_pace.ln()).exp()
            }
            None => by_prior,
        };
        (left, whole)
    }

    /// Effort per unit of ln 1/e over the last decade, with what has gone by since.
    fn pace(&self, now: f64) -> Option<f64> {
        let window = self.scores.iter().rev().find(|score| score.1 <= now - LN_10);
        let (effort, from) = window.copied().unwrap_or((0.0, self.from));
        let gained = now - from;
        (gained > 0.0).then(|| (self.made() - effort) / gained)
    }
}

/// Nobody waits for more than e to this many rounds, and numbers stay numbers.
const MOST: f64 = 60.0;

/// What a residual at one error says of it at the goal: residuals along a run are an Ornstein-Uhlenbeck process in the
/// decades of the error.
pub(crate) fn at_goal(line: &Line, at: f64, value: f64, goal: f64) -> Residual {
    let kept = line.per_decade.powf((goal - at).abs() / LN_10);
    ((value / kept).clamp(-MOST, MOST), line.deviation.powi(2) * (1.0 / (kept * kept) - 1.0))
}
