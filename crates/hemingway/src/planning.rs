//! Which way a job is done where the user leaves it open: look at the data, remember earlier jobs, decide.
//!
//! Nothing is run to find out. The first rounds of the run itself are the pilots: whatever they reach is kept, and
//! whatever they show is used (module `course`).

use std::time::Instant;

use hemingway_data::{Dataset, cores};
use hemingway_plan::{
    Candidate, Decision, Glance, Leg, Navigator, Plan, Rejected, Requirement, Way, Ways, decide, prior,
};
use hemingway_train::{Cluster, Collective, Look, Machine, Network, Problem, catalogue};
use serde::{Deserialize, Serialize};

use crate::default_choice::{MPI, SIMULATED};
use crate::memory::Memory;
use crate::room::Room;
use crate::{Choice, DatasetSummary, Error, Reused, Store, TrainRequest};

/// So many rows are looked at.
pub(crate) const ROWS_TO_LOOK_AT: usize = 512;
/// Local work to choose from, in passes over a worker's rows.
const LOCAL_WORK: [f64; 2] = [1.0, 4.0];
/// On a simulated cluster without an end, workers to choose from go up to this many.
const MOST_SIMULATED: usize = 64;
/// Smaller errors than this are lost in the rounding of the proof.
pub(crate) const SMALLEST_ERROR: f64 = 1e-13;
/// Threads of one process meet in about this many seconds, and hand over this many bytes in a second.
const MEETING: Network =
    Network { latency: 2e-6, bandwidth: 4e9, collective: Collective::Tree, measured: None };

/// Looks at some rows of data whose size is known.
pub(crate) fn look_at(data: &Dataset, size: &DatasetSummary, problem: &Problem) -> Glance {
    let size = [size.rows, size.columns(), size.nonzeros];
    Glance::seen(&Look::at(data, ROWS_TO_LOOK_AT), size, problem)
}

/// The plan with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// What is asked for.
    pub asked: Requirement,
    /// What the data is like.
    pub dataset: DatasetSummary,
    /// What one look at it showed.
    pub glance: Glance,
    /// The plan, the alternatives, and what was rejected. The plan's figures are those of the whole path.
    #[serde(flatten)]
    pub decision: Decision,
    /// The ways in sequence, where the plan foresees more than one.
    pub path: Vec<Leg>,
    /// Earlier runs that were used.
    pub reused: Vec<Reused>,
    /// Earlier runs that were not used though they might have been, and why.
    pub dropped: Vec<String>,
    /// What is said before the run: goals that will not be reached, and what is done instead.
    pub warnings: Vec<String>,
    /// Runs that were made to find out.
    pub pilots: usize,
    /// What looking, planning and pilots took, on the training clock.
    pub overhead_seconds: f64,
}

/// A plan, and who follows it.
pub(crate) struct Planning {
    pub navigator: Navigator,
    pub memory: Memory,
    pub way: Option<Way>,
    pub explanation: Explanation,
}

/// All that a plan is made from.
pub(crate) struct Situation<'a> {
    pub request: &'a TrainRequest,
    pub choice: &'a Choice,
    pub data: &'a DatasetSummary,
    pub glance: Glance,
    pub store: Option<&'a Store>,
    /// Numbers of workers to choose from, if not the usual ones.
    pub workers: Option<&'a [usize]>,
    /// Algorithms to choose from, if not all.
    pub algorithms: Option<&'a [String]>,
    /// What reading the data took, and on how many workers, where every number of workers has to read it.
    pub read: Option<(f64, usize)>,
    /// The memory that may be used, if it is known.
    pub room: Option<Room>,
}

impl Situation<'_> {
    /// Plans.
    pub(crate) fn plan(self) -> Result<Planning, Error> {
        let begun = Instant::now();
        let asked = self.request.requirement(&self.choice.stop);
        let cluster = self.machines()?;
        let (ways, mut rejected) = self.ways(&cluster)?;
        let memory = Memory::of(self.store, self.request, self.choice, self.data)?;
        let navigator = self.navigator(&asked, cluster.clone(), ways.clone(), &memory);
        let mut warnings: Vec<String> = too_small(&asked).into_iter().collect();
        let mut decision = decide(navigator.candidates(), &asked);
        let mut route =
            if self.request.planning.adapt { navigator.plan_to_adapt() } else { navigator.plan() };
        let mut follower = navigator;
        if route.is_none() {
            let (fallback, warning) = self.fall_back(&asked, cluster.clone(), ways, &memory, &decision)?;
            warnings.push(warning);
            route = fallback.nearest();
            follower = fallback;
        }
        let way = route.as_ref().map(|plan| plan.first.clone());
        rejected.append(&mut decision.rejected);
        decision.rejected = rejected;
        let path = route.as_ref().map_or_else(Vec::new, |plan| plan.path.clone());
        self.put_in_front(&mut decision, route);
        if let Some(way) = &way {
            follower.begin(way);
        }
        Ok(Planning {
            navigator: follower,
            way,
            explanation: Explanation {
                asked,
                dataset: self.data.clone(),
                decision,
                path: if path.len() > 1 { path } else { Vec::new() },
                reused: memory.reused.clone(),
                dropped: memory.dropped.clone(),
                warnings,
                pilots: 0,
                overhead_seconds: self.looking(&cluster) + begun.elapsed().as_secs_f64(),
                glance: self.glance,
            },
            memory,
        })
    }

    /// Follows a run that was planned before and goes on now.
    pub(crate) fn go_on(&self, begun: &Way) -> Result<Navigator, Error> {
        let asked = self.request.requirement(&self.choice.stop);
        let cluster = self.machines()?;
        let (ways, _) = self.ways(&cluster)?;
        let mut navigator = self.navigator(&asked, cluster, ways, &Memory::default());
        navigator.begin(begun);
        Ok(navigator)
    }

    fn navigator(&self, asked: &Requirement, cluster: Cluster, ways: Ways, memory: &Memory) -> Navigator {
        let hysteresis = self.request.planning.hysteresis;
        let mut navigator = Navigator::new(self.glance.clone(), cluster, ways, *asked, hysteresis);
        navigator.learn(&memory.lessons);
        if let Some((seconds, workers)) = self.read {
            navigator.reads(seconds, workers);
        }
        navigator
    }

    fn way_of(&self, plan: &Candidate) -> Way {
        let share = (self.data.rows as f64 / plan.workers as f64).ceil().max(1.0);
        let near = |steps: usize| {
            let passes = steps as f64 / share;
            let known = LOCAL_WORK.into_iter().find(|known| (passes / known - 1.0).abs() < 0.01);
            known.unwrap_or(passes)
        };
        Way {
            algorithm: plan.algorithm.clone(),
            workers: plan.workers,
            passes: plan.local_steps.map_or(1.0, near),
        }
    }

    /// What is done where nothing does all that is asked: as much as can be done in the time or for the money.
    fn fall_back(
        &self,
        asked: &Requirement,
        cluster: Cluster,
        ways: Ways,
        memory: &Memory,
        decision: &Decision,
    ) -> Result<(Navigator, String), Error> {
        let with = |asked: &Requirement| self.navigator(asked, cluster.clone(), ways.clone(), memory);
        let unlimited = Requirement { within: None, budget: None, ..*asked };
        let best = decide(with(&Requirement { cheapest: false, ..unlimited }).candidates(), &unlimited).plan;
        let takes = match best.as_ref().and_then(|best| Some((best, best.seconds.as_ref()?))) {
            Some((best, seconds)) => {
                format!("the fastest, {}, takes about {:.3} s", best.name(), seconds.mean)
            }
            None => "no way is seen to reach it".to_owned(),
        };
        let goal = asked.error.map_or("anything".to_owned(), |error| format!("an error of {error:e}"));
        if asked.cheapest && cluster.price_per_second(1).is_none() {
            let best = "no prices are known; give machines a price in the cluster file".to_owned();
            return Err(Error::Impossible { goal: format!("the cheapest way to {goal}"), best });
        }
        if let Some(budget) = asked.budget {
            let cheapest = with(&unlimited).candidates().into_iter();
            let price = cheapest.filter_map(|way| way.price).fold(f64::INFINITY, f64::min);
            if asked.within.is_none() {
                return Err(Error::Impossible {
                    goal: format!("{goal} for at most {budget}"),
                    best: if price.is_finite() {
                        format!("the cheapest way is predicted to cost {price:.4}")
                    } else {
                        "no prices are known; give machines a price in the cluster file".to_owned()
                    },
                });
            }
        }
        let Some(within) = asked.within else {
            let reasons = decision.rejected.first().map_or("nothing is known of it", |lost| &lost.reason);
            return Ok((
                with(&Requirement { error: Some(SMALLEST_ERROR.max(1e-9)), ..*asked }),
                format!("{goal} is not seen to be reached ({reasons}); training goes as far as it can"),
            ));
        };
        let deadline = Requirement { error: None, cheapest: false, ..*asked };
        Ok((
            with(&deadline),
            format!(
                "{goal} within {within:.3} s is not to be expected: {takes}; training goes as far as it can"
            ),
        ))
    }

    /// The plan first, with the figures of its whole path; the others as they are.
    fn put_in_front(&self, decision: &mut Decision, route: Option<Plan>) {
        let mut others: Vec<Candidate> = decision.plan.take().into_iter().collect();
        others.append(&mut decision.alternatives);
        let Some(route) = route else {
            decision.alternatives = others;
            return;
        };
        let at = others.iter().position(|way| self.way_of(way) == route.first);
        let first = at.map(|at| others.remove(at)).unwrap_or_else(|| Candidate {
            algorithm: route.first.algorithm.clone(),
            workers: route.first.workers,
            local_steps: None,
            rounds: None,
            seconds: None,
            error: None,
            price_per_second: None,
            price: None,
            warning: None,
        });
        let Plan { rounds, seconds, error, price, .. } = route;
        decision.plan = Some(Candidate { rounds, seconds, error, price, ..first });
        decision.alternatives = others;
    }

    /// Every way that is worth a look, and why the other algorithms are not.
    fn ways(&self, cluster: &Cluster) -> Result<(Ways, Vec<Rejected>), Error> {
        let workers = self.workers_to_choose(cluster)?;
        let (mut ways, mut rejected) = (Ways::default(), Vec::new());
        let mut too_large: Option<(u64, String)> = None;
        let given = self.request.parameters.given();
        let error = self.request.requirement(&self.choice.stop).error;
        for entry in catalogue() {
            let name = entry.name;
            if !self.is_asked_for(name) {
                continue;
            }
            let named = self.request.algorithm.is_some() || self.algorithms.is_some();
            let unsuited = prior::unsuited(&self.glance, name, error).filter(|_| !named);
            let unused = given.iter().find(|(parameter, _)| !entry.parameters.contains(parameter));
            let reason = unused.map(|(_, flag)| format!("it has no {flag}"));
            let mut lacking = None;
            let here: Vec<Way> = (workers.iter().flat_map(|&workers| self.ways_on(name, workers)))
                .filter(|way| {
                    let lacks = self.lacking(way);
                    let fits = lacks.is_none();
                    lacking = lacks.into_iter().chain(lacking.take()).min_by_key(|(bytes, _)| *bytes);
                    fits
                })
                .collect();
            let reason = match (reason, unsuited, lacking) {
                (None, _, Some(least)) if here.is_empty() => {
                    rejected
                        .push(Rejected { name: name.to_owned(), reason: format!("it needs {}", least.1) });
                    too_large = too_large.into_iter().chain([least]).min_by_key(|(bytes, _)| *bytes);
                    continue;
                }
                (reason, unsuited, _) => (reason, unsuited),
            };
            let reason = match reason {
                (None, None) => {
                    ways.whole.extend(here);
                    continue;
                }
                (None, Some(unsuited)) if prior::leads(&self.glance, name) => {
                    ways.leads.extend(here);
                    format!("{unsuited}; it may only lead, for another to end the run")
                }
                (reason, unsuited) => unsuited.or(reason).unwrap_or_default(),
            };
            rejected.push(Rejected { name: name.to_owned(), reason });
        }
        match too_large {
            Some((_, needs)) if ways.whole.is_empty() => {
                Err(hemingway_train::Error::Memory(format!("this run needs {needs}")).into())
            }
            _ => Ok((ways, rejected)),
        }
    }

    /// How much memory a way needs if there is not so much, and the same in words.
    fn lacking(&self, way: &Way) -> Option<(u64, String)> {
        let mut choice = self.choice.clone();
        choice.go(way, self.data.rows, self.request.parameters);
        let problem =
            Problem { bias: self.request.bias, ..Problem::new(self.request.loss, self.request.lambda).ok()? };
        self.room?.lacking(&choice, self.data, &problem)
    }

    fn is_asked_for(&self, name: &str) -> bool {
        match (&self.request.algorithm, self.algorithms) {
            (Some(asked), _) => asked == name,
            (None, Some(asked)) => asked.iter().any(|asked| asked == name),
            (None, None) => true,
        }
    }

    fn ways_on(&self, name: &str, workers: usize) -> Vec<Way> {
        let way = |passes: f64| Way { algorithm: name.to_owned(), workers, passes };
        let named = self.request.algorithm.is_some();
        match (name, self.request.parameters.local_steps) {
            // On one worker adding and averaging are the same.
            ("cocoa-plus", _) if workers == 1 && !named => Vec::new(),
            (_, Some(_)) => {
                let parameters = self.request.parameters;
                let choice =
                    Choice { algorithm: name.to_owned(), workers, parameters, ..self.choice.clone() };
                vec![choice.way(self.data.rows)]
            }
            ("cocoa" | "cocoa-plus" | "local-sgd", None) if workers > 1 => LOCAL_WORK.map(way).to_vec(),
            _ => vec![way(1.0)],
        }
    }

    /// Powers of two, and the most there are.
    fn workers_to_choose(&self, cluster: &Cluster) -> Result<Vec<usize>, Error> {
        let rows = self.data.rows;
        if let Some(workers) = self.request.workers {
            return Ok(vec![workers]);
        }
        let limit = self.request.planning.max_workers.unwrap_or(usize::MAX);
        let chosen: Vec<usize> = match self.workers {
            Some(named) => named.to_vec(),
            None => {
                let there = |workers: &usize| cluster.check_size(*workers).is_ok();
                let most = match self.choice.engine == SIMULATED {
                    true => (1..=MOST_SIMULATED).rev().find(there).unwrap_or(1),
                    false => cores(),
                };
                let most = most.min(limit).min(rows);
                let mut powers: Vec<usize> =
                    std::iter::successors(Some(1), |m| Some(2 * m)).take_while(|m| *m <= most).collect();
                powers.extend(Some(most).filter(|most| !powers.contains(most)));
                powers
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

    /// The machines as the planner sees them: those of the cluster file, or this one.
    fn machines(&self) -> Result<Cluster, Error> {
        if let Some(cluster) = &self.choice.cluster {
            return Ok(cluster.clone());
        }
        let machine: Option<Machine> = self.store.map(Store::calibration).transpose()?.flatten();
        let cluster = Cluster::of(machine.unwrap_or_default());
        // Ranks may be anywhere, and are taken to be on some usual network.
        Ok(if self.choice.engine == MPI { cluster } else { Cluster { network: MEETING, ..cluster } })
    }

    /// What looking at the data takes on a simulated machine; on a real one the session has measured it.
    fn looking(&self, cluster: &Cluster) -> f64 {
        if self.choice.engine != SIMULATED {
            return 0.0;
        }
        let looked = ROWS_TO_LOOK_AT.min(self.glance.rows) as f64 / self.glance.rows.max(1) as f64;
        let pass = prior::seconds_per_round(&self.glance, "gradient-descent", 1, 1.0, 1.0, cluster);
        looked * pass.unwrap_or(0.0) / 2.0
    }
}

fn too_small(asked: &Requirement) -> Option<String> {
    let error = asked.error.filter(|error| *error < SMALLEST_ERROR)?;
    Some(format!(
        "an error of {error:e} cannot be proved with numbers of 16 digits; the smallest is about {SMALLEST_ERROR:e}, and \
         training goes as far as it can"
    ))
}
