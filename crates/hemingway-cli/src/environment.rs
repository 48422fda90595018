//! Machines that environment variables name, for the engines that use them.
//!
//! They are not variables of the flags themselves: a cluster or a hosts file that stands in the environment must not turn every
//! command into one for that engine, nor be refused by the others.

use std::env;
use std::path::PathBuf;

use hemingway::{RanksRequest, TrainRequest};

/// The request with the machines of the environment, where its engine uses any and no flag names them.
pub fn with_machines(request: TrainRequest) -> TrainRequest {
    match request.engine.as_deref() {
        Some("simulated") => {
            TrainRequest { cluster: request.cluster.or_else(|| path("HEMINGWAY_CLUSTER")), ..request }
        }
        Some("mpi") => TrainRequest { ranks: with_hosts(request.ranks), ..request },
        _ => request,
    }
}

/// Where ranks are started, with the hosts of the environment unless a flag names some.
pub fn with_hosts(ranks: RanksRequest) -> RanksRequest {
    RanksRequest { hosts: ranks.hosts.or_else(|| path("HEMINGWAY_HOSTS")), ..ranks }
}

fn path(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
