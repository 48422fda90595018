//! A page about one algorithm.

use hemingway::{Entry, Floor, LOSSES, Loss, TakeOver};

use super::{flag, meaning};
use crate::{output, summary};

pub fn about(entry: &Entry) -> String {
    let title = format!("{}: {}", console::style(entry.name).bold(), entry.summary);
    let rows: Vec<(&str, String)> = [
        ("idea", Some(entry.about.idea.to_owned())),
        ("suits", Some(entry.about.suits.to_owned())),
        ("round", Some(entry.about.round.to_owned())),
        ("counts", Some(format!("its iterations are {}", entry.about.counts))),
        ("needs", Some(format!("{}; runs on {}", entry.needs().name(), listed(&entry.engines())))),
        ("begins", Some(starts_from(entry))),
        ("noise", Some(noise(entry))),
        ("alone", entry.alone.map(|same| format!("on one worker the same as {same}"))),
        ("family", Some(family(entry))),
        ("also called", also_called(entry)),
        ("reference", Some(entry.reference.to_owned())),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some((name, text?)))
    .collect();
    format!("{}\n\n{}{}\nExample:\n  {}\n", title, summary::table(&rows), parameters(entry), example(entry))
}

/// `stochastic, asynchronous`.
fn family(entry: &Entry) -> String {
    [Some(entry.family.name()), entry.needs().manner()].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn also_called(entry: &Entry) -> Option<String> {
    let aliases = hemingway::aliases(entry.name);
    (!aliases.is_empty()).then(|| aliases.join(", "))
}

fn noise(entry: &Entry) -> String {
    let text = match entry.about.floor {
        Floor::None => "none: the error falls as far as numbers allow",
        Floor::Falls => "that of single rows sets a floor under the error, which falls only as steps shrink",
        Floor::Stays(_) => {
            "that of single rows sets a floor under the error, which falls as steps shrink; on several workers there is \
             another, which no number of rounds gets below"
        }
    };
    text.to_owned()
}

/// What it can begin with, and for which losses where that matters.
pub fn starts_from(entry: &Entry) -> String {
    let from = |loss: Loss| begins(entry, (entry.takes_over)(loss));
    let mut texts: Vec<(String, Vec<&str>)> = Vec::new();
    for loss in LOSSES {
        match texts.iter_mut().find(|(text, _)| *text == from(loss)) {
            Some((_, losses)) => losses.push(loss.name()),
            None => texts.push((from(loss), vec![loss.name()])),
        }
    }
    match texts.as_slice() {
        [(text, _)] => text.clone(),
        _ => {
            let parts = texts.iter().map(|(text, losses)| format!("{}: {text}", listed(losses)));
            parts.collect::<Vec<_>>().join("; ")
        }
    }
}

fn begins(entry: &Entry, how: TakeOver) -> String {
    let what = if entry.with_defaults().starts_from_duals() { "the dual point" } else { "the model" };
    match how {
        TakeOver::After { rounds } if rounds >= 1.0 => {
            format!("from {what} of another algorithm, after about {rounds} rounds without progress")
                .replace("about 1 rounds", "about a round")
        }
        TakeOver::After { .. } => format!("from {what} of another algorithm"),
        TakeOver::Anew => "anew, whatever another algorithm has reached".to_owned(),
        TakeOver::Never => {
            "with zero weights; it takes over from no other algorithm, since its first steps would undo what was reached"
                .to_owned()
        }
    }
}

fn parameters(entry: &Entry) -> String {
    if entry.parameters.is_empty() {
        return String::new();
    }
    let line = |(name, default): (&&str, &&str)| {
        let text = format!("{} [default: {default}]", meaning(name));
        format!("  {:<15}{}\n", flag(name), output::wrapped(&text, 17))
    };
    let lines: String = entry.parameters.iter().zip(entry.about.defaults).map(line).collect();
    format!("\nParameters:\n{lines}")
}

/// On some workers here, or on as many as are planned on the first engine that runs it.
fn example(entry: &Entry) -> String {
    let place = match entry.engines().first() {
        Some(&"threads") | None => "--workers 4".to_owned(),
        Some(engine) => format!("--engine {engine}"),
    };
    format!("hemingway train data.libsvm --algorithm {} {place}", entry.name)
}

/// `threads, simulated and mpi`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., end] => format!("{} and {end}", most.join(", ")),
    }
}
