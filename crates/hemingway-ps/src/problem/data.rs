//! Generated examples: uniform inputs, and targets from a teacher with noise.

use super::{Model, Problem};
use crate::random::{Random, Stream};

/// Tanh units of the teacher of the model with a hidden layer; few, so that it can be learnt.
const TEACHER_UNITS: usize = 8;

/// Examples, one after the other.
pub struct Data {
    features: usize,
    inputs: Vec<f32>,
    targets: Vec<f32>,
}

impl Data {
    /// The first examples of a stream.
    pub fn generate(problem: &Problem, stream: Stream, count: usize) -> Data {
        let features = problem.features;
        let teacher = Teacher::new(problem);
        let mut inputs = vec![0.0; count * features];
        let row = |(index, input): (usize, &mut [f32])| {
            let mut random = Random::new(problem.seed, stream, index as u64);
            random.fill_uniform(input);
            (teacher.target(input) + problem.noise * random.normal()) as f32
        };
        let targets = inputs.chunks_exact_mut(features).enumerate().map(row).collect();
        Data { features, inputs, targets }
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// The features of an example.
    pub fn input(&self, row: usize) -> &[f32] {
        &self.inputs[row * self.features..][..self.features]
    }

    /// What should be predicted for it.
    pub fn target(&self, row: usize) -> f32 {
        self.targets[row]
    }
}

/// Targets without noise have about variance 1 for the linear model, and less for the other.
struct Teacher {
    model: Model,
    /// Directions of length 1.
    directions: Vec<Vec<f32>>,
}

impl Teacher {
    fn new(problem: &Problem) -> Teacher {
        let mut random = Random::new(problem.seed, Stream::Teacher, 0);
        let units = match problem.model {
            Model::Linear => 1,
            Model::Mlp => TEACHER_UNITS,
        };
        let directions = (0..units).map(|_| direction(problem.features, &mut random)).collect();
        Teacher { model: problem.model, directions }
    }

    fn target(&self, input: &[f32]) -> f64 {
        let along = |direction: &Vec<f32>| super::linear::predict(direction, [input; 4])[0];
        match self.model {
            Model::Linear => f64::from(along(&self.directions[0])),
            Model::Mlp => {
                let sum: f32 = self.directions.iter().map(|direction| (2.0 * along(direction)).tanh()).sum();
                f64::from(sum) / (TEACHER_UNITS as f64).sqrt()
            }
        }
    }
}

fn direction(features: usize, random: &mut Random) -> Vec<f32> {
    let values: Vec<f64> = (0..features).map(|_| random.normal()).collect();
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    values.iter().map(|value| (value / length) as f32).collect()
}
