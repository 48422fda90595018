//! A cluster file from the cluster itself.

use hemingway_train::protocol::Stage;
use hemingway_train::{Cluster, StopRules, catalogue};

use crate::default_choice::{MPI, choose};
use crate::prepare::set_up_ranks;
use crate::{Error, TrainRequest, ranks};

/// Rounds of each algorithm that is measured.
const ROUNDS: u64 = 30;

/// Measures a few rounds of every algorithm on the data of the request, because how long they compute depends on more
/// than what kernels meter; then the machines and the network of the MPI cluster.
pub fn calibrate_cluster(request: TrainRequest) -> Result<Cluster, Error> {
    let request = TrainRequest { engine: Some(MPI.to_owned()), ..request }.with_absolute_paths();
    let choice = choose(&request)?;
    let setup = set_up_ranks(&request, &choice)?;

    let stop = StopRules { rounds: Some(ROUNDS), ..StopRules::default() };
    let stage = |name: &str| Stage {
        algorithm: name.to_owned(),
        parameters: request.parameters,
        workers: choice.workers,
        stop,
    };
    // Newton refuses wide data.
    let names = catalogue().iter().map(|entry| entry.name).filter(|name| *name != "newton");
    let names: Vec<&str> = names.collect();
    let setup = setup.with_stages(names.iter().map(|name| stage(name)).collect());
    let ranks = setup.start(None)?;
    let dimension =
        ranks.loaded.used.as_ref().map_or(ranks.loaded.features, Vec::len) + usize::from(request.bias);
    let profiles = ranks.profiles(names.len())?;
    let mut cluster = ranks::measure(&request.ranks, choice.workers, dimension)?;
    names.iter().zip(&profiles).for_each(|(name, profile)| cluster.learn(name, profile));
    Ok(cluster)
}
