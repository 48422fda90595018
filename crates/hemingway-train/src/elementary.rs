//! Exponential and logarithm without branches, so that loops over them are vectorised.
//!
//! The system's own functions are calls, one number at a time; at several per row they would dominate scoring and
//! batch methods on short rows. These are accurate to about 1e-15 on the range that losses need.

/// eˣ for x ≤ 0: x = k·ln 2 + r, a polynomial in |r| ≤ ln(2)/2, and k added to the exponent.
#[inline(always)]
pub fn exponential(x: f64) -> f64 {
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Adding and subtracting 1.5·2⁵² rounds to the nearest whole number and leaves it in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let x = x.max(-708.0);
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    // The Taylor sum up to r¹², in pairs and pairs of pairs, so that few operations wait for one another.
    let (r2, term) = (r * r, |low: f64, high: f64| low + high * r);
    let r4 = r2 * r2;
    let r8 = r4 * r4;
    let first = term(1.0, 1.0) + r2 * term(1.0 / 2.0, 1.0 / 6.0);
    let second = term(1.0 / 24.0, 1.0 / 120.0) + r2 * term(1.0 / 720.0, 1.0 / 5_040.0);
    let third = term(1.0 / 40_320.0, 1.0 / 362_880.0) + r2 * term(1.0 / 3_628_800.0, 1.0 / 39_916_800.0);
    let sum = (first + r4 * second) + r8 * (third + r4 * (1.0 / 479_001_600.0));
    let power = f64::from_bits(((shifted.to_bits() & 0x7ff).wrapping_add(1023) & 0x7ff) << 52);
    sum * power
}

/// ln x for positive normal x: x = m·2ᵏ with m around 1, and ln m = 2·artanh((m − 1)/(m + 1)) as a series.
#[inline(always)]
pub fn logarithm(x: f64) -> f64 {
    const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = x.to_bits().wrapping_sub(SQRT_HALF_BITS);
    // Added to the bits of 1.5·2⁵², a small whole number becomes that double plus the number: a cheap conversion.
    const SHIFT_BITS: u64 = 0x4338_0000_0000_0000;
    let exponent = ((bits as i64) >> 52) as u64;
    let k = f64::from_bits(SHIFT_BITS.wrapping_add(exponent)) - f64::from_bits(SHIFT_BITS);
    let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(SQRT_HALF_BITS));
    let s = (m - 1.0) / (m + 1.0);
    let (s2, term) = (s * s, |low: f64, high: f64, square: f64| low + high * square);
    let s4 = s2 * s2;
    let s8 = s4 * s4;
    let first = term(1.0, 1.0 / 3.0, s2) + s4 * term(1.0 / 5.0, 1.0 / 7.0, s2);
    let second = term(1.0 / 9.0, 1.0 / 11.0, s2) + s4 * term(1.0 / 13.0, 1.0 / 15.0, s2);
    let third = term(1.0 / 17.0, 1.0 / 19.0, s2) + s4 * (1.0 / 21.0);
    k * std::f64::consts::LN_2 + 2.0 * s * (first + s8 * (second + s8 * third))
}

#[cfg(test)]
mod tests {
    use super::{exponential, logarithm};

    #[test]
    fn exponential_is_close_to_the_systems() {
        for step in 0..200_000 {
            let x = -700.0 * (f64::from(step) / 200_000.0).powi(3);
            let error = (exponential(x) / x.exp() - 1.0).abs();
            assert!(error < 2e-15, "exp({x}) is off by {error}");
        }
        assert_eq!(exponential(0.0), 1.0);
        assert!(exponential(-1e9) < 1e-300);
        assert!(exponential(f64::NEG_INFINITY) < 1e-300);
    }

    #[test]
    fn logarithm_is_close_to_the_systems() {
        for step in 1..200_000 {
            let x = (f64::from(step) / 100_000.0).powi(9);
            let error = (logarithm(x) - x.ln()).abs();
            assert!(error <= 1e-15 * x.ln().abs().max(1.0), "ln({x}) is off by {error}");
        }
        assert_eq!(logarithm(1.0), 0.0);
        assert!((logarithm(f64::MIN_POSITIVE) - f64::MIN_POSITIVE.ln()).abs() < 1e-12);
    }
}
