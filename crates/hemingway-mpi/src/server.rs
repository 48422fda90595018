//! A rank that has no rows but a part of the vector, and does what workers ask.
//!
//! A worker asks all servers at once and waits for their answers alone. How many steps all workers have made is counted by
//! the first server, and nothing may happen once there are enough; so it decides, and it does so the moment a request
//! arrives. The other servers must not guess: a request that one of them had carried out and the first refused would be
//! half done. They hold a request until the first server's word on it has come, half a way longer than its own answer takes.
//!
//! Rejected: to ask the first server and then the others takes two ways there and back instead of one and a half. To carry
//! out and take back what was refused shows others what never happened. That every server counts for itself lets two of them
//! end the round at different requests.
//!
//! Messages between two ranks arrive in order, and a worker asks nothing new before all have answered. So a server holds one
//! question of each worker at most and one word on it, whichever comes first.
//!
//! A look is judged like a request, and a server that is not the first waits with its answer until all that was allowed
//! before has come: what is looked at is the vector after the same requests everywhere.

use std::ops::Range;

use crate::communicator::Communicator;
use crate::messages::Messages;
use crate::question::{Question, Said, Verdict, answer, judged, read};

/// A server at work.
struct Server<'a, 'b> {
    messages: Messages<'a, 'b>,
    /// The ranks of the other servers, if this is the first, who decides.
    others: Option<Range<usize>>,
    /// This server's part of the vector.
    values: Vec<f64>,
    /// Steps of all workers, which the first server counts.
    steps: u64,
    /// What each worker asks,
    asked: Vec<Option<Question>>,
    /// and what was decided on it.
    judged: Vec<Option<Verdict>>,
}

/// Does what the workers ask, until all of them have left. They are the first of the team; servers come after them.
pub fn serve(team: &Communicator, workers: usize) {
    let mut server = Server {
        messages: Messages::new(team),
        others: (team.rank() == workers).then(|| workers + 1..team.size()),
        values: Vec::new(),
        steps: 0,
        asked: vec![None; workers],
        judged: vec![None; workers],
    };
    let mut there = workers;
    while there > 0 {
        let (from, message) = server.messages.receive_any();
        match read(&message) {
            Said::Put(values) => server.begin(from, values),
            Said::Asked(question) => server.hear(from, question),
            Said::Judged { worker, verdict } => server.be_told(worker, verdict),
            Said::Left => there -= 1,
        }
    }
}

impl Server<'_, '_> {
    fn begin(&mut self, from: usize, values: Vec<f64>) {
        (self.values, self.steps) = (values, 0);
        self.messages.send(from, answer(Verdict { happens: true, steps: 0 }, [].into_iter()));
    }

    fn hear(&mut self, worker: usize, question: Question) {
        if let Some(others) = self.others.clone() {
            let verdict = self.judge(&question);
            others.for_each(|server| self.messages.send(server, judged(worker, verdict)));
            self.judged[worker] = Some(verdict);
        }
        self.asked[worker] = Some(question);
        self.act_if_ripe(worker);
    }

    fn be_told(&mut self, worker: usize, verdict: Verdict) {
        self.judged[worker] = Some(verdict);
        self.act_if_ripe(worker);
    }

    /// The steps of a request count from the moment it is allowed.
    fn judge(&mut self, question: &Question) -> Verdict {
        match question {
            Question::Exchange { until, .. } if self.steps >= *until => {
                Verdict { happens: false, steps: self.steps }
            }
            Question::Exchange { request, .. } => {
                self.steps += request.steps;
                Verdict { happens: true, steps: self.steps }
            }
            Question::Look => Verdict { happens: true, steps: self.steps },
        }
    }

    /// Acts once question and word are there; on a look once nothing else is missing that was judged before it.
    fn act_if_ripe(&mut self, worker: usize) {
        if matches!(self.asked[worker], Some(Question::Exchange { .. })) && self.judged[worker].is_some() {
            self.act(worker);
        }
        let looks = |asked: &Option<Question>| matches!(asked, Some(Question::Look));
        let who_looks = self.asked.iter().position(looks).filter(|worker| self.judged[*worker].is_some());
        if let Some(worker) = who_looks
            && self.judged.iter().flatten().count() == 1
        {
            self.act(worker);
        }
    }

    fn act(&mut self, worker: usize) {
        let (Some(question), Some(verdict)) = (self.asked[worker].take(), self.judged[worker].take()) else {
            unreachable!("what is acted on was asked and judged");
        };
        let message = match question {
            _ if !verdict.happens => answer(verdict, [].into_iter()),
            Question::Look => answer(verdict, self.values.iter().copied()),
            Question::Exchange { request, .. } => {
                for (at, value) in request.add_at.iter().zip(&request.add) {
                    self.values[*at as usize] += value;
                }
                answer(verdict, request.read_at.iter().map(|at| self.values[*at as usize]))
            }
        };
        self.messages.send(worker, message);
    }
}
