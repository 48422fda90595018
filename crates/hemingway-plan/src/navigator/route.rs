//! The best sequence of ways from the present error to the goal, by dynamic programming over errors.
//!
//! A model is carried over a switch, so a run that is at an error under one way goes on from there under another. The
//! cost of a leg is then a difference of two points on the curve of its way, and the best path with one more stage
//! follows from the best paths to all errors on the way.

/// Ways in sequence beyond which nothing is gained.
const STAGES: usize = 3;
/// The same where a deadline counts.
const STAGES_TO_DEADLINE: usize = 2;
/// A goal is met within a round, which is then made to its end.
const LAST_ROUND: f64 = 0.5;

/// Everything that is believed now, at the errors ahead.
pub(super) struct Map {
    /// Progress ln 1/e: the present, then the nodes ahead.
    pub nodes: Vec<f64>,
    /// For each way, rounds from the start to each node.
    pub rounds: Vec<Vec<f64>>,
    /// For each way, seconds of a round.
    pub seconds: Vec<f64>,
    /// For each way, seconds until it can begin.
    pub switch: Vec<f64>,
    /// For each way, seconds until it can begin once another has begun.
    pub switch_to: Vec<f64>,
}

/// Ways in sequence, each with the progress at which it ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Route {
    pub legs: Vec<RouteLeg>,
    /// In the sense of the weights that it was found with.
    pub cost: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RouteLeg {
    pub way: usize,
    pub from: f64,
    pub until: f64,
    pub rounds: f64,
    /// Rounds and the switch before them.
    pub seconds: f64,
}

impl Route {
    pub fn seconds(&self) -> f64 {
        self.legs.iter().map(|leg| leg.seconds).sum()
    }

    pub fn first(&self) -> usize {
        self.legs[0].way
    }

    pub fn end(&self) -> f64 {
        self.legs[self.legs.len() - 1].until
    }
}

/// The cheapest arrivals at each node after a number of stages, and where they came from.
struct Stage {
    cost: Vec<f64>,
    way: Vec<usize>,
    from: Vec<usize>,
}

impl Map {
    /// The cheapest route to the last node whose first way is allowed; a second of a way costs its weight.
    pub fn cheapest(&self, weight: &[f64], first: &dyn Fn(usize) -> bool) -> Option<Route> {
        let last = self.nodes.len() - 1;
        let stages = self.stages(STAGES, weight, first);
        let best =
            (0..stages.len()).min_by(|a, b| stages[*a].cost[last].total_cmp(&stages[*b].cost[last]))?;
        let cost = stages[best].cost[last];
        cost.is_finite().then(|| Route { legs: self.legs(&stages[..=best], last), cost })
    }

    /// The route that gets furthest in so many seconds. Its cost is the progress that it does not make.
    pub fn furthest(
        &self,
        seconds: f64,
        allowed: &dyn Fn(usize) -> bool,
        first: &dyn Fn(usize) -> bool,
    ) -> Option<Route> {
        let weight: Vec<f64> =
            (0..self.seconds.len()).map(|way| if allowed(way) { 1.0 } else { f64::INFINITY }).collect();
        let stages = self.stages(STAGES_TO_DEADLINE - 1, &weight, first);
        let mut best: Option<Route> = None;
        let mut consider = |route: Route| {
            if best.as_ref().is_none_or(|best| route.cost < best.cost) {
                best = Some(route);
            }
        };
        for way in (0..self.seconds.len()).filter(|way| allowed(*way)) {
            if first(way) {
                consider(self.until_deadline(Vec::new(), way, 0, seconds));
            }
            for (at, stage) in stages.iter().enumerate() {
                for node in 1..self.nodes.len() - 1 {
                    if stage.cost[node] + self.switch[way] < seconds && stage.way[node] != way {
                        let legs = self.legs(&stages[..=at], node);
                        consider(self.until_deadline(legs, way, node, seconds - stage.cost[node]));
                    }
                }
            }
        }
        best
    }

    fn until_deadline(&self, mut legs: Vec<RouteLeg>, way: usize, node: usize, seconds: f64) -> Route {
        let rounds = (seconds - self.switch[way]).max(0.0) / self.seconds[way];
        let curve = &self.rounds[way];
        let until = self.progress(curve, curve[node] + rounds);
        legs.push(RouteLeg { way, from: self.nodes[node], until, rounds, seconds });
        Route { legs, cost: -until }
    }

    /// How far a way gets with so many rounds after those it takes to some progress.
    pub fn progress_after(&self, way: usize, from: f64, rounds: f64) -> f64 {
        self.progress(&self.rounds[way], from + rounds)
    }

    /// Rounds of a way from the start to some progress ahead.
    pub fn rounds_at(&self, way: usize, progress: f64) -> f64 {
        let node = self.nodes.partition_point(|at| *at <= progress).clamp(1, self.nodes.len() - 1);
        let (low, high) = (self.rounds[way][node - 1], self.rounds[way][node]);
        let part = (progress - self.nodes[node - 1]) / (self.nodes[node] - self.nodes[node - 1]);
        if part > 0.0 { low + part.min(1.0) * (high - low) } else { low }
    }

    /// Where a way's rounds are so many.
    fn progress(&self, curve: &[f64], rounds: f64) -> f64 {
        let node = curve.partition_point(|at| *at <= rounds).max(1);
        let Some(&high) = curve.get(node) else { return self.nodes[node - 1] };
        let low = curve[node - 1];
        let part = if high.is_finite() { ((rounds - low) / (high - low)).max(0.0) } else { 0.0 };
        self.nodes[node - 1] + part * (self.nodes[node] - self.nodes[node - 1])
    }

    fn stages(&self, count: usize, weight: &[f64], first: &dyn Fn(usize) -> bool) -> Vec<Stage> {
        let nodes = self.nodes.len();
        let mut begun = vec![f64::INFINITY; nodes];
        begun[0] = 0.0;
        let mut stages: Vec<Stage> = Vec::with_capacity(count);
        for stage in 0..count {
            let before = stages.last().map_or(&begun, |stage| &stage.cost);
            let first_node = stage.min(nodes - 1);
            let mut next =
                Stage { cost: vec![f64::INFINITY; nodes], way: vec![0; nodes], from: vec![0; nodes] };
            for way in (0..self.seconds.len()).filter(|way| stage > 0 || first(*way)) {
                self.extend(way, weight[way], before, first_node, &mut next);
            }
            stages.push(next);
        }
        stages
    }

    /// Arrivals by one more leg of a way.
    fn extend(&self, way: usize, weight: f64, before: &[f64], first: usize, next: &mut Stage) {
        let (curve, last) = (&self.rounds[way], self.nodes.len() - 1);
        let (per_round, switch) = (weight * self.seconds[way], weight * self.switch[way]);
        if !(per_round + switch).is_finite() {
            return;
        }
        for to in 1..=last {
            if !curve[to].is_finite() {
                return;
            }
            let (least, more) = if to == last { (0.0, LAST_ROUND) } else { (1.0, 0.0) };
            for from in first.min(to)..to {
                let rounds = (curve[to] - curve[from]).max(least) + more;
                let cost = before[from] + switch + per_round * rounds;
                if cost < next.cost[to] {
                    (next.cost[to], next.way[to], next.from[to]) = (cost, way, from);
                }
            }
        }
    }

    /// The legs of the best arrival at a node after all of these stages.
    fn legs(&self, stages: &[Stage], mut node: usize) -> Vec<RouteLeg> {
        let last = self.nodes.len() - 1;
        let mut legs = Vec::with_capacity(stages.len());
        for stage in stages.iter().rev() {
            let (way, from) = (stage.way[node], stage.from[node]);
            let (least, more) = if node == last { (0.0, LAST_ROUND) } else { (1.0, 0.0) };
            let rounds = (self.rounds[way][node] - self.rounds[way][from]).max(least) + more;
            let seconds = self.switch[way] + rounds * self.seconds[way];
            legs.push(RouteLeg { way, from: self.nodes[from], until: self.nodes[node], rounds, seconds });
            node = from;
        }
        legs.reverse();
        legs
    }
}
