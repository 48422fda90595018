//! What workers and servers say to one another, as bytes: four words, then places of 32 bits, then numbers of 64.

use hemingway_train::Request;

/// What a server is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// These are its values from now on, and no step was made on them.
    Put(Vec<f64>),
    /// A worker asks.
    Asked(Question),
    /// The first server says what is to become of what a worker asks.
    Judged { worker: usize, verdict: Verdict },
    /// A worker will ask nothing more.
    Left,
}

/// What a worker asks.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// To add and read, unless so many steps were made.
    Exchange { until: u64, request: Request },
    /// For all values.
    Look,
}

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is done, or nothing is.
    pub happens: bool,
    /// Steps of all workers, those of this question among them.
    pub steps: u64,
}

/// The part of a request that goes to one server, with places as that server counts them.
pub struct Slice<'a> {
    pub request: &'a Request,
    pub add: std::ops::Range<usize>,
    pub read: std::ops::Range<usize>,
    /// The first place of that server.
    pub start: usize,
}

const PUT: u64 = 0;
const EXCHANGE: u64 = 1;
const LOOK: u64 = 2;
const JUDGED: u64 = 3;
const LEFT: u64 = 4;

/// Four words.
const HEADER: usize = 32;

/// Whoever sends these bytes made them by this file.
const SURE: &str = "workers and servers are of the same version";

/// Values for a server.
pub fn put(values: &[f64]) -> Vec<u8> {
    let mut message = header([PUT, 0, 0, 0], 8 * values.len());
    add_numbers(&mut message, values);
    message
}

/// A worker's request, as far as it concerns a server.
pub fn exchange(slice: &Slice, until: u64) -> Vec<u8> {
    let Slice { request, add, read, start } = slice;
    let room = 12 * add.len() + 4 * read.len();
    let mut message = header([EXCHANGE, until, request.steps, add.len() as u64], room);
    let places = request.add_at[add.clone()].iter().chain(&request.read_at[read.clone()]);
    places.for_each(|at| message.extend_from_slice(&(at - *start as u32).to_le_bytes()));
    add_numbers(&mut message, &request.add[add.clone()]);
    message
}

/// A worker looks at all values.
pub fn look() -> Vec<u8> {
    header([LOOK, 0, 0, 0], 0)
}

/// A worker has no more to ask.
pub fn left() -> Vec<u8> {
    header([LEFT, 0, 0, 0], 0)
}

/// The first server to the others.
pub fn judged(worker: usize, verdict: Verdict) -> Vec<u8> {
    header([JUDGED, worker as u64, u64::from(verdict.happens), verdict.steps], 0)
}

/// What a server was told.
pub fn read(message: &[u8]) -> Said {
    let (words, rest) = message.split_at(HEADER);
    let mut words = words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let mut word = || words.next().expect(SURE);
    match [word(), word(), word(), word()] {
        [PUT, ..] => Said::Put(numbers(rest)),
        [EXCHANGE, until, steps, adds] => {
            let adds = adds as usize;
            let (places, values) = rest.split_at(rest.len() - 8 * adds);
            let mut add_at: Vec<u32> =
                places.as_chunks::<4>().0.iter().map(|at| u32::from_le_bytes(*at)).collect();
            let read_at = add_at.split_off(adds);
            let request = Request { add_at, add: numbers(values), steps, read_at };
            Said::Asked(Question::Exchange { until, request })
        }
        [LOOK, ..] => Said::Asked(Question::Look),
        [JUDGED, worker, happens, steps] => {
            Said::Judged { worker: worker as usize, verdict: Verdict { happens: happens == 1, steps } }
        }
        [LEFT, ..] => Said::Left,
        _ => panic!("{SURE}"),
    }
}

/// A server's answer with what was read.
pub fn answer(verdict: Verdict, values: impl ExactSizeIterator<Item = f64>) -> Vec<u8> {
    let mut message = Vec::with_capacity(16 + 8 * values.len());
    message.extend_from_slice(&u64::from(verdict.happens).to_le_bytes());
    message.extend_from_slice(&verdict.steps.to_le_bytes());
    values.for_each(|value| message.extend_from_slice(&value.to_le_bytes()));
    message
}

/// What a server answered, and the numbers that it sent.
pub fn read_answer(message: &[u8]) -> (Verdict, impl Iterator<Item = f64>) {
    let (words, _) = message.as_chunks::<8>();
    let [happens, steps] = [words[0], words[1]].map(u64::from_le_bytes);
    (Verdict { happens: happens == 1, steps }, words[2..].iter().map(|word| f64::from_le_bytes(*word)))
}

fn header(words: [u64; 4], room: usize) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER + room);
    words.iter().for_each(|word| message.extend_from_slice(&word.to_le_bytes()));
    message
}

fn add_numbers(message: &mut Vec<u8>, numbers: &[f64]) {
    numbers.iter().for_each(|number| message.extend_from_slice(&number.to_le_bytes()));
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard() {
        let request = Request {
            add_at: vec![1, 4, 6, 9],
            add: vec![0.5, -1.0, 1e300, f64::MIN_POSITIVE],
            steps: 32,
            read_at: vec![0, 4, 5, 7, 9],
        };
        let slice = Slice { request: &request, add: 1..3, read: 1..4, start: 4 };
        let message = exchange(&slice, 7000);
        assert_eq!(message.len(), HEADER + 2 * 12 + 3 * 4);
        let heard = Request { add_at: vec![0, 2], add: vec![-1.0, 1e300], steps: 32, read_at: vec![0, 1, 3] };
        assert_eq!(read(&message), Said::Asked(Question::Exchange { until: 7000, request: heard }));
        let whole = Slice { request: &request, add: 0..4, read: 0..5, start: 0 };
        assert_eq!(exchange(&whole, 1).len(), HEADER + request.bytes());

        let verdict = Verdict { happens: true, steps: 96 };
        let message = answer(verdict, [2.5, -0.0].into_iter());
        let (heard, values) = read_answer(&message);
        assert_eq!((heard, values.collect::<Vec<_>>()), (verdict, vec![2.5, -0.0]));
        assert_eq!(read(&judged(3, verdict)), Said::Judged { worker: 3, verdict });
        assert_eq!(read(&put(&[1.0, 2.0])), Said::Put(vec![1.0, 2.0]));
        assert_eq!([read(&look()), read(&left())], [Said::Asked(Question::Look), Said::Left]);
    }
}
