//! Seconds of a round: the prior's, until rounds were seen.

use super::terrain::Outlook;

/// What was seen of a way's rounds. Old rounds count less: rounds get shorter where rows are settled.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    rounds: f64,
    seconds: f64,
}

/// So many rounds seen count as much as the prior.
const PRIOR_ROUNDS: f64 = 1.0;
/// Of rounds seen, about so many count.
const MEMORY: f64 = 20.0;

/// How far the prior of seconds may be off.
const UNSEEN: f64 = 0.15;

impl Pace {
    pub fn see(&mut self, rounds: f64, seconds: f64) {
        let keep = (-rounds / MEMORY).exp();
        self.rounds = keep * self.rounds + rounds;
        self.seconds = keep * self.seconds + seconds;
    }

    /// The standard deviation of the logarithm of a round's seconds, as far as it was not seen.
    pub fn doubt(&self) -> f64 {
        if self.rounds > 0.0 { 0.0 } else { UNSEEN }
    }

    /// Seconds of a round, given what is expected without these rounds.
    fn per_round(&self, expected: f64) -> f64 {
        (PRIOR_ROUNDS * expected + self.seconds) / (PRIOR_ROUNDS + self.rounds)
    }
}

/// Seconds of a round of each way. What one number of workers shows of an algorithm also holds on others, but not what one
/// worker alone shows, who may skip rows. Sums over workers take as long as foretold; where a line search makes more or
/// fewer of them, it does so on any number of workers.
pub(super) fn seconds_per_round(outlooks: &[Outlook], paces: &[Pace]) -> Vec<f64> {
    let fixed = |outlook: &Outlook| if outlook.way.is_steady() { outlook.talking } else { 0.0 };
    let varying = |outlook: &Outlook| (outlook.seconds - fixed(outlook)).max(1e-12);
    let alone = |outlook: &Outlook| outlook.way.workers == 1;
    let expected = |of: &Outlook| {
        let alike = outlooks.iter().zip(paces).filter(|(other, pace)| {
            pace.rounds > 0.0 && other.way.algorithm == of.way.algorithm && alone(other) == alone(of)
        });
        let (mut seen, mut said) = (varying(of), varying(of));
        for (other, pace) in alike {
            let ratio = (pace.per_round(other.seconds) - fixed(other)) / varying(other);
            seen += pace.rounds * varying(of) * ratio.clamp(0.2, 5.0);
            said += pace.rounds * varying(of);
        }
        fixed(of) + varying(of) * seen / said
    };
    outlooks.iter().zip(paces).map(|(outlook, pace)| pace.per_round(expected(outlook))).collect()
}
