//! What a plan is made from, and the plan itself: the profile of the data, the machines, earlier runs, and what the user
//! leaves open.

use std::sync::atomic::Ordering;
use std::time::Instant;

use hemingway_data::Dataset;
use hemingway_plan::{
    Candidate, Configuration, Decision, Goal, Inputs, Planner, Profile, Rejected, Settings, words,
};
use hemingway_train::{Cluster, DataProfile, Problem};
use serde::{Deserialize, Serialize};

use crate::default_choice::SIMULATED;
use crate::history::History;
use crate::pilots::{MadePilot, PilotSetup};
use crate::room::Room;
use crate::session::IN_TIME;
use crate::{Choice, DatasetSummary, Error, Reused, Store, TrainRequest};

/// Smaller errors than this are lost in the rounding of the proof.
pub(crate) const SMALLEST_ERROR: f64 = 1e-13;
/// What a run goes for where the error asked for is not predicted to be reached.
const FARTHEST: f64 = 1e-9;

/// The profile of a problem whose data is here.
pub(crate) fn profile_of(data: &Dataset, problem: &Problem) -> Profile {
    Profile::new(DataProfile::of(data), problem)
}

/// The plan with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// What is asked for.
    pub goal: Goal,
    /// What is trained on.
    pub dataset: DatasetSummary,
    /// What the problem is like.
    pub profile: Profile,
    /// The plan, the alternatives, and what was rejected.
    #[serde(flatten)]
    pub decision: Decision,
    /// Earlier runs that the plan is based on.
    pub reused: Vec<Reused>,
    /// Earlier runs that were not used though they might have been, and why.
    pub dropped: Vec<String>,
    /// Algorithms that were never measured: their prior is that of their family.
    #[serde(default)]
    pub unmeasured: Vec<String>,
    /// What is said before the run: goals that will not be reached, and what is done instead.
    pub warnings: Vec<String>,
    /// What else is said of the problem.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Pilots on samples of the rows, made because they were worth it.
    #[serde(default)]
    pub sampled: Vec<MadePilot>,
    /// Runs that were made to find out.
    pub pilots: usize,
    /// What profile, planning and pilots took, on the training clock.
    pub overhead_seconds: f64,
    /// The part of it that runs took which were made to find out.
    #[serde(default)]
    pub pilot_seconds: f64,
}

/// A plan, and who follows it.
pub(crate) struct Planning {
    pub planner: Planner,
    pub explanation: Explanation,
}

/// All that a plan is made from.
pub(crate) struct PlanInputs<'a> {
    pub request: &'a TrainRequest,
    pub choice: &'a Choice,
    pub data: &'a DatasetSummary,
    pub profile: Profile,
    pub store: Option<&'a Store>,
    /// Numbers of workers to choose from, if not the usual ones.
    pub workers: Option<&'a [usize]>,
    /// Algorithms to choose from, if not all.
    pub algorithms: Option<&'a [String]>,
    /// What reading the data took, and on how many workers, where every number of workers has to read it.
    pub reading: Option<(f64, usize)>,
    /// The memory that may be used, if it is known.
    pub room: Option<Room>,
    /// What pilots are made with, where the data is here.
    pub pilots: Option<PilotSetup<'a>>,
}

impl PlanInputs<'_> {
    /// Plans.
    pub(crate) fn plan(self) -> Result<Planning, Error> {
        let begun = Instant::now();
        let goal = self.request.goal(&self.choice.stop);
        let cluster = self.machines()?;
        let (configurations, mut rejected) = self.configurations(&cluster)?;
        let (history, fitting) = self.history(goal, &cluster, &configurations)?;
        let inputs = |goal: Goal| self.planner_inputs(goal, &cluster, &configurations, &history);
        let mut warnings: Vec<String> = too_small(&goal).into_iter().collect();
        let mut planner = Planner::new(inputs(goal));
        let sampled = self.make_pilots(&mut planner)?;
        let mut decision = planner.decide();
        if decision.plan.is_none() {
            let lost = std::mem::take(&mut decision.rejected);
            let (fallback, warning) = self.fall_back(&goal, &cluster, &inputs, &lost)?;
            warnings.push(warning);
            planner = Planner::new(inputs(fallback));
            decision = planner.decide();
            decision.rejected.extend(lost);
        }
        if warnings.is_empty() {
            warnings.extend(too_short(&goal, &decision));
        }
        if let Some(plan) = &decision.plan {
            planner.begin(plan);
        }
        rejected.append(&mut decision.rejected);
        decision.rejected = rejected;
        let pilots: f64 = sampled.iter().map(|pilot| pilot.seconds).sum();
        let overhead_seconds = self.overhead(&cluster, planner.take_seconds() + pilots + fitting, begun)?;
        Ok(Planning {
            explanation: Explanation {
                goal,
                dataset: self.data.clone(),
                decision,
                unmeasured: planner.unmeasured().into_iter().map(str::to_owned).collect(),
                reused: history.reused,
                dropped: history.dropped,
                warnings,
                notes: Vec::new(),
                pilots: 0,
                overhead_seconds,
                sampled,
                pilot_seconds: 0.0,
                profile: self.profile,
            },
            planner,
        })
    }

    /// Follows a run that was planned before and goes on now.
    pub(crate) fn planner(&self) -> Result<Planner, Error> {
        let goal = self.request.goal(&self.choice.stop);
        let cluster = self.machines()?;
        let (configurations, _) = self.configurations(&cluster)?;
        Ok(Planner::new(self.planner_inputs(goal, &cluster, &configurations, &History::default())))
    }

    fn planner_inputs(
        &self,
        goal: Goal,
        cluster: &Cluster,
        configurations: &[Configuration],
        history: &History,
    ) -> Inputs {
        let settings = Settings { switch_gain: self.request.planning.hysteresis, ..Settings::default() };
        Inputs {
            profile: self.profile.clone(),
            cluster: cluster.clone(),
            configurations: configurations.to_vec(),
            goal: Goal { within: goal.within.map(|within| self.time_to_train(within, cluster)), ..goal },
            real_clock: self.choice.engine != SIMULATED,
            reading: self.reading,
            history: history.stages(),
            settings,
        }
    }

    /// What a deadline leaves for training.
    fn time_to_train(&self, within: f64, cluster: &Cluster) -> f64 {
        let workers = self.workers_to_choose(cluster).unwrap_or_default();
        let profile = match self.choice.engine == SIMULATED {
            true => self.profile.seconds(cluster, &workers),
            false => 0.0,
        };
        (IN_TIME * within - profile).max(f64::MIN_POSITIVE)
    }

    /// Earlier runs, through fitted models where fitting takes little beside what is predicted; and what it takes.
    fn history(
        &self,
        goal: Goal,
        cluster: &Cluster,
        configurations: &[Configuration],
    ) -> Result<(History, f64), Error> {
        let history = History::of(self.store, self.request, self.choice, self.data)?;
        let Some(seconds) = history.fit_seconds() else { return Ok((history, 0.0)) };
        let plan = Planner::new(self.planner_inputs(goal, cluster, configurations, &history)).decide().plan;
        let predicted = plan.and_then(|plan| Some(plan.seconds?.mean));
        Ok(match predicted.is_some_and(|predicted| seconds <= Settings::default().preparation * predicted) {
            true => (history.through_models(configurations, &goal), seconds),
            false => (history, 0.0),
        })
    }

    /// What the user waits for before the run: measured on a real clock, where the session has timed the profile, counted
    /// on a virtual one.
    fn overhead(&self, cluster: &Cluster, counted: f64, begun: Instant) -> Result<f64, Error> {
        if self.choice.engine != SIMULATED {
            return Ok(begun.elapsed().as_secs_f64());
        }
        let workers = self.workers_to_choose(cluster)?;
        Ok(self.profile.seconds(cluster, &workers) + counted)
    }

    /// Pilots, as long as one is worth more than it takes.
    fn make_pilots(&self, planner: &mut Planner) -> Result<Vec<MadePilot>, Error> {
        let mut all = Vec::new();
        let Some(setup) = &self.pilots else { return Ok(all) };
        while let Some(pilot) = planner.next_pilot().filter(|_| !setup.interrupt.load(Ordering::Relaxed)) {
            let (stage, made) = setup.make(&pilot, self)?;
            planner.condition_on(&stage);
            all.push(made);
        }
        Ok(all)
    }

    /// What is done where nothing does all that is asked: as much as can be done in the time or for the money.
    fn fall_back(
        &self,
        goal: &Goal,
        cluster: &Cluster,
        inputs: &dyn Fn(Goal) -> Inputs,
        lost: &[Rejected],
    ) -> Result<(Goal, String), Error> {
        let best = |goal: Goal| Planner::new(inputs(goal)).decide().plan;
        let unlimited = Goal { within: None, budget: None, cheapest: false, ..*goal };
        let wanted = goal.error.map_or("any error".to_owned(), |error| format!("error {error:e}"));
        let unpriced = || "no prices are known; give machines a price in the cluster file".to_owned();
        if (goal.cheapest || goal.budget.is_some()) && cluster.price_per_second(1).is_none() {
            let asked = match goal.budget {
                Some(budget) => format!("{wanted} for at most {budget}"),
                None => format!("the cheapest plan for {wanted}"),
            };
            return Err(Error::Impossible { goal: asked, best: unpriced() });
        }
        if let Some(budget) = goal.budget.filter(|_| goal.within.is_none()) {
            let cheapest = best(Goal { cheapest: true, ..unlimited }).and_then(|plan| plan.cost);
            let best = cheapest
                .map_or_else(unpriced, |cost| format!("the cheapest plan is predicted to cost {cost:.4}"));
            return Err(Error::Impossible { goal: format!("{wanted} for at most {budget}"), best });
        }
        if goal.within.is_none() {
            let reason = lost.first().map_or("nothing is known of it", |lost| &lost.reason);
            return Ok((
                Goal { error: Some(FARTHEST), ..*goal },
                format!("no plan is predicted to reach {wanted} ({reason}); training goes as far as it can"),
            ));
        }
        let takes = match best(unlimited).as_ref().and_then(|best| Some((best, best.seconds.as_ref()?))) {
            Some((best, seconds)) => {
                let [low, mean, high] = [seconds.low, seconds.mean, seconds.high].map(words::seconds);
                format!("the fastest, {}, takes {mean} ({low} to {high})", best.name())
            }
            None => "nor in any longer time".to_owned(),
        };
        let within = words::seconds(goal.within.unwrap_or_default());
        let sure = 100.0 * Settings::default().sure;
        let sure = goal.error.map_or_else(String::new, |_| format!(" in {sure:.0} % of cases"));
        Ok((
            goal.best_effort(),
            format!(
                "no plan is predicted to reach {wanted} within {within}{sure}: {takes}; training goes as far as it can"
            ),
        ))
    }
}

fn too_small(goal: &Goal) -> Option<String> {
    let error = goal.error.filter(|error| *error < SMALLEST_ERROR)?;
    Some(format!(
        "an error of {error:e} cannot be proved with numbers of 16 digits; the smallest is about {SMALLEST_ERROR:e}, and \
         training goes as far as it can"
    ))
}

fn too_short(goal: &Goal, decision: &Decision) -> Option<String> {
    let error = decision.plan.as_ref()?.error.as_ref()?;
    let within = words::seconds(goal.within?);
    (error.mean > AT_THE_START).then(|| {
        format!("no plan is predicted to make progress within {within}; training ends after its first round")
    })
}

/// As good as the error at the start of training, which is 1.
const AT_THE_START: f64 = 0.999;

impl Explanation {
    /// What comes before the first round of the run: profile and planning. What pilots took is spent already.
    pub fn before_seconds(&self) -> f64 {
        (self.overhead_seconds - self.pilot_seconds).max(0.0)
    }

    /// The plan, if there is one.
    pub(crate) fn plan(&self) -> Option<&Candidate> {
        self.decision.plan.as_ref()
    }
}
