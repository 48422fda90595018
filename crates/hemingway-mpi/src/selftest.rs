//! Whether the ranks can talk to one another: what to run first on a new cluster.

use anyhow::ensure;
use hemingway_train::{Seconds, Transport};

use crate::communicator::Communicator;
use crate::guard;
use crate::transport::Ranks;

/// Long enough that MPI does not send it before it is received.
const LONG: usize = 1 << 17;

/// Sums, broadcasts and passes messages around a ring, all at once and both ways; then with half of the ranks.
pub fn run(world: &Communicator) -> anyhow::Result<()> {
    check(world)?;
    if let Some(half) = world.first(world.size().div_ceil(2)) {
        check(&half)?;
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
    Ok(())
}
