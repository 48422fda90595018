//! Random search over the parameters that the paper counts: two booleans for each machine and a weight for each device.
//!
//! Every draw is made feasible, as `bench/tune` does it for other tuners: weights are shares of the batch, without a worker all
//! machines work, without a server all workers serve. It has no guesses of speed to begin with, so it shows what the space is like:
//! with them it would only repeat the schedule that they give.

use hemingway_tune::random::{Rng, stream, uniform};
use hemingway_tune::schedule::{Job, Outcome, Schedule};
use hemingway_tune::simulator::World;

use super::LONG_BUDGET;
use super::runs::Runs;

/// How it is called.
pub(super) const RANDOM: &str = "random search";

/// What random search came to.
pub(super) struct RandomSearch {
    pub runs: Runs,
    /// Seconds per iteration, without noise, of every schedule that was drawn.
    pub drawn: Vec<f64>,
}

/// Some runs.
pub(super) fn random_search(world: &World, seeds: u64) -> RandomSearch {
    let (mut seconds, mut drawn) = (Vec::new(), Vec::new());
    for seed in 1..=seeds {
        let (run, schedules) = search(world, seed);
        seconds.push(run);
        drawn.extend(schedules);
    }
    RandomSearch { runs: Runs { name: RANDOM.to_owned(), seconds }, drawn }
}

/// The seconds of the schedule that was measured best, after each evaluation; and those of all that were drawn.
fn search(world: &World, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = stream(seed, "random search", 0);
    let (mut best, mut chosen, mut drawn) = ((f64::INFINITY, f64::INFINITY), Vec::new(), Vec::new());
    for number in 1..=LONG_BUDGET {
        let schedule = draw(&world.job, &mut rng);
        let exact = world.exact(&schedule).unwrap_or(f64::INFINITY);
        let outcome = world.evaluate(&schedule, &mut stream(seed, "evaluation", number as u64));
        if let Outcome::Measured(answer) = outcome
            && answer.time < best.0
        {
            best = (answer.time, exact);
        }
        chosen.push(best.1);
        drawn.push(exact);
    }
    (chosen, drawn)
}

fn draw(job: &Job, rng: &mut Rng) -> Schedule {
    let machines = &job.cluster.machines;
    let mut coins = || -> Vec<bool> { machines.iter().map(|_| uniform(rng) < 0.5).collect() };
    let (mut works, serves) = (coins(), coins());
    if !works.contains(&true) {
        works.fill(true);
    }
    let kinds = || job.cluster.kinds.iter().map(|kind| kind.devices.len());
    let open: Vec<Vec<f64>> = kinds().map(|devices| vec![f64::INFINITY; devices]).collect();
    let weights: Vec<Vec<f64>> = (0..machines.len())
        // Above zero, so that the weights have a sum.
        .map(|at| job.cluster.kind_of(at).devices.iter().map(|_| 1.0 - uniform(rng)).collect())
        .collect();
    let weight = |machine: usize, device: usize| if works[machine] { weights[machine][device] } else { 0.0 };
    let mut schedule = Schedule::by_weight_within(job, &open, weight);
    if serves.contains(&true) {
        schedule.roles.iter_mut().zip(serves).for_each(|(role, serves)| role.server = serves);
    }
    schedule
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::bespoke::CONVERGENCE;

    #[test]
    fn every_draw_is_feasible_and_no_two_are_alike() {
        let job = CONVERGENCE.world().job;
        let mut rng = stream(7, "test", 0);
        let drawn: Vec<Schedule> = (0..200).map(|_| draw(&job, &mut rng)).collect();
        drawn.iter().for_each(|schedule| schedule.check(&job).unwrap());
        assert!(drawn.iter().enumerate().all(|(at, schedule)| !drawn[..at].contains(schedule)));
    }

    #[test]
    fn a_run_never_chooses_worse_by_more_than_noise() {
        let found = random_search(&CONVERGENCE.world(), 2);
        assert_eq!(found.drawn.len(), 2 * LONG_BUDGET);
        for run in &found.runs.seconds {
            assert!(run.windows(2).all(|pair| pair[1] < 1.1 * pair[0]), "{run:?}");
        }
    }
}
