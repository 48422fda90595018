//! Which rows each worker gets.

use std::ops::Range;

use crate::Error;

/// The rows of the worker `rank` of `workers`: consecutive, and their numbers differ by at most one, the first
/// `rows % workers` workers getting one more.
///
/// # Panics
/// When there is no such worker.
pub fn shard(rows: usize, workers: usize, rank: usize) -> Range<usize> {
    assert!(rank < workers, "worker {rank} of {workers}");
    let (each, left_over) = (rows / workers, rows % workers);
    let start = rank * each + rank.min(left_over);
    start..start + each + usize::from(rank < left_over)
}

/// One of several workers that share the rows of a dataset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    pub rank: usize,
    pub workers: usize,
}

impl Share {
    /// The only worker, who gets all rows.
    pub(crate) const WHOLE: Share = Share { rank: 0, workers: 1 };

    /// This worker's rows out of `total` in `file`. Nobody may go without.
    pub(crate) fn rows(self, file: &str, total: usize) -> Result<Range<usize>, Error> {
        let file = || file.to_string();
        match total {
            0 => Err(Error::Empty { file: file() }),
            _ if total < self.workers => {
                Err(Error::TooManyWorkers { file: file(), workers: self.workers, rows: total })
            }
            _ => Ok(shard(total, self.workers, self.rank)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ten_rows_for_four() {
        let shards: Vec<_> = (0..4).map(|rank| shard(10, 4, rank)).collect();
        assert_eq!(shards, [0..3, 3..6, 6..8, 8..10]);
    }

    proptest! {
        #[test]
        fn shards_follow_each_other_and_cover_all_rows(rows in 0usize..1000, workers in 1usize..50) {
            let mut next = 0;
            for rank in 0..workers {
                let rows = shard(rows, workers, rank);
                prop_assert_eq!(rows.start, next);
                next = rows.end;
            }
            prop_assert_eq!(next, rows);
            prop_assert!(shard(rows, workers, 0).len() - shard(rows, workers, workers - 1).len() <= 1);
        }
    }
}
