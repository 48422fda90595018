//! No rank outlives those who started it.

use std::os::unix::process::parent_id;
use std::time::Duration;

/// How often a rank looks whether it is still wanted.
const EVERY: Duration = Duration::from_millis(500);

/// Ends this process once the launcher that started it is gone. MPI's own daemons usually see to that, but not when
/// they are killed themselves.
pub fn die_with_the_launcher() {
    let launcher = parent_id();
    std::thread::spawn(move || {
        while parent_id() == launcher {
            std::thread::sleep(EVERY);
        }
        die();
    });
}

/// Ends this process at once, whatever MPI is in the middle of.
pub fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}

/// The name of this machine.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
