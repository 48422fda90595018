//! Workers that load a dataset together, and how they exchange what each found.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::partition::Share;

/// Values summed in one exchange: everyone's are held at once, so they must not be too many.
const VALUES_AT_ONCE: usize = 1 << 16;

/// Workers that load together: how they exchange what each has found.
pub trait Together {
    /// Which of the workers this is, from 0.
    fn rank(&self) -> usize;

    /// How many workers there are.
    fn size(&self) -> usize;

    /// Everyone's bytes, in the order of ranks, on every rank. Everyone has to call this equally often.
    fn gather(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, Error>;
}

/// A worker who has all rows.
pub(crate) struct Alone;

impl Together for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn gather(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        Ok(vec![mine.to_vec()])
    }
}

/// This worker among all.
pub(crate) fn share(together: &dyn Together) -> Share {
    Share { rank: together.rank(), workers: together.size() }
}

/// Shows the others what this worker has, and returns it with what everyone shows.
///
/// A failure is exchanged as well: once one worker has failed, this fails for all of them, so that nobody waits for
/// one who has given up.
pub(crate) fn exchange<Mine, Shown: Serialize + DeserializeOwned>(
    together: &mut dyn Together,
    mine: Result<Mine, Error>,
    show: impl FnOnce(&Mine) -> Shown,
) -> Result<(Mine, Vec<Shown>), Error> {
    let shown = mine.as_ref().ok().map(show);
    let bytes = postcard::to_stdvec(&shown).expect("what is shown is plain data");
    let gathered = together.gather(&bytes);
    let mine = mine?;
    let everyone = (gathered?.iter().enumerate())
        .map(|(rank, bytes)| read_back(bytes).ok_or(Error::Elsewhere { rank }))
        .collect::<Result<Vec<Shown>, Error>>()?;
    Ok((mine, everyone))
}

fn read_back<Shown: DeserializeOwned>(bytes: &[u8]) -> Option<Shown> {
    postcard::from_bytes(bytes).expect("all workers run the same program")
}

/// Sums over all workers, added in the order of ranks; everyone brings equally many values.
pub(crate) fn sum(values: &[f64], together: &mut dyn Together) -> Result<Vec<f64>, Error> {
    let mut sums = vec![0.0; values.len()];
    for (piece, sums) in values.chunks(VALUES_AT_ONCE).zip(sums.chunks_mut(VALUES_AT_ONCE)) {
        let (_, everyone) = exchange(together, Ok(piece), |piece| piece.to_vec())?;
        for values in &everyone {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }
    Ok(sums)
}
