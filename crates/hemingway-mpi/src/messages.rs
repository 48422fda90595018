//! Messages of any length: MPI counts bytes in 32 bits, so long ones travel in pieces.

use std::time::{Duration, Instant};

use hemingway_train::protocol::Doing;

use crate::communicator::{Communicator, LONGEST_MESSAGE, Sending};
use crate::pulse::during;

/// Messages between the processes of a communicator. A piece that is full is followed by another one.
pub struct Messages<'a, 'b> {
    communicator: &'b Communicator<'a>,
    /// Bytes of a full piece, the same on both sides.
    piece: usize,
    /// Messages that may still be read from.
    sending: Vec<Sending>,
}

/// A process that is asked by others looks for their messages without rest for so long after the last one, and then now and
/// then. Looking for longer takes the core from whoever computes beside it; for less, and those who ask between two batches
/// wait for it to wake up.
const ATTENTIVE: Duration = Duration::from_millis(1);
/// How long it sleeps between two looks after that: about what a sleep takes at least.
const NAP: Duration = Duration::from_micros(100);

impl<'a, 'b> Messages<'a, 'b> {
    /// In pieces as long as MPI can count.
    pub fn new(communicator: &'b Communicator<'a>) -> Messages<'a, 'b> {
        Messages::in_pieces(communicator, LONGEST_MESSAGE)
    }

    /// In pieces of so many bytes at most.
    pub fn in_pieces(communicator: &'b Communicator<'a>, piece: usize) -> Messages<'a, 'b> {
        Messages { communicator, piece, sending: Vec::new() }
    }

    /// Sends without waiting for anyone: the message is copied, or owned if it is short.
    pub fn send(&mut self, to: usize, message: Vec<u8>) {
        self.sending.retain_mut(|sending| !sending.is_done());
        if message.len() < self.piece {
            self.sending.push(self.communicator.send(to, message));
            return;
        }
        for piece in message.chunks(self.piece) {
            self.sending.push(self.communicator.send(to, piece.to_vec()));
        }
        if message.len().is_multiple_of(self.piece) {
            self.sending.push(self.communicator.send(to, Vec::new()));
        }
    }

    /// Waits for the next message of a process.
    pub fn receive(&mut self, from: usize) -> Vec<u8> {
        let mut message = self.communicator.receive(from);
        let mut last = message.len();
        while last == self.piece {
            let piece = self.communicator.receive(from);
            last = piece.len();
            message.extend(piece);
        }
        message
    }

    /// Waits for the next message of anyone, and says whose it is. A process that waits for long leaves its core to others.
    pub fn receive_any(&mut self) -> (usize, Vec<u8>) {
        let since = Instant::now();
        let from = during(Doing::Resting, 0, || {
            loop {
                if let Some(from) = self.communicator.look() {
                    return from;
                }
                self.sending.retain_mut(|sending| !sending.is_done());
                if self.sending.is_empty() && since.elapsed() > ATTENTIVE {
                    std::thread::sleep(NAP);
                }
            }
        });
        (from, self.receive(from))
    }
}
