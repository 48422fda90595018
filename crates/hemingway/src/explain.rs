//! EXPLAIN: which plan does what is asked, and why; trains nothing.
//!
//! The plan is the one that `train` would make: from a profile of the data and the runs in the store. Those who want
//! to know more before they begin ask for pilots: short runs of every algorithm that is left, on the fewest workers, the
//! most and a number between. They stay in the store, so the next question about this problem, and `train` itself, know
//! what they showed.

use std::collections::BTreeSet;

use hemingway_train::StopRules;

use crate::default_choice::USUAL_ERROR;
use crate::inputs::PlanInputs;
use crate::prepare::profile;
use crate::session::measure_if_needed;
use crate::{
    Error, Experiment, Explanation, MeasureRequest, MeasureWatch, Measured, Measuring, Place, Progress,
    Store, TrainRequest, choose, measure,
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

/// Plans without training.
pub fn explain(
    request: &ExplainRequest,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Explanation, Error> {
    let base = request.base.clone().with_absolute_paths();
    base.check_stop()?;
    request.check_names()?;
    let mut choice = choose(&base)?;
    let store = Store::open_if_there(place)?;
    measure_if_needed(&mut choice, store.as_ref())?;
    let (data, profile, room) = profile(&base)?;
    let inputs = |store| PlanInputs {
        request: &base,
        choice: &choice,
        data: &data,
        profile: profile.clone(),
        store,
        workers: request.workers.as_deref(),
        algorithms: request.algorithms.as_deref(),
        reading: None,
        room: Some(room),
    };
    let mut planning = inputs(store.as_ref()).plan()?;
    let warnings = store.as_ref().map_or_else(Vec::new, Store::warnings);
    warnings.iter().for_each(|warning| (watch.observe)(Measuring::Run(Progress::Noticed(warning))));
    if request.pilots {
        let candidates = planning.explanation.decision.alternatives.iter();
        let candidates = candidates.chain(&planning.explanation.decision.plan);
        let algorithms: BTreeSet<&str> = candidates.clone().map(|of| of.first().algorithm.as_str()).collect();
        let algorithms: Vec<String> = algorithms.into_iter().map(str::to_owned).collect();
        let workers: BTreeSet<usize> = candidates.map(|of| of.first().workers).collect();
        let pilots = pilots(&base, &algorithms, &few(&workers), place, watch)?;
        let overhead = planning.explanation.overhead_seconds;
        planning = inputs(Store::open_if_there(place)?.as_ref()).plan()?;
        let took = pilots.iter().filter_map(Measured::report).map(|report| report.seconds).sum::<f64>();
        planning.explanation.pilots = pilots.len();
        planning.explanation.overhead_seconds += overhead + took;
    }
    Ok(planning.explanation)
}

impl ExplainRequest {
    fn check_names(&self) -> Result<(), Error> {
        let named = self.algorithms.iter().flatten().chain(&self.base.algorithm);
        for name in named {
            hemingway_train::algorithm(name, &Default::default())?;
        }
        Ok(())
    }
}

fn pilots(
    base: &TrainRequest,
    algorithms: &[String],
    workers: &[usize],
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Vec<Measured>, Error> {
    let mut base = base.clone();
    let error = base.stop.error.filter(|error| *error > 0.0).unwrap_or(USUAL_ERROR);
    base.stop = StopRules { error: Some(error), ..StopRules::default() };
    let experiments = Experiment::grid(algorithms, workers, &[1.0], PILOT_ROUNDS);
    measure(&MeasureRequest { base, experiments }, place, watch)
}

/// The fewest, the most, and what is half-way between in doublings.
fn few(workers: &BTreeSet<usize>) -> Vec<usize> {
    let all: Vec<usize> = workers.iter().copied().collect();
    let ends = [0, all.len() / 2, all.len().saturating_sub(1)];
    let few: BTreeSet<usize> = ends.into_iter().filter_map(|at| all.get(at).copied()).collect();
    few.into_iter().collect()
}
