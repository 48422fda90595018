//! Which way a training run begins with, and after each scored round whether to go on another way.
//!
//! A way is an algorithm on a number of workers. The model, weights and dual point, is carried over a switch, so a run
//! that has come to an error under one way is taken to go on from there under any other. That makes a run a path over
//! errors, and navigating it what a car's navigation does: plan with what is known, drive, and plan again from where
//! one is with what one has seen.
//!
//! - [`Terrain`]: rounds and seconds of every way before anything ran, and what a switch costs.
//! - `belief`: how far the prior's rounds are off on this data, learnt while running.
//! - `pace`: seconds of a round, likewise.
//! - `route`: the best path under what is believed, by dynamic programming.
//!
//! A run does not wander: a switch has to gain a share of the time that is left, the more the more switches there were,
//! and what a way has shown stays known after it was left.

mod belief;
mod pace;
mod route;
mod terrain;
mod way;

use hemingway_train::Cluster;

use crate::distribution::deviations;
use crate::{Candidate, Estimate, Glance, Requirement, Risk};
use belief::Belief;
use pace::{Pace, seconds_per_round};
use route::{Map, Route};
use terrain::{Grid, Outlook};

pub use terrain::Terrain;
pub use way::{Leg, Lesson, Plan, Seen, Switch, Way};

/// Half of a 90 % interval, in standard deviations.
const TWENTIETH: f64 = 1.644_853_6;
/// A deadline or a budget is thought to be kept if it is kept in nine cases of ten: standard deviations to that.
const SURE: f64 = 1.281_551_6;
/// A stretch of a run teaches something once it is so long, in e-folds of the error.
const STRETCH: f64 = 0.1;
/// With every switch the next has to gain so many times more.
const RELUCTANCE: f64 = 1.5;
/// And so many times more for every time that its way has been left before.
const REGRET: f64 = 2.0;
/// How much price counts against time, tried in this order where one must not exceed a limit.
const MIXES: [f64; 6] = [0.0, 0.3, 0.6, 0.8, 0.95, 1.0];

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
    /// Whether anything was seen since the last switch.
    seen: bool,
}

/// A route, and how it does what is asked.
struct Choice {
    route: Route,
    /// Seconds or money.
    cost: f64,
    /// Whether deadline and budget are thought to be kept.
    keeps: bool,
}

impl Navigator {
    /// Ways that the priors know nothing of are left out.
    pub fn new(
        glance: Glance,
        cluster: Cluster,
        ways: Vec<Way>,
        asked: Requirement,
        hysteresis: f64,
    ) -> Navigator {
        let terrain = Terrain { glance, cluster };
        let grid = Grid::to(asked.error);
        let outlooks: Vec<Outlook> =
            ways.into_iter().filter_map(|way| Outlook::of(&terrain, way, &grid)).collect();
        let belief = Belief::before(outlooks.iter().map(|outlook| (&outlook.way, outlook.deviation)));
        Navigator {
            asked,
            hysteresis,
            rows: terrain.glance.rows,
            grid,
            belief,
            paces: vec![Pace::default(); outlooks.len()],
            left: vec![0; outlooks.len()],
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
            let Some(at) = self.outlooks.iter().position(|outlook| outlook.way == *way) else { continue };
            if let Some(seconds) = seconds {
                self.paces[at].see(*rounds, *seconds);
            }
            self.observe(at, progress_of(*from), progress_of(*to), *rounds);
        }
    }

    /// The way that the run begins with.
    pub fn begin(&mut self, way: &Way) {
        self.present.way = self.outlooks.iter().position(|outlook| outlook.way == *way);
    }

    /// The run goes on this way; `seconds` is the training clock when its first round begins.
    pub fn switched(&mut self, to: &Way, seconds: f64) {
        self.belief = self.believed();
        if let Some(old) = self.present.way {
            self.left[old] += 1;
        }
        self.spend(seconds);
        self.begin(to);
        self.switches += 1;
        let Present { progress, rounds, .. } = self.present;
        (self.present.mark_progress, self.present.mark_rounds) = (progress, rounds);
        self.present.seen = false;
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
        self.present.progress = self.present.progress.max(progress_of(seen.error));
        let Some(way) = self.present.way else { return };
        if rounds > 0.0 && seconds > 0.0 {
            self.paces[way].see(rounds, seconds);
            self.present.seen = true;
        }
        let Present { progress, mark_progress, mark_rounds, .. } = self.present;
        if progress - mark_progress >= STRETCH {
            self.observe(way, mark_progress, progress, self.present.rounds - mark_rounds);
            (self.present.mark_progress, self.present.mark_rounds) = (progress, self.present.rounds);
        }
    }

    fn spend(&mut self, seconds: f64) {
        let price = self.present.way.and_then(|way| self.outlooks[way].price).unwrap_or(0.0);
        self.present.money += price * (seconds - self.present.seconds).max(0.0);
        self.present.seconds = seconds;
    }

    /// The way to begin with, or to go on with, and the path from the present error on.
    pub fn plan(&self) -> Option<Plan> {
        let belief = self.believed();
        let choice = self.choose(&self.map(&belief), &belief, &|_| true)?;
        choice.keeps.then(|| self.told(&choice.route, &belief))
    }

    /// What is left of the run, if the present way is kept until the plan says otherwise.
    pub fn forecast(&self) -> Option<Plan> {
        let belief = self.believed();
        let present = self.present.way;
        let kept = |way: usize| present.is_none_or(|present| present == way);
        let choice = self.choose(&self.map(&belief), &belief, &kept)?;
        Some(self.told(&choice.route, &belief))
    }

    /// Whether to go on otherwise.
    pub fn advise(&self) -> Option<Switch> {
        let present = self.present.way.filter(|_| self.present.seen && !self.arrived())?;
        let belief = self.believed();
        let map = self.map(&belief);
        let other = self.choose(&map, &belief, &|way| way != present)?;
        let stay = self.choose(&map, &belief, &|way| way == present);
        let to = other.route.first();
        let needed = self.hysteresis
            * RELUCTANCE.powi(self.switches as i32)
            * REGRET.powi(self.left[to] as i32);
        let gain = match &stay {
            None => other.route.seconds(),
            Some(stay) if other.keeps && !stay.keeps => stay.route.seconds() - other.route.seconds(),
            Some(stay) if stay.keeps && !other.keeps => return None,
            Some(stay) => {
                let (gain, whole) = self.gain(&map, stay, &other);
                if gain <= needed * whole {
                    return None;
                }
                gain
            }
        };
        let to = self.outlooks[to].way.clone();
        Some(Switch { reason: self.reason(&belief, stay.as_ref(), &other), gain_seconds: gain, to })
    }

    /// Each way by itself from the present error to the goal, or to the deadline.
    pub fn candidates(&self) -> Vec<Candidate> {
        let belief = self.believed();
        let seconds = seconds_per_round(&self.outlooks, &self.paces);
        (0..self.outlooks.len()).map(|way| self.candidate(way, &belief, seconds[way])).collect()
    }
}

impl Navigator {
    /// What is believed now: a stretch that has taken longer than it should counts before it is over.
    fn believed(&self) -> Belief {
        let mut belief = self.belief.clone();
        let Some(way) = self.present.way else { return belief };
        let Present { progress, mark_progress, mark_rounds, rounds, .. } = self.present;
        let (curve, made) = (&self.outlooks[way].rounds, rounds - mark_rounds);
        let at = |x: f64| self.grid.at(curve, x);
        let foretold = at(mark_progress + STRETCH.max(progress - mark_progress)) - at(mark_progress);
        let seen = (made / foretold).ln();
        if made > 0.0 && foretold > 0.0 && seen > belief.mean[way] {
            let length = self.length(&belief, way, mark_progress, progress, made);
            belief.observe(way, seen, length, made);
        }
        belief
    }

    fn observe(&mut self, way: usize, from: f64, to: f64, rounds: f64) {
        let curve = &self.outlooks[way].rounds;
        let foretold = self.grid.at(curve, to) - self.grid.at(curve, from);
        if rounds > 0.0 && foretold > 0.0 && foretold.is_finite() {
            let length = self.length(&self.belief, way, from, to, rounds);
            self.belief.observe(way, (rounds / foretold).ln(), length, rounds);
        }
    }

    /// How long a stretch is in e-folds, by what came of it or by what should have.
    fn length(&self, belief: &Belief, way: usize, from: f64, to: f64, rounds: f64) -> f64 {
        let curve = &self.outlooks[way].rounds;
        let due = self.grid.at(curve, from) + rounds * (-belief.mean[way]).exp();
        (to - from).max(self.grid.inverse(curve, due) - from)
    }

    fn arrived(&self) -> bool {
        self.asked.error.is_some() && self.present.progress >= self.grid.end()
    }

    /// The ways ahead as they are believed to be, in the sense of the risk that counts.
    fn map(&self, belief: &Belief) -> Map {
        let now = self.present.progress;
        let nodes: Vec<f64> = std::iter::once(now).chain(self.grid.ahead(now)).collect();
        let believed = |(way, outlook): (usize, &Outlook)| {
            let factor = (belief.mean[way] + self.caution() * belief.deviation(way)).exp();
            nodes.iter().map(|x| factor * self.grid.at(&outlook.rounds, *x)).collect()
        };
        let switch = |(way, outlook): (usize, &Outlook)| {
            let set_up = self.present.way.filter(|present| *present != way).map_or(0.0, |_| outlook.switch);
            set_up + self.reading(outlook.way.workers)
        };
        Map {
            rounds: self.outlooks.iter().enumerate().map(believed).collect(),
            seconds: seconds_per_round(&self.outlooks, &self.paces),
            switch: self.outlooks.iter().enumerate().map(switch).collect(),
            nodes,
        }
    }

    /// What it takes so many workers to read their rows, unless they are the ones who have them.
    fn reading(&self, workers: usize) -> f64 {
        let Some((seconds, readers)) = self.read else { return 0.0 };
        let have_them = self.present.way.map_or(readers, |present| self.outlooks[present].way.workers);
        if workers == have_them { 0.0 } else { seconds * (readers as f64 / workers as f64).max(1.0) }
    }

    /// Standard deviations by which a way is held to be slower than in the middle. On average a run is not as slow as
    /// the average of a way's distribution: where a way turns out to be slow, it is left.
    fn caution(&self) -> f64 {
        match self.asked.risk {
            Risk::Expected => 0.0,
            Risk::Quantile(share) => deviations(share),
        }
    }

    fn choose(&self, map: &Map, belief: &Belief, first: &dyn Fn(usize) -> bool) -> Option<Choice> {
        match (self.asked.error, self.asked.within) {
            (Some(_), _) => self.to_goal(map, belief, first),
            (None, Some(within)) => {
                let left = (within - self.present.seconds).max(0.0);
                let route = map.furthest(left, &|way| self.affords(way, left), first)?;
                Some(Choice { cost: route.cost, route, keeps: true })
            }
            (None, None) => None,
        }
    }

    /// Whether so many seconds of a way are within the budget.
    fn affords(&self, way: usize, seconds: f64) -> bool {
        let Some(budget) = self.asked.budget else { return true };
        let left = budget - self.present.money;
        self.outlooks[way].price.is_some_and(|price| price * seconds <= left)
    }

    /// The best route to the goal that keeps deadline and budget; if none does, the one that comes nearest to that.
    fn to_goal(&self, map: &Map, belief: &Belief, first: &dyn Fn(usize) -> bool) -> Option<Choice> {
        let Requirement { cheapest, within, budget, .. } = self.asked;
        let mixes = match (cheapest, within.is_some(), budget.is_some()) {
            (false, _, false) => &MIXES[..1],
            (true, false, _) => &MIXES[MIXES.len() - 1..],
            _ => &MIXES[..],
        };
        let unit = self.outlooks.iter().filter_map(|outlook| outlook.price).fold(f64::INFINITY, f64::min);
        let mut best: Option<Choice> = None;
        for &mix in mixes {
            let weight = |outlook: &Outlook| match outlook.price {
                Some(price) => (1.0 - mix) + mix * price / unit.max(f64::MIN_POSITIVE),
                None if cheapest || budget.is_some() => f64::INFINITY,
                None => 1.0,
            };
            let weights: Vec<f64> = self.outlooks.iter().map(weight).collect();
            let Some(route) = map.cheapest(&weights, first) else { continue };
            let choice = self.judge(route, belief);
            let better = |best: &Choice| match (choice.keeps, best.keeps) {
                (true, true) => choice.cost < best.cost,
                (keeps, _) => keeps,
            };
            if best.as_ref().is_none_or(better) {
                best = Some(choice);
            }
        }
        best
    }

    fn judge(&self, route: Route, belief: &Belief) -> Choice {
        let Requirement { cheapest, within, budget, .. } = self.asked;
        let price = |way: usize| self.outlooks[way].price.unwrap_or(0.0);
        let money: f64 = route.legs.iter().map(|leg| price(leg.way) * leg.seconds).sum();
        let seconds = route.seconds();
        let at_worst = (SURE * self.deviation(&route, belief)).exp();
        let keeps = within.is_none_or(|within| self.present.seconds + at_worst * seconds <= within)
            && budget.is_none_or(|budget| self.present.money + at_worst * money <= budget);
        Choice { cost: if cheapest { money } else { seconds }, route, keeps }
    }

    /// The standard deviation of the logarithm of a route's time.
    fn deviation(&self, route: &Route, belief: &Belief) -> f64 {
        let whole = route.seconds().max(f64::MIN_POSITIVE);
        let each = |a: &route::RouteLeg, b: &route::RouteLeg| {
            a.seconds / whole * b.seconds / whole * belief.between(a.way, b.way)
        };
        let pairs = route.legs.iter().flat_map(|a| route.legs.iter().map(move |b| each(a, b)));
        pairs.sum::<f64>().max(0.0).sqrt()
    }

    /// What a change gains, and what it is a share of.
    fn gain(&self, map: &Map, stay: &Choice, other: &Choice) -> (f64, f64) {
        if self.asked.error.is_some() {
            return (stay.cost - other.cost, stay.cost);
        }
        // The time that is left over once the error is as small as it would have become anyway.
        let whole = stay.route.seconds();
        let ahead = other.route.end() - stay.route.end();
        let last = other.route.legs[other.route.legs.len() - 1];
        let made = (last.until - last.from).max(1e-9);
        ((ahead / made).min(1.0) * last.rounds * map.seconds[last.way], whole)
    }

    fn reason(&self, belief: &Belief, stay: Option<&Choice>, other: &Choice) -> String {
        let name = |way: usize| self.outlooks[way].way.name();
        let to = name(other.route.first());
        let Some((stay, present)) = stay.zip(self.present.way) else {
            return format!("{to} is the only way that is predicted to get there");
        };
        let factor = belief.mean[present].exp();
        let because = match factor {
            factor if factor > 1.2 => format!(", which makes {factor:.1} times the rounds predicted"),
            factor if factor < 0.8 => format!(", although it makes {factor:.1} times the rounds predicted"),
            _ => String::new(),
        };
        match self.asked.error {
            Some(error) => format!(
                "{to} is predicted to take {:.3} s from here to an error of {error:e}, {}{because} {:.3} s",
                other.route.seconds(),
                name(present),
                stay.route.seconds()
            ),
            None => format!(
                "{to} is predicted to reach an error of {:.1e} in time, {}{because} {:.1e}",
                (-other.route.end()).exp(),
                name(present),
                (-stay.route.end()).exp()
            ),
        }
    }

    fn told(&self, route: &Route, belief: &Belief) -> Plan {
        let way = |way: usize| self.outlooks[way].way.clone();
        let leg = |leg: &route::RouteLeg| Leg { way: way(leg.way), until_error: (-leg.until).exp() };
        let half = TWENTIETH * self.deviation(route, belief);
        // The route was found with caution; in the middle it is quicker.
        let middle = (-self.caution() * self.deviation(route, belief)).exp();
        let spread = |value: f64| Estimate {
            low: value * middle * (-half).exp(),
            mean: value * middle,
            high: value * middle * half.exp(),
        };
        let rounds = route.legs.iter().map(|leg| leg.rounds).sum();
        let to_deadline = self.asked.error.is_none();
        let fixed = |value: f64| Estimate { low: value, mean: value, high: value };
        Plan {
            first: way(route.first()),
            path: route.legs.iter().map(leg).collect(),
            seconds: if to_deadline { fixed(route.seconds()) } else { spread(route.seconds()) },
            error: to_deadline.then(|| self.error_at_end(route, belief)),
            rounds: if to_deadline { fixed(rounds) } else { spread(rounds) },
        }
    }

    /// The error at the end of a route to a deadline: its last leg gets further or less far.
    fn error_at_end(&self, route: &Route, belief: &Belief) -> Estimate {
        let last = route.legs[route.legs.len() - 1];
        let reached = |deviations: f64| self.error_after(last.way, belief, last.from, last.rounds, deviations);
        Estimate { low: reached(-TWENTIETH), mean: reached(0.0), high: reached(TWENTIETH) }
    }

    fn error_after(&self, way: usize, belief: &Belief, from: f64, rounds: f64, deviations: f64) -> f64 {
        let curve = &self.outlooks[way].rounds;
        let factor = (-belief.mean[way] - deviations * belief.deviation(way)).exp();
        (-self.grid.inverse(curve, self.grid.at(curve, from) + rounds * factor)).exp()
    }

    fn candidate(&self, way: usize, belief: &Belief, per_round: f64) -> Candidate {
        let outlook = &self.outlooks[way];
        let Way { algorithm, workers, passes } = outlook.way.clone();
        let now = self.present.progress;
        let left = (outlook.rounds[outlook.rounds.len() - 1] - self.grid.at(&outlook.rounds, now)).max(0.0);
        let half = TWENTIETH * belief.deviation(way);
        let spread = |value: f64| Estimate {
            low: value * (belief.mean[way] - half).exp(),
            mean: value * belief.mean[way].exp(),
            high: value * (belief.mean[way] + half).exp(),
        };
        let goal = self.asked.error.is_some();
        let time = self.asked.within.map(|within| (within - self.present.seconds).max(0.0)).filter(|_| !goal);
        let rounds = match time {
            Some(time) => {
                let rounds = time / per_round;
                Some(Estimate { low: rounds, mean: rounds, high: rounds })
            }
            None => left.is_finite().then(|| spread(left)),
        };
        let seconds = (goal && left.is_finite()).then(|| spread(left * per_round));
        let error = time.map(|time| {
            let reached =
                |deviations: f64| self.error_after(way, belief, now, time / per_round, deviations);
            Estimate { low: reached(-TWENTIETH), mean: reached(0.0), high: reached(TWENTIETH) }
        });
        let price = outlook.price;
        let paid = seconds.as_ref().map(|seconds| seconds.mean).or(time);
        Candidate {
            local_steps: (passes != 1.0).then(|| (passes * self.rows as f64 / workers as f64).ceil() as usize),
            algorithm,
            workers,
            rounds,
            seconds,
            error,
            price_per_second: price,
            price: price.zip(paid).map(|(price, seconds)| price * seconds),
            warning: None,
        }
    }
}

/// ln 1/e, at least 0; an error that is not certified is no progress.
fn progress_of(error: f64) -> f64 {
    if error > 0.0 { (-error.ln()).max(0.0) } else if error == 0.0 { f64::MAX.ln() } else { 0.0 }
}
