//! Compiles the shim with the MPI installation's own compiler and links what that compiler would link.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/shim.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    let Some(link) = link_flags(&mpicc) else {
        eprintln!(
            "error: `{mpicc}` was not found or does not tell how it links.\n\
             hint: install an MPI with its headers (Debian: apt-get install openmpi-bin libopenmpi-dev), or name its \
             compiler in MPICC"
        );
        std::process::exit(1);
    };
    cc::Build::new().compiler(&mpicc).file("src/shim.c").warnings_into_errors(false).compile("hemingway_mpi");
    for flag in link.split_whitespace() {
        if let Some(folder) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={library}");
        }
    }
}

/// Open MPI answers to `--showme:link`, MPICH and its relatives to `-show`.
fn link_flags(mpicc: &str) -> Option<String> {
    ["--showme:link", "-show"].into_iter().find_map(|question| {
        let answer = Command::new(mpicc).arg(question).output().ok()?;
        answer.status.success().then(|| String::from_utf8_lossy(&answer.stdout).into_owned())
    })
}
