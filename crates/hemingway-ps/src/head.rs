//! The head: starts the machines, connects them, lets them run and asks for what they measured.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, SocketAddr};

use crate::arguments::{Job, Throttle};
use crate::cgroup::Groups;
use crate::cluster::{Cluster, Network};
use crate::configuration::{Configuration, Schedule};
use crate::error::Result;
use crate::fleet::Fleet;
use crate::namespaces;
use crate::problem::Problem;
use crate::protocol::{DeviceLimit, Order, Reply, Report, Setup};

/// Machines that are ready to run.
pub struct Head {
    fleet: Fleet,
    /// Removed once the machines are gone, which are the fields before.
    _groups: Option<Groups>,
    pub schedule: Schedule,
    pub problem: Problem,
}

impl Head {
    /// Starts and connects the machines of a configuration.
    pub fn start(job: &Job, cluster: &Cluster, configuration: &Configuration) -> Result<Head> {
        let problem = cluster.problem(job.model, job.seed);
        let schedule = Schedule::new(cluster, configuration, problem.parameters())?;
        // Threads share the network of the thread that starts them, so this comes before there are any.
        if cluster.network == Network::Namespaces {
            namespaces::enter_new()?;
            namespaces::make_switch()?;
        }
        let groups = match job.throttle {
            Throttle::Pace => None,
            Throttle::Cgroup => Some(Groups::create()?),
        };
        let machines = schedule.machines();
        let names: Vec<&str> =
            machines.iter().map(|&machine| cluster.machines[machine].name.as_str()).collect();
        let fleet = Fleet::start(&names, job.limit)?;
        let mut head = Head { fleet, _groups: groups, schedule, problem };
        head.prepare(cluster, &machines)?;
        head.connect(cluster, &machines)?;
        Ok(head)
    }

    fn prepare(&mut self, cluster: &Cluster, machines: &[usize]) -> Result<()> {
        let secret = RandomState::new().build_hasher().finish();
        for (member, &machine) in machines.iter().enumerate() {
            let setup = Setup {
                machine,
                names: cluster.machines.iter().map(|machine| machine.name.clone()).collect(),
                devices: self.devices(cluster, machine)?,
                bandwidth: cluster.machines[machine].bandwidth,
                network: cluster.network,
                problem: self.problem.clone(),
                schedule: self.schedule.clone(),
                secret,
            };
            self.fleet.order(member, &Order::Prepare(Box::new(setup)));
        }
        self.fleet.gather(|reply| matches!(reply, Reply::Ready).then_some(()))?;
        Ok(())
    }

    fn devices(&self, cluster: &Cluster, machine: usize) -> Result<Vec<DeviceLimit>> {
        let devices = cluster.machines[machine].devices();
        let limit = |(name, device): (&str, crate::cluster::Device)| {
            let groups = self._groups.as_ref();
            let group = groups.map(|groups| groups.add(machine, name, device.share)).transpose()?;
            Ok(DeviceLimit { name: name.to_owned(), share: device.share, group })
        };
        devices.into_iter().map(limit).collect()
    }

    fn connect(&mut self, cluster: &Cluster, machines: &[usize]) -> Result<()> {
        let mut addresses = Vec::new();
        for (member, (&machine, pid)) in machines.iter().zip(self.fleet.pids()).enumerate() {
            let address = match cluster.network {
                Network::Loopback => Ipv4Addr::LOCALHOST,
                Network::Namespaces => {
                    namespaces::plug_in(machine, pid, cluster.machines[machine].bandwidth)?;
                    namespaces::address(machine)
                }
            };
            addresses.push(address);
            self.fleet.order(member, &Order::Listen { address });
        }
        let ports = self.fleet.gather(|reply| match reply {
            Reply::Listening { port } => Some(port),
            _ => None,
        })?;
        let servers = addresses.into_iter().zip(ports).filter_map(|(address, port)| {
            // Machines come in the order of the cluster, and so do servers.
            Some(SocketAddr::from((address, port?)))
        });
        self.fleet.order_all(&Order::Connect { servers: servers.collect() });
        self.fleet.gather(|reply| matches!(reply, Reply::Connected).then_some(()))?;
        Ok(())
    }

    /// Runs some iterations; returns what the machines measured, in the order of the cluster.
    pub fn run(&mut self, iterations: u64, learning_rate: f64) -> Result<Vec<Report>> {
        self.fleet.order_all(&Order::Run { iterations, learning_rate: learning_rate as f32 });
        self.fleet.gather(|reply| match reply {
            Reply::Finished(report) => Some(report),
            _ => None,
        })
    }

    /// The current weights.
    pub fn weights(&mut self) -> Result<Vec<f32>> {
        self.fleet.order_all(&Order::Show);
        let parts = self.fleet.gather(|reply| match reply {
            Reply::Weights(values) => Some(values),
            _ => None,
        })?;
        Ok(parts.concat())
    }
}
