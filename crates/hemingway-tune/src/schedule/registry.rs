//! Who is who: device types, kinds of machines and machines, numbered over all jobs of a study.

use std::sync::Arc;

use super::cluster::{Cluster, Device, Kind};

/// The names that occur in the jobs of a study.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    /// Device types: kind of machine and device.
    pub(super) devices: Vec<(String, Device)>,
    /// Kinds of machines.
    pub(super) kinds: Vec<Kind>,
    /// Machines.
    pub(super) machines: Vec<String>,
}

/// The numbers of one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The device type of each device of each machine.
    pub(super) devices: Vec<Vec<usize>>,
    /// The kind of each machine.
    pub(super) kinds: Vec<usize>,
    /// Each machine; one that is not known has the number after the last.
    pub(super) machines: Vec<usize>,
}

impl Registry {
    /// Takes note of all names of a cluster.
    pub fn add(&mut self, cluster: &Cluster) -> Arc<Layout> {
        for kind in &cluster.kinds {
            if !self.kinds.iter().any(|known| known.name == kind.name) {
                self.devices.extend(kind.devices.iter().map(|device| (kind.name.clone(), device.clone())));
                self.kinds.push(kind.clone());
            }
        }
        for machine in &cluster.machines {
            if !self.machines.contains(&machine.name) {
                self.machines.push(machine.name.clone());
            }
        }
        self.layout(cluster)
    }

    /// The numbers of a cluster whose kinds are known.
    pub fn layout(&self, cluster: &Cluster) -> Arc<Layout> {
        let at = |machine: usize| cluster.kind_of(machine);
        let device = |machine: usize, device: &Device| {
            let named =
                |(kind, known): &(String, Device)| *kind == at(machine).name && known.name == device.name;
            // A kind that has another device than it had in an earlier study: as if it were the first.
            self.devices.iter().position(named).unwrap_or(0)
        };
        let kind =
            |machine: usize| self.kinds.iter().position(|known| known.name == at(machine).name).unwrap_or(0);
        let name = |machine: usize| {
            let own = &cluster.machines[machine].name;
            self.machines.iter().position(|known| known == own).unwrap_or(self.machines.len())
        };
        let machines = 0..cluster.machines.len();
        Arc::new(Layout {
            devices: machines
                .clone()
                .map(|machine| at(machine).devices.iter().map(|named| device(machine, named)).collect())
                .collect(),
            kinds: machines.clone().map(kind).collect(),
            machines: machines.map(name).collect(),
        })
    }
}
