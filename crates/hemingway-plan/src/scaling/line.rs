//! ln of the best number of workers is linear in the logarithms of a few characters, with one line per family.
//!
//! A line was fitted where characters were between the least and the most that were measured; outside of that it stays what it
//! is there, since nothing was seen.

use super::Character;

/// The line of a family.
pub(super) struct Line {
    pub family: &'static str,
    /// ln of the best number of workers where all characters are what they typically are.
    pub typical: f64,
    /// Which part of what ends scaling is that more workers make it worse (c·m² in c·m² + a·m/3 = 1); the rest is that they
    /// no longer help.
    pub turns: f64,
    pub terms: &'static [Term],
}

/// What a character says, all in logarithms.
pub(super) struct Term {
    pub character: &'static str,
    pub slope: f64,
    pub typical: f64,
    pub least: f64,
    pub most: f64,
}

/// A character, and what it adds to ln of the best number of workers.
pub(super) struct Say<'a> {
    pub character: &'a Character,
    pub adds: f64,
}

impl Line {
    /// What each character of the line adds to [`Line::typical`].
    pub fn says<'a>(&self, characters: &'a [Character]) -> Vec<Say<'a>> {
        let say = |term: &Term| {
            let character = characters.iter().find(|of| of.name == term.character)?;
            let known = character.value.ln().clamp(term.least, term.most);
            Some(Say { character, adds: term.slope * (known - term.typical) })
        };
        self.terms.iter().filter_map(say).collect()
    }

    /// How many times as fast so many workers are as one where so many are best: iterations of each fall, flatten and rise
    /// like 1/m + a + c·m.
    pub fn speed_up(&self, best: f64, workers: f64) -> f64 {
        let (a, c) = (3.0 * (1.0 - self.turns) / best, self.turns / (best * best));
        (1.0 + a + c) / (1.0 / workers + a + c * workers)
    }
}
