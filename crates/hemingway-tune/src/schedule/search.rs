//! The best schedules where costs are known.
//!
//! Machines of a kind are interchangeable but for their speed, so a set of workers is a number for each kind: its fastest.
//! How long a set computes follows from tables of what each kind can do within a time. Who serves parameters is decided for
//! each number of servers by taking those for whom it is cheapest, which is exact: with two workers or more, serving never
//! lessens what a machine has to transfer. A few of the best are then balanced exactly.

use super::balance::balance;
use super::cluster::Job;
use super::configuration::{Role, Schedule};
use super::costs::Costs;

/// Where the table of times has its points.
const TIMES: usize = 96;
/// So many sets of workers are tried one by one; beyond that they are searched.
const ENUMERATED: usize = 40_000;

/// The best `keep` schedules, best first; none if the batch does not fit into memory.
pub fn best(job: &Job, costs: &Costs, keep: usize) -> Vec<Schedule> {
    let Some(tables) = Tables::new(job, costs) else { return Vec::new() };
    let mut found = Best { keep, list: Vec::new() };
    let kinds: Vec<usize> = tables.order.iter().map(Vec::len).collect();
    let sets = kinds.iter().try_fold(1usize, |product, count| product.checked_mul(count + 1));
    match sets.filter(|sets| *sets <= ENUMERATED) {
        Some(sets) => (1..sets).for_each(|number| tables.consider(&numbered(number, &kinds), &mut found)),
        None => tables.climb(&kinds, &mut found),
    }
    let exact = |choice: &Choice| tables.schedule(choice);
    found.list.iter().filter_map(exact).collect()
}

/// Bytes that each machine has to send in an iteration, which is also what it receives.
pub fn transfers(job: &Job, schedule: &Schedule) -> Vec<f64> {
    let (workers, servers) = (schedule.workers() as f64, schedule.servers().max(1) as f64);
    let transfer = |role: &Role| transfer(role.worker(), role.server, workers, servers);
    schedule.roles.iter().map(|role| job.parameter_bytes * transfer(role)).collect()
}

/// In units of the parameters: a worker's gradient but for the share it serves itself, and what servers give to the others.
fn transfer(worker: bool, server: bool, workers: f64, servers: f64) -> f64 {
    let (works, serves) = (f64::from(worker), f64::from(server));
    works * (1.0 - serves / servers) + serves * (workers - works) / servers
}

/// How many workers of each kind, how many servers in all, and the seconds.
#[derive(Debug, Clone)]
struct Choice {
    workers: Vec<usize>,
    servers: usize,
    seconds: f64,
}

struct Best {
    keep: usize,
    list: Vec<Choice>,
}

impl Best {
    fn bound(&self) -> f64 {
        if self.list.len() < self.keep { f64::INFINITY } else { self.list[self.keep - 1].seconds }
    }

    fn offer(&mut self, choice: Choice) {
        let known = |old: &Choice| old.servers == choice.servers && old.workers == choice.workers;
        if choice.seconds < self.bound() && !self.list.iter().any(known) {
            let at = self.list.partition_point(|old| old.seconds <= choice.seconds);
            self.list.insert(at, choice);
            self.list.truncate(self.keep);
        }
    }
}

struct Tables<'a> {
    job: &'a Job,
    costs: &'a Costs,
    times: Vec<f64>,
    /// The machines of each kind, fastest first.
    order: Vec<Vec<usize>>,
    /// For each kind, number of its workers and time: how many inputs they can do.
    done: Vec<Vec<Vec<f64>>>,
}

impl<'a> Tables<'a> {
    fn new(job: &'a Job, costs: &'a Costs) -> Option<Tables<'a>> {
        let machines = 0..job.cluster.machines.len();
        let done = |machine: usize, seconds: f64| costs.done(job, machine, seconds);
        let batch = job.batch as f64;
        let everybody = |seconds: f64| machines.clone().map(|m| done(m, seconds)).sum::<f64>();
        let fastest = |seconds: f64| machines.clone().map(|m| done(m, seconds)).fold(0.0, f64::max);
        let least = reach(batch, everybody)?;
        // Whoever computes longer than the best single machine, which needs no network, is not worth looking at.
        let most = 1.01 * reach(batch, fastest).unwrap_or(64.0 * least).clamp(least, 1024.0 * least);
        let step = (most / least).ln() / (TIMES - 1) as f64;
        let times: Vec<f64> = (0..TIMES).map(|at| least * (1.0 - 1e-6) * (step * at as f64).exp()).collect();
        let rows = |machine: usize| -> Vec<f64> { times.iter().map(|time| done(machine, *time)).collect() };
        let (mut order, mut table) = (Vec::new(), Vec::new());
        for kind in 0..job.cluster.kinds.len() {
            let mut members: Vec<(usize, Vec<f64>)> =
                job.cluster.of_kind(kind).map(|m| (m, rows(m))).collect();
            members.sort_by(|a, b| b.1[TIMES / 4].total_cmp(&a.1[TIMES / 4]));
            let mut sums = vec![vec![0.0; TIMES]];
            for (_, row) in &members {
                let last = &sums[sums.len() - 1];
                let next = last.iter().zip(row).map(|(sum, more)| sum + more).collect();
                sums.push(next);
            }
            order.push(members.into_iter().map(|(machine, _)| machine).collect());
            table.push(sums);
        }
        Some(Tables { job, costs, times, order, done: table })
    }

    /// Seconds that a set of workers computes.
    fn computation(&self, workers: &[usize]) -> Option<f64> {
        let done =
            |at: usize| workers.iter().zip(&self.done).map(|(count, kind)| kind[*count][at]).sum::<f64>();
        let batch = self.job.batch as f64;
        if done(TIMES - 1) < batch {
            return None;
        }
        let (mut low, mut high) = (0, TIMES - 1);
        while low < high {
            let middle = (low + high) / 2;
            if done(middle) < batch { low = middle + 1 } else { high = middle }
        }
        if low == 0 {
            return Some(self.times[0]);
        }
        let (before, after) = (done(low - 1), done(low));
        let share = (batch - before) / (after - before);
        Some(self.times[low - 1] * (self.times[low] / self.times[low - 1]).powf(share))
    }

    /// Tries a set of workers with every number of servers.
    fn consider(&self, workers: &[usize], found: &mut Best) {
        let Some(computation) = self.computation(workers) else { return };
        let bound = found.bound();
        if computation * (1.0 - self.costs.hidden) >= bound {
            return;
        }
        for servers in self.numbers_of_servers() {
            let (communication, _) = self.serve(workers, servers);
            let seconds = self.costs.together(computation, communication);
            if seconds < found.bound() {
                found.offer(Choice { workers: workers.to_vec(), servers, seconds });
            }
        }
    }

    /// Every number of servers; of many machines only some of the large ones, which differ little.
    fn numbers_of_servers(&self) -> impl Iterator<Item = usize> {
        let all = self.job.cluster.machines.len();
        std::iter::successors(Some(1), move |last| {
            let next = if *last < 40 { last + 1 } else { last + last / 8 };
            (*last < all).then_some(next.min(all))
        })
    }

    /// Seconds of communication with so many servers, and how many of the workers and of the idle of each kind serve.
    fn serve(&self, workers: &[usize], servers: usize) -> (f64, Vec<[usize; 2]>) {
        let all = workers.iter().sum::<usize>() as f64;
        let seconds = |kind: usize, worker: bool, server: bool| {
            let share = transfer(worker, server, all, servers as f64);
            share * self.job.parameter_bytes / self.costs.speeds[kind]
        };
        let mut offers: Vec<(f64, usize, usize, usize)> = Vec::with_capacity(2 * workers.len());
        for (kind, count) in workers.iter().enumerate() {
            let idle = self.order[kind].len() - count;
            offers.push((seconds(kind, true, true), kind, 0, *count));
            offers.push((seconds(kind, false, true), kind, 1, idle));
        }
        offers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut chosen = vec![[0; 2]; workers.len()];
        let (mut longest, mut missing) = (0.0, servers);
        for (time, kind, role, count) in offers {
            let taken = count.min(missing);
            if taken > 0 {
                (longest, missing) = (f64::max(longest, time), missing - taken);
                chosen[kind][role] = taken;
            }
        }
        for (kind, count) in workers.iter().enumerate() {
            if *count > chosen[kind][0] {
                longest = longest.max(seconds(kind, true, false));
            }
        }
        (self.costs.latency + self.costs.per_worker * all + longest, chosen)
    }

    /// Where there are too many sets: from several sizes on, one machine more, one less, or one for another, as long as it helps.
    fn climb(&self, kinds: &[usize], found: &mut Best) {
        let total: usize = kinds.iter().sum();
        let mut size = 1;
        while size < 2 * total {
            let mut now = self.strongest(size.min(total));
            self.consider(&now, found);
            while let Some(next) = self.step(&now, kinds, found) {
                now = next;
            }
            size = (size * 3).div_ceil(2);
        }
    }

    /// So many machines that can do most within a middling time.
    fn strongest(&self, count: usize) -> Vec<usize> {
        let mut gains: Vec<(f64, usize)> = Vec::new();
        for (kind, sums) in self.done.iter().enumerate() {
            gains.extend(sums.windows(2).map(|pair| (pair[1][TIMES / 3] - pair[0][TIMES / 3], kind)));
        }
        gains.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut workers = vec![0; self.done.len()];
        gains.iter().take(count).for_each(|(_, kind)| workers[*kind] += 1);
        workers
    }

    /// The best neighbour that is better than this set.
    fn step(&self, now: &[usize], kinds: &[usize], found: &mut Best) -> Option<Vec<usize>> {
        let judged = |workers: &[usize]| {
            let computation = self.computation(workers)?;
            let totals = (1..=self.job.cluster.machines.len())
                .map(|servers| self.costs.together(computation, self.serve(workers, servers).0));
            Some(totals.fold(f64::INFINITY, f64::min))
        };
        let mut best = (judged(now).unwrap_or(f64::INFINITY), None);
        let mut neighbours = Vec::new();
        for kind in 0..kinds.len() {
            let mut more = now.to_vec();
            more[kind] += 1;
            for other in 0..kinds.len() {
                let mut less = now.to_vec();
                if less[other] > 0 {
                    less[other] -= 1;
                    if other == kind {
                        neighbours.push(less);
                        continue;
                    }
                    less[kind] += 1;
                    neighbours.push(less);
                }
            }
            neighbours.push(more);
        }
        let possible = |workers: &Vec<usize>| {
            workers.iter().zip(kinds).all(|(count, most)| count <= most)
                && workers.iter().any(|count| *count > 0)
        };
        for workers in neighbours.into_iter().filter(possible) {
            self.consider(&workers, found);
            if let Some(seconds) = judged(&workers).filter(|seconds| *seconds < best.0 * (1.0 - 1e-9)) {
                best = (seconds, Some(workers));
            }
        }
        best.1
    }

    /// A choice with names and exact loads.
    fn schedule(&self, choice: &Choice) -> Option<Schedule> {
        let members = choice.workers.iter().zip(&self.order);
        let workers: Vec<usize> = members.flat_map(|(count, order)| order[..*count].to_vec()).collect();
        let within = (self.times[0] * 0.5, self.times[TIMES - 1]);
        let loads = balance(self.job, self.costs, &workers, within)?;
        let none = |machine: usize| vec![0; self.job.cluster.kind_of(machine).devices.len()];
        let machines = 0..self.job.cluster.machines.len();
        let mut roles: Vec<Role> =
            machines.map(|machine| Role { loads: none(machine), server: false }).collect();
        for (machine, loads) in workers.iter().zip(loads) {
            roles[*machine].loads = loads;
        }
        let (_, chosen) = self.serve(&choice.workers, choice.servers);
        for (kind, [working, idle]) in chosen.into_iter().enumerate() {
            let (first, rest) = self.order[kind].split_at(choice.workers[kind]);
            first[..working].iter().chain(&rest[..idle]).for_each(|machine| roles[*machine].server = true);
        }
        Some(Schedule { roles })
    }
}

/// The set of workers with this number: digits are counts.
fn numbered(mut number: usize, kinds: &[usize]) -> Vec<usize> {
    let digit = |count: &usize| {
        let digit = number % (count + 1);
        number /= count + 1;
        digit
    };
    kinds.iter().map(digit).collect()
}

/// The seconds at which a growing function reaches a value; nothing if it never does.
fn reach(value: f64, function: impl Fn(f64) -> f64) -> Option<f64> {
    let mut high = 1.0;
    while function(high) < value {
        high *= 4.0;
        if high > 1e18 {
            return None;
        }
    }
    let mut low = high / 4.0;
    while function(low) >= value && low > 1e-18 {
        (high, low) = (low, low / 4.0);
    }
    while high / low > 1.0 + 1e-6 {
        let middle = (low * high).sqrt();
        if function(middle) < value { low = middle } else { high = middle }
    }
    Some(high)
}
