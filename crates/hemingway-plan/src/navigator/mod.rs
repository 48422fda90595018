//! Which way a training run begins with, and after each scored round whether to go on another way.
//!
//! A way is an algorithm on a number of workers with some local work. The model, weights and dual point, is carried over
//! a switch, so a run that has come to an error under one way goes on from about there under any other.
//!
//! - [`Terrain`]: rounds and seconds of every way before anything ran, and what a switch costs.
//! - `belief`: how far the prior's rounds are off on this data, learnt while running.
//! - `pace`: seconds of a round, likewise.
//! - `forecast`: what is left of the run under each way, with its doubt.
//! - `relay`: a run of two ways, the one quick to come near, the other quick to arrive.
//!
//! A run does not wander. A switch has to gain a share of the time that is left, the more the more switches there were,
//! and it has to do so with a good chance, not just in the middle of what is believed: of many ways whose priors are off
//! by a factor of two or three, the one that looks best is mostly one whose prior is too good.

mod belief;
mod forecast;
mod pace;
mod relay;
mod terrain;
mod way;

use hemingway_train::Cluster;

use crate::{Candidate, Estimate, Glance, Requirement, decide};
use belief::Belief;
use forecast::{Forecast, on_average};
use pace::{Pace, seconds_per_round};
use terrain::{BURNT_IN, Grid, Outlook};

pub use terrain::Terrain;
pub use way::{Leg, Lesson, Plan, Seen, Switch, Way, Ways};

/// A stretch of a run teaches something once it is so long, in e-folds of the error.
const STRETCH: f64 = 0.5;
/// The chance that a switch is a gain has to be at least six in ten: standard deviations to that.
const CHANCE: f64 = 0.253_347_1;
/// A stretch of an earlier run of the same problem counts for so many times its length.
const ASSURANCE: f64 = 5.0;
/// A stretch that takes so many times the rounds foretold is long overdue.
const LONG_OVERDUE: f64 = 4.0;
/// A round of at most this share of the whole is worth a trial,
const TRIAL: f64 = 0.04;
/// or a few rounds of this share if it is likely to be the best way,
const LONGEST_TRIAL: f64 = 0.25;
/// which says little before so many rounds.
const TRIAL_ROUNDS: f64 = 2.0;
/// A run of fewer seconds is not worth a trial.
const SMALL: f64 = 0.05;
/// How much better than in the middle a way may turn out, in standard deviations.
const OPTIMISM: f64 = 1.5;
/// With every switch the next has to gain so many times more.
const RELUCTANCE: f64 = 1.5;
/// And so many times more for every time that its way has been left before.
const REGRET: f64 = 2.0;

/// Plans a run, follows it and re-plans.
#[derive(Debug, Clone)]
pub struct Navigator {
    asked: Requirement,
    hysteresis: f64,
    /// Rows of the data, n.
    rows: usize,
    grid: Grid,
    outlooks: Vec<Outlook>,
    belief: Belief,
    paces: Vec<Pace>,
    /// How often each way has been left.
    left: Vec<u32>,
    /// Whether each way has failed, or would fail like one that has.
    failed: Vec<bool>,
    switches: u32,
    present: Present,
    /// What reading the data took, and on how many workers, where another number of workers reads it again.
    read: Option<(f64, usize)>,
}

/// Where the run is.
#[derive(Debug, Clone, Default)]
struct Present {
    way: Option<usize>,
    /// ln 1/e of the smallest error certified so far.
    progress: f64,
    rounds: f64,
    seconds: f64,
    money: f64,
    /// Where the stretch began that has not taught anything yet.
    mark_progress: f64,
    mark_rounds: f64,
    /// Rounds since the last switch.
    made: f64,
    /// The progress that the present way found, and can make nothing of.
    found: f64,
}

impl Navigator {
    /// Ways that the priors know nothing of are left out.
    pub fn new(
        glance: Glance,
        cluster: Cluster,
        ways: impl Into<Ways>,
        asked: Requirement,
        hysteresis: f64,
    ) -> Navigator {
        let terrain = Terrain { glance, cluster };
        let grid = Grid::to(asked.error);
        let outlook = |way: Way| Outlook::of(&terrain, way, &grid);
        let Ways { whole, leads } = ways.into();
        let leads = leads.into_iter().filter_map(outlook).filter(|outlook| outlook.leads);
        let leads = leads.map(|outlook| Outlook { only_leads: true, ..outlook });
        let outlooks: Vec<Outlook> = whole.into_iter().filter_map(outlook).chain(leads).collect();
        let belief = Belief::before(outlooks.iter().map(|outlook| (&outlook.way, outlook.deviation)));
        Navigator {
            asked,
            hysteresis,
            rows: terrain.glance.rows,
            grid,
            belief,
            paces: vec![Pace::default(); outlooks.len()],
            left: vec![0; outlooks.len()],
            failed: vec![false; outlooks.len()],
            outlooks,
            switches: 0,
            present: Present::default(),
            read: None,
        }
    }

    /// Another number of workers than the present one has to read the data again, which took so long on so many.
    pub fn reads(&mut self, seconds: f64, workers: usize) {
        self.read = Some((seconds, workers));
    }

    /// Takes in what earlier runs have shown, as if this one had.
    pub fn learn(&mut self, known: &[Lesson]) {
        for Lesson { way, from, to, rounds, seconds } in known {
            let Some(at) = self.position(way) else { continue };
            if let Some(seconds) = seconds {
                let of_first = self.of_a_first_round(at, progress_of(*from), progress_of(*to));
                self.paces[at].see(*rounds * of_first, *seconds);
            }
            // Other runs of this problem differ from it by luck, not by the shape of a curve.
            self.observe(at, progress_of(*from), progress_of(*to), *rounds, ASSURANCE);
        }
    }

    /// The way that the run begins with. Ways that are out of the question from then on are forgotten.
    pub fn begin(&mut self, way: &Way) {
        self.forget_hopeless(way);
        self.present.way = self.position(way);
    }

    /// The run goes on this way; `seconds` is the training clock when its first round begins.
    pub fn switched(&mut self, to: &Way, seconds: f64) {
        self.belief = self.believed();
        if let Some(old) = self.present.way {
            self.left[old] += 1;
        }
        self.spend(seconds);
        self.present.way = self.position(to);
        self.switches += 1;
        let Present { progress, rounds, .. } = self.present;
        let anew = self.present.way.is_some_and(|way| self.outlooks[way].begins_anew);
        self.present.mark_progress = if anew { 0.0 } else { progress };
        self.present.found = if anew { progress } else { 0.0 };
        self.present.mark_rounds = rounds;
        self.present.made = 0.0;
    }

    /// This way led nowhere. Neither it nor one that would fail like it is chosen from now on.
    pub fn failed(&mut self, way: &Way) {
        for (failed, outlook) in self.failed.iter_mut().zip(&self.outlooks) {
            *failed |= outlook.way.fails_like(way);
        }
    }

    /// The present way has taken until now to get ready, which says nothing of its rounds.
    pub fn waited(&mut self, seconds: f64) {
        self.spend(seconds);
    }

    /// A scored round of the present way.
    pub fn see(&mut self, seen: &Seen) {
        let rounds = seen.rounds as f64 - self.present.rounds;
        let seconds = seen.seconds - self.present.seconds;
        self.spend(seen.seconds);
        self.present.rounds = seen.rounds as f64;
        let before = self.present.progress;
        self.present.progress = before.max(progress_of(seen.error));
        let Some(way) = self.present.way else { return };
        if rounds > 0.0 && seconds > 0.0 {
            // The solver was set up before its first round.
            if self.present.made > 0.0 {
                let of_first = self.of_a_first_round(way, before, self.present.progress);
                self.paces[way].see(rounds * of_first, seconds);
            }
            self.present.made += rounds;
        }
        let Present { progress, mark_progress, mark_rounds, .. } = self.present;
        if progress >= self.next_lesson(way) {
            self.observe(way, mark_progress, progress, self.present.rounds - mark_rounds, 1.0);
            self.belief.drift(way, progress - mark_progress);
            (self.present.mark_progress, self.present.mark_rounds) = (progress, self.present.rounds);
        }
    }

    /// The best way for a run that keeps to it; nothing if no way is seen to do what is asked.
    pub fn plan(&self) -> Option<Plan> {
        decide(self.candidates(), &self.asked).plan.map(|best| self.told(&best))
    }

    /// The way to begin with for a run that may change it: the one that takes least on average, given that it is left
    /// once it shows that it is slow. Where that is one that shows it late, another whose rounds are short beside the
    /// whole goes first: what it reaches is kept, and if it does far better than foretold, it stays.
    pub fn plan_to_adapt(&self) -> Option<Plan> {
        if self.asked.error.is_none() || self.asked.cheapest {
            return self.plan();
        }
        let forecasts = self.forecasts();
        let way = |forecast: &Forecast| &self.outlooks[forecast.way].way;
        let possible = |forecast: &&Forecast| forecast.keeps && way(forecast).can_take_over();
        // A run that is over at once is not left.
        let small = forecasts.iter().filter(possible).any(|forecast| forecast.cost <= SMALL);
        let average = |forecast: &Forecast| match small {
            true => on_average(forecast),
            false => self.expected(forecast, &forecasts),
        };
        let expected = forecasts.iter().filter(possible).map(|forecast| (average(forecast), forecast));
        let (takes, best) =
            expected.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(takes, _)| takes.is_finite())?;
        let short = |forecast: &&Forecast| way(forecast).is_steady() && forecast.next_round <= TRIAL * takes;
        let trials = forecasts.iter().filter(possible).filter(short);
        let short = trials.min_by(|a, b| a.cost.total_cmp(&b.cost));
        let short = short.filter(|_| takes > SMALL && !way(best).is_steady());
        let quickest = forecasts.iter().filter(possible).min_by(|a, b| a.cost.total_cmp(&b.cost));
        let quickest = quickest.filter(|quickest| !way(quickest).is_kin_of(way(best)) && takes > SMALL);
        let (trial, then) = match (short, quickest) {
            (Some(short), _) => (Some(short), best),
            // The best to begin with is one that will probably be left.
            (None, Some(quickest)) if TRIAL_ROUNDS * best.next_round <= LONGEST_TRIAL * quickest.cost => {
                (Some(best), quickest)
            }
            (None, Some(quickest)) => (None, quickest),
            (None, None) => (None, best),
        };
        if let Some(relay) = self.relay_instead_of(then, &forecasts).filter(|_| takes > SMALL) {
            return Some(self.told_in_two(&relay));
        }
        let alone = self.told(&self.candidate(then));
        Some(trial.map_or(alone.clone(), |trial| self.told_after(trial, alone)))
    }

    /// What comes nearest to what is asked, whether or not it keeps deadline and budget.
    pub fn nearest(&self) -> Option<Plan> {
        let asked = Requirement { budget: None, ..self.asked };
        let asked = if asked.error.is_some() { Requirement { within: None, ..asked } } else { asked };
        decide(self.candidates(), &asked).plan.map(|best| self.told(&best))
    }

    /// Each way by itself from the present error to the goal, or to the deadline.
    pub fn candidates(&self) -> Vec<Candidate> {
        let forecasts = self.forecasts().into_iter();
        let complete = forecasts
            .filter(|forecast| !self.outlooks[forecast.way].only_leads && !self.failed[forecast.way]);
        complete.map(|forecast| self.candidate(&forecast)).collect()
    }

    /// Whether to go on otherwise.
    pub fn advise(&self) -> Option<Switch> {
        let present = self.present.way.filter(|_| self.present.made >= TRIAL_ROUNDS && !self.arrived())?;
        let belief = self.believed();
        let forecasts = self.forecasts();
        let stay = forecasts.iter().find(|forecast| forecast.way == present)?;
        // It may be meant to be left later.
        let in_two = self.relay_from(stay, &forecasts).map_or(f64::INFINITY, |relay| relay.cost());
        let staying = stay.cost.min(in_two);
        let led_to = |other: &&Forecast| {
            let open = other.way != present && !self.failed[other.way];
            open && self.outlooks[other.way].way.can_take_over()
        };
        let better = forecasts.iter().filter(led_to).filter(|other| {
            let reluctance = RELUCTANCE.powi(self.switches as i32) * REGRET.powi(self.left[other.way] as i32);
            let gain = staying.ln() - other.cost.ln();
            let doubt = belief.difference(stay.way, other.way).hypot(self.paces[other.way].doubt());
            let needed = (1.0 + self.hysteresis * reluctance).ln();
            let probable = gain - needed >= CHANCE * doubt;
            probable && (other.keeps || !stay.keeps)
        });
        let other = better.min_by(|a, b| a.cost.total_cmp(&b.cost))?;
        Some(Switch {
            reason: self.reason(&belief, stay, other),
            gain_seconds: staying.min(stay.seconds) - other.seconds,
            to: self.outlooks[other.way].way.clone(),
        })
    }
}

impl Navigator {
    fn position(&self, way: &Way) -> Option<usize> {
        self.outlooks.iter().position(|outlook| outlook.way == *way)
    }

    /// Keeps the ways that at best take less than the best does in the middle, so that looking at all of them after
    /// every score stays cheap.
    fn forget_hopeless(&mut self, begun: &Way) {
        let forecasts = self.forecasts();
        let best = forecasts.iter().map(|forecast| forecast.cost).fold(f64::INFINITY, f64::min);
        let way = |forecast: &Forecast| &self.outlooks[forecast.way].way;
        let hopeful = |forecast: &Forecast| {
            let at_best = forecast.cost * (-OPTIMISM * forecast.deviation).exp();
            // If all else fails, the best of each kind may still be needed.
            let of_its_kind = forecasts.iter().filter(|other| way(other).is_kin_of(way(forecast)));
            let first = of_its_kind.map(|other| other.cost).fold(f64::INFINITY, f64::min);
            let wanted = at_best < best || forecast.cost <= first;
            way(forecast) == begun || (way(forecast).can_take_over() && wanted)
        };
        let hopeful = forecasts.iter().filter(|forecast| hopeful(forecast));
        let kept: Vec<usize> = hopeful.map(|forecast| forecast.way).collect();
        self.belief = self.belief.of(&kept);
        self.outlooks = kept.iter().map(|way| self.outlooks[*way].clone()).collect();
        self.paces = kept.iter().map(|way| self.paces[*way]).collect();
        self.left = kept.iter().map(|way| self.left[*way]).collect();
        self.failed = kept.iter().map(|way| self.failed[*way]).collect();
    }

    fn spend(&mut self, seconds: f64) {
        let price = self.present.way.and_then(|way| self.outlooks[way].price).unwrap_or(0.0);
        self.present.money += price * (seconds - self.present.seconds).max(0.0);
        self.present.seconds = seconds;
    }

    /// What it takes so many workers to read their rows, unless they are the ones who have them.
    fn reading(&self, workers: usize) -> f64 {
        let Some((seconds, readers)) = self.read else { return 0.0 };
        let have_them = self.present.way.map_or(readers, |present| self.outlooks[present].way.workers);
        if workers == have_them { 0.0 } else { seconds * (readers as f64 / workers as f64).max(1.0) }
    }

    fn arrived(&self) -> bool {
        self.asked.error.is_some() && self.present.progress >= self.grid.end()
    }

    /// What is believed now: a stretch that has taken longer than it should counts before it is over.
    fn believed(&self) -> Belief {
        let mut belief = self.belief.clone();
        let Some(way) = self.present.way else { return belief };
        let Present { progress, mark_progress, mark_rounds, rounds, .. } = self.present;
        let (curve, made) = (&self.outlooks[way].rounds, rounds - mark_rounds);
        let at = |x: f64| self.grid.at(curve, x);
        let due = self.next_lesson(way);
        let foretold = at(due.max(progress)) - at(mark_progress);
        let seen = (made / foretold).ln();
        if made > 0.0 && foretold > 0.0 && seen > belief.mean[way] {
            // What is long overdue is no matter of a curve's shape any more.
            let weight = if seen > LONG_OVERDUE.ln() { ASSURANCE } else { 1.0 };
            belief.observe(way, seen, weight * (due.max(progress) - mark_progress), made);
        }
        belief
    }

    /// The progress at which the present stretch will have taught something.
    fn next_lesson(&self, way: usize) -> f64 {
        let Present { mark_progress: mark, found, .. } = self.present;
        let next =
            if mark < BURNT_IN && !self.outlooks[way].way.is_steady() { BURNT_IN } else { mark + STRETCH };
        // What was there before is not its doing.
        if found > 0.0 { next.max(found + STRETCH) } else { next }
    }

    /// A stretch counts for as many e-folds as it is long, times a weight.
    fn observe(&mut self, way: usize, from: f64, to: f64, rounds: f64, weight: f64) {
        let curve = &self.outlooks[way].rounds;
        let foretold = self.grid.at(curve, to) - self.grid.at(curve, from);
        if rounds > 0.0 && foretold > 0.0 && foretold.is_finite() {
            self.belief.observe(way, (rounds / foretold).ln(), weight * (to - from), rounds);
        }
    }

    fn forecasts(&self) -> Vec<Forecast> {
        let belief = self.believed();
        let seconds = seconds_per_round(&self.outlooks, &self.paces);
        let begin = self.present.progress;
        let end = match self.asked.error {
            Some(_) => self.grid.end(),
            None => begin + BURNT_IN,
        };
        let forecast = |way: usize| {
            let per_round = |from: f64, to: f64| seconds[way] * self.of_a_first_round(way, from, to);
            let alone = self.forecast(way, &belief, per_round(begin, end), per_round(begin, begin));
            let whole = Forecast { parts: self.parts(way, &belief, per_round), ..alone };
            match self.outlooks[way].only_leads {
                true => Forecast { cost: f64::INFINITY, seconds: f64::INFINITY, keeps: false, ..whole },
                false => whole,
            }
        };
        (0..self.outlooks.len()).map(forecast).collect()
    }

    /// How long a round between two stages of progress is foretold to take, as a share of one of the first.
    fn of_a_first_round(&self, way: usize, from: f64, to: f64) -> f64 {
        let Outlook { rounds, whole_rounds, .. } = &self.outlooks[way];
        let to = to.max(from + self.grid.step()).min(self.grid.end());
        let from = from.min(to - self.grid.step());
        let between = |curve: &[f64]| self.grid.at(curve, to) - self.grid.at(curve, from);
        let share = between(whole_rounds) / between(rounds);
        if share.is_finite() { share.clamp(0.01, 1.0) } else { 1.0 }
    }

    fn reason(&self, belief: &Belief, stay: &Forecast, other: &Forecast) -> String {
        let name = |forecast: &Forecast| self.outlooks[forecast.way].way.name();
        let because = match belief.mean[stay.way].exp() {
            factor if factor > 1.2 => format!(", which needs {factor:.1} times the rounds foretold,"),
            factor if factor < 0.8 => {
                format!(", although it needs only {factor:.1} times the rounds foretold,")
            }
            _ => String::new(),
        };
        match self.asked.error {
            Some(error) if stay.seconds.is_infinite() => format!(
                "{} is predicted to take {:.3} s from here to an error of {error:e}; {} was only to lead",
                name(other),
                other.seconds,
                name(stay),
            ),
            Some(error) => format!(
                "{} is predicted to take {:.3} s from here to an error of {error:e}, {}{because} {:.3} s",
                name(other),
                other.seconds,
                name(stay),
                stay.seconds
            ),
            None => format!(
                "{} is predicted to reach an error of {:.1e} in time, {}{because} {:.1e}",
                name(other),
                other.error,
                name(stay),
                stay.error
            ),
        }
    }

    fn told(&self, best: &Candidate) -> Plan {
        let at = self.outlooks.iter().position(|outlook| self.is_way(best, &outlook.way));
        let way = at.map_or_else(|| self.outlooks[0].way.clone(), |at| self.outlooks[at].way.clone());
        let reached = best.error.as_ref().map(|error| error.mean).or(self.asked.error).unwrap_or(0.0);
        Plan {
            first: way.clone(),
            path: vec![Leg { way, until_error: reached }],
            seconds: best.seconds.clone(),
            error: best.error.clone(),
            rounds: best.rounds.clone(),
            price: best.price,
        }
    }

    /// The same plan after a trial of another way.
    fn told_after(&self, trial: &Forecast, plan: Plan) -> Plan {
        let first = self.outlooks[trial.way].way.clone();
        let until_error = self.error_after(trial.way, &self.belief, 0.0, TRIAL_ROUNDS, 0.0);
        let later = |estimate: Estimate, by: f64| Estimate {
            low: estimate.low + by,
            mean: estimate.mean + by,
            high: estimate.high + by,
        };
        let takes = TRIAL_ROUNDS * trial.next_round + self.outlooks[trial.way].switch;
        Plan {
            path: std::iter::once(Leg { way: first.clone(), until_error }).chain(plan.path).collect(),
            first,
            seconds: plan.seconds.map(|seconds| later(seconds, takes)),
            rounds: plan.rounds.map(|rounds| later(rounds, TRIAL_ROUNDS)),
            error: plan.error,
            price: plan.price.zip(self.outlooks[trial.way].price).map(|(price, rate)| price + rate * takes),
        }
    }

    fn is_way(&self, candidate: &Candidate, way: &Way) -> bool {
        candidate.algorithm == way.algorithm
            && candidate.workers == way.workers
            && candidate.local_steps == way.local_steps(self.rows)
    }
}

/// ln 1/e, at least 0; an error that is not certified is no progress.
fn progress_of(error: f64) -> f64 {
    if error > 0.0 {
        (-error.ln()).max(0.0)
    } else if error == 0.0 {
        f64::MAX.ln()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests;
