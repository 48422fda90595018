//! What a plan is made from, and the plan itself: the profile of the data, the machines, earlier runs, and what the user
//! leaves open.

use std::sync::atomic::Ordering;
use std::time::Instant;

use hemingway_data::{Dataset, cores};
use hemingway_plan::{
    Candidate, Configuration, Decision, Goal, Inputs, Planner, Profile, Rejected, Settings, words,
};
use hemingway_train::{Cluster, Collective, DataProfile, Entry, Machine, Network, Problem, catalogue};
use serde::{Deserialize, Serialize};

use crate::default_choice::{MPI, SIMULATED};
use crate::history::History;
use crate::pilots::{MadePilot, PilotSetup};
use crate::room::Room;
use crate::session::IN_TIME;
use crate::{Choice, DatasetSummary, Error, Reused, Store, TrainRequest};

/// Local work to choose from, in passes over a worker's rows.
const LOCAL_WORK: [f64; 2] = [1.0, 4.0];
/// On a simulated cluster without an end, workers to choose from go up to this many.
const MOST_SIMULATED: usize = 64;
/// Fitting models to earlier runs may take this share of the time that is predicted.
const MOST_FITTING: f64 = 0.05;
/// Smaller errors than this are lost in the rounding of the proof.
pub(crate) const SMALLEST_ERROR: f64 = 1e-13;
/// What a run goes for where the error asked for is not predicted to be reached.
const FARTHEST: f64 = 1e-9;
/// Threads of one process meet in about this many seconds, and hand over this many bytes in a second.
const MEETING: Network =
    Network { latency: 2e-6, bandwidth: 4e9, collective: Collective::Tree, measured: None };

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
        Ok(match predicted.is_some_and(|predicted| seconds <= MOST_FITTING * predicted) {
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

    /// Every configuration that can run, and why the other algorithms cannot.
    fn configurations(&self, cluster: &Cluster) -> Result<(Vec<Configuration>, Vec<Rejected>), Error> {
        let workers = self.workers_to_choose(cluster)?;
        let (mut all, mut rejected) = (Vec::new(), Vec::new());
        let mut too_large: Option<(u64, String)> = None;
        let given = self.request.parameters.given();
        for entry in catalogue() {
            if !self.is_asked_for(entry.name) {
                continue;
            }
            let mut reject = |reason: String| rejected.push(Rejected { name: entry.name.to_owned(), reason });
            if let Some((_, flag)) = given.iter().find(|(name, _)| !entry.parameters.contains(name)) {
                reject(format!("it has no {flag}"));
                continue;
            }
            if let Some(reason) = (entry.unsuited)(self.profile.dimension()).filter(|_| !self.is_named()) {
                reject(reason);
                continue;
            }
            let here = workers.iter().flat_map(|&workers| self.configurations_on(entry, workers));
            let (mut fitting, mut lacking) = (Vec::new(), None::<(u64, String)>);
            for configuration in here {
                match self.lacking(&configuration) {
                    None => fitting.push(configuration),
                    Some(least) => {
                        lacking = lacking.into_iter().chain([least]).min_by_key(|(bytes, _)| *bytes)
                    }
                }
            }
            if let Some(least) = lacking.filter(|_| fitting.is_empty()) {
                reject(format!("it needs {}", least.1));
                too_large = too_large.into_iter().chain([least]).min_by_key(|(bytes, _)| *bytes);
            }
            all.append(&mut fitting);
        }
        match too_large {
            Some((_, needs)) if all.is_empty() => {
                Err(hemingway_train::Error::Memory(format!("this run needs {needs}")).into())
            }
            _ => Ok((all, rejected)),
        }
    }

    /// How much memory a configuration needs if there is not so much, and the same in words.
    fn lacking(&self, configuration: &Configuration) -> Option<(u64, String)> {
        let mut choice = self.choice.clone();
        choice.use_configuration(configuration, self.data.rows, self.request.parameters);
        self.room?.lacking(&choice, self.data, &self.profile.problem())
    }

    fn is_asked_for(&self, name: &str) -> bool {
        match (&self.request.algorithm, self.algorithms) {
            (Some(asked), _) => asked == name,
            (None, Some(asked)) => asked.iter().any(|asked| asked == name),
            (None, None) => true,
        }
    }

    fn is_named(&self) -> bool {
        self.request.algorithm.is_some() || self.algorithms.is_some()
    }

    fn configurations_on(&self, entry: &Entry, workers: usize) -> Vec<Configuration> {
        let with = |passes: f64| Configuration { algorithm: entry.name.to_owned(), workers, passes };
        let same_alone = workers == 1 && entry.alone.is_some() && self.request.algorithm.is_none();
        let local_work = entry.parameters.contains(&"local_steps");
        match self.request.parameters.local_steps {
            _ if same_alone => Vec::new(),
            Some(_) => {
                let parameters = self.request.parameters;
                let algorithm = entry.name.to_owned();
                let choice = Choice { algorithm, workers, parameters, ..self.choice.clone() };
                vec![choice.configuration(self.data.rows)]
            }
            None if local_work && workers > 1 && self.request.is_open() => LOCAL_WORK.map(with).to_vec(),
            None => vec![with(1.0)],
        }
    }

    /// Powers of two and what is half-way between, where the next worker is on another kind of machine, and all there are.
    fn workers_to_choose(&self, cluster: &Cluster) -> Result<Vec<usize>, Error> {
        let rows = self.data.rows;
        if let Some(workers) = self.request.workers {
            return Ok(vec![workers]);
        }
        let limit = self.request.planning.max_workers.unwrap_or(usize::MAX);
        let chosen: Vec<usize> = match self.workers {
            Some(named) => named.to_vec(),
            None => {
                let most = match (self.choice.engine == SIMULATED, cluster.boundaries().last()) {
                    (true, Some(places)) => places,
                    (true, None) => MOST_SIMULATED,
                    (false, _) => cores(),
                };
                let most = most.min(limit).min(rows).max(1);
                let powers = std::iter::successors(Some(1), |m| Some(2 * m)).take_while(|m| *m <= most);
                let between = powers.clone().map(|m| m + m / 2);
                let mut chosen: Vec<usize> =
                    powers.chain(between).chain(cluster.boundaries()).chain([most]).collect();
                chosen.retain(|workers| *workers <= most);
                chosen.sort_unstable();
                chosen.dedup();
                chosen
            }
        };
        match chosen.iter().min() {
            Some(&workers) if workers > rows => {
                Err(hemingway_train::Error::TooManyWorkers { workers, rows }.into())
            }
            Some(0) => Err(hemingway_train::Error::NoWorkers(0).into()),
            _ => Ok(chosen.into_iter().filter(|workers| *workers <= rows && *workers <= limit).collect()),
        }
    }

    /// The machines for the planner: those of the cluster file, or this one.
    fn machines(&self) -> Result<Cluster, Error> {
        if let Some(cluster) = &self.choice.cluster {
            return Ok(cluster.clone());
        }
        let machine: Option<Machine> = self.store.map(Store::calibration).transpose()?.flatten();
        let cluster = Cluster::of(machine.unwrap_or_default());
        // Ranks may be anywhere, and are taken to be on some usual network.
        Ok(if self.choice.engine == MPI { cluster } else { Cluster { network: MEETING, ..cluster } })
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
