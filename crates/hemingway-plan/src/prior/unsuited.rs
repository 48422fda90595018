//! Which algorithms need not be considered, and why.
//!
//! The shares are those of `bench/prior`: 88 problems on generated data and 140 on 24 real sources, at most 2000 rounds
//! and a second or two each.

use hemingway_train::Loss;

use super::Glance;

/// The Hessian of more features takes more memory and time than the trainer allows.
const MOST_FEATURES_OF_NEWTON: usize = 2000;

/// Subgradients come to larger errors than this as gradients do.
const CORNERS_MATTER: f64 = 3e-3;

/// Whether an algorithm is worth its first rounds, be it suited to the rest or not: gradients of a hinge soon tell which
/// rows are on which side of their corner.
pub fn leads(glance: &Glance, algorithm: &str) -> bool {
    glance.loss == Loss::Hinge && algorithm == "l-bfgs"
}

/// Why an algorithm is not worth trying on this data for this error, if it is not. Nothing is held against unknown names.
pub fn unsuited(glance: &Glance, algorithm: &str, error: Option<f64>) -> Option<String> {
    let hinge = glance.loss == Loss::Hinge;
    let features = glance.features;
    match algorithm {
        "newton" if features > MOST_FEATURES_OF_NEWTON => Some(format!(
            "a Hessian of {features} features has {:.0} million entries; at most {MOST_FEATURES_OF_NEWTON} features \
             are allowed",
            (features as f64).powi(2) / 1e6
        )),
        "gradient-descent" if hinge => {
            Some("the hinge has corners: one such run in fourteen on real data came to an error of 1e-2".to_owned())
        }
        "gradient-descent" => Some(
            "l-bfgs costs about as much per round and hardly ever needed more of them, mostly far fewer"
                .to_owned(),
        ),
        "l-bfgs" if hinge && error.is_none_or(|error| error < CORNERS_MATTER) => Some(
            "the hinge has corners: it takes subgradients there, which guarantees nothing; two such runs in five did \
             not come to an error of 1e-3"
                .to_owned(),
        ),
        "minibatch-sgd" if hinge => Some(
            "its noise hides the optimum: one such run in fifteen came to an error of 1e-3"
                .to_owned(),
        ),
        _ => None,
    }
}
