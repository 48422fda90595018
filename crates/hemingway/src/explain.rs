//! EXPLAIN: which plan does what is asked, and why; trains nothing.
//!
//! The plan is the one that `train` would make: from a profile of the data and the runs in the store. Those who want
//! to know more before they begin ask for pilots: short runs of every algorithm that is left, on the fewest workers, the
//! most and a number between. They stay in the store, so the next question about this problem, and `train` itself, know
//! what they showed.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use hemingway_plan::{Candidate, Decision, Goal, Stage, Unit};
use hemingway_train::StopRules;

use crate::default_choice::{SIMULATED, USUAL_ERROR};
use crate::inputs::PlanInputs;
use crate::prepare::{Profiled, profile};
use crate::session::measure_if_needed;
use crate::{
    Choice, Error, Experiment, Explanation, MeasureRequest, MeasureWatch, Measured, Measuring, Place,
    Progress, Store, TrainRequest, choose, measure,
};

/// A pilot has this many rounds.
const PILOT_ROUNDS: u64 = 12;

/// What is to be explained.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainRequest {
    /// What is asked for, as `train` would be.
    pub base: TrainRequest,
    /// The algorithms to choose from; all that suit the data if not given.
    pub algorithms: Option<Vec<String>>,
    /// The numbers of workers to choose from; the usual ones if not given.
    pub workers: Option<Vec<usize>>,
    /// Whether to make short runs first.
    pub pilots: bool,
}

/// Plans without training: the same plan as `train` makes from the same request.
pub fn explain(
    request: &ExplainRequest,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Explanation, Error> {
    let base = request.base.clone().in_full();
    let mut choice = request.choose(&base)?;
    request.check_names(&choice.engine)?;
    let store = Store::open_if_there(place)?;
    measure_if_needed(&mut choice, store.as_ref())?;
    let profiled = profile(&base, &choice)?;
    let goal = base.goal(&choice.stop);
    if goal.error.is_none() && goal.within.is_none() {
        return Ok(unplanned(goal, &choice, profiled));
    }
    let explanation = request.plan(&base, &choice, &profiled, store.as_ref(), watch.interrupt)?;
    warn(store.as_ref(), watch);
    if !request.pilots {
        return Ok(explanation);
    }
    let pilots = pilots(&base, &explanation.decision, place, watch)?;
    let seconds = pilots.iter().filter_map(Measured::report).map(|report| report.seconds).sum::<f64>();
    // Pilots have measured this machine where it was not known.
    let store = Store::open_if_there(place)?;
    let mut choice = request.choose(&base)?;
    measure_if_needed(&mut choice, store.as_ref())?;
    let after = request.plan(&base, &choice, &profiled, store.as_ref(), watch.interrupt)?;
    Ok(Explanation {
        pilots: pilots.len(),
        pilot_seconds: seconds,
        overhead_seconds: explanation.overhead_seconds + after.overhead_seconds + seconds,
        ..after
    })
}

/// Says what of the store could not be read.
fn warn(store: Option<&Store>, watch: &mut MeasureWatch) {
    let warnings = store.map_or_else(Vec::new, Store::warnings);
    warnings.iter().for_each(|warning| (watch.observe)(Measuring::Run(Progress::Noticed(warning))));
}

/// Where only rounds are asked for there is nothing to plan by, and `train` has its defaults.
fn unplanned(goal: Goal, choice: &Choice, profiled: Profiled) -> Explanation {
    let configuration = choice.configuration(profiled.data.rows);
    let stage = Stage {
        configuration,
        until_error: None,
        rounds: None,
        unit: Unit::Rounds,
        seconds: None,
        cost: None,
    };
    let plan = Candidate { stages: vec![stage], seconds: None, error: None, cost: None, criterion: 0.0 };
    let reason = format!("only rounds are asked for, so there is nothing to plan by; {}", choice.reason);
    Explanation {
        goal,
        dataset: profiled.data,
        profile: profiled.profile,
        decision: Decision { plan: Some(plan), reason: Some(reason), ..Decision::default() },
        reused: Vec::new(),
        dropped: Vec::new(),
        unmeasured: Vec::new(),
        warnings: Vec::new(),
        notes: Vec::new(),
        sampled: Vec::new(),
        pilots: 0,
        overhead_seconds: 0.0,
        pilot_seconds: 0.0,
    }
}

impl ExplainRequest {
    fn plan(
        &self,
        base: &TrainRequest,
        choice: &Choice,
        profiled: &Profiled,
        store: Option<&Store>,
        interrupt: &AtomicBool,
    ) -> Result<Explanation, Error> {
        let inputs = PlanInputs {
            request: base,
            choice,
            data: &profiled.data,
            profile: profiled.profile.clone(),
            store,
            workers: self.workers.as_deref().or(profiled.workers.as_deref()),
            algorithms: self.algorithms.as_deref(),
            reading: None,
            room: profiled.room,
            pilots: profiled.pilots(interrupt),
        };
        let mut explanation = inputs.plan()?.explanation;
        if choice.engine != SIMULATED {
            explanation.overhead_seconds += profiled.seconds;
        }
        explanation.notes.extend(profiled.first_of_several.clone());
        Ok(explanation)
    }

    /// What stands in for all that is open. Hyperparameters that are given ask for an algorithm that has them, of those to
    /// choose from.
    fn choose(&self, base: &TrainRequest) -> Result<Choice, Error> {
        let takes = |name: &&String| hemingway_train::algorithm(name, &base.parameters).is_ok();
        let given = !base.parameters.given().is_empty();
        let listed = self.algorithms.iter().flatten().find(takes).filter(|_| given).cloned();
        choose(&TrainRequest { algorithm: base.algorithm.clone().or(listed), ..base.clone() }.in_full())
    }

    /// What is named has to be there, and to run on this engine.
    fn check_names(&self, engine: &str) -> Result<(), Error> {
        let mut named = self.algorithms.iter().flatten().chain(&self.base.algorithm);
        named.try_for_each(|name| Ok(hemingway_train::check_offers(engine, hemingway_train::named(name)?)?))
    }
}

/// Short runs of every algorithm that is left, on few, some and many workers.
fn pilots(
    base: &TrainRequest,
    decision: &Decision,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Vec<Measured>, Error> {
    let stages = decision.alternatives.iter().chain(&decision.plan).flat_map(|candidate| &candidate.stages);
    let configurations = stages.map(|stage| &stage.configuration);
    let algorithms: BTreeSet<&str> = configurations.clone().map(|of| of.algorithm.as_str()).collect();
    let algorithms: Vec<String> = algorithms.into_iter().map(str::to_owned).collect();
    let workers: BTreeSet<usize> = configurations.map(|of| of.workers).collect();
    let mut base = base.clone();
    let error = base.stop.error.filter(|error| *error > 0.0).unwrap_or(USUAL_ERROR);
    base.stop = StopRules { error: Some(error), ..StopRules::default() };
    (base.model, base.test) = (None, None);
    let experiments = Experiment::grid(&algorithms, &few(&workers), &[base.data.fraction], PILOT_ROUNDS);
    measure(&MeasureRequest { base, experiments }, place, watch)
}

/// The fewest, the most, and what is half-way between in doublings.
fn few(workers: &BTreeSet<usize>) -> Vec<usize> {
    let all: Vec<usize> = workers.iter().copied().collect();
    let ends = [0, all.len() / 2, all.len().saturating_sub(1)];
    let few: BTreeSet<usize> = ends.into_iter().filter_map(|at| all.get(at).copied()).collect();
    few.into_iter().collect()
}
