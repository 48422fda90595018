//! What earlier jobs teach about a new one.
//!
//! Rounds hold on any machines, seconds on the same ones only; both hold only for the same problem, or one much like it.
//! What has changed since is noticed: data of another size is not reused, and neither is what the new run contradicts.

use hemingway_plan::{Lesson, Seen, Way};
use hemingway_train::Point;
use serde::{Deserialize, Serialize};

use crate::course::error_of;
use crate::{Choice, DataRequest, DatasetSummary, Error, Status, Store, StoredRun, TrainRequest};

/// So many of the latest runs with the same loss and penalty are looked through.
const LATEST: usize = 20;
/// What happens below this error is of no interest to anybody else.
const SMALLEST: f64 = 1e-6;
/// Data of another name is alike if rows and values differ by at most this factor.
const ALIKE: f64 = 1.25;
/// Seconds of a round, or rounds to an error, that are off by more than this factor contradict what is remembered.
const CONTRADICTION: f64 = 2.0;
/// So many rounds have to be seen before anything is contradicted.
const ENOUGH_ROUNDS: u64 = 3;

/// What is known of earlier jobs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    pub lessons: Vec<Lesson>,
    pub reused: Vec<Reused>,
    /// What was not reused, and why.
    pub dropped: Vec<String>,
}

/// An earlier run that was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reused {
    /// Its name.
    pub run: String,
    /// How it trained.
    pub algorithm: String,
    /// What of it holds here: `rounds and seconds` or `rounds`.
    pub what: String,
    /// The name of its data, if it is not the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar: Option<String>,
}

impl Memory {
    /// Looks through the latest runs.
    pub(crate) fn of(
        store: Option<&Store>,
        request: &TrainRequest,
        choice: &Choice,
        data: &DatasetSummary,
    ) -> Result<Memory, Error> {
        let mut memory = Memory::default();
        let Some(store) = store else { return Ok(memory) };
        let smallest = choice.stop.error.unwrap_or(0.0).max(SMALLEST);
        for run in
            store.latest_runs_on(request, LATEST)?.into_iter().filter(|run| run.status != Status::Running)
        {
            let likeness = Likeness::between(&run, request, data);
            let similar = match likeness {
                Likeness::None => continue,
                Likeness::Changed => {
                    memory.dropped.push(format!(
                        "run {}: its data has changed: {}",
                        run.id,
                        run.dataset.difference(data).unwrap_or_default()
                    ));
                    continue;
                }
                Likeness::Similar => Some(run.dataset.name.clone()),
                Likeness::Same => None,
            };
            let same_machines = likeness == Likeness::Same && ran_here(&run, choice);
            let mut lessons = lessons(&run, &store.points(&run)?, same_machines);
            // Beyond the goal rounds are different: rows are settled, steps are short.
            lessons.retain(|lesson| lesson.from > smallest);
            if lessons.is_empty() {
                continue;
            }
            memory.lessons.extend(lessons);
            memory.reused.push(Reused {
                run: run.id,
                algorithm: run.choice.algorithm,
                what: if same_machines { "rounds and seconds" } else { "rounds" }.to_owned(),
                similar,
            });
        }
        Ok(memory)
    }

    /// How a run that begins this way contradicts what is remembered of it, if it does.
    pub(crate) fn contradicted(&self, way: &Way, seen: &Seen) -> Option<String> {
        if seen.rounds < ENOUGH_ROUNDS {
            return None;
        }
        let of_this_way = || self.lessons.iter().filter(|lesson| lesson.way == *way);
        let off = |now: f64, then: f64| now > CONTRADICTION * then || now * CONTRADICTION < then;
        let paces: Vec<f64> =
            of_this_way().filter_map(|lesson| Some(lesson.seconds? / lesson.rounds)).collect();
        let pace = seen.seconds / seen.rounds as f64;
        if !paces.is_empty() && paces.iter().all(|then| off(pace, *then)) {
            let then = paces[0];
            return Some(format!("a round takes {pace:.3} s where it took {then:.3} s"));
        }
        let firsts: Vec<&Lesson> = of_this_way().filter(|lesson| lesson.from >= 1.0).collect();
        let rounds = seen.rounds as f64;
        let wrong = |lesson: &&Lesson| {
            let reached = seen.error <= lesson.to;
            let (sooner, later) = (CONTRADICTION * rounds + 2.0, CONTRADICTION * lesson.rounds + 2.0);
            if reached { lesson.rounds > sooner } else { rounds > later }
        };
        if !firsts.is_empty() && firsts.iter().all(wrong) {
            let (then, to) = (firsts[0].rounds, firsts[0].to);
            let now = if seen.error <= to { "took at most" } else { "takes more than" };
            return Some(format!("an error of {to:.1e} {now} {rounds} rounds where it took {then:.0}"));
        }
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Same,
    Similar,
    /// The same file with other content.
    Changed,
    None,
}

impl Likeness {
    fn between(run: &StoredRun, request: &TrainRequest, data: &DatasetSummary) -> Likeness {
        let (then, now) = (&run.request, request);
        if (then.loss, then.lambda, then.bias) != (now.loss, now.lambda, now.bias) {
            return Likeness::None;
        }
        let named = |data: &DataRequest| DataRequest { fraction: 1.0, ..data.clone() };
        let same_name = named(&then.data) == named(&now.data);
        let same_content = run.dataset.difference(data).is_none();
        let same_rows = then.data.fraction == now.data.fraction;
        match (same_name, same_content) {
            (_, true) => Likeness::Same,
            (true, false) if same_rows => Likeness::Changed,
            _ if alike(&run.dataset, data) => Likeness::Similar,
            _ => Likeness::None,
        }
    }
}

fn alike(then: &DatasetSummary, now: &DatasetSummary) -> bool {
    let near = |a: usize, b: usize| {
        let ratio = a.max(1) as f64 / b.max(1) as f64;
        (1.0 / ALIKE..=ALIKE).contains(&ratio)
    };
    then.features == now.features && near(then.rows, now.rows) && near(then.nonzeros, now.nonzeros)
}

fn ran_here(run: &StoredRun, choice: &Choice) -> bool {
    run.choice.engine == choice.engine
        && run.choice.cluster == choice.cluster
        && (choice.cluster.is_some() || run.owner.host == crate::Owner::me().host)
}

/// A lesson for each way of a run and each power of ten that its error passed.
fn lessons(run: &StoredRun, points: &[Point], same_machines: bool) -> Vec<Lesson> {
    let mut lessons = Vec::new();
    let (mut from, mut rounds, mut seconds) = (1.0_f64, 0, 0.0);
    let sound: Vec<&Point> = points.iter().filter(|point| point.certified_error.is_finite()).collect();
    for (at, point) in sound.iter().enumerate() {
        let way = run.choice.way_at(point.round, run.dataset.rows);
        let next = sound.get(at + 1);
        let leaves = next.is_none_or(|next| run.choice.way_at(next.round, run.dataset.rows) != way);
        let error = error_of(point);
        if !leaves && error > from / 10.0 {
            continue;
        }
        if error < from && point.round > rounds {
            let took = (point.seconds.0 - seconds).max(0.0);
            lessons.push(Lesson {
                way,
                from,
                to: error,
                rounds: (point.round - rounds) as f64,
                seconds: (same_machines && took > 0.0).then_some(took),
            });
        }
        (from, rounds, seconds) = (error.min(from), point.round, point.seconds.0);
    }
    lessons
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(to: f64, rounds: f64, seconds: f64) -> Lesson {
        let way = Way { algorithm: "cocoa".into(), workers: 2, passes: 1.0 };
        Lesson { way, from: 1.0, to, rounds, seconds: Some(seconds) }
    }

    #[test]
    fn what_a_run_contradicts_is_noticed() {
        let memory = Memory { lessons: vec![lesson(0.1, 20.0, 10.0)], ..Memory::default() };
        let way = memory.lessons[0].way.clone();
        let seen = |rounds, seconds, error| Seen { rounds, seconds, error };
        assert_eq!(memory.contradicted(&way, &seen(10, 5.0, 0.3)), None);
        assert_eq!(memory.contradicted(&way, &seen(1, 5.0, 0.3)), None, "one round says little");
        assert!(memory.contradicted(&way, &seen(10, 50.0, 0.3)).unwrap().contains("5.000 s"));
        assert!(memory.contradicted(&way, &seen(4, 2.0, 0.05)).unwrap().contains("at most 4 rounds"));
        assert!(memory.contradicted(&way, &seen(60, 30.0, 0.2)).unwrap().contains("more than 60 rounds"));
        let other = Way { workers: 3, ..way };
        assert_eq!(memory.contradicted(&other, &seen(10, 50.0, 0.3)), None);
    }
}
