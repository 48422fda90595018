//! What is asked for, and what the figures are made from unless the user says otherwise.

use std::env;
use std::path::{Path, PathBuf};

use super::folder::Folder;
use crate::{DataRequest, Error};

/// The file of MNIST that is looked for, as it is and as others call it.
const FILES: [&str; 4] = [
    "mnist-train-images-idx3-ubyte.gz",
    "mnist-train-images-idx3-ubyte",
    "train-images-idx3-ubyte.gz",
    "train-images-idx3-ubyte",
];

/// The folder that is looked in.
const FOLDER: &str = "HEMINGWAY_DATA";

/// The figures of the Hemingway paper, to be made again.
#[derive(Debug, Clone, PartialEq)]
pub struct ReproduceRequest {
    /// What to train on.
    pub data: DataRequest,
    /// Strength of the L2 penalty, which the paper does not give.
    pub lambda: f64,
    /// The most rounds of a run.
    pub rounds: u64,
    /// The folder that everything is written into.
    pub out: PathBuf,
}

impl ReproduceRequest {
    /// Refuses what no run would refuse in time.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.rounds == 0 {
            return Err(Error::OutOfRange { name: "--rounds", value: 0.0, expected: "at least 1" });
        }
        Folder(&self.out).check()
    }
}

/// MNIST as the paper has it, if the folder that `HEMINGWAY_DATA` names has it.
pub fn mnist() -> Option<PathBuf> {
    in_folder(&FILES)
}

/// The first of these files that the folder has which `HEMINGWAY_DATA` names.
pub(crate) fn in_folder(names: &[&str]) -> Option<PathBuf> {
    let folder = env::var_os(FOLDER)?;
    names.iter().map(|name| Path::new(&folder).join(name)).find(|file| file.is_file())
}
