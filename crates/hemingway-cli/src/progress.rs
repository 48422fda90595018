//! What is shown while training goes on: a bar on a terminal, a line now and then elsewhere.
//!
//! Linear convergence is a straight line in the logarithm of the error, so the bar moves by the logarithm and the time
//! left is read off that line. With several goals and limits the one that is nearest decides.

use std::time::Duration;

use hemingway::{Point, StopRules};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{output, words};

/// Between two lines where there is no terminal.
const PAUSE: f64 = 2.0;

/// The length of the bar in steps.
const STEPS: f64 = 1000.0;

/// Follows one run.
pub struct Follower {
    shown: Shown,
    rules: StopRules,
    first: Option<Point>,
    marks: Vec<Mark>,
    /// Which run this is, where there are several.
    what: String,
}

/// How it is shown.
enum Shown {
    Bar(ProgressBar),
    Lines { last: f64 },
    Nothing,
}

/// A scored round, as far as the bar is concerned.
#[derive(Clone, Copy)]
struct Mark {
    wall: f64,
    fraction: f64,
}

impl Follower {
    /// On a terminal a bar; otherwise lines; nothing if that is asked for.
    pub fn new(quiet: bool) -> Follower {
        let shown = match (quiet, console::Term::stderr().is_term()) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Bar(bar()),
            (false, false) => Shown::Lines { last: 0.0 },
        };
        Follower { shown, rules: StopRules::default(), first: None, marks: Vec::new(), what: String::new() }
    }

    /// Another run begins, of several that are followed.
    pub fn next(&mut self, what: &str) {
        (self.first, self.what) = (None, format!("{what}, "));
        self.marks.clear();
        if let Shown::Lines { last } = &mut self.shown {
            *last = 0.0;
        }
    }

    /// Says something that stays.
    pub fn say(&self, text: &str) {
        if !matches!(self.shown, Shown::Nothing) {
            self.warn(text);
        }
    }

    /// Says something that has to be known, however quiet it is asked to be.
    pub fn warn(&self, text: &str) {
        match &self.shown {
            Shown::Bar(bar) => bar.println(text),
            Shown::Lines { .. } | Shown::Nothing => output::note(text),
        }
    }

    /// Data is being read.
    pub fn loading(&self, spec: &str) {
        if let Shown::Bar(bar) = &self.shown {
            bar.set_message(format!("reading {spec}"));
        }
    }

    /// So many models of a path are done.
    pub fn models(&mut self, done: usize, all: usize) {
        if let Shown::Bar(bar) = &self.shown {
            bar.set_position((done as f64 / all.max(1) as f64 * STEPS) as u64);
            bar.set_message(format!("{done} of {all} models to choose lambda from"));
        }
    }

    /// Training begins.
    pub fn started(&mut self, rules: StopRules) {
        self.rules = rules;
        if let Shown::Bar(bar) = &self.shown {
            bar.set_message("the first round");
        }
    }

    /// A round was scored.
    pub fn point(&mut self, point: &Point) {
        self.mark(point);
        let text = self.describe(point);
        match &mut self.shown {
            Shown::Bar(bar) => {
                bar.set_position((self.marks.last().map_or(0.0, |mark| mark.fraction) * STEPS) as u64);
                bar.set_message(text);
            }
            Shown::Lines { last } if point.wall_seconds.0 - *last >= PAUSE => {
                *last = point.wall_seconds.0;
                output::note(&text);
            }
            Shown::Lines { .. } | Shown::Nothing => {}
        }
    }

    /// Workers were lost; the run goes on from its last checkpoint.
    pub fn restarting(&mut self, reason: &hemingway::Error, gone: &[String], workers: usize) {
        self.marks.clear();
        let gone = if gone.is_empty() { String::new() } else { format!(" without {}", gone.join(", ")) };
        let workers = words::counted(workers, "worker");
        let text = format!("{reason}; going on from the last checkpoint with {workers}{gone}");
        self.warn(&text);
    }

    /// The run has ended; its summary says how.
    pub fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }

    fn mark(&mut self, point: &Point) {
        if point.certified_error.is_finite() && self.first.is_none() {
            self.first = Some(*point);
        }
        let fraction = fraction(&self.rules, self.first.as_ref().unwrap_or(point), point);
        self.marks.push(Mark { wall: point.wall_seconds.0, fraction });
    }

    /// Short enough for the 60 columns that a narrow terminal has left beside the bar.
    fn describe(&self, point: &Point) -> String {
        let left = time_left(&self.marks).map(|left| format!("{} left, ", words::duration(left)));
        let (round, objective) = (words::count(point.round as usize), words::number(point.primal));
        let (left, error) = (left.unwrap_or_default(), words::certified(point));
        format!("{}{left}round {round}, objective {objective}, error {error}", self.what)
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(STEPS as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {bar:16} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// How much is done, by the goal or limit that is nearest: 0 at the first point, 1 at the end.
fn fraction(rules: &StopRules, first: &Point, now: &Point) -> f64 {
    let error = rules.error.map(|goal| {
        let (start, here) = (first.certified_error, now.certified_error);
        (start / here).ln() / (start / goal).ln()
    });
    let objective = rules.objective.map(|goal| (first.primal - now.primal) / (first.primal - goal));
    let within = rules.within.map(|limit| now.seconds.0 / limit.0);
    let rounds = rules.rounds.map(|limit| now.round as f64 / limit as f64);
    let nearest = [error, objective, within, rounds].into_iter().flatten().filter(|part| part.is_finite());
    nearest.fold(0.0, f64::max).clamp(0.0, 1.0)
}

/// The time left if it goes on as in the later half of the run so far.
fn time_left(marks: &[Mark]) -> Option<f64> {
    let (last, from) = (marks.last()?, marks.get(marks.len() / 2)?);
    let speed = (last.fraction - from.fraction) / (last.wall - from.wall);
    (speed > 0.0 && speed.is_finite()).then(|| (1.0 - last.fraction) / speed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hemingway::{Effort, Seconds};

    fn point(round: u64, seconds: f64, certified_error: f64) -> Point {
        let (seconds, wall_seconds, effort) = (Seconds(seconds), Seconds(seconds), Effort::default());
        Point { round, effort, seconds, wall_seconds, current: 0.5, primal: 0.5, dual: 0.4, certified_error }
    }

    #[test]
    fn progress_is_the_logarithm_of_the_error() {
        let rules = StopRules { error: Some(1e-4), ..Default::default() };
        let part = |error| fraction(&rules, &point(1, 1.0, 1.0), &point(5, 5.0, error));
        assert_eq!([part(1.0), part(1e-2), part(1e-4), part(1e-5)], [0.0, 0.5, 1.0, 1.0]);
        assert_eq!(part(f64::INFINITY), 0.0);
    }

    #[test]
    fn the_nearest_limit_decides() {
        let rules = StopRules {
            error: Some(1e-4),
            within: Some(Seconds(10.0)),
            rounds: Some(100),
            ..Default::default()
        };
        assert_eq!(fraction(&rules, &point(1, 1.0, 1.0), &point(30, 9.0, 1e-2)), 0.9);
    }

    #[test]
    fn the_time_left_follows_the_later_half() {
        let marks: Vec<Mark> = [(1.0, 0.0), (2.0, 0.5), (3.0, 0.6), (4.0, 0.7)]
            .map(|(wall, fraction)| Mark { wall, fraction })
            .to_vec();
        assert!((time_left(&marks).unwrap() - 3.0).abs() < 1e-9);
        assert_eq!(time_left(&marks[..1]), None);
    }
}
