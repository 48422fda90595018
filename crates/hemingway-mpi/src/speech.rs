//! What ranks say to whoever started them.

use std::io::Write;

use anyhow::Context;
use hemingway_train::protocol::{Message, PROTOCOL, Rank};

use crate::communicator::Communicator;
use crate::guard;

/// All ranks are there.
pub fn greet(world: &Communicator) -> anyhow::Result<()> {
    let me = Rank { host: guard::host(), pid: std::process::id() };
    let ranks = world.gather(&serde_json::to_vec(&me)?);
    let ranks = ranks.iter().map(|rank| serde_json::from_slice(rank)).collect::<Result<Vec<Rank>, _>>()?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    say(world.rank(), &Message::Hello { protocol: PROTOCOL, version, ranks })
}

/// Rank 0 speaks for all.
pub fn say(rank: usize, message: &Message) -> anyhow::Result<()> {
    if rank > 0 {
        return Ok(());
    }
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = std::io::stdout().lock();
    output.write_all(&line).and_then(|()| output.flush()).context("nobody reads what this worker says")
}
