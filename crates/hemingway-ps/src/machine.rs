//! The process of one machine: does what the head orders.

use std::io::{BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::scope;

use crate::cluster::{CPU, Network};
use crate::device::Device;
use crate::error::{Result, cannot};
use crate::link::Link;
use crate::namespaces;
use crate::problem::Data;
use crate::protocol::{Order, Reply, Report, Setup};
use crate::random::Stream;
use crate::server::Server;
use crate::throttle::Quota;
use crate::wire::{Connection, accept};
use crate::worker::Worker;

/// Follows orders until there are no more.
pub fn run() -> ! {
    tell_of_panics();
    let code = match follow(&orders()) {
        Ok(()) => 0,
        Err(error) => {
            say(&Reply::Failed { reason: error.to_string(), consequence: error.is_consequence() });
            1
        }
    };
    std::process::exit(code)
}

/// Reads orders on a thread of its own, so that the end of the head is noticed in the middle of an iteration too.
fn orders() -> Receiver<Order> {
    let (sender, orders) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let order = serde_json::from_str(&line).expect("the head speaks this protocol");
            if sender.send(order).is_err() {
                break;
            }
        }
        std::process::exit(0);
    });
    orders
}

/// A panic on any thread ends the machine: the others would wait for it for ever.
fn tell_of_panics() {
    std::panic::set_hook(Box::new(|panic| {
        say(&Reply::Failed { reason: panic.to_string().replace('\n', " "), consequence: false });
        std::process::exit(1);
    }));
}

fn say(reply: &Reply) {
    let mut line = serde_json::to_vec(reply).expect("replies are plain data");
    line.push(b'\n');
    // A head that does not listen any more has closed the standard input too.
    let _ = std::io::stdout().write_all(&line);
}

fn follow(orders: &Receiver<Order>) -> Result<()> {
    let Ok(Order::Prepare(setup)) = orders.recv() else { return Ok(()) };
    let machine = Machine::prepare(*setup)?;
    say(&Reply::Ready);
    let Ok(Order::Listen { address }) = orders.recv() else { return Ok(()) };
    let listener = machine.listen(address)?;
    say(&Reply::Listening { port: listener.as_ref().and_then(|it| Some(it.local_addr().ok()?.port())) });
    let Ok(Order::Connect { servers }) = orders.recv() else { return Ok(()) };
    let mut roles = machine.connect(listener.as_ref(), &servers)?;
    say(&Reply::Connected);
    for order in orders {
        match order {
            Order::Run { iterations, learning_rate } => {
                say(&Reply::Finished(roles.run(iterations, learning_rate)?));
            }
            Order::Show => {
                say(&Reply::Weights(
                    roles.server.as_ref().map_or(Vec::new(), |server| server.weights.clone()),
                ));
            }
            other => panic!("{other:?} comes too late"),
        }
    }
    Ok(())
}

/// A machine before it is connected.
struct Machine {
    setup: Setup,
    /// Of each device.
    quotas: Vec<Arc<Quota>>,
    link: Option<Arc<Link>>,
    /// What a worker computes with.
    data: Option<Data>,
}

impl Machine {
    /// Generates data, which no clock sees and no quota slows down.
    fn prepare(setup: Setup) -> Result<Machine> {
        let works = setup.schedule.workers.iter().any(|worker| worker.machine == setup.machine);
        let data = works.then(|| Data::generate(&setup.problem, Stream::Training, setup.problem.examples));
        let link = match setup.network {
            Network::Loopback => setup.bandwidth.map(|bandwidth| Arc::new(Link::new(bandwidth))),
            Network::Namespaces => {
                namespaces::enter_new()?;
                None
            }
        };
        if let Some(group) = setup.devices.iter().find_map(|device| device.group.as_ref()) {
            group.admit_this_process()?;
        }
        let quotas = setup
            .devices
            .iter()
            .map(|device| Arc::new(Quota::new(device.share, device.group.clone())))
            .collect();
        Ok(Machine { setup, quotas, link, data })
    }

    /// Opens a port, if this is a server.
    fn listen(&self, address: Ipv4Addr) -> Result<Option<TcpListener>> {
        if self.setup.network == Network::Namespaces {
            namespaces::configure(address, self.setup.bandwidth)?;
        }
        let serves = self.setup.schedule.servers.iter().any(|server| server.machine == self.setup.machine);
        serves.then(|| TcpListener::bind((address, 0)).map_err(cannot("open a port"))).transpose()
    }

    /// Connects with all servers, if this is a worker, and with all workers, if it is a server. Connections wait in the
    /// listeners' queues, so the order does not matter.
    fn connect(self, listener: Option<&TcpListener>, servers: &[SocketAddr]) -> Result<Roles> {
        let to_servers = self.to_servers(servers)?;
        let server = listener.map(|listener| self.server(listener)).transpose()?;
        let quota = self.quota(CPU);
        let devices = self.devices();
        let worker = self.data.map(|data| {
            let parts = self.setup.schedule.servers.iter().map(|server| server.parameters.clone());
            let servers = to_servers.into_iter().zip(parts).collect();
            Worker { problem: self.setup.problem.clone(), data, devices, quota, servers }
        });
        Ok(Roles { worker, server, done: 0 })
    }

    fn to_servers(&self, addresses: &[SocketAddr]) -> Result<Vec<Connection>> {
        if self.data.is_none() {
            return Ok(Vec::new());
        }
        let connect = |(server, address): (&crate::configuration::Server, &SocketAddr)| {
            let peer = &self.setup.names[server.machine];
            let link = self.link_to(server.machine);
            Connection::to_server(*address, peer, self.setup.secret, self.setup.machine, link)
        };
        self.setup.schedule.servers.iter().zip(addresses).map(connect).collect()
    }

    fn server(&self, listener: &TcpListener) -> Result<Server> {
        let Setup { schedule, problem, secret, .. } = &self.setup;
        let mut workers: Vec<(usize, Connection)> = Vec::new();
        while workers.len() < schedule.workers.len() {
            let (stream, from) = accept(listener, *secret).map_err(cannot("accept a connection"))?;
            let peer = self.setup.names.get(from).expect("whoever knows the secret is a machine");
            workers.push((from, Connection::from_worker(stream, peer, self.link_to(from))?));
        }
        workers.sort_by_key(|(machine, _)| *machine);
        let mine = schedule.servers.iter().find(|server| server.machine == self.setup.machine);
        let part = mine.expect("only servers listen").parameters.clone();
        Ok(Server {
            weights: problem.initial_weights()[part].to_vec(),
            workers: workers.into_iter().map(|(_, connection)| connection).collect(),
            batch: schedule.batch,
            quota: self.quota(CPU),
        })
    }

    /// What this machine's worker part computes with.
    fn devices(&self) -> Vec<Device> {
        let mine = self.setup.schedule.workers.iter().find(|worker| worker.machine == self.setup.machine);
        let loads = mine.map_or(&[][..], |worker| &worker.loads);
        loads
            .iter()
            .map(|load| Device { quota: self.quota(&load.device), inputs: load.inputs.clone() })
            .collect()
    }

    fn quota(&self, device: &str) -> Arc<Quota> {
        let at = self.setup.devices.iter().position(|limit| limit.name == device);
        self.quotas[at.expect("schedules name devices that exist")].clone()
    }

    /// What a machine says to itself does not go over its link.
    fn link_to(&self, other: usize) -> Option<Arc<Link>> {
        self.link.clone().filter(|_| other != self.setup.machine)
    }
}

/// A machine at work.
struct Roles {
    worker: Option<Worker>,
    server: Option<Server>,
    /// Iterations so far.
    done: u64,
}

impl Roles {
    fn run(&mut self, iterations: u64, learning_rate: f32) -> Result<Report> {
        let range = self.done..self.done + iterations;
        self.done = range.end;
        let (worker, server) = scope(|scope| {
            let worker = self.worker.as_mut().map(|worker| scope.spawn(|| worker.run(range.clone())));
            let server = self.server.as_mut().map(|server| server.run(range.clone(), learning_rate));
            (worker.map(|worker| worker.join().expect("a panic ends the process")), server)
        });
        match (worker.transpose(), server.transpose()) {
            (Ok(worker), Ok(server)) => Ok(Report { worker, server }),
            // Either may only have lost its connection to the other.
            (Err(error), Err(other)) if error.is_consequence() => Err(other),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }
}
