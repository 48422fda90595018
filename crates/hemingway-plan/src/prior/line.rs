//! Rounds to an error, before the first was made: ln N is linear in a few terms, with one line per algorithm and loss.
//!
//! Theory suggests the terms. A dual step on one row is damped by the curvature κ = R²/(λn), or mκ where m workers crowd
//! each other; methods with whole gradients feel the condition R²/λ, how far the spectrum spreads, and how many of its
//! directions the penalty leaves (the effective dimension). Linear rates give rounds in proportion to g = ln 1/ε,
//! stochastic ones grow faster. Local work saves more rounds where few workers have to agree than where many do. Dual
//! methods on one worker skip rows that have settled; for them N counts passes over all rows, not rounds.

use std::f64::consts::LN_10;

use hemingway_train::{Entry, Family};

use super::coefficients::{CORRELATIONS, FAMILIES, GROUPS, LINES, PER_DECADE, RANGES, TERMS};
use crate::{Profile, Settings};

/// The terms by name, as the fit knows them.
pub const TERM_NAMES: [&str; TERMS] = [
    "one",
    "g",
    "ln g",
    "ln m",
    "ln(1+mκ)",
    "ln(1+mκ/100)",
    "ln(1+κ)",
    "ln(1+R²/λ)",
    "ln n",
    "ln(R²/L)",
    "ln deff",
    "g·ln m",
    "g·ln(1+R²/λ)",
    "ln p",
    "ln p·ln m",
    "g·ln(R²/L)",
];

/// Which terms say how far a problem is from those that were fitted: ln m, ln(1+κ), ln(1+R²/λ), ln n, ln(R²/L), ln deff, ln p.
pub(super) const CHARACTERS: [usize; 7] = [3, 6, 7, 8, 9, 10, 13];

/// The terms of a run with `passes` of local work to an error of e^-g.
pub fn terms(profile: &Profile, workers: usize, passes: f64, g: f64) -> [f64; TERMS] {
    let (m, kappa, condition) = (workers.max(1) as f64, profile.curvature(), profile.condition().ln_1p());
    [
        1.0,
        g,
        g.ln(),
        m.ln(),
        (m * kappa).ln_1p(),
        (m * kappa / 100.0).ln_1p(),
        kappa.ln_1p(),
        condition,
        (profile.data.rows.max(1) as f64).ln(),
        profile.spread().ln(),
        profile.effective_dimension().ln(),
        g * m.ln(),
        g * condition,
        passes.ln(),
        passes.ln() * m.ln(),
        g * profile.spread().ln(),
    ]
}

/// ln N as a function of g, for one configuration on one problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    start: f64,
    slope: f64,
    log_slope: f64,
    /// The standard deviation of ln N at the goal.
    pub deviation: f64,
    /// How much of a residual is left after a decade of the error, ρ.
    pub per_decade: f64,
    /// Whether runs of this very algorithm were fitted, or only others of its family.
    pub measured: bool,
    group: Option<usize>,
}

/// The least standard deviation of ln N.
const NARROW: f64 = 0.1;
/// No run is followed for more rounds than e to this.
const MOST: f64 = 30.0;

impl Line {
    /// Of one configuration; `goal` is ln 1/ε of the error that is asked for.
    pub fn of(
        profile: &Profile,
        entry: &Entry,
        workers: usize,
        passes: f64,
        goal: f64,
        settings: &Settings,
    ) -> Line {
        let alone = workers == 1 && entry.settles_alone;
        let name = if alone { entry.alone.unwrap_or(entry.name) } else { entry.name };
        let family = family_name(entry.family);
        let fitted = LINES
            .iter()
            .find(|line| line.algorithm == name && line.alone == alone && line.loss == profile.loss)
            .map(|line| (&line.coefficients, line.deviation));
        let related = || {
            let line = FAMILIES.iter().find(|line| line.family == family && line.loss == profile.loss);
            line.map(|line| (&line.coefficients, [line.deviation, 0.0]))
                .expect("every family has a line for every loss")
        };
        let (coefficients, deviation) = fitted.unwrap_or_else(related);
        let at = |g: f64| -> f64 {
            let terms = terms(profile, workers, passes, g);
            terms.iter().zip(coefficients).map(|(term, by)| term * by).sum()
        };
        // Linear in 1, g and ln g: three points tell the line.
        let (one, e, two) = (at(1.0), at(std::f64::consts::E), at(2.0));
        let (ln_2, e_1) = (std::f64::consts::LN_2, std::f64::consts::E - 1.0);
        // one + slope (e - 1) + log_slope = e, one + slope + log_slope ln 2 = two.
        let log_slope = ((e - one) - e_1 * (two - one)) / (1.0 - e_1 * ln_2);
        let slope = (two - one) - log_slope * ln_2;
        let outside = outside(profile, workers, passes);
        let mut line = Line {
            start: one - slope,
            slope,
            log_slope,
            deviation: 0.0,
            per_decade: PER_DECADE.iter().find(|(name, _)| *name == family).map_or(1.0, |(_, rho)| *rho),
            measured: fitted.is_some(),
            group: GROUPS.iter().position(|group| *group == (name, alone)),
        };
        let [at_one, growth] = deviation;
        line.deviation = (at_one + growth * line.log_rounds(goal)).max(NARROW) + settings.unseen * outside;
        line
    }

    /// ln N to an error of e^-g. What comes before a tenth, where no run was looked at, is taken to be even.
    pub fn log_rounds(&self, g: f64) -> f64 {
        if g >= LN_10 { self.rising(g) } else { self.rising(LN_10) + (g.max(f64::MIN_POSITIVE) / LN_10).ln() }
    }

    /// The line where it rises, and its highest or lowest value where it does not: smaller errors take no fewer rounds.
    fn rising(&self, g: f64) -> f64 {
        let turn = -self.log_slope / self.slope;
        let g = match (self.slope >= 0.0, self.log_slope >= 0.0) {
            (true, true) => g,
            (true, false) => g.max(turn),
            (false, true) => g.min(turn.max(LN_10)),
            (false, false) => LN_10,
        };
        (self.start + self.slope * g + self.log_slope * g.ln()).clamp(0.0, MOST)
    }

    /// How residuals of two lines at one problem correlate, where the configurations differ.
    pub fn correlation(&self, other: &Line) -> f64 {
        match (self.group, other.group) {
            (Some(a), Some(b)) => CORRELATIONS[a][b],
            _ => 0.0,
        }
    }
}

/// How far outside of the fitted runs a problem is, in factors of e over all its characters.
fn outside(profile: &Profile, workers: usize, passes: f64) -> f64 {
    let named = terms(profile, workers, passes, 1.0);
    let beyond = |(at, (low, high)): (&usize, (f64, f64))| (low - named[*at]).max(named[*at] - high).max(0.0);
    CHARACTERS.iter().zip(RANGES).map(beyond).sum()
}

fn family_name(family: Family) -> &'static str {
    match family {
        Family::Dual => "dual",
        Family::Batch => "batch",
        Family::SecondOrder => "second-order",
        Family::Stochastic => "stochastic",
        Family::Decentralised => "decentralised",
    }
}
