//! Whether the ranks can talk to one another: what to run first on a new cluster.

use anyhow::ensure;
use hemingway_train::{Request, Seconds, Transport};

use crate::communicator::Communicator;
use crate::guard;
use crate::messages::Messages;
use crate::server::serve;
use crate::servers::Servers;
use crate::transport::Ranks;

/// Long enough that MPI does not send it before it is received.
const LONG: usize = 1 << 17;

/// A piece of a message, in bytes, and messages of less, as much and more.
const PIECE: usize = 1000;
const LENGTHS: [usize; 7] = [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 100 * PIECE + 1];
/// Servers that are tried, and how long the vector is that they hold.
const SERVERS: [usize; 3] = [1, 2, 3];
const DIMENSION: usize = 10;
/// Requests of all workers until the servers refuse, in one go and in another: few, since each takes the network's latency.
const REQUESTS: [u64; 2] = [60, 100];

/// Sums, broadcasts and passes messages around a ring, all at once and both ways; then with half of the ranks. Then some of
/// them are servers.
pub fn run(world: &Communicator) -> anyhow::Result<()> {
    check(world)?;
    if let Some(half) = world.first(world.size().div_ceil(2)) {
        check(&half)?;
    }
    world.rest();
    for servers in SERVERS.into_iter().filter(|servers| *servers < world.size()) {
        let workers = world.size() - servers;
        let all: Vec<usize> = (0..world.size()).collect();
        // What is left to say in one team is not heard in the next.
        let Some(team) = world.some(&all) else { continue };
        match team.first(workers) {
            Some(active) => check_servers(&team, &active)?,
            None => serve(&team, workers),
        }
    }
    world.rest();
    let hosts = world.gather(guard::host().as_bytes());
    if world.rank() == 0 {
        let hosts: std::collections::BTreeSet<_> =
            hosts.iter().map(|host| String::from_utf8_lossy(host)).collect();
        let hosts: Vec<_> = hosts.into_iter().collect();
        println!("{} ranks on {} talk to one another", world.size(), hosts.join(", "));
    }
    Ok(())
}

fn check(some: &Communicator) -> anyhow::Result<()> {
    let (rank, size) = (some.rank(), some.size());
    let mut ranks = Ranks::new(some, Seconds(0.0));
    for length in [1, 1000, LONG] {
        let mut buffer: Vec<f64> = (0..length).map(|at| (rank * at) as f64).collect();
        ranks.sum(&mut buffer)?;
        let everyone = (size * (size - 1) / 2) as f64;
        ensure!(buffer.iter().enumerate().all(|(at, sum)| *sum == everyone * at as f64), "a sum is wrong");

        let root = size - 1;
        let mut buffer = vec![rank as f64; length];
        ranks.broadcast(root, &mut buffer)?;
        ensure!(buffer.iter().all(|value| *value == root as f64), "a broadcast is wrong");

        let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
        for (to, from) in [(next, last), (last, next)] {
            // Everyone sends before anyone receives, twice: a blocking send would wait for ever.
            ranks.send(to, &vec![rank as u8; 8 * length])?;
            ranks.send(to, &[255])?;
            let (message, end) = (ranks.receive(from)?, ranks.receive(from)?);
            ensure!(message == vec![from as u8; 8 * length] && end == [255], "a message is wrong");
        }
    }
    let mut messages = Messages::in_pieces(some, PIECE);
    let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
    let message = |from: usize, length: usize| (0..length).map(|at| (from + at) as u8).collect::<Vec<u8>>();
    LENGTHS.iter().for_each(|length| messages.send(next, message(rank, *length)));
    for length in LENGTHS {
        ensure!(messages.receive(last) == message(last, length), "a message in pieces is wrong");
    }
    Ok(())
}

/// Every worker adds to all numbers or to some, as often as it may. In the end each number is what was allowed, no more and
/// no less, on whichever server it is.
fn check_servers(team: &Communicator, workers: &Communicator) -> anyhow::Result<()> {
    let begun: Vec<f64> = (0..DIMENSION).map(|at| at as f64).collect();
    let mut ranks = Ranks::new(workers, Seconds(0.0)).with_servers(Some(Servers::new(team, workers.size())));
    ranks.serve(&begun)?;
    let mut added = vec![0.0; DIMENSION];
    let (mut steps, mut seen) = ([0.0], begun.clone());
    for until in REQUESTS {
        for turn in 0.. {
            let places: Vec<u32> = (0..DIMENSION as u32).filter(|at| turn % 2 == 0 || at % 3 == 0).collect();
            let add = vec![1.0; places.len()];
            let request = Request { add_at: places.clone(), add, steps: 1, read_at: places.clone() };
            let mut answer = Vec::new();
            if !ranks.exchange(&request, until, &mut answer)? {
                break;
            }
            ensure!(answer.len() == places.len(), "an answer of the servers is incomplete");
            steps[0] += 1.0;
            for (at, value) in places.iter().map(|at| *at as usize).zip(answer) {
                ensure!(value >= seen[at] + 1.0, "an answer of the servers is out of date");
                (seen[at], added[at]) = (value, added[at] + 1.0);
            }
        }
        let mut all = vec![0.0; DIMENSION];
        if workers.rank() == 0 {
            ranks.look(&mut all)?;
        }
        ranks.broadcast(0, &mut all)?;
        let (mut expected, mut made) = (added.clone(), steps);
        ranks.sum(&mut expected)?;
        ranks.sum(&mut made)?;
        ensure!(ranks.steps() == until && made[0] == until as f64, "the servers have lost count");
        let expected = begun.iter().zip(expected).map(|(begun, added)| begun + added);
        ensure!(expected.eq(all.iter().copied()), "the servers have done a request by halves");
    }
    ranks.leave_servers();
    Ok(())
}
