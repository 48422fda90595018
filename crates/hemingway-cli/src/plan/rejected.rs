//! What was not chosen from, and why.

use hemingway::Rejected;

use crate::output;

/// Of each algorithm the best that was rejected, or every one.
pub fn list(rejected: &[Rejected], all: bool) -> String {
    if rejected.is_empty() {
        return String::new();
    }
    let lines: String = match all {
        true => rejected.iter().map(|lost| line(lost, 0)).collect(),
        false => by_algorithm(rejected).into_iter().map(|(lost, more)| line(lost, more)).collect(),
    };
    format!("\nRejected\n\n{lines}")
}

/// The first of each algorithm, with how many more there are of it.
fn by_algorithm(rejected: &[Rejected]) -> Vec<(&Rejected, usize)> {
    let mut groups: Vec<(&Rejected, usize)> = Vec::new();
    for lost in rejected {
        match groups.iter_mut().find(|(first, _)| algorithm(first) == algorithm(lost)) {
            Some((_, more)) => *more += 1,
            None => groups.push((lost, 0)),
        }
    }
    groups
}

fn algorithm(lost: &Rejected) -> &str {
    lost.name.split(' ').next().unwrap_or_default()
}

fn line(lost: &Rejected, more: usize) -> String {
    let more = if more > 0 { format!(" (and {more} more of {})", algorithm(lost)) } else { String::new() };
    format!("  {}\n", output::wrapped(&format!("{}: {}{more}", lost.name, lost.reason), 4))
}
