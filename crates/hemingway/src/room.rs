//! The memory that a run may use, and whether it is enough.

use hemingway_data::{Dataset, MemoryLimit};
use hemingway_train::{Extent, Footprint, Problem, data_bytes};

use crate::{Choice, DatasetSummary, Error, TrainRequest};

/// The memory that a run may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Bytes of the data that is there already.
    data: u64,
    limit: MemoryLimit,
    /// Whether every worker has a process of its own with so much memory.
    each: bool,
}

impl Room {
    /// What this process may use beside this data.
    pub(crate) fn here<'a>(limit: MemoryLimit, data: impl IntoIterator<Item = &'a Dataset>) -> Room {
        Room { data: data.into_iter().map(data_bytes).sum(), limit, each: false }
    }

    /// What each rank has left.
    pub(crate) fn on_ranks(left: MemoryLimit) -> Room {
        Room { data: 0, limit: left, each: true }
    }

    /// Bytes that are left beside the data.
    pub(crate) fn left(&self) -> u64 {
        self.limit.bytes.saturating_sub(self.data)
    }

    /// Refuses so many bytes more, if they do not fit.
    pub(crate) fn check_more(&self, file: &str, what: &str, bytes: u64) -> Result<(), Error> {
        if bytes <= self.left() {
            return Ok(());
        }
        let (file, what) = (file.to_owned(), what.to_owned());
        Err(hemingway_data::Error::OverLimit { file, what, bytes, limit: self.left() }.into())
    }

    /// Refuses a choice that does not fit.
    pub(crate) fn check(
        &self,
        choice: &Choice,
        data: &DatasetSummary,
        problem: &Problem,
    ) -> Result<(), Error> {
        let footprint = self.footprint(choice, data, problem);
        Ok(footprint.check(&who(choice), self.data, &self.limit)?)
    }

    /// How many bytes a choice needs that does not fit, and the same in words.
    pub(crate) fn lacking(
        &self,
        choice: &Choice,
        data: &DatasetSummary,
        problem: &Problem,
    ) -> Option<(u64, String)> {
        let footprint = self.footprint(choice, data, problem);
        let fits = footprint.fits(self.data, &self.limit);
        (!fits).then(|| (footprint.bytes(), footprint.describe(&who(choice), self.data, &self.limit)))
    }

    fn footprint(&self, choice: &Choice, data: &DatasetSummary, problem: &Problem) -> Footprint {
        let (workers, rounds) = (choice.workers, choice.stop.rounds);
        let extent = Extent { rows: data.rows, columns: data.columns(), workers, rounds };
        let of = if self.each { Footprint::on_rank } else { Footprint::here };
        of(&choice.algorithm, &choice.parameters, problem, extent)
    }
}

/// What this process may use for a request.
pub(crate) fn limit(request: &TrainRequest) -> MemoryLimit {
    MemoryLimit::new(request.memory_limit, 1)
}

fn who(choice: &Choice) -> String {
    let workers = if choice.workers == 1 { "worker" } else { "workers" };
    format!("{} {workers} of {}", choice.workers, choice.algorithm)
}
