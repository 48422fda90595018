//! What ranks say to whoever started them.

use std::io::{BufWriter, Write};

use anyhow::Context;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::write::EncoderWriter;
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

/// A checkpoint can be large, so it is written as it is encoded: a [`Message::Checkpoint`] that never is in memory.
pub fn say_checkpoint(round: u64, state: &[u8]) -> anyhow::Result<()> {
    let write = || {
        let mut output = BufWriter::new(std::io::stdout().lock());
        write!(output, r#"{{"event":"checkpoint","round":{round},"state":""#)?;
        let mut encoder = EncoderWriter::new(&mut output, &BASE64);
        encoder.write_all(state)?;
        encoder.finish()?;
        drop(encoder);
        output.write_all(b"\"}\n")?;
        output.flush()
    };
    write().context("nobody reads what this worker says")
}
