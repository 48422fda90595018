//! No rank outlives those who started it, and none that fails leaves the others waiting.

use std::io::Write;
use std::os::unix::process::parent_id;
use std::time::Duration;

use hemingway_train::protocol::Failure;

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

/// From now on a panic on any thread of this rank ends it, and so the job: the others would wait for it for ever.
pub fn die_of_panics(rank: usize) {
    std::panic::set_hook(Box::new(move |panic| {
        say_failure(rank, false, panic.to_string().replace('\n', " "));
        // Another thread may be inside MPI; a signal ends the process all the same.
        die();
    }));
}

/// Tells whoever started the ranks why this one cannot go on.
pub fn say_failure(rank: usize, bad_input: bool, message: String) {
    let failure = Failure { rank, host: host(), bad_input, message };
    let mut line = serde_json::to_vec(&failure).expect("a failure is plain data");
    line.push(b'\n');
    // If nobody listens, the end of this process still tells them something.
    let _ = std::io::stderr().write_all(&line);
}

/// Lets tests see a rank panic: `HEMINGWAY_TEST_PANIC=1` is rank 1 in its work, `HEMINGWAY_TEST_PANIC=1,thread` is a
/// thread beside it. Programs that are built for release know nothing of this.
#[cfg(debug_assertions)]
pub fn panic_if_asked(rank: usize) {
    static ASKED: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let Some(asked) = ASKED.get_or_init(|| std::env::var("HEMINGWAY_TEST_PANIC").ok()) else { return };
    match asked.split_once(',') {
        None if *asked == rank.to_string() => panic!("a test asked rank {rank} to panic"),
        Some((who, _)) if who == rank.to_string() => {
            std::thread::spawn(move || panic!("a test asked a thread of rank {rank} to panic"));
        }
        _ => {}
    }
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
