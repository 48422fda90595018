//! Random numbers keyed by what they are for, so that every machine can make any of them without the others.

/// What a number is used for; the same seed gives independent numbers for each.
#[derive(Clone, Copy)]
pub enum Stream {
    /// The model that generates the targets.
    Teacher = 1,
    /// The weights at which training begins.
    Initial,
    /// Examples to train on.
    Training,
    /// Examples to evaluate on.
    Evaluation,
    /// Which examples are in a batch.
    Batch,
}

/// SplitMix64, started at a place of its own for each key.
pub struct Random(u64);

impl Random {
    /// The numbers of a seed, a use, and an index within that use.
    pub fn new(seed: u64, stream: Stream, index: u64) -> Random {
        let key = mix(mix(seed) ^ stream as u64);
        Random(mix(key ^ index))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// From the standard normal distribution (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let unit = |bits: u64| ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let radius = (-2.0 * unit(self.bits()).ln()).sqrt();
        radius * (std::f64::consts::TAU * unit(self.bits())).cos()
    }

    /// Fills a slice with uniform numbers of mean 0 and variance 1, four from each draw.
    pub fn fill_uniform(&mut self, values: &mut [f32]) {
        const WIDTH: f32 = 3.464_101_6; // 2√3
        for four in values.chunks_mut(4) {
            let bits = self.bits();
            for (at, value) in four.iter_mut().enumerate() {
                let unit = ((bits >> (16 * at)) as u16 as f32 + 0.5) / 65536.0;
                *value = (unit - 0.5) * WIDTH;
            }
        }
    }
}

/// The finaliser of SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_right() {
        let mut random = Random::new(7, Stream::Training, 3);
        let mut uniform = vec![0.0; 100_000];
        random.fill_uniform(&mut uniform);
        let normal: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        for values in [uniform.iter().map(|&x| f64::from(x)).collect(), normal] {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64;
            assert!(mean.abs() < 0.015 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        }
    }

    #[test]
    fn keys_are_independent() {
        let first = |stream, index| Random::new(1, stream, index).bits();
        assert_ne!(first(Stream::Training, 0), first(Stream::Evaluation, 0));
        assert_ne!(first(Stream::Training, 0), first(Stream::Training, 1));
    }
}
