//! What measurements say about a model: inference part by part, or block by block where something was not measured.

use std::sync::Arc;

use rayon::prelude::*;

use crate::gp::{Function, Gp, Kernel};
use crate::model::{Mode, Model, Observation, Observe, Part};
use crate::random::stream;
use crate::smc::{Effort, Particles};

/// A configuration that was evaluated, and what was measured of it.
pub type Case<M> = (<M as Model>::Configuration, <M as Model>::Measured);

/// How hard to think about parts that have to be learnt together.
const TOGETHER: Effort = Effort { particles: 256, moves: 8 };

/// What is known of each part.
#[derive(Debug, Clone)]
pub struct Posterior {
    parts: Vec<Learnt>,
    seed: u64,
}

#[derive(Debug, Clone)]
struct Learnt {
    observations: Vec<Observation>,
    particles: Particles,
    gp: Arc<Gp>,
    individuals: usize,
}

impl Posterior {
    /// After these evaluations, and after pending ones that are believed to end as predicted. The effort is that of a part with one
    /// parameter: the more it has, the more particles and moves it takes to see all that explains the measurements.
    pub fn new<M>(
        model: &M,
        cases: &[Case<M>],
        pending: &[M::Configuration],
        effort: Effort,
        seed: u64,
    ) -> Posterior
    where
        M: Model,
        M::Configuration: Sync,
        M::Measured: Sync,
    {
        let mut seen = Observe::new(model.parts().len());
        let mut linked = Vec::new();
        for (number, (configuration, measured)) in cases.iter().enumerate() {
            let before = seen.joint.len();
            seen.next();
            model.run(configuration, Some(measured), &mut seen);
            if seen.joint.len() > before {
                linked.push((number, seen.joint[before].clone()));
            }
        }
        let posterior =
            Posterior::learn(model, cases, seen.direct.clone(), &seen.joint, &linked, effort, seed);
        if pending.is_empty() {
            return posterior;
        }
        let mut believed = Believe { mean: posterior.mean(model), direct: seen.direct };
        for configuration in pending {
            model.run(configuration, None, &mut believed);
        }
        let direct = believed.direct;
        Posterior::learn(model, cases, direct, &seen.joint, &linked, effort, seed)
    }

    fn learn<M>(
        model: &M,
        cases: &[Case<M>],
        direct: Vec<Vec<Observation>>,
        joint: &[Vec<usize>],
        linked: &[(usize, Vec<usize>)],
        effort: Effort,
        seed: u64,
    ) -> Posterior
    where
        M: Model,
        M::Configuration: Sync,
        M::Measured: Sync,
    {
        let blocks = blocks(direct.len(), joint);
        let learnt = |block: &Vec<usize>| {
            let mine: Vec<&Case<M>> = linked
                .iter()
                .filter(|(_, parts)| block.contains(&parts[0]))
                .map(|(i, _)| &cases[*i])
                .collect();
            learn_block(model, block, &direct, &mine, effort, seed)
        };
        let found: Vec<Vec<(usize, Learnt)>> = blocks.par_iter().map(learnt).collect();
        let mut parts: Vec<(usize, Learnt)> = found.into_iter().flatten().collect();
        parts.sort_by_key(|(part, _)| *part);
        Posterior { parts: parts.into_iter().map(|(_, learnt)| learnt).collect(), seed }
    }

    /// The model as it is on the average.
    pub fn mean<'a, M: Model>(&self, model: &'a M) -> Draw<'a> {
        let drawn = |(part, learnt): (&'a dyn Part, &Learnt)| {
            let parameters = learnt.particles.mean();
            let function = learnt.gp.mean(&learnt.residuals(part, &parameters));
            Drawn { part, parameters, function }
        };
        Draw { parts: parts_of(model).zip(&self.parts).map(drawn).collect() }
    }

    /// The model as it may be; the same number gives the same draw.
    pub fn draw<'a, M: Model>(&self, model: &'a M, number: usize) -> Draw<'a> {
        let drawn = |(place, (part, learnt)): (usize, (&'a dyn Part, &Learnt))| {
            let particles = &learnt.particles.values;
            let parameters = particles[number % particles.len()].clone();
            let residuals = learnt.residuals(part, &parameters);
            let mut rng = stream(self.seed, "draw", (number * 1000 + place) as u64);
            let function = learnt.gp.draw(&residuals, learnt.individuals, &mut rng);
            Drawn { part, parameters, function }
        };
        Draw { parts: parts_of(model).zip(&self.parts).enumerate().map(drawn).collect() }
    }

    /// What was measured of a part, with its inputs.
    pub fn observations(&self, part: usize) -> &[Observation] {
        &self.parts[part].observations
    }

    /// The parameters of a part.
    pub fn particles(&self, part: usize) -> &Particles {
        &self.parts[part].particles
    }

    /// The kernel of a part.
    pub fn kernel(&self, part: usize) -> &Kernel {
        &self.parts[part].gp.kernel
    }
}

fn parts_of<M: Model>(model: &M) -> impl Iterator<Item = &dyn Part> {
    model.parts().iter().map(AsRef::as_ref)
}

impl Learnt {
    fn residuals(&self, part: &dyn Part, parameters: &[f64]) -> Vec<f64> {
        residuals(part, &self.observations, parameters)
    }
}

fn residuals(part: &dyn Part, observations: &[Observation], parameters: &[f64]) -> Vec<f64> {
    observations.iter().map(|seen| seen.log - part.mean(parameters, &seen.input)).collect()
}

/// Parts that have to be learnt together.
fn blocks(parts: usize, joint: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut block: Vec<usize> = (0..parts).collect();
    for linked in joint {
        for part in linked {
            let (from, to) = (block[*part], block[linked[0]]);
            block.iter_mut().filter(|name| **name == from).for_each(|name| *name = to);
        }
    }
    let members = |name: usize| (0..parts).filter(|part| block[*part] == name).collect::<Vec<usize>>();
    (0..parts).map(members).filter(|members| !members.is_empty()).collect()
}

fn learn_block<M>(
    model: &M,
    block: &[usize],
    direct: &[Vec<Observation>],
    cases: &[&Case<M>],
    effort: Effort,
    seed: u64,
) -> Vec<(usize, Learnt)>
where
    M: Model,
    M::Configuration: Sync,
    M::Measured: Sync,
{
    let parts: Vec<&dyn Part> = block.iter().map(|part| model.parts()[*part].as_ref()).collect();
    let mut gps: Vec<Gp> =
        parts.iter().zip(block).map(|(part, at)| gp(*part, &direct[*at], part.kernel().typical())).collect();
    let mut particles = sample(model, block, direct, cases, &gps, effort, seed);
    // The kernels follow from what the parameters leave unexplained, and the parameters from the kernels: once around is enough,
    // since neither changes the other much.
    for (place, (part, at)) in parts.iter().zip(block).enumerate() {
        if direct[*at].is_empty() {
            continue;
        }
        let points: Vec<_> = direct[*at].iter().map(|seen| part.point(&seen.input)).collect();
        let unexplained = residuals(*part, &direct[*at], &particles[place].mean());
        gps[place] = Gp::fit(&part.kernel(), &gps[place].kernel, &points, &unexplained);
    }
    if block.iter().any(|at| !direct[*at].is_empty()) {
        particles = sample(model, block, direct, cases, &gps, effort, seed);
    }
    let learnt = parts.iter().zip(block).zip(particles).zip(gps).map(|(((part, at), particles), gp)| {
        let (observations, individuals) = (direct[*at].clone(), part.individuals());
        (*at, Learnt { observations, particles, gp: Arc::new(gp), individuals })
    });
    learnt.collect()
}

fn gp(part: &dyn Part, observations: &[Observation], kernel: Kernel) -> Gp {
    Gp::new(kernel, observations.iter().map(|seen| part.point(&seen.input)).collect())
}

/// Particles of each part of a block.
fn sample<M>(
    model: &M,
    block: &[usize],
    direct: &[Vec<Observation>],
    cases: &[&Case<M>],
    gps: &[Gp],
    effort: Effort,
    seed: u64,
) -> Vec<Particles>
where
    M: Model,
    M::Configuration: Sync,
    M::Measured: Sync,
{
    let parts: Vec<&dyn Part> = block.iter().map(|part| model.parts()[*part].as_ref()).collect();
    let priors: Vec<Vec<_>> = parts.iter().map(|part| part.priors()).collect();
    let starts: Vec<usize> =
        priors.iter().scan(0, |next, priors| Some(std::mem::replace(next, *next + priors.len()))).collect();
    let own = |all: &[f64], place: usize| all[starts[place]..starts[place] + priors[place].len()].to_vec();
    let likelihood = |all: &[f64]| {
        let each = |place: usize| {
            let observations = &direct[block[place]];
            if observations.is_empty() {
                return 0.0;
            }
            let range = starts[place]..starts[place] + priors[place].len();
            gps[place].log_likelihood(&residuals(parts[place], observations, &all[range]))
        };
        let alone: f64 = (0..parts.len()).map(each).sum();
        let mut score =
            Score { model_parts: model.parts(), block, starts: &starts, all, gps, sum: 0.0, guessed: 0.0 };
        for (configuration, measured) in cases {
            score.guessed = 0.0;
            model.run(configuration, Some(measured), &mut score);
        }
        alone + score.sum
    };
    let parameters = priors.iter().map(Vec::len).sum::<usize>().max(2);
    let alone = Effort { particles: effort.particles * parameters, moves: effort.moves * parameters };
    let effort = if cases.is_empty() { alone } else { TOGETHER };
    let found =
        Particles::sample(&priors.concat(), likelihood, effort, seed ^ (block[0] as u64 + 1).rotate_right(8));
    let split = |place: usize| Particles { values: found.values.iter().map(|all| own(all, place)).collect() };
    (0..parts.len()).map(split).collect()
}

/// Runs a model with given parameters, and judges them by what was measured after something that was not.
struct Score<'a> {
    model_parts: &'a [Box<dyn Part>],
    block: &'a [usize],
    starts: &'a [usize],
    all: &'a [f64],
    gps: &'a [Gp],
    sum: f64,
    /// The variance of what had to be guessed in this run.
    guessed: f64,
}

impl Mode for Score<'_> {
    fn quantity(&mut self, part: usize, input: &[f64], measured: Option<f64>) -> f64 {
        let Some(place) = self.block.iter().position(|member| *member == part) else {
            // Another block: it was measured, or nothing here depends on it.
            return measured.unwrap_or(1.0);
        };
        if let (Some(value), 0.0) = (measured, self.guessed) {
            return value; // learnt directly
        }
        let kernel = &self.gps[place].kernel;
        let unexplained = kernel.amplitude.powi(2) + kernel.individual.powi(2);
        let mean = self.model_parts[part].mean(&self.all[self.starts[place]..], input);
        match measured {
            Some(value) => {
                let variance = kernel.noise.powi(2) + unexplained + self.guessed;
                self.sum -= 0.5 * ((value.ln() - mean).powi(2) / variance + variance.ln());
                value
            }
            None => {
                self.guessed = self.guessed.max(unexplained);
                mean.exp()
            }
        }
    }
}

/// A model whose parts are known functions.
pub struct Draw<'a> {
    parts: Vec<Drawn<'a>>,
}

struct Drawn<'a> {
    part: &'a dyn Part,
    parameters: Vec<f64>,
    function: Function,
}

impl Draw<'_> {
    /// The quantity of a part.
    pub fn value(&self, part: usize, input: &[f64]) -> f64 {
        let Drawn { part, parameters, function } = &self.parts[part];
        (part.mean(parameters, input) + function.at(&part.point(input))).exp()
    }

    /// The parameters of a part.
    pub fn parameters(&self, part: usize) -> &[f64] {
        &self.parts[part].parameters
    }

    /// The quantity of a part as it is for no one in particular, at these inputs.
    pub fn common(&self, part: usize, input: &[f64]) -> f64 {
        let Drawn { part, parameters, function } = &self.parts[part];
        (part.mean(parameters, input) + function.common(&part.point(input).at)).exp()
    }

    /// The factor of an individual.
    pub fn particular(&self, part: usize, individual: usize) -> f64 {
        self.parts[part].function.particular(individual).exp()
    }
}

impl Mode for &Draw<'_> {
    fn quantity(&mut self, part: usize, input: &[f64], _: Option<f64>) -> f64 {
        self.value(part, input)
    }
}

/// Takes predictions for measurements.
struct Believe<'a> {
    mean: Draw<'a>,
    direct: Vec<Vec<Observation>>,
}

impl Mode for Believe<'_> {
    fn quantity(&mut self, part: usize, input: &[f64], _: Option<f64>) -> f64 {
        let value = self.mean.value(part, input);
        self.direct[part].push(Observation { input: input.to_vec(), log: value.ln() });
        value
    }
}
