//! How good predictions are, for people.

use hemingway::metrics::{ClassMetrics, Confusion, Metrics, NumberMetrics};

use crate::summary::table;
use crate::{output, words};

/// Tables of more classes do not fit a terminal: the commonest mistakes are listed in their place.
const MOST_CLASSES: usize = 6;
/// So many of them.
const MISTAKES: usize = 10;

/// All figures.
pub fn all(metrics: &Metrics) -> String {
    let first = match metrics {
        Metrics::Classes(classes) => ("accuracy", words::share(classes.accuracy)),
        Metrics::Numbers(numbers) => ("rms error", words::number(numbers.rmse)),
    };
    table(&[first]) + &more(metrics)
}

/// All but accuracy or rms error.
pub fn more(metrics: &Metrics) -> String {
    match metrics {
        Metrics::Classes(classes) => {
            format!("{}\n{}", table(&of_classes(classes)), confusion(&classes.confusion))
        }
        Metrics::Numbers(numbers) => table(&of_numbers(numbers)),
    }
}

fn of_classes(metrics: &ClassMetrics) -> [(&'static str, String); 3] {
    let reason = |name| reason(name, &metrics.absent);
    let written = |value: Option<f64>, name| value.map_or_else(|| reason(name), words::number);
    let f1_of = match metrics.confusion.classes.as_slice() {
        [_, positive] => format!("of the class {positive}"),
        _ => "mean over the classes".to_owned(),
    };
    let f1 = metrics.f1.map(|f1| format!("{}, {f1_of}", words::number(f1)));
    let auc = metrics.auc.map(|auc| format!("{}, the area under the ROC curve", words::number(auc)));
    [
        ("log-loss", written(metrics.log_loss, "log_loss")),
        ("AUC", auc.unwrap_or_else(|| reason("auc"))),
        ("F1", f1.unwrap_or_else(|| reason("f1"))),
    ]
}

fn of_numbers(metrics: &NumberMetrics) -> [(&'static str, String); 2] {
    let r_squared = metrics.r_squared.map(words::number);
    [
        ("abs error", format!("{}, on average", words::number(metrics.mae))),
        ("R²", r_squared.unwrap_or_else(|| reason("r_squared", &metrics.absent))),
    ]
}

/// Why there is no figure.
fn reason(name: &str, absent: &[hemingway::metrics::Absent]) -> String {
    let reason = absent.iter().find(|absent| absent.metric == name).map(|absent| absent.reason.as_str());
    format!("{}, {}", words::NONE, reason.unwrap_or("not known"))
}

/// Which classes were taken for which.
fn confusion(confusion: &Confusion) -> String {
    let Confusion { classes, counts } = confusion;
    if classes.len() > MOST_CLASSES {
        return mistakes(confusion);
    }
    let header: Vec<String> = classes.iter().map(|class| format!("predicted {class}")).collect();
    let header: Vec<&str> = [""].into_iter().chain(header.iter().map(String::as_str)).collect();
    let row = |(class, counts): (&String, &Vec<usize>)| {
        let counts = counts.iter().map(|count| words::count(*count));
        [format!("actual {class}")].into_iter().chain(counts).collect()
    };
    output::table(&header, classes.iter().zip(counts).map(row))
}

fn mistakes(confusion: &Confusion) -> String {
    let Confusion { classes, counts } = confusion;
    let pairs = (0..classes.len()).flat_map(|actual| (0..classes.len()).map(move |guess| (actual, guess)));
    let mut wrong: Vec<(usize, usize)> =
        pairs.filter(|(actual, guess)| actual != guess && counts[*actual][*guess] > 0).collect();
    wrong.sort_by_key(|(actual, guess)| std::cmp::Reverse(counts[*actual][*guess]));
    let row = |(actual, guess): (usize, usize)| {
        vec![classes[actual].clone(), classes[guess].clone(), words::count(counts[actual][guess])]
    };
    output::table(&["actual", "predicted", "rows"], wrong.into_iter().take(MISTAKES).map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_classes_are_listed_by_their_mistakes() {
        let classes: Vec<String> = (0..7).map(|class| class.to_string()).collect();
        let mut counts = vec![vec![0; 7]; 7];
        (counts[1][1], counts[4][6], counts[6][4]) = (900, 3, 1200);
        let text = confusion(&Confusion { classes, counts });
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows, [["actual", "predicted", "rows"], ["6", "4", "1,200"], ["4", "6", "3"]]);
    }
}
