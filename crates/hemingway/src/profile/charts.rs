//! The charts of a profile.

use hemingway_data::{Distribution, Interval};

use super::ProfileReport;
use crate::plot::{Axis, Chart, Mark, Scale, Series};

/// Slower than this is not told apart.
const SLOWEST: f64 = 0.25;

/// A chart, and one sentence on how to read it.
pub(super) struct Figure {
    pub chart: Chart,
    pub caption: String,
}

/// All charts, the most important first.
pub(super) fn figures(report: &ProfileReport) -> Vec<Figure> {
    let of = &report.characters;
    let histogram = |title: &str, label, distribution: &Distribution, caption: &str| Figure {
        chart: histogram(title, label, distribution),
        caption: caption.to_owned(),
    };
    vec![
        speed_up(report),
        order(report),
        spectrum(report),
        histogram(
            "Values that are not zero in a row",
            "values that are not zero",
            &of.row_nonzeros,
            "Rows of very different lengths make workers wait for one another.",
        ),
        histogram(
            "Lengths of rows",
            "Euclidean length",
            &of.row_norms,
            "A few long rows limit the step size of all methods that take one.",
        ),
        histogram(
            "Variances of features",
            "variance",
            &of.feature_variances,
            "Variances that are orders of magnitude apart ask for --standardise.",
        ),
        histogram(
            "Means of features",
            "mean",
            &of.feature_means,
            "Means far from zero, beside the variance, are what a constant term is for.",
        ),
    ]
}

fn histogram(title: &str, label: &'static str, of: &Distribution) -> Chart {
    let edges = &of.histogram.edges;
    let logarithmic = edges.first().is_some_and(|first| *first > 0.0)
        && edges.last().zip(edges.first()).is_some_and(|(last, first)| last / first > 100.0);
    let scale = if logarithmic { Scale::Decades } else { Scale::Linear };
    let mut outline = Vec::new();
    for (ends, count) in edges.windows(2).zip(&of.histogram.counts) {
        // One value has a bin of no width.
        let width = if ends[0] == ends[1] { 0.5 } else { 0.0 };
        outline.extend([(ends[0] - width, *count as f64), (ends[1] + width, *count as f64)]);
    }
    let (first, last) =
        (outline.first().map_or(0.0, |point| point.0), outline.last().map_or(0.0, |point| point.0));
    let mut area = vec![(first, 0.0)];
    area.extend(&outline);
    area.push((last, 0.0));
    let highest = of.histogram.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let at = |value: f64| vec![(value, 0.0), (value, highest)];
    Chart {
        title: title.to_owned(),
        notes: Vec::new(),
        x: Axis::new(label, scale),
        y: Axis::new("how many", Scale::Linear),
        series: vec![
            Series { label: "how many".into(), colour: 1, mark: Mark::Band, points: area.clone() },
            Series { label: "how many".into(), colour: 1, mark: Mark::Line, points: area },
            Series { label: "median".into(), colour: 5, mark: Mark::Line, points: at(of.median) },
            Series { label: "mean".into(), colour: 7, mark: Mark::Line, points: at(of.mean) },
        ],
    }
}

fn speed_up(report: &ProfileReport) -> Figure {
    let mut series = Vec::new();
    for (which, family) in report.families.iter().enumerate() {
        let colour = 2 * which + which / 4;
        let points = |of: fn(&super::SpeedUp) -> f64| -> Vec<(f64, f64)> {
            family.speed_up.iter().map(|at| (at.workers as f64, of(at).max(SLOWEST))).collect()
        };
        let mut band = points(|at| at.low);
        band.extend(points(|at| at.high).into_iter().rev());
        let label = &family.bound.family;
        series.push(Series { label: label.clone(), colour, mark: Mark::Band, points: band });
        series.push(Series {
            label: label.clone(),
            colour,
            mark: Mark::Line,
            points: points(|at| at.median),
        });
    }
    let chart = Chart {
        title: "Expected speed-up, before anything has run".to_owned(),
        notes: vec!["line: median", "area: interval"],
        x: Axis::new("workers", Scale::Doublings),
        y: Axis::new("times as fast as one worker", Scale::Doublings),
        series,
    };
    let caption = "Where a line turns down, more workers make a run slower, whatever the network. hemingway explain \
        adds what machines and network cost.";
    Figure { chart, caption: caption.to_owned() }
}

fn order(report: &ProfileReport) -> Figure {
    let order = &report.characters.order;
    let given = |of: fn(&Interval) -> f64| -> Vec<(f64, f64)> {
        order.given.iter().map(|at| (at.range as f64, of(&at.distance))).collect()
    };
    let ends = order.given.first().zip(order.given.last());
    let (first, last) =
        ends.map_or((1.0, 2.0), |(first, last)| (first.range as f64, (last.range as f64).max(2.0)));
    let random = order.shuffled;
    let mut band = given(|at| at.low);
    band.extend(given(|at| at.high).into_iter().rev());
    let around = vec![(first, random.low), (last, random.low), (last, random.high), (first, random.high)];
    let highest = order.given.iter().map(|at| at.distance.high).fold(random.high, f64::max);
    let chart = Chart {
        title: "How different rows are from those that follow".to_owned(),
        notes: vec!["area: interval"],
        x: Axis::new("range of following rows", Scale::Doublings),
        y: Axis::new("features in which they differ", Scale::Linear).within(0.0, highest.max(1.0) * 1.05),
        series: vec![
            Series { label: "as given".into(), colour: 1, mark: Mark::Band, points: band },
            Series { label: "as given".into(), colour: 1, mark: Mark::Line, points: given(|at| at.mean) },
            Series { label: "as given".into(), colour: 1, mark: Mark::Dots, points: given(|at| at.mean) },
            Series { label: "shuffled".into(), colour: 5, mark: Mark::Band, points: around },
            Series {
                label: "shuffled".into(),
                colour: 5,
                mark: Mark::Line,
                points: vec![(first, random.mean), (last, random.mean)],
            },
        ],
    };
    let caption = "This is C_sim of the paper, a distance. Where rows as given lie below shuffled ones, neighbours are alike: \
        train with --shuffle.";
    Figure { chart, caption: caption.to_owned() }
}

fn spectrum(report: &ProfileReport) -> Figure {
    let sample = &report.sample;
    // A value that stands for many lies where the middle of them does.
    let (mut before, mut points) = (0.0, Vec::new());
    for (value, count) in &sample.spectrum {
        points.push((before + (count + 1.0) / 2.0, *value));
        before += count;
    }
    let found: Vec<(f64, f64)> =
        sample.eigenvalues.iter().enumerate().map(|(at, value)| (at as f64 + 1.0, *value)).collect();
    let last = points.last().map_or(2.0, |point| point.0).max(2.0);
    let chart = Chart {
        title: "Eigenvalues of XᵀX/n".to_owned(),
        notes: vec!["line: estimate", "of the rest"],
        x: Axis::new("number of the eigenvalue", Scale::Decades),
        y: Axis::new("eigenvalue", Scale::Decades),
        series: vec![
            Series { label: "spectrum".into(), colour: 1, mark: Mark::Line, points },
            Series { label: "largest".into(), colour: 0, mark: Mark::Dots, points: found },
            Series {
                label: "lambda".into(),
                colour: 6,
                mark: Mark::Line,
                points: vec![(1.0, report.lambda), (last, report.lambda)],
            },
        ],
    };
    let caption = format!(
        "Directions above lambda have to be learnt: the effective dimension is {:.0}. The faster eigenvalues fall, the \
         harder the problem is for methods that know gradients only.",
        sample.effective_dimension
    );
    Figure { chart, caption }
}
