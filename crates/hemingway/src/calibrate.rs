//! A cluster file from the cluster itself.

use hemingway_train::protocol::{Profile, Stage};
use hemingway_train::{Cluster, Needs, StopRules, catalogue};
use serde::Serialize;

use crate::default_choice::{MPI, choose};
use crate::prepare::{ManyClasses, set_up_ranks};
use crate::{Error, TrainRequest, ranks};

/// Rounds of each algorithm that is measured.
const ROUNDS: u64 = 30;

/// What was found out about a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// What its cluster file says.
    #[serde(flatten)]
    pub cluster: Cluster,
    /// What may be wrong with it, and what to do about that.
    pub warnings: Vec<String>,
}

/// Measures a few rounds of every algorithm on the data of the request, because how long they compute depends on more
/// than what kernels meter; then the machines and the network of the MPI cluster.
pub fn calibrate_cluster(request: TrainRequest) -> Result<Calibration, Error> {
    let request = TrainRequest { engine: Some(MPI.to_owned()), ..request }.in_full();
    let choice = choose(&request)?;
    let setup = set_up_ranks(&request, &choice, ManyClasses::Refused)?;

    let stop = StopRules { rounds: Some(ROUNDS), ..StopRules::default() };
    let stage = |name: &str| Stage {
        algorithm: name.to_owned(),
        parameters: request.parameters.clone(),
        workers: choice.workers,
        stop,
    };
    // Newton refuses wide data, and what is calibrated are rounds that end with sums.
    let measured =
        catalogue().iter().filter(|entry| entry.name != "newton" && entry.needs() == Needs::Collectives);
    let names: Vec<&str> = measured.map(|entry| entry.name).collect();
    let setup = setup.with_stages(names.iter().map(|name| stage(name)).collect());
    let ranks = setup.start(None, None)?;
    let dimension =
        ranks.loaded.used.as_ref().map_or(ranks.loaded.features, Vec::len) + usize::from(request.has_bias());
    let profiles = ranks.profiles(names.len())?;
    let mut cluster = ranks::measure(&request.ranks, choice.workers, dimension)?;
    let mut warnings: Vec<String> = setup.full_cores(choice.workers, 0).into_iter().collect();
    let all = || names.iter().zip(&profiles);
    warnings.extend(all().find(|(name, _)| **name == PASS).and_then(|(_, profile)| too_short(profile)));
    warnings.extend(all().filter_map(|(name, profile)| cluster.correct(name, profile)));
    Ok(Calibration { cluster, warnings })
}

/// The algorithm whose rounds are a pass over the data and nothing else.
const PASS: &str = "gradient-descent";
/// In a shorter pass what happens once in a round, and is not metered, counts as much as the rows do. Half as much warns
/// where factors are still good, twice as much passes over those of cores whose cache holds all of their rows.
const SHORT: f64 = 100e-6;

/// Whether the data is too small for so many workers to tell computing from what is around it.
fn too_short(profile: &Profile) -> Option<String> {
    let pass = profile.undisturbed_seconds / ROUNDS as f64;
    (pass > 0.0 && pass < SHORT).then(|| {
        format!(
            "a worker passes over its rows in {:.0} µs, too quickly to tell how long larger data would take: calibrate on \
             more rows, or with fewer workers",
            1e6 * pass
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_is_too_small_is_warned_of() {
        let of = |undisturbed_seconds| Profile { undisturbed_seconds, ..Profile::default() };
        let said = too_short(&of(30.0 * 40e-6)).unwrap();
        assert!(said.contains("40 µs") && said.contains("more rows"), "{said}");
        assert_eq!([too_short(&of(30.0 * 400e-6)), too_short(&of(0.0))], [None, None]);
    }
}
