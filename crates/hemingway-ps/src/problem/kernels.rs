//! The inner loops. Several independent sums let the compiler use vector instructions.

/// Numbers in a vector, so to speak.
const LANES: usize = 8;

/// The inner products of one vector with four others.
pub fn dot4(a: &[f32], others: [&[f32]; 4]) -> [f32; 4] {
    let whole = a.len() / LANES * LANES;
    let (body, tail) = a.split_at(whole);
    let mut sums = [[0.0_f32; LANES]; 4];
    let [b, c, d, e] = others.map(|other| other[..whole].chunks_exact(LANES));
    for ((((a, b), c), d), e) in body.chunks_exact(LANES).zip(b).zip(c).zip(d).zip(e) {
        for lane in 0..LANES {
            sums[0][lane] += a[lane] * b[lane];
            sums[1][lane] += a[lane] * c[lane];
            sums[2][lane] += a[lane] * d[lane];
            sums[3][lane] += a[lane] * e[lane];
        }
    }
    std::array::from_fn(|at| {
        let rest: f32 = tail.iter().zip(&others[at][whole..]).map(|(a, b)| a * b).sum();
        sums[at].iter().sum::<f32>() + rest
    })
}

/// Adds multiples of four vectors.
pub fn axpy4(factors: [f32; 4], vectors: [&[f32]; 4], target: &mut [f32]) {
    let [b, c, d, e] = vectors.map(|vector| &vector[..target.len()]);
    for (at, target) in target.iter_mut().enumerate() {
        *target += factors[0] * b[at] + factors[1] * c[at] + factors[2] * d[at] + factors[3] * e[at];
    }
}

/// Adds a vector.
pub fn add(from: &[f32], target: &mut [f32]) {
    target.iter_mut().zip(from).for_each(|(target, from)| *target += from);
}

/// The sum of squares, in blocks so that rounding stays small.
pub fn squared_norm(values: &[f32]) -> f64 {
    let block = |block: &[f32]| {
        let mut sums = [0.0_f32; LANES];
        for lanes in block.chunks(LANES) {
            lanes.iter().zip(&mut sums).for_each(|(value, sum)| *sum += value * value);
        }
        f64::from(sums.iter().sum::<f32>())
    };
    values.chunks(1024).map(block).sum()
}
