//! What a plan may choose from: algorithms that suit the problem, numbers of workers, local work, and the machines there are.

use hemingway_data::cores;
use hemingway_plan::{Configuration, Rejected};
use hemingway_train::{Cluster, Collective, Entry, Machine, Needs, Network, canonical, catalogue, offers};

use crate::default_choice::{MPI, SIMULATED};
use crate::inputs::PlanInputs;
use crate::{Choice, Error, Store};

/// Local work to choose from, in passes over a worker's rows.
const LOCAL_WORK: [f64; 2] = [1.0, 4.0];
/// On a simulated cluster without an end, workers to choose from go up to this many.
const MOST_SIMULATED: usize = 64;
/// Threads of one process meet in about this many seconds, and hand over this many bytes in a second.
const MEETING: Network =
    Network { latency: 2e-6, bandwidth: 4e9, collective: Collective::Tree, measured: None };

impl PlanInputs<'_> {
    /// Every configuration that can run, and why the other algorithms cannot.
    pub(crate) fn configurations(
        &self,
        cluster: &Cluster,
    ) -> Result<(Vec<Configuration>, Vec<Rejected>), Error> {
        let workers = self.workers_to_choose(cluster)?;
        let (mut all, mut rejected) = (Vec::new(), Vec::new());
        let mut too_large: Option<(u64, String)> = None;
        let given = self.request.parameters.given();
        for entry in catalogue() {
            if !self.is_asked_for(entry.name) {
                continue;
            }
            let mut reject = |reason: String| rejected.push(Rejected { name: entry.name.to_owned(), reason });
            if !offers(&self.choice.engine, entry.needs()) {
                reject(format!("the {} engine offers no {}", self.choice.engine, entry.needs().name()));
                continue;
            }
            if let Some((_, flag)) = given.iter().find(|(name, _)| !entry.parameters.contains(name)) {
                reject(format!("it has no {flag}"));
                continue;
            }
            if let Some(reason) =
                (entry.unsuited)(self.profile.dimension(), self.profile.loss).filter(|_| !self.is_named())
            {
                reject(reason);
                continue;
            }
            let most = self.most_workers_of(entry.needs(), cluster);
            if entry.needs() == Needs::SharedMemory && most == 1 {
                reject("its workers share memory, and a machine of this cluster has one core".to_owned());
                continue;
            }
            if workers.iter().all(|workers| *workers > most) {
                reject(format!("no rank is left for its servers; --algorithm {} starts them", entry.name));
                continue;
            }
            let here = workers.iter().filter(|workers| **workers <= most);
            let here: Vec<Configuration> =
                here.flat_map(|&workers| self.configurations_on(entry, workers)).collect();
            if let Some(same) = entry.alone.filter(|_| here.is_empty()) {
                reject(format!("on one worker it is the same as {same}"));
            }
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
        choice.use_configuration(configuration, self.data.rows, self.request.parameters.clone());
        self.room?.lacking(&choice, self.data, &self.profile.problem())
    }

    /// How many workers leave a place for each server, and have a common memory if they need it. Servers of the algorithm
    /// that was asked for come in addition.
    fn most_workers_of(&self, needs: Needs, cluster: &Cluster) -> usize {
        let servers = needs.servers();
        let places: usize = cluster.machines.iter().map(|kind| kind.count * kind.cores).sum();
        match (self.choice.engine.as_str(), self.workers.and_then(|workers| workers.iter().max())) {
            (MPI, Some(started)) => started.saturating_sub(servers.saturating_sub(self.choice.servers())),
            (SIMULATED, _) if needs == Needs::SharedMemory && !self.is_named() => {
                cluster.machines.first().map_or(1, |kind| kind.cores)
            }
            (SIMULATED, _) if places > 0 => places.saturating_sub(servers),
            _ => usize::MAX,
        }
    }

    fn is_asked_for(&self, name: &str) -> bool {
        match (&self.request.algorithm, self.algorithms) {
            (Some(asked), _) => asked == name,
            (None, Some(asked)) => asked.iter().any(|asked| canonical(asked) == Some(name)),
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
                let parameters = self.request.parameters.clone();
                let algorithm = entry.name.to_owned();
                let choice = Choice { algorithm, workers, parameters, ..self.choice.clone() };
                vec![choice.configuration(self.data.rows)]
            }
            None if local_work && workers > 1 && self.request.is_open() => LOCAL_WORK.map(with).to_vec(),
            None => vec![with(1.0)],
        }
    }

    /// Powers of two and what is half-way between, where the next worker is on another kind of machine, and all there are.
    pub(crate) fn workers_to_choose(&self, cluster: &Cluster) -> Result<Vec<usize>, Error> {
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
    pub(crate) fn machines(&self) -> Result<Cluster, Error> {
        if let Some(cluster) = &self.choice.cluster {
            return Ok(cluster.clone());
        }
        let machine: Option<Machine> = self.store.map(Store::calibration).transpose()?.flatten();
        let cluster = Cluster::of(machine.unwrap_or_default());
        let on_cores = || catalogue().iter().map(|entry| (entry.name.to_owned(), entry.on_cores)).collect();
        // Ranks may be anywhere, and are taken to be on some usual network.
        Ok(match self.choice.engine.as_str() {
            SIMULATED => Cluster { network: MEETING, ..cluster },
            MPI => Cluster { algorithms: on_cores(), ..cluster },
            _ => Cluster { network: MEETING, algorithms: on_cores(), ..cluster },
        })
    }
}
