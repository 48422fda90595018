//! The encoding of a table of plain numbers, which went straight into the matrix.

use std::sync::Arc;

use super::learn::rounded;
use super::{Becomes, Encoding};
use crate::csv_layout::Layout;
use crate::together::sum;
use crate::{Dataset, Error, Together};

/// Puts the means into the encoding of such a table: they stand in for numbers that test data lacks. All workers call it
/// on their parts of `rows` rows and get the same.
pub(crate) fn plain_encoding(
    dataset: &mut Dataset,
    rows: usize,
    together: &mut dyn Together,
) -> Result<(), Error> {
    let sums = sum(&dataset.matrix.column_sums(), together)?;
    let mut means = vec![0.0; dataset.features.count];
    for (column, sum) in sums.iter().enumerate() {
        let feature = dataset.features.used.as_ref().map_or(column, |used| used[column] as usize);
        means[feature] = rounded(sum / (rows as f64).max(1.0));
    }
    let Some(encoding) = dataset.encoding.as_mut().map(Arc::make_mut) else { return Ok(()) };
    for (column, feature) in encoding.first_features().into_iter().enumerate() {
        if let Becomes::Number { fill, .. } = &mut encoding.columns[column].becomes {
            *fill = means[feature as usize];
        }
    }
    Ok(())
}

impl Layout {
    /// The encoding without the means.
    pub(crate) fn without_means(&self) -> Encoding {
        self.encoding(|column| match self.left_out(column) {
            Some(reason) => Becomes::LeftOut { reason },
            None => Becomes::Number { fill: 0.0, centre: 0.0, indicator: false },
        })
    }
}
