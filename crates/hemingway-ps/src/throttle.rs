//! How a device is made as slow as its share of a core.
//!
//! Two ways. *Paced*: a thread reads its own CPU time after each small piece of work and sleeps until CPU time ≤ share ×
//! wall time. *Cgroup*: the kernel stops threads that have used up the quota of a period.
//!
//! Pacing is the default because a piece of work then takes its CPU time over the share, however short it is. A control
//! group has quota left from the time that the device waited, so it does short work too fast: with a share of 0.1, 1.2 ms of
//! work took 5 ms instead of 12. Single pieces of 30 ms also varied half as much under pacing; long ones, and averages,
//! vary as they do on a whole core. docs/parameter-server.md has the figures and their commands.

use std::sync::Arc;
use std::time::Duration;

use crate::bucket::Bucket;
use crate::cgroup::Group;
use crate::clock::thread_cpu;
use crate::error::Result;

/// CPU time that is used at once before a thread sleeps: shorter is smoother, and costs more system calls.
const GRAIN: Duration = Duration::from_micros(500);

/// How much time that was lost to others can be caught up: longer is steadier on a busy machine, but makes a device
/// that got no core for a while faster than its share.
const CATCH_UP: Duration = Duration::from_millis(20);

/// The CPU time that a device may use, shared by its threads.
pub enum Quota {
    /// Threads sleep by themselves.
    Paced(Bucket),
    /// The kernel stops them.
    Enforced(Group),
}

impl Quota {
    /// A share of a core, paced by the threads themselves or, where there is a control group for it, by the kernel.
    pub fn new(share: f64, group: Option<Group>) -> Quota {
        match group {
            Some(group) => Quota::Enforced(group),
            None => Quota::Paced(Bucket::new(share, CATCH_UP)),
        }
    }
}

/// Measures what one thread uses of a quota. It belongs to the thread that made it.
pub struct Meter {
    quota: Arc<Quota>,
    paid: Duration,
}

impl Meter {
    /// From now on this thread is limited by the quota.
    pub fn start(quota: &Arc<Quota>) -> Result<Meter> {
        if let Quota::Enforced(group) = &**quota {
            group.admit_this_thread()?;
        }
        Ok(Meter { quota: quota.clone(), paid: thread_cpu() })
    }

    /// A piece of work begins after a wait: the time spent waiting gives no credit.
    pub fn begin(&mut self) {
        if let Quota::Paced(bucket) = &*self.quota {
            bucket.forfeit();
        }
    }

    /// Pays for what was used since the last time, if it has become worth a sleep.
    pub fn pay(&mut self) {
        if thread_cpu() - self.paid >= GRAIN {
            self.settle();
        }
    }

    /// Pays for everything that was used.
    pub fn settle(&mut self) {
        let Quota::Paced(bucket) = &*self.quota else { return };
        let used = thread_cpu();
        let wait = bucket.take((used - self.paid).as_secs_f64());
        self.paid = used;
        if !wait.is_zero() {
            std::thread::sleep(wait);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn work_takes_its_cpu_time_over_the_share() {
        let quota = Arc::new(Quota::new(0.2, None));
        let mut meter = Meter::start(&quota).unwrap();
        let (cpu, start) = (thread_cpu(), Instant::now());
        let mut x = 1.0_f64;
        while thread_cpu() - cpu < Duration::from_millis(40) {
            (0..1000).for_each(|_| x = std::hint::black_box(x.sqrt() + 1.0));
            meter.pay();
        }
        meter.settle();
        let seconds = start.elapsed().as_secs_f64();
        assert!((0.19..1.0).contains(&seconds), "40 ms on a fifth of a core took {seconds} s");
    }
}
