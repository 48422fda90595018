//! The search for the best schedule, beside all schedules there are.

use hemingway_tune::random::{stream, uniform};
use hemingway_tune::schedule::{Role, Schedule};
use hemingway_tune::simulator::{World, random_world};

/// Every way to hand out a batch to some devices.
fn handed_out(batch: u64, devices: usize) -> Vec<Vec<u64>> {
    if devices == 1 {
        return vec![vec![batch]];
    }
    let first = 0..=batch;
    first
        .flat_map(|load| {
            handed_out(batch - load, devices - 1).into_iter().map(move |mut rest| {
                rest.insert(0, load);
                rest
            })
        })
        .collect()
}

fn least(world: &World) -> (f64, Schedule) {
    let cluster = &world.job.cluster;
    let devices: Vec<usize> =
        (0..cluster.machines.len()).map(|at| cluster.kind_of(at).devices.len()).collect();
    let mut best = (f64::INFINITY, Schedule::uniform(&world.job));
    for loads in handed_out(world.job.batch, devices.iter().sum()) {
        for servers in 1..1u32 << devices.len() {
            let mut next = loads.iter().copied();
            let role = |(at, count): (usize, &usize)| Role {
                loads: next.by_ref().take(*count).collect(),
                server: servers & (1 << at) != 0,
            };
            let schedule = Schedule { roles: devices.iter().enumerate().map(role).collect() };
            if let Some(seconds) = world.exact(&schedule).filter(|seconds| *seconds < best.0) {
                best = (seconds, schedule);
            }
        }
    }
    best
}

/// A random cluster of at most four devices and a batch of a few inputs.
fn small(seed: u64) -> Option<World> {
    let mut rng = stream(seed, "small", 0);
    let mut world = random_world(&mut rng);
    let scale = world.job.batch as f64 / 7.0;
    world.job.batch = 7;
    // The same curves, with loads counted in larger units.
    for (load, _) in world.curves.iter_mut().flatten().flatten() {
        *load /= scale;
    }
    for kind in world.curves.iter_mut().flatten() {
        kind.retain(|(load, _)| *load > 0.05);
    }
    world.job.cluster.machines.truncate(3);
    world.slow.truncate(3);
    world.slow.iter_mut().for_each(|slow| *slow *= 1.0 + uniform(&mut rng));
    if uniform(&mut rng) < 0.3 {
        world.memory.iter_mut().flatten().for_each(|most| *most = Some(3));
    }
    let fits = world.memory.iter().flatten().all(Option::is_none) || world.job.cluster.devices() >= 3;
    (fits && world.job.cluster.devices() <= 4).then_some(world)
}

#[test]
fn the_search_finds_what_trying_everything_finds() {
    let worlds: Vec<World> = (0..60).filter_map(small).collect();
    assert!(worlds.len() >= 30, "{}", worlds.len());
    for (number, world) in worlds.iter().enumerate() {
        let (schedule, found) = world.optimum();
        let (least, wanted) = least(world);
        assert!(found <= least * (1.0 + 1e-6), "{number}: {found} {schedule:?}, but {least} {wanted:?}");
        assert!(
            found >= least * (1.0 - 1e-6),
            "{number}: the search is better than all there is: {found} {least}"
        );
        assert_eq!(schedule.check(&world.job), Ok(()));
    }
}
