//! Machines in network namespaces, with links whose bandwidth the kernel limits.
//!
//! The head enters a new namespace of its own and makes a bridge in it; each machine's process enters another, and a veth pair
//! connects the two. None of these namespaces has a name: they exist as long as a process is in them, so nothing is left
//! when the processes are gone, even after kill -9. Nothing touches the network of the machine itself.

use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use rustix::thread::UnshareFlags;

use crate::error::{Error, Result};

/// Bytes that pass at once; more than a jumbo of loopback segments, less than a shard.
const BURST: &str = "128kb";
/// How long a packet may wait in the queue before it is dropped.
const LATENCY: &str = "100ms";

/// The calling thread, and threads that it starts from now on, get a network of their own.
pub fn enter_new() -> Result<()> {
    // SAFETY: only sharing file descriptors between threads is unsafe to end; this ends sharing of the network alone.
    let entered = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) };
    entered.map_err(|error| Error::Namespaces(error.to_string()))
}

/// Makes the switch, in the head's own namespace.
pub fn make_switch() -> Result<()> {
    ip("link add bridge type bridge")?;
    ip("link set bridge up")
}

/// Connects the namespace of a machine's process to the switch.
pub fn plug_in(machine: usize, pid: u32, bandwidth: Option<f64>) -> Result<()> {
    let port = format!("port{machine}");
    ip(&format!("link add {port} type veth peer name eth0 netns {pid}"))?;
    ip(&format!("link set {port} master bridge up"))?;
    limit(&port, bandwidth)
}

/// Sets up a machine's end of its link.
pub fn configure(address: Ipv4Addr, bandwidth: Option<f64>) -> Result<()> {
    ip("link set lo up")?;
    ip(&format!("addr add {address}/24 dev eth0"))?;
    ip("link set eth0 up")?;
    limit("eth0", bandwidth)
}

/// The address of a machine.
pub fn address(machine: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, machine as u8 + 1)
}

fn limit(device: &str, bandwidth: Option<f64>) -> Result<()> {
    let Some(megabits) = bandwidth else { return Ok(()) };
    let kilobits = (megabits * 1000.0).max(1.0).round();
    call(
        "tc",
        &format!("qdisc replace dev {device} root tbf rate {kilobits}kbit burst {BURST} latency {LATENCY}"),
    )
}

fn ip(arguments: &str) -> Result<()> {
    call("ip", arguments)
}

fn call(program: &str, arguments: &str) -> Result<()> {
    let failed = |reason: &str| Error::Namespaces(format!("{program} {arguments}: {}", reason.trim()));
    let output = Command::new(program)
        .args(arguments.split(' '))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(&String::from_utf8_lossy(&output.stderr))),
    }
}
