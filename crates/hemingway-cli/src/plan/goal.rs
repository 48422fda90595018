//! What is asked for, in words.

use hemingway::{Goal, PlannerSettings, Risk};

use crate::words;

/// `error 1e-4 within 60.0 s with a probability of 90 %, as fast as possible`.
pub fn goal(goal: &Goal) -> String {
    let error = goal.error.map(|error| format!("error {}", words::error(error)));
    let within = goal.within.map(|within| format!("within {}", words::duration(within)));
    let budget = goal.budget.map(|budget| format!("for at most {budget}"));
    let limits = error.is_some() && (within.is_some() || budget.is_some());
    let sure =
        limits.then(|| format!("with a probability of {}", words::percent(PlannerSettings::default().sure)));
    let asked = match (error, &within) {
        (Some(error), _) => error,
        (None, Some(_)) => "the smallest error".to_owned(),
        (None, None) => "a number of rounds".to_owned(),
    };
    let limited = [Some(asked), within, budget, sure].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let better = match goal.error {
        _ if goal.cheapest => Some("as cheap as possible".to_owned()),
        Some(_) => Some("as fast as possible".to_owned()),
        None => None,
    };
    let risk = match goal.risk {
        Risk::Quantile(share) => {
            Some(format!("judged by what {} of cases stay below", words::percent(share)))
        }
        Risk::Expected => None,
    };
    [Some(limited), better, risk].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_is_named_where_something_has_to_be_reached_within_a_limit() {
        let asked = |error, within, budget| goal(&Goal { error, within, budget, ..Goal::default() });
        assert_eq!(asked(Some(1e-4), None, None), "error 1e-4, as fast as possible");
        assert_eq!(asked(None, Some(60.0), None), "the smallest error within 60.0 s");
        let both = asked(Some(1e-4), Some(60.0), None);
        assert_eq!(both, "error 1e-4 within 60.0 s with a probability of 90 %, as fast as possible");
    }
}
