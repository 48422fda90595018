//! Other names that people know algorithms by.
//!
//! Case, hyphens, underscores and exclamation marks do not matter, and `+` is `plus`: `L-BFGS`, `lbfgs`, `CoCoA+` and
//! `hogwild!` need no line here.

use super::CATALOGUE;
use crate::suggest::plain;

/// A name, and the name in the catalogue that it stands for.
static ALIASES: &[(&str, &str)] = &[
    ("bfgs", "l-bfgs"),
    ("downpour-sgd", "async-sgd"),
    ("fed-avg", "local-sgd"),
    ("gd", "gradient-descent"),
    ("newton-raphson", "newton"),
    // On one worker they are the same.
    ("sdca", "cocoa"),
    // What most people mean by it, and the one that does the same on any number of workers.
    ("sgd", "minibatch-sgd"),
    ("steepest-descent", "gradient-descent"),
];

/// The name in the catalogue, if there is one.
pub fn canonical(name: &str) -> Option<&'static str> {
    let written = CATALOGUE.iter().map(|entry| entry.name).find(|known| plain(known) == plain(name));
    written.or_else(|| stands_for(name))
}

/// The name in the catalogue that another name, not only another spelling, stands for.
pub fn stands_for(name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(alias, _)| plain(alias) == plain(name)).map(|(_, name)| *name)
}

/// The other names of an algorithm.
pub fn aliases(name: &str) -> Vec<&'static str> {
    ALIASES.iter().filter(|(_, known)| *known == name).map(|(alias, _)| *alias).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_are_known_by_other_names() {
        for (name, expected) in [
            ("lbfgs", "l-bfgs"),
            ("L-BFGS", "l-bfgs"),
            ("BFGS", "l-bfgs"),
            ("gd", "gradient-descent"),
            ("SGD", "minibatch-sgd"),
            ("sdca", "cocoa"),
            ("CoCoA+", "cocoa-plus"),
            ("cocoa_plus", "cocoa-plus"),
            ("Hogwild!", "hogwild"),
        ] {
            assert_eq!(canonical(name), Some(expected), "{name}");
        }
        assert_eq!([canonical("coca"), canonical(""), canonical("adam")], [None; 3]);
        assert_eq!(
            [stands_for("sgd"), stands_for("lbfgs"), stands_for("cocoa")],
            [Some("minibatch-sgd"), None, None]
        );
    }

    #[test]
    fn no_name_stands_for_two_algorithms() {
        let names = CATALOGUE.iter().map(|entry| entry.name).chain(ALIASES.iter().map(|(alias, _)| *alias));
        let mut plain: Vec<String> = names.map(plain).collect();
        plain.sort();
        assert!(plain.windows(2).all(|pair| pair[0] != pair[1]), "{plain:?}");
        for (alias, name) in ALIASES {
            assert!(CATALOGUE.iter().any(|entry| entry.name == *name), "{alias} stands for {name}");
        }
    }
}
