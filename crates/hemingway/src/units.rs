//! Quantities as people write them.

/// A length of time: a number, with `ms`, `s`, `m` or `h` behind it or nothing for seconds.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let units = [("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3600.0)];
    let (number, unit) =
        units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit))).unwrap_or((text, 1.0));
    match number.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value * unit),
        _ => Err("write a positive time like 60, 60s, 2m, 1h or 500ms".to_owned()),
    }
}

/// Bytes per second: `1 Gbit/s`, `200 MB/s`.
pub fn parse_bandwidth(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 8] = [
        ("Gbit/s", 1.25e8),
        ("Mbit/s", 1.25e5),
        ("kbit/s", 125.0),
        ("bit/s", 0.125),
        ("GB/s", 1e9),
        ("MB/s", 1e6),
        ("kB/s", 1e3),
        ("B/s", 1.0),
    ];
    let found = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)));
    let value = found.and_then(|(number, unit)| Some(number.trim().parse::<f64>().ok()? * unit));
    value
        .filter(|speed| *speed > 0.0 && speed.is_finite())
        .ok_or_else(|| format!("“{text}” is no bandwidth; write it like 1 Gbit/s or 200 MB/s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_read_with_their_units() {
        assert_eq!(parse_bandwidth("1 Gbit/s"), Ok(1.25e8));
        assert_eq!(parse_bandwidth("200MB/s"), Ok(2e8));
        assert_eq!(parse_bandwidth("8 bit/s"), Ok(1.0));
        for text in ["", "1", "fast", "-1 MB/s", "0 B/s", "nan MB/s", "Gbit/s"] {
            assert!(parse_bandwidth(text).is_err(), "{text}");
        }
    }
}
