//! What machines say to one another over TCP.
//!
//! A worker begins with the secret of the run and its number, so that nobody else's connection is taken for a worker's.
//! Then each iteration is three messages: the worker asks (`Pull`), the server answers with its part of the weights
//! (`Weights`), the worker sends that part of its gradient (`Push`). A message is a header of 16 bytes (kind, iteration,
//! number of values) and its values as little-endian f32.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result, cannot};
use crate::link::{Link, PIECE};
use crate::throttle::Meter;

/// How long a stranger may take to say the secret.
const GREETING: Duration = Duration::from_secs(2);

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A worker asks for weights.
    Pull = 1,
    /// A server's part of the weights.
    Weights = 2,
    /// A worker's gradient, summed over its inputs.
    Push = 3,
}

/// A connection between a worker and a server.
pub struct Connection {
    stream: TcpStream,
    /// The machine at the other end.
    peer: String,
    /// The machine's link; a connection within the machine does not use it.
    link: Option<Arc<Link>>,
}

impl Connection {
    /// Connects a worker to a server.
    pub fn to_server(
        address: SocketAddr,
        peer: &str,
        secret: u64,
        machine: usize,
        link: Option<Arc<Link>>,
    ) -> Result<Connection> {
        let connect = || {
            let mut stream = TcpStream::connect(address)?;
            stream.write_all(&greeting(secret, machine))?;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        let stream = connect().map_err(|error| broken(peer, &error))?;
        Ok(Connection { stream, peer: peer.to_owned(), link })
    }

    /// A connection that was accepted from a machine.
    pub fn from_worker(stream: TcpStream, peer: &str, link: Option<Arc<Link>>) -> Result<Connection> {
        stream.set_nodelay(true).map_err(|error| broken(peer, &error))?;
        Ok(Connection { stream, peer: peer.to_owned(), link })
    }

    /// Ends the connection from another thread.
    pub fn breaker(&self) -> Result<Breaker> {
        self.stream.try_clone().map(Breaker).map_err(cannot("share a connection"))
    }

    /// Sends a message.
    pub fn send(&mut self, kind: Kind, iteration: u64, values: &[f32], meter: &mut Meter) -> Result<()> {
        let written = self.write(kind, iteration, values, meter);
        written.map_err(|error| broken(&self.peer, &error))
    }

    fn write(&mut self, kind: Kind, iteration: u64, values: &[f32], meter: &mut Meter) -> io::Result<()> {
        let mut bytes = header(kind, iteration, values.len()).to_vec();
        let mut rest = values;
        loop {
            let (now, later) = rest.split_at(rest.len().min(PIECE / 4));
            bytes.extend(now.iter().flat_map(|value| value.to_le_bytes()));
            if let Some(link) = &self.link {
                link.send(bytes.len());
            }
            self.stream.write_all(&bytes)?;
            meter.pay();
            bytes.clear();
            rest = later;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// Receives the message that has to come next.
    pub fn receive(
        &mut self,
        kind: Kind,
        iteration: u64,
        values: &mut [f32],
        meter: &mut Meter,
    ) -> Result<()> {
        let read = self.read(kind, iteration, values, meter);
        read.map_err(|error| broken(&self.peer, &error))
    }

    fn read(&mut self, kind: Kind, iteration: u64, values: &mut [f32], meter: &mut Meter) -> io::Result<()> {
        let expected = header(kind, iteration, values.len());
        let mut found = [0; 16];
        self.stream.read_exact(&mut found)?;
        if found != expected {
            let what = format!("expected {kind:?} of iteration {iteration} with {} values", values.len());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        meter.begin();
        let mut bytes = [0; PIECE];
        for piece in values.chunks_mut(PIECE / 4) {
            let bytes = &mut bytes[..piece.len() * 4];
            self.stream.read_exact(bytes)?;
            for (value, bytes) in piece.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *value = f32::from_le_bytes(*bytes);
            }
            if let Some(link) = &self.link {
                link.receive(bytes.len());
            }
            meter.pay();
        }
        Ok(())
    }
}

/// Ends a connection, so that nobody waits for it: when one connection of a machine has failed, the others are of no use.
pub struct Breaker(TcpStream);

impl Breaker {
    /// Ends the connection, if it is still there.
    pub fn pull(&self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Waits for the next connection that knows the secret; returns it with the number of its machine.
pub fn accept(listener: &TcpListener, secret: u64) -> io::Result<(TcpStream, usize)> {
    loop {
        let (mut stream, _) = listener.accept()?;
        let mut said = [0; 16];
        stream.set_read_timeout(Some(GREETING))?;
        if stream.read_exact(&mut said).is_err() || said[..8] != secret.to_le_bytes() {
            continue;
        }
        stream.set_read_timeout(None)?;
        let machine = u64::from_le_bytes(said[8..].try_into().expect("8 bytes"));
        return Ok((stream, machine as usize));
    }
}

fn greeting(secret: u64, machine: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&secret.to_le_bytes());
    bytes[8..].copy_from_slice(&(machine as u64).to_le_bytes());
    bytes
}

fn header(kind: Kind, iteration: u64, values: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = kind as u8;
    bytes[4..8].copy_from_slice(&(values as u32).to_le_bytes());
    bytes[8..].copy_from_slice(&iteration.to_le_bytes());
    bytes
}

fn broken(peer: &str, error: &io::Error) -> Error {
    let reason = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it was closed".to_owned(),
        _ => error.to_string(),
    };
    Error::Peer { peer: peer.to_owned(), reason }
}
