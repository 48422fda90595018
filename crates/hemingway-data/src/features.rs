//! Which features the columns of a matrix are.
//!
//! Most data uses most of its features, and column i is feature i. Where feature numbers are hashes or identifiers, few
//! of many occur, and vectors as long as the largest number would be mostly zeros that nothing ever touches. Such data
//! gets one column for each feature that occurs, in the order of the features: it is then what it would be had the user
//! renumbered them, and the numbers come back only where the user sees them.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::together::exchange;
use crate::{Error, Together};

/// Data of at most this many features is left as it is: a vector of so many numbers takes half a megabyte.
const FEW: usize = 1 << 16;

/// From this many features on it is worth a pass over all indices to find out how many occur. Below it columns are
/// only given out where there are too few values to use half of the features, which costs nothing to know.
const MANY: usize = 1 << 20;

/// Columns are given out where less than one in so many features occurs: then they save more than the table of
/// features takes.
const ONE_IN: usize = 2;

/// Features that workers show one another in one exchange: everyone's are held at once.
const AT_ONCE: usize = 1 << 16;

/// Which features the columns of a matrix are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// Features as the user counts them: up to the largest number, or the columns of a table.
    pub count: usize,
    /// The feature of each column, counted from 0 and increasing; nothing where column i is feature i.
    pub used: Option<Vec<u32>>,
}

impl Features {
    /// Column i is feature i.
    pub fn all(count: usize) -> Features {
        Features { count, used: None }
    }

    /// Columns of the matrix.
    pub fn columns(&self) -> usize {
        self.used.as_ref().map_or(self.count, Vec::len)
    }
}

/// Whether data of this size may have so few features that columns should be given out.
pub(crate) fn may_have_gaps(columns: usize, nonzeros: usize) -> bool {
    columns > FEW && (nonzeros < columns / ONE_IN || columns >= MANY)
}

/// The features that occur, in order; nothing if they are too many for columns to be given out.
pub(crate) fn occurring(indices: &[u32], columns: usize) -> Option<Vec<u32>> {
    // Whichever takes less memory: a bit for each feature, or a copy of the indices.
    let found = if columns / 32 <= indices.len() { marked(indices, columns)? } else { sorted(indices) };
    few(&found, columns).then_some(found)
}

fn few(found: &[u32], columns: usize) -> bool {
    found.len() < columns / ONE_IN
}

fn sorted(indices: &[u32]) -> Vec<u32> {
    let mut found = indices.to_vec();
    found.par_sort_unstable();
    found.dedup();
    found.shrink_to_fit();
    found
}

/// Ends as soon as there are too many.
fn marked(indices: &[u32], columns: usize) -> Option<Vec<u32>> {
    let (mut marks, mut count) = (vec![0u64; columns.div_ceil(64)], 0);
    for index in indices {
        let (mark, bit) = (&mut marks[*index as usize / 64], 1 << (index % 64));
        count += usize::from(*mark & bit == 0);
        *mark |= bit;
        if count >= columns / ONE_IN {
            return None;
        }
    }
    let mut found = Vec::with_capacity(count);
    for (at, mark) in marks.into_iter().enumerate().filter(|(_, mark)| *mark != 0) {
        found.extend((0..64).filter(|bit| mark >> bit & 1 == 1).map(|bit| at as u32 * 64 + bit));
    }
    Some(found)
}

/// The features that occur with any worker; nothing if they are too many. Everyone calls it and gets the same.
///
/// In each exchange everyone shows the next few of theirs. What lies below the last one shown by each who has more is
/// complete, so nobody holds more than everyone's next few beside the result.
pub(crate) fn united(
    mine: Result<Option<Vec<u32>>, Error>,
    columns: usize,
    together: &mut dyn Together,
) -> Result<Option<Vec<u32>>, Error> {
    let (mine, few_with) = exchange(together, mine, Option::is_some)?;
    let Some(mine) = mine.filter(|_| few_with.iter().all(|few| *few)) else { return Ok(None) };
    let (mut rest, mut all) = (mine.as_slice(), Vec::new());
    loop {
        let next = &rest[..rest.len().min(AT_ONCE)];
        let shown = (next.to_vec(), rest.len() > next.len());
        let (_, everyone) = exchange(together, Ok(shown), Clone::clone)?;
        let complete_to = everyone.iter().filter(|(_, more)| *more).filter_map(|(next, _)| next.last()).min();
        let told = everyone.iter().flat_map(|(next, _)| next);
        let mut told: Vec<u32> =
            told.filter(|feature| complete_to.is_none_or(|end| *feature <= end)).copied().collect();
        told.sort_unstable();
        told.dedup();
        all.append(&mut told);
        if !few(&all, columns) {
            return Ok(None);
        }
        match complete_to {
            None => return Ok(Some(all)),
            Some(end) => rest = &rest[rest.partition_point(|feature| feature <= end)..],
        }
    }
}

/// Finds the column of a feature.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    used: &'a [u32],
    /// Features that agree in all but their last so many bits are together.
    shift: u32,
    /// Where each such group begins in `used`, and one past the end.
    starts: Vec<u32>,
}

impl<'a> Columns<'a> {
    /// About as many groups as features, so that a group of hashes has about one.
    pub(crate) fn new(used: &'a [u32]) -> Columns<'a> {
        let bits = |number: u32| u32::BITS - number.leading_zeros();
        let largest = used.last().copied().unwrap_or(0);
        let shift = bits(largest).saturating_sub(bits(used.len() as u32));
        let mut starts = Vec::with_capacity((largest >> shift) as usize + 2);
        for (column, feature) in used.iter().enumerate() {
            starts.resize((feature >> shift) as usize + 1, column as u32);
        }
        starts.push(used.len() as u32);
        Columns { used, shift: shift.min(u32::BITS - 1), starts }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.used.len()
    }

    /// The column of this feature, if it has one.
    #[inline]
    pub(crate) fn of(&self, feature: u32) -> Option<u32> {
        let group = (feature >> self.shift) as usize;
        let (start, end) = (*self.starts.get(group)?, *self.starts.get(group + 1)?);
        let found = self.used[start as usize..end as usize].binary_search(&feature).ok()?;
        Some(start + found as u32)
    }

    /// Columns in place of features that all have one.
    pub(crate) fn renumber(&self, indices: &mut [u32]) {
        let column =
            |index: &mut u32| *index = self.of(*index).expect("every feature that occurs has a column");
        indices.par_iter_mut().with_min_len(1 << 14).for_each(column);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_data_with_gaps_is_looked_at() {
        assert!(!may_have_gaps(FEW, 1), "too small to matter");
        assert!(may_have_gaps(FEW + 1, 4));
        assert!(!may_have_gaps(100_000, 50_000), "so many values may use all features");
        assert!(may_have_gaps(MANY, 1 << 30));
    }

    #[test]
    fn too_many_features_stay_where_they_are() {
        assert_eq!(occurring(&[1, 2, 3], 6), None);
        assert_eq!(occurring(&[1, 3, 3], 6), Some(vec![1, 3]));
        assert_eq!(occurring(&[4_000_000_000, 7, 7], 4_294_967_295), Some(vec![7, 4_000_000_000]));
    }

    proptest! {
        #[test]
        fn marks_and_sorting_find_the_same(indices in vec(0u32..5000, 0..300)) {
            prop_assert_eq!(marked(&indices, 5000).unwrap(), sorted(&indices));
        }

        #[test]
        fn every_feature_has_its_column_and_others_have_none(
            used in btree_set(prop_oneof![0u32..100, any::<u32>()], 0..60),
            others in vec(any::<u32>(), 0..60),
        ) {
            let used: Vec<u32> = used.into_iter().collect();
            let columns = Columns::new(&used);
            for (column, feature) in used.iter().enumerate() {
                prop_assert_eq!(columns.of(*feature), Some(column as u32));
            }
            for feature in others.iter().chain(&[0, u32::MAX]).filter(|other| !used.contains(other)) {
                prop_assert_eq!(columns.of(*feature), None);
            }
        }
    }
}
