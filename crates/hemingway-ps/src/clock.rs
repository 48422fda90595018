//! The two clocks: one that all processes of this machine share, and the CPU time of a thread.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Seconds since this machine started. Machines of a run compare these, because they are processes on one machine.
pub fn monotonic() -> f64 {
    duration(clock_gettime(ClockId::Monotonic)).as_secs_f64()
}

/// CPU time that the calling thread has used, in the kernel too.
pub fn thread_cpu() -> Duration {
    duration(clock_gettime(ClockId::ThreadCPUTime))
}

fn duration(time: Timespec) -> Duration {
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
