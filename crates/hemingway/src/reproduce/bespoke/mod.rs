//! `reproduce bespoke`: the figures of Dalibard, Schaarschmidt and Yoneki on tuning distributed SGD, from studies on the
//! embedded simulator to a page.
//!
//! `experiments` tunes, `random_search` and `rivals` say how others do; from there on everything is a pure function of what
//! they found: `runs` takes medians, `charts` draws, `claims` sets the paper's claims beside our results, `page` writes it all
//! down.

mod charts;
mod claims;
mod experiments;
mod page;
mod random_search;
mod rivals;
mod runs;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use hemingway_tune::simulator::{Experiment, Network, Setting, experiments as all};
use rayon::prelude::*;
use serde::Serialize;

pub use experiments::{Study, TunedExperiment};
pub use runs::Runs;

use super::folder::Folder;
use crate::Error;

/// Evaluations after which the paper takes a configuration.
pub(crate) const BUDGET: usize = 10;
/// Evaluations that the paper gives to generic optimisers.
pub(crate) const LONG_BUDGET: usize = 30;
/// The experiment of the paper's Figure 2.
pub(crate) const CONVERGENCE: Experiment =
    Experiment { setting: Setting::C, network: Network::SpeechNet, batch: 1 << 16 };

/// The figures of the paper on tuning, to be made again.
#[derive(Debug, Clone, PartialEq)]
pub struct BespokeRequest {
    /// Names of experiments or their beginnings, like `c` or `c-alexnet`; none for all of them. That of Figure 2 is always made.
    pub experiments: Vec<String>,
    /// Studies of each experiment, with the seeds 1, 2, ….
    pub seeds: u64,
    /// What `bench/tune/run` found out about other tuners.
    pub rivals: Option<PathBuf>,
    /// The folder that everything is written into.
    pub out: PathBuf,
}

/// Who watches.
pub struct BespokeWatch<'a> {
    /// Set to end it.
    pub interrupt: &'a AtomicBool,
    /// Is told what each experiment came to, how many are done and how many there are.
    pub observe: &'a mut (dyn FnMut(&TunedExperiment, usize, usize) + Send),
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BespokeReproduction {
    /// The page.
    pub page: PathBuf,
    /// The figures on it, as PNG; each has an SVG beside it.
    pub figures: Vec<PathBuf>,
    /// Their data, as CSV.
    pub data: Vec<PathBuf>,
    /// What tuning came to, by experiment.
    pub experiments: Vec<TunedExperiment>,
    /// Figure 2: every optimiser on its experiment, ours first.
    pub convergence: Vec<Runs>,
}

/// Tunes every experiment, then writes the figures and the page. Nothing if interrupted.
pub fn reproduce_bespoke(
    request: &BespokeRequest,
    watch: &mut BespokeWatch,
) -> Result<Option<BespokeReproduction>, Error> {
    let chosen = request.check()?;
    let folder = Folder(&request.out);
    let world = CONVERGENCE.world();
    let rivals = request.rivals.as_deref().map(|file| rivals::read(file, world.optimum().1)).transpose()?;
    let Some(experiments) = tune(&chosen, request.seeds, watch) else { return Ok(None) };

    let random = random_search::random_search(&world, request.seeds);
    let mut convergence: Vec<Runs> = experiments.iter().filter_map(Runs::of_figure_2).collect();
    convergence.push(random.runs.clone());
    convergence.extend(rivals.clone().unwrap_or_default());
    let facts = page::Facts {
        request,
        experiments: &experiments,
        convergence: &convergence,
        random: &random,
        rivals: rivals.is_some(),
    };
    let charts = charts::charts(&experiments, &convergence);
    let page = page::page(&facts, &charts);
    let (figures, mut data) =
        folder.write_charts(charts.iter().map(|(name, chart)| (name.clone(), chart)))?;
    data.push(folder.write("data/bespoke.csv", experiments::csv(&experiments))?);
    Ok(Some(BespokeReproduction {
        page: folder.write("bespoke.md", page)?,
        figures,
        data,
        experiments,
        convergence,
    }))
}

impl BespokeRequest {
    /// The experiments that are asked for, in the paper's order.
    fn check(&self) -> Result<Vec<Experiment>, Error> {
        if !(1..=1000).contains(&self.seeds) {
            let (value, expected) = (self.seeds as f64, "from 1 to 1000");
            return Err(Error::OutOfRange { name: "--seeds", value, expected });
        }
        let begins =
            |experiment: &Experiment, name: &str| format!("{experiment}-").starts_with(&format!("{name}-"));
        let unknown = |name: &&String| !all().iter().any(|experiment| begins(experiment, name));
        if let Some(name) = self.experiments.iter().find(unknown) {
            return Err(Error::NoExperiment { name: name.clone() });
        }
        Folder(&self.out).check()?;
        let wanted = |experiment: &Experiment| {
            self.experiments.is_empty()
                || *experiment == CONVERGENCE
                || self.experiments.iter().any(|name| begins(experiment, name))
        };
        Ok(all().into_iter().filter(wanted).collect())
    }
}

/// All experiments at once, as far as there are cores; nothing if interrupted.
fn tune(chosen: &[Experiment], seeds: u64, watch: &mut BespokeWatch) -> Option<Vec<TunedExperiment>> {
    let BespokeWatch { interrupt, observe } = watch;
    let told = Mutex::new((observe, 0));
    let each = |experiment: &Experiment| {
        let tuned = TunedExperiment::tune(*experiment, seeds, interrupt)?;
        let mut told = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        told.1 += 1;
        let done = told.1;
        (told.0)(&tuned, done, chosen.len());
        Some(tuned)
    };
    // One at a time goes to whoever is idle: that of Figure 2 takes three times as long.
    chosen.par_iter().with_max_len(1).map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(experiments: &[&str]) -> BespokeRequest {
        let experiments = experiments.iter().map(|name| (*name).to_owned()).collect();
        BespokeRequest { experiments, seeds: 1, rivals: None, out: "reproduce".into() }
    }

    #[test]
    fn experiments_are_chosen_by_the_beginnings_of_their_names() {
        assert_eq!(request(&[]).check().unwrap().len(), 36);
        assert_eq!(request(&["c"]).check().unwrap().len(), 12);
        assert_eq!(request(&["a-alexnet", "b-googlenet-64"]).check().unwrap().len(), 4 + 1 + 1);
        assert!(matches!(request(&["a-alex"]).check(), Err(Error::NoExperiment { .. })));
    }

    #[test]
    fn the_experiment_of_figure_2_has_its_name() {
        assert_eq!(CONVERGENCE.to_string(), "c-speechnet-65536");
        assert!(all().contains(&CONVERGENCE));
    }
}
