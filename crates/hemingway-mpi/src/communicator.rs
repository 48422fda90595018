//! MPI as Rust sees it: processes that know one another.

use std::ffi::c_void;
use std::time::Duration;

use hemingway_train::protocol::Doing;

use crate::pulse::{begin_stage, during, together};

mod ffi {
    use std::ffi::c_void;

    unsafe extern "C" {
        pub fn hemingway_mpi_start();
        pub fn hemingway_mpi_finish();
        pub fn hemingway_mpi_world() -> i32;
        pub fn hemingway_mpi_rank(comm: i32) -> i32;
        pub fn hemingway_mpi_size(comm: i32) -> i32;
        pub fn hemingway_mpi_split(comm: i32, joins: i32, key: i32, split: *mut i32) -> i32;
        pub fn hemingway_mpi_release(comm: i32);
        pub fn hemingway_mpi_sum(comm: i32, buffer: *mut f64, length: usize);
        pub fn hemingway_mpi_broadcast(comm: i32, root: i32, buffer: *mut c_void, bytes: usize);
        pub fn hemingway_mpi_gather_lengths(comm: i32, mine: i32, counts: *mut i32);
        pub fn hemingway_mpi_gather(
            comm: i32,
            mine: *const c_void,
            bytes: i32,
            all: *mut c_void,
            counts: *const i32,
            starts: *const i32,
        );
        pub fn hemingway_mpi_send(comm: i32, to: i32, message: *const c_void, bytes: i32) -> *mut c_void;
        pub fn hemingway_mpi_sent(request: *mut c_void, wait: i32) -> i32;
        pub fn hemingway_mpi_probe(comm: i32, from: i32) -> i32;
        pub fn hemingway_mpi_look(comm: i32, from: *mut i32) -> i32;
        pub fn hemingway_mpi_receive(comm: i32, from: i32, message: *mut c_void, bytes: i32);
        pub fn hemingway_mpi_barrier(comm: i32);
        pub fn hemingway_mpi_arrive(comm: i32) -> *mut c_void;
        pub fn hemingway_mpi_abort(code: i32);
    }
}

/// MPI between its beginning and its end. There is one per process, on its main thread, and MPI checks that itself:
/// all calls below come from communicators that live no longer than this.
pub struct Mpi(());

impl Mpi {
    /// Joins the other processes.
    pub fn start() -> Mpi {
        // SAFETY: called once, at the beginning of the process.
        unsafe { ffi::hemingway_mpi_start() };
        Mpi(())
    }

    /// All processes.
    pub fn world(&self) -> Communicator<'_> {
        // SAFETY: MPI has started, and ends only after `self`.
        Communicator::of(unsafe { ffi::hemingway_mpi_world() }, false)
    }

    /// Ends every process at once.
    pub fn abort(code: i32) -> ! {
        // SAFETY: may be called at any time.
        unsafe { ffi::hemingway_mpi_abort(code) };
        std::process::exit(code)
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // SAFETY: every communicator borrowed from `self` is gone.
        unsafe { ffi::hemingway_mpi_finish() };
    }
}

/// Some of the processes, numbered from 0.
pub struct Communicator<'a> {
    handle: i32,
    rank: usize,
    size: usize,
    owned: bool,
    mpi: std::marker::PhantomData<&'a Mpi>,
}

impl<'a> Communicator<'a> {
    fn of(handle: i32, owned: bool) -> Communicator<'a> {
        // SAFETY: the handle is valid.
        let (rank, size) =
            unsafe { (ffi::hemingway_mpi_rank(handle) as usize, ffi::hemingway_mpi_size(handle) as usize) };
        Communicator { handle, rank, size, owned, mpi: std::marker::PhantomData }
    }

    /// This process's number.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The first so many processes among themselves; `None` for the others. Everyone has to call this.
    pub fn first(&self, size: usize) -> Option<Communicator<'a>> {
        self.split((self.rank < size).then_some(self.rank))
    }

    /// These processes among themselves, in this order; `None` for the others. Everyone has to call this.
    pub fn some(&self, ranks: &[usize]) -> Option<Communicator<'a>> {
        self.split(ranks.iter().position(|rank| *rank == self.rank))
    }

    /// Those who have a place among themselves, in the order of places.
    fn split(&self, place: Option<usize>) -> Option<Communicator<'a>> {
        let mut split = 0;
        let joined = during(Doing::Waiting, 0, || {
            // SAFETY: the handle is valid, and `split` is written before the call returns 1.
            unsafe {
                let (joins, key) = (i32::from(place.is_some()), place.unwrap_or(0) as i32);
                ffi::hemingway_mpi_split(self.handle, joins, key, &raw mut split)
            }
        });
        begin_stage();
        (joined == 1).then(|| Communicator::of(split, true))
    }

    /// Replaces everyone's buffer by the sum of all, in place.
    pub fn sum(&self, buffer: &mut [f64]) {
        together(size_of_val(buffer), || {
            // SAFETY: the buffer is as long as is said.
            unsafe { ffi::hemingway_mpi_sum(self.handle, buffer.as_mut_ptr(), buffer.len()) };
        });
    }

    /// Replaces everyone's buffer by that of `root`.
    pub fn broadcast(&self, root: usize, buffer: &mut [f64]) {
        let bytes = size_of_val(buffer);
        self.broadcast_raw(root, buffer.as_mut_ptr().cast::<c_void>(), bytes);
    }

    fn broadcast_raw(&self, root: usize, start: *mut c_void, bytes: usize) {
        together(bytes, || {
            // SAFETY: whoever calls has so many bytes there, on every rank, and any bytes will do.
            unsafe { ffi::hemingway_mpi_broadcast(self.handle, root as i32, start, bytes) };
        });
    }

    /// The bytes of rank 0, on every rank.
    pub fn broadcast_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut length = [bytes.len() as f64];
        self.broadcast(0, &mut length);
        let mut bytes = bytes;
        bytes.resize(length[0] as usize, 0);
        self.broadcast_raw(0, bytes.as_mut_ptr().cast::<c_void>(), bytes.len());
        bytes
    }

    /// Everyone's bytes, in the order of ranks, on every rank.
    pub fn gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let length = i32::try_from(mine.len()).expect("messages between ranks that load are short");
        let mut counts = vec![0i32; self.size];
        together(0, || {
            // SAFETY: there is room for one number per rank.
            unsafe { ffi::hemingway_mpi_gather_lengths(self.handle, length, counts.as_mut_ptr()) };
        });
        let mut starts = Vec::with_capacity(self.size);
        let mut total = 0i32;
        for count in &counts {
            starts.push(total);
            total = total.checked_add(*count).expect("messages between ranks that load are short");
        }
        let mut all = vec![0u8; total as usize];
        together(all.len(), || {
            // SAFETY: `all` has room for all the counts, each at its start.
            unsafe {
                ffi::hemingway_mpi_gather(
                    self.handle,
                    mine.as_ptr().cast::<c_void>(),
                    length,
                    all.as_mut_ptr().cast::<c_void>(),
                    counts.as_ptr(),
                    starts.as_ptr(),
                );
            }
        });
        let ranges =
            starts.iter().zip(&counts).map(|(start, count)| *start as usize..(start + count) as usize);
        ranges.map(|range| all[range].to_vec()).collect()
    }

    /// Everyone's number, in the order of ranks, on every rank.
    pub fn gather_numbers(&self, mine: f64) -> Vec<f64> {
        let all = self.gather(&mine.to_le_bytes());
        all.iter().filter_map(|bytes| bytes.first_chunk().map(|chunk| f64::from_le_bytes(*chunk))).collect()
    }

    /// Begins to send a message of at most [`LONGEST_MESSAGE`] bytes.
    pub fn send(&self, to: usize, message: Vec<u8>) -> Sending {
        assert!(message.len() <= LONGEST_MESSAGE, "a message is sent in pieces that MPI can count");
        let start = message.as_ptr().cast::<c_void>();
        // SAFETY: the message stays where it is until the sending has ended: `Sending` owns it and waits.
        let request = unsafe { ffi::hemingway_mpi_send(self.handle, to as i32, start, message.len() as i32) };
        Sending { request, message }
    }

    /// Waits for the next message of a rank.
    pub fn receive(&self, from: usize) -> Vec<u8> {
        during(Doing::Waiting, 0, || {
            // SAFETY: the handle is valid.
            let bytes = unsafe { ffi::hemingway_mpi_probe(self.handle, from as i32) };
            let mut message = vec![0u8; bytes as usize];
            let start = message.as_mut_ptr().cast::<c_void>();
            // SAFETY: the message that was probed is as long as the buffer, and nobody else receives.
            unsafe { ffi::hemingway_mpi_receive(self.handle, from as i32, start, bytes) };
            message
        })
    }

    /// Who has sent a message that is there and was not received yet, if anyone has.
    pub fn look(&self) -> Option<usize> {
        let mut from = 0;
        // SAFETY: the handle is valid, and `from` is written before the call returns 1.
        let there = unsafe { ffi::hemingway_mpi_look(self.handle, &raw mut from) };
        (there == 1).then_some(from as usize)
    }

    /// Waits until everyone is here.
    pub fn barrier(&self) {
        together(0, || {
            // SAFETY: the handle is valid.
            unsafe { ffi::hemingway_mpi_barrier(self.handle) };
        });
    }

    /// Waits until everyone is here, leaving the core to others meanwhile.
    pub fn rest(&self) {
        // SAFETY: the handle is valid.
        let request = unsafe { ffi::hemingway_mpi_arrive(self.handle) };
        during(Doing::Resting, 0, || {
            // SAFETY: the request is pending until this says that it is done, and not used afterwards.
            while unsafe { ffi::hemingway_mpi_sent(request, 0) } == 0 {
                std::thread::sleep(NAP);
            }
        });
    }
}

/// MPI counts bytes in 32 bits.
pub const LONGEST_MESSAGE: usize = 1 << 30;

/// How long a resting rank sleeps at a time.
const NAP: Duration = Duration::from_millis(1);

impl Drop for Communicator<'_> {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: it was made by a split and is not used afterwards.
            unsafe { ffi::hemingway_mpi_release(self.handle) };
        }
    }
}

/// A message on its way.
pub struct Sending {
    request: *mut c_void,
    message: Vec<u8>,
}

impl Sending {
    /// Whether it has left.
    pub fn is_done(&mut self) -> bool {
        if !self.request.is_null() {
            // SAFETY: the request is pending.
            let done = unsafe { ffi::hemingway_mpi_sent(self.request, 0) } == 1;
            if done {
                self.request = std::ptr::null_mut();
            }
        }
        self.request.is_null()
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if !self.request.is_null() {
            during(Doing::Waiting, self.message.len(), || {
                // SAFETY: the request is pending, and the message still there.
                unsafe { ffi::hemingway_mpi_sent(self.request, 1) };
            });
        }
    }
}
