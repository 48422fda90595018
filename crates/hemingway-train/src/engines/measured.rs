//! A cluster as it was measured by its own ranks.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::cluster::{Cluster, Collective, Jitter, Machine, MachineType, Network, RATES, Stragglers, TIMES};
use crate::protocol::{Measurement, Profile, Rank};

/// What sums over so many workers cost, by their length. They take the place of the formulas, which know nothing of
/// buffers, bursts and the algorithms that an MPI changes between. Other numbers of workers, latencies and bandwidths
/// are reached by the formulas' proportions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredSums {
    /// How many workers took part.
    pub workers: usize,
    /// The latency at that time, in seconds.
    pub latency: f64,
    /// The bandwidth at that time, in bytes per second.
    pub bandwidth: f64,
    /// Lengths of the buffers, growing.
    pub numbers: Vec<usize>,
    /// How long each sum took after a rest.
    pub seconds: Vec<f64>,
    /// How long each took in a long row of them. Links that forward a burst at once and hold back what follows make
    /// the difference: then rounds cannot follow one another faster than this.
    pub in_a_row: Vec<f64>,
}

impl MeasuredSums {
    /// What a sum costs after a rest, on a network that may have changed since.
    pub(super) fn seconds(&self, network: &Network, workers: usize, numbers: usize) -> f64 {
        self.convert(network, workers, numbers, &self.seconds)
    }

    /// What it costs in a row of them.
    pub(super) fn seconds_in_a_row(&self, network: &Network, workers: usize, numbers: usize) -> f64 {
        self.convert(network, workers, numbers, &self.in_a_row)
    }

    fn convert(&self, network: &Network, workers: usize, numbers: usize, seconds: &[f64]) -> f64 {
        if workers < 2 {
            return 0.0;
        }
        let total = self.interpolate(numbers, seconds);
        // The shortest sum is nothing but messages; what longer ones take beyond it is their transfer.
        let messages = seconds[0].min(total);
        let ((here, copies), (then, copies_then)) =
            (network.collective.shape(workers), network.collective.shape(self.workers));
        messages * (network.latency / self.latency) * here / then
            + (total - messages) * (self.bandwidth / network.bandwidth) * copies / copies_then
    }

    /// A run in which nearly everything that was added up had one length shows how fast such sums follow one another.
    fn condition_on(&mut self, seconds: f64, sums: &[(usize, u64)]) {
        let numbers = |(length, count): &(usize, u64)| *length as f64 * *count as f64;
        let total: f64 = sums.iter().map(numbers).sum();
        for (length, count) in sums.iter().filter(|sum| numbers(sum) > 0.9 * total) {
            if let Ok(at) = self.numbers.binary_search(length) {
                self.in_a_row[at] = self.in_a_row[at].min(seconds / *count as f64);
            }
        }
    }

    /// Straight lines between the measured lengths; in proportion beyond the longest.
    fn interpolate(&self, numbers: usize, seconds: &[f64]) -> f64 {
        let wanted = numbers as f64;
        let after = self.numbers.partition_point(|known| *known < numbers);
        let point = |at: usize| (self.numbers[at] as f64, seconds[at]);
        match (after.checked_sub(1).map(point), (after < self.numbers.len()).then(|| point(after))) {
            (Some((length, seconds)), None) => seconds * wanted / length,
            (None, Some((_, seconds))) => seconds,
            (Some((short, quick)), Some((long, slow))) => {
                quick + (slow - quick) * (wanted - short) / (long - short)
            }
            (None, None) => 0.0,
        }
    }

    pub(super) fn complaint(&self) -> Option<String> {
        let growing = self.numbers.is_sorted_by(|a, b| a < b) && self.numbers.first().is_some_and(|n| *n > 0);
        let times = |values: &[f64]| values.iter().all(|value| TIMES.holds(*value));
        if self.workers < 2 {
            Some(format!("network.measured.workers has to be at least 2, not {}", self.workers))
        } else if !growing {
            Some("network.measured.numbers has to grow from at least 1".to_owned())
        } else if self.numbers.len() != self.seconds.len() || self.numbers.len() != self.in_a_row.len() {
            Some("network.measured.numbers, .seconds and .in_a_row have to be equally many".to_owned())
        } else if !times(&self.seconds)
            || !times(&self.in_a_row)
            || !times(&[self.latency])
            || !RATES.holds(self.bandwidth)
        {
            Some(
                "network.measured has to have positive times, latency and bandwidth: from 1e-12 to 1e6 seconds, \
                 from 1e-3 to 1e18 bytes a second"
                    .to_owned(),
            )
        } else {
            None
        }
    }
}

impl Cluster {
    /// A cluster of the ranks that measured themselves.
    pub fn measured(ranks: &[Rank], measurement: &Measurement) -> Cluster {
        let machines = &measurement.machines;
        let mean = |of: fn(&Machine) -> f64| machines.iter().map(of).sum::<f64>() / machines.len() as f64;
        let here = Machine { flops: mean(|machine| machine.flops), bytes: mean(|machine| machine.bytes) };
        let sums = MeasuredSums {
            workers: ranks.len(),
            latency: measurement.latency,
            bandwidth: measurement.bandwidth,
            numbers: measurement.sums.iter().map(|sum| sum.numbers).collect(),
            seconds: measurement.sums.iter().map(|sum| sum.seconds).collect(),
            in_a_row: measurement.sums.iter().map(|sum| sum.seconds_in_a_row).collect(),
        };
        // One worker alone has no network to measure.
        let network = match sums.workers {
            1 => Network::default(),
            _ => Network {
                latency: measurement.latency,
                bandwidth: measurement.bandwidth,
                collective: Collective::Ring,
                measured: Some(sums),
            },
        };
        Cluster {
            network,
            stragglers: Stragglers::default(),
            jitter: Jitter::mean(
                &measurement.jitter.iter().copied().filter(|one| !shares(one)).collect::<Vec<_>>(),
            ),
            machines: hosts(ranks, measurement, here),
            here,
            algorithms: BTreeMap::new(),
        }
    }

    /// Finds from a run on this very cluster how much longer its algorithm computes than its metered work says, and
    /// that sums may follow one another faster than in a row of nothing else. Only computing makes the factor: who waits
    /// for sums, for others or for a core computes nothing. Complains of a factor that cannot be one.
    pub fn correct(&mut self, algorithm: &str, profile: &Profile) -> Option<String> {
        if let Some(measured) = &mut self.network.measured {
            measured.condition_on(profile.compute_seconds + profile.sum_seconds, &profile.sums);
        }
        let metered = profile.work.flops / self.here.flops + profile.work.bytes / self.here.bytes;
        let factor = profile.undisturbed_seconds / metered;
        if !(factor > 0.0 && factor.is_finite()) {
            return None;
        }
        let plausible = factor.clamp(*PLAUSIBLE.start(), *PLAUSIBLE.end());
        self.algorithms.insert(algorithm.to_owned(), plausible);
        (plausible != factor).then(|| {
            format!(
                "{algorithm} seemed to compute {factor:.2} times as long as its metered work says; the cluster file has \
                 {plausible} instead: calibrate again, with more rows or fewer workers"
            )
        })
    }

    /// As a cluster file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a cluster is plain data")
    }
}

/// On quiet machines the factors of all algorithms lie between a half and three, and lower where rows that fit in the cache
/// are held against a memory that many cores share. One beyond this range has measured something else: it multiplies all
/// predictions, so a wrong one does more harm than one that is cut off.
const PLAUSIBLE: RangeInclusive<f64> = 1.0 / 32.0..=8.0;

/// A worker that loses this share of all time shares its core with another one. That slows it down in every round, and is
/// a matter of its speed; less is jitter, which comes and goes.
const SHARED: f64 = 0.2;

fn shares(jitter: &Jitter) -> bool {
    jitter.lost() > SHARED
}

/// One entry for each host, with a core for each of its ranks.
fn hosts(ranks: &[Rank], measurement: &Measurement, here: Machine) -> Vec<MachineType> {
    let mut hosts: Vec<MachineType> = Vec::new();
    let jitter = measurement.jitter.iter().copied().chain(std::iter::repeat(Jitter::default()));
    for ((rank, machine), jitter) in ranks.iter().zip(&measurement.machines).zip(jitter) {
        let kept = if shares(&jitter) { 1.0 - jitter.lost() } else { 1.0 };
        let speed = kept * machine.flops / here.flops;
        match hosts.last_mut().filter(|host| host.name == rank.host) {
            Some(host) => {
                let cores = host.cores as f64;
                host.speed = (host.speed * cores + speed) / (cores + 1.0);
                host.cores += 1;
            }
            None => hosts.push(MachineType {
                name: rank.host.clone(),
                count: 1,
                speed,
                cores: 1,
                memory: None,
                price: None,
            }),
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Network {
        let measured = MeasuredSums {
            workers: 4,
            latency: 1e-4,
            bandwidth: 1e8,
            numbers: vec![1, 1000, 3000],
            seconds: vec![1e-3, 2e-3, 6e-3],
            in_a_row: vec![1e-3, 4e-3, 6e-3],
        };
        Network { latency: 1e-4, bandwidth: 1e8, collective: Collective::Ring, measured: Some(measured) }
    }

    fn check(network: &Network, workers: usize, numbers: usize, expect: f64) {
        let seconds = network.sum_seconds(workers, numbers);
        assert!((seconds - expect).abs() < 1e-12, "{seconds} for {numbers} numbers on {workers}");
    }

    #[test]
    fn what_was_measured_is_given_back() {
        check(&measured(), 4, 1, 1e-3);
        check(&measured(), 4, 1000, 2e-3);
        check(&measured(), 4, 2000, 4e-3);
        check(&measured(), 4, 6000, 12e-3);
        check(&measured(), 1, 6000, 0.0);
    }

    #[test]
    fn a_row_of_sums_may_take_longer() {
        assert_eq!(measured().sum_seconds_in_a_row(4, 1000), 4e-3);
        assert_eq!(Network::default().sum_seconds_in_a_row(4, 1000), 0.0);
    }

    #[test]
    fn another_network_changes_its_part_only() {
        // 1 ms of messages and 5 ms of transfer.
        check(&Network { bandwidth: 5e7, ..measured() }, 4, 3000, 11e-3);
        check(&Network { latency: 2e-4, ..measured() }, 4, 3000, 7e-3);
    }

    #[test]
    fn other_numbers_of_workers_follow_the_ring() {
        // Twice around: 14 messages instead of 6, and 7/4 of the buffer instead of 6/4.
        check(&measured(), 8, 3000, 1e-3 * 14.0 / 6.0 + 5e-3 * 7.0 / 6.0);
    }

    #[test]
    fn damaged_figures_are_refused() {
        let broken: [fn(&mut MeasuredSums); 6] = [
            |sums| sums.workers = 1,
            |sums| sums.numbers = vec![1, 1, 3],
            |sums| sums.seconds = vec![1.0],
            |sums| sums.seconds[1] = -1.0,
            |sums| sums.bandwidth = 0.0,
            |sums| sums.latency = 4.9e-324,
        ];
        for (at, damage) in broken.into_iter().enumerate() {
            let mut sums = measured().measured.unwrap();
            assert_eq!(sums.complaint(), None);
            damage(&mut sums);
            assert!(sums.complaint().is_some(), "damage {at}");
        }
    }

    #[test]
    fn a_measured_cluster_is_a_cluster_file() {
        let rank = |host: &str| Rank { host: host.to_owned(), pid: 1 };
        let machine = |flops| Machine { flops, bytes: 1e9 };
        let measurement = Measurement {
            machines: vec![machine(1e9), machine(1e9), machine(4e9)],
            jitter: vec![Jitter { pauses_per_second: 2.0, pause_seconds: 1e-3 }; 3],
            latency: 1e-4,
            bandwidth: 1e8,
            sums: vec![crate::protocol::MeasuredSum {
                numbers: 1,
                seconds: 1e-3,
                seconds_in_a_row: 1e-3,
                bare_seconds: 1e-3,
                quickest: [1e-3, 1e-3],
            }],
        };
        let cluster = Cluster::measured(&[rank("a"), rank("a"), rank("b")], &measurement);
        assert_eq!(Cluster::from_toml("file", &cluster.to_toml()).unwrap(), cluster);
        assert_eq!(cluster.jitter, Jitter { pauses_per_second: 2.0, pause_seconds: 1e-3 });
        let shapes: Vec<_> =
            cluster.machines.iter().map(|host| (host.name.as_str(), host.cores, host.speed)).collect();
        assert_eq!(shapes, [("a", 2, 0.5), ("b", 1, 2.0)]);
    }

    /// 8 s of metered work, and a run of it that computed for so long when nothing disturbed it.
    fn run_of(undisturbed_seconds: f64) -> Profile {
        let work = crate::Work { flops: 300.0, bytes: 50.0 };
        let (compute_seconds, sum_seconds) = (undisturbed_seconds, 1.0);
        let (sums, rates) = (vec![(1000, 100)], Vec::new());
        Profile { work, compute_seconds, sum_seconds, undisturbed_seconds, sums, rates }
    }

    fn slow_machine() -> Cluster {
        Cluster { network: measured(), ..Cluster::of(Machine { flops: 100.0, bytes: 50.0 }) }
    }

    #[test]
    fn a_run_teaches_how_long_its_algorithm_computes() {
        let mut cluster = slow_machine();
        assert_eq!(cluster.correct("cocoa", &run_of(7.0)), None);
        assert_eq!(cluster.algorithms.get("cocoa"), Some(&1.75));
        assert_eq!(cluster.correct("cocoa", &Profile::default()), None);
        assert_eq!(cluster.algorithms.get("cocoa"), Some(&1.75), "nothing was seen, nothing is corrected");
    }

    #[test]
    fn waiting_is_not_computing() {
        let factor = |profile: &Profile| {
            let mut cluster = slow_machine();
            cluster.correct("cocoa", profile);
            cluster.algorithms["cocoa"]
        };
        let quiet = factor(&run_of(7.0));
        // The ranks lost their cores in turns: all rounds took longer, and nobody computed more.
        assert_eq!(factor(&Profile { compute_seconds: 100.0, ..run_of(7.0) }), quiet);
        assert_eq!(factor(&Profile { sum_seconds: 100.0, ..run_of(7.0) }), quiet);
    }

    #[test]
    fn a_factor_that_cannot_be_one_is_cut_off_and_said() {
        let mut cluster = slow_machine();
        let said = cluster.correct("cocoa", &run_of(4.0 * 15.2)).unwrap();
        assert!(
            said.contains("cocoa") && said.contains("15.20 times") && said.contains("more rows"),
            "{said}"
        );
        assert_eq!(cluster.algorithms["cocoa"], 8.0);
    }

    #[test]
    fn lost_time_is_jitter_or_a_shared_core() {
        let rank = Rank { host: "a".to_owned(), pid: 1 };
        let of = |pauses_per_second, pause_seconds| {
            let measurement = Measurement {
                machines: vec![Machine { flops: 1e9, bytes: 1e9 }; 2],
                jitter: vec![Jitter { pauses_per_second, pause_seconds }; 2],
                latency: 1e-4,
                bandwidth: 1e8,
                sums: Vec::new(),
            };
            let cluster = Cluster::measured(&[rank.clone(), rank.clone()], &measurement);
            (cluster.here.flops, cluster.machines[0].speed, cluster.jitter)
        };
        let rare = Jitter { pauses_per_second: 10.0, pause_seconds: 4e-3 };
        assert_eq!(of(10.0, 4e-3), (1e9, 1.0, rare));
        // For each slice of its own another rank has one.
        assert_eq!(of(250.0, 4e-3), (1e9, 0.5, Jitter::default()));
    }

    #[test]
    fn what_was_measured_is_used() {
        let mut sums = measured().measured.unwrap();
        sums.condition_on(1.0, &[(1000, 400), (4, 400)]);
        assert_eq!(sums.in_a_row, [1e-3, 2.5e-3, 6e-3]);
        sums.condition_on(1.0, &[(1000, 1000), (3000, 1000)]);
        assert_eq!(sums.in_a_row, [1e-3, 2.5e-3, 6e-3], "two lengths cannot be told apart");
    }
}
