//! Names as people write them: what does not matter about them, and "did you mean".

/// A name without what does not matter: `CoCoA+` and `cocoa_plus` are both `cocoaplus`.
pub fn plain(name: &str) -> String {
    let name = name.trim().to_lowercase().replace('+', "plus");
    name.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// The name most like `given`, if any is like it at all.
pub fn nearest(given: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    names
        .map(|name| (strsim::normalized_damerau_levenshtein(&given.to_lowercase(), name), name))
        .filter(|(likeness, _)| *likeness > 0.4)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
