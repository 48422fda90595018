//! From observations to figures: for each run seconds per iteration and what it took to start.
//!
//! A run with several iterations shows both: the increments give the time of an iteration, what is left of the first
//! time gives the start. A single slow iteration of one run is cut to what is usual; when slow iterations are usual
//! among runs they count in full, since a prediction of a whole run must contain them.

use std::collections::BTreeMap;

use super::robust::{median, spread};
use super::terms::Configuration;
use crate::{Error, Observation};

/// Increments further from the median than so many standard deviations are cut.
const USUAL: f64 = 6.0;

/// What one run says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub at: Configuration,
    /// For one iteration.
    pub seconds: f64,
    /// Before the first iteration; only known when the trace has several iterations of the run.
    pub start: Option<f64>,
    /// For the whole run.
    pub total: f64,
    /// Relative spread of single iterations.
    pub jitter: Option<f64>,
    /// How much longer iterations take when slow ones are not cut.
    slow: f64,
}

/// The figures of all runs of one algorithm, checked.
pub(crate) fn figures(observations: &[Observation]) -> Result<Vec<Figure>, Error> {
    let mut runs: BTreeMap<_, Vec<(u64, f64)>> = BTreeMap::new();
    for observation in observations {
        check(observation, &observations[0])?;
        let Some(seconds) = observation.seconds else { continue };
        let key = (observation.run.as_str(), observation.workers, observation.fraction.to_bits());
        runs.entry(key).or_default().push((observation.iteration, seconds));
    }
    let mut figures = Vec::new();
    for ((run, workers, fraction), mut times) in runs {
        let at = Configuration { workers: workers as f64, fraction: f64::from_bits(fraction) };
        times.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        times.dedup();
        if times.iter().all(|time| time.0 == times[0].0) {
            // Totals only. Different totals under one name are repeats.
            for time in times {
                figures.push(from_total(run, at, time)?);
            }
        } else {
            figures.push(from_increments(run, at, &merged(&times))?);
        }
    }
    if figures.is_empty() {
        return Err(Error::NoTimes);
    }
    let usual = median(&figures.iter().map(|figure| figure.slow).collect::<Vec<_>>());
    figures.iter_mut().for_each(|figure| figure.seconds *= usual);
    Ok(figures)
}

fn check(observation: &Observation, first: &Observation) -> Result<(), Error> {
    if observation.algorithm != first.algorithm {
        let (first, second) = (first.algorithm.clone(), observation.algorithm.clone());
        return Err(Error::SeveralAlgorithms { first, second });
    }
    let outside = |name, value, domain| {
        Err(Error::Outside {
            run: observation.run.clone(),
            iteration: observation.iteration,
            name,
            value,
            domain,
        })
    };
    if observation.workers == 0 {
        return outside("workers", 0.0, "at least 1");
    }
    if !(observation.fraction > 0.0 && observation.fraction <= 1.0) {
        return outside("fraction", observation.fraction, "above 0 and at most 1, where 1 is all data");
    }
    match observation.seconds {
        Some(seconds) if !(seconds >= 0.0 && seconds.is_finite()) => {
            outside("seconds", seconds, "a finite number, not negative, or absent when unknown")
        }
        _ => Ok(()),
    }
}

/// One time for each iteration: the median where there are several.
fn merged(times: &[(u64, f64)]) -> Vec<(u64, f64)> {
    times
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| (same[0].0, median(&same.iter().map(|time| time.1).collect::<Vec<_>>())))
        .collect()
}

fn from_total(run: &str, at: Configuration, (iteration, total): (u64, f64)) -> Result<Figure, Error> {
    let seconds = total / iteration.max(1) as f64;
    if seconds <= 0.0 {
        return Err(Error::NoDuration { run: run.to_owned() });
    }
    Ok(Figure { at, seconds, start: None, total, jitter: None, slow: 1.0 })
}

fn from_increments(run: &str, at: Configuration, times: &[(u64, f64)]) -> Result<Figure, Error> {
    let mut increments = Vec::with_capacity(times.len());
    for pair in times.windows(2) {
        let ((before, earlier), (iteration, later)) = (pair[0], pair[1]);
        if later < earlier {
            return Err(Error::NotCumulative { run: run.to_owned(), iteration, earlier, later });
        }
        let iterations = (iteration - before) as f64;
        increments.push((iterations, (later - earlier) / iterations));
    }
    let rates: Vec<f64> = increments.iter().map(|increment| increment.1).collect();
    let (median_rate, deviation) = (median(&rates), spread(&rates));
    let reach = USUAL * deviation.max(0.05 * median_rate);
    let cut = |rate: f64| {
        if median_rate > 0.0 { rate.clamp(median_rate - reach, median_rate + reach) } else { rate }
    };
    let iterations: f64 = increments.iter().map(|increment| increment.0).sum();
    let seconds = increments.iter().map(|&(count, rate)| count * cut(rate)).sum::<f64>() / iterations;
    let (first, last) = (times[0], times[times.len() - 1]);
    if seconds <= 0.0 {
        return Err(Error::NoDuration { run: run.to_owned() });
    }
    Ok(Figure {
        at,
        seconds,
        start: Some((first.1 - first.0 as f64 * seconds).max(0.0)),
        total: last.1,
        jitter: (rates.len() > 2).then_some(deviation / median_rate.max(f64::MIN_POSITIVE)),
        slow: (last.1 - first.1) / iterations / seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(times: &[(u64, f64)]) -> Vec<Observation> {
        times
            .iter()
            .map(|&(iteration, seconds)| Observation {
                run: "r".into(),
                algorithm: "a".into(),
                workers: 2,
                fraction: 1.0,
                iteration,
                seconds: Some(seconds),
                value: None,
            })
            .collect()
    }

    #[test]
    fn iterations_out_of_order_show_start_and_time() {
        let figures = figures(&run(&[(3, 16.0), (1, 12.0), (2, 14.0), (2, 14.0)])).unwrap();
        assert_eq!(figures.len(), 1);
        assert_eq!((figures[0].seconds, figures[0].start), (2.0, Some(10.0)));
    }

    #[test]
    fn one_stall_in_one_of_three_runs_is_cut() {
        let steady: Vec<(u64, f64)> = (1..=10).map(|k| (k, k as f64)).collect();
        let stalled: Vec<(u64, f64)> =
            (1..=10).map(|k| (k, k as f64 + if k > 5 { 100.0 } else { 0.0 })).collect();
        let mut all = run(&stalled);
        for (name, times) in [("b", &steady), ("c", &steady)] {
            all.extend(run(times).into_iter().map(|o| Observation { run: name.into(), ..o }));
        }
        for figure in figures(&all).unwrap() {
            assert!((figure.seconds - 1.0).abs() < 0.05, "{figure:?}");
        }
    }

    #[test]
    fn bad_times_are_named() {
        let message = |times: &[(u64, f64)]| figures(&run(times)).unwrap_err().to_string();
        assert!(message(&[(1, f64::NAN)]).starts_with("run r, iteration 1: seconds is NaN"));
        assert!(message(&[(1, -3.0)]).starts_with("run r, iteration 1: seconds is -3"));
        assert!(
            message(&[(1, 5.0), (2, 4.0)]).starts_with("run r: 4 s after iteration 2, but 5 s before it")
        );
        assert!(message(&[(1, 0.0)]).starts_with("run r: its iterations took no time"));
        assert_eq!(figures(&[]).unwrap_err(), Error::NoTimes);
    }

    #[test]
    fn totals_under_one_name_are_repeats() {
        assert_eq!(figures(&run(&[(1, 5.0), (1, 6.0), (1, 6.0)])).unwrap().len(), 2);
    }
}
