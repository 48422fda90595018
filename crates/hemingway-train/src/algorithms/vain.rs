//! Rounds at the end of precision. Chance decides what they do; so that it does not decide when a run ends, a few of
//! them are made.

/// How many there were.
#[derive(Clone, Copy, Default)]
pub(super) struct Vain(f64);

impl Vain {
    const ENOUGH: f64 = 3.0;

    pub(super) fn restore(rounds: f64) -> Vain {
        Vain(rounds)
    }

    /// A round was in vain, or there is no use in another one.
    pub(super) fn count(&mut self, in_vain: bool, hopeless: bool) {
        self.0 += f64::from(in_vain) + if hopeless { Vain::ENOUGH } else { 0.0 };
    }

    pub(super) fn enough(self) -> bool {
        self.0 >= Vain::ENOUGH
    }

    pub(super) fn save(self) -> f64 {
        self.0
    }
}
