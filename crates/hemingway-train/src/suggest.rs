//! "Did you mean": the nearest known name.

/// The name most like `given`, if any is like it at all.
pub fn nearest(given: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    names
        .map(|name| (strsim::normalized_damerau_levenshtein(given, name), name))
        .filter(|(likeness, _)| *likeness > 0.4)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
