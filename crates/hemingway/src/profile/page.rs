//! The page of a profile: one file with everything in it, for light and dark screens.

use hemingway_data::{Distribution, Interval, LabelCharacters};

use super::charts::figures;
use super::{Family, ProfileReport};

/// The whole page.
pub(super) fn page(report: &ProfileReport) -> String {
    let name = std::path::Path::new(&report.dataset.name).file_name();
    let name = escaped(&name.map_or(report.dataset.name.as_str().into(), |name| name.to_string_lossy()));
    [
        format!("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{name}: profile</title>"),
        format!("<meta name=\"viewport\" content=\"width=device-width\">\n<style>{STYLE}</style>\n</head>\n<body>"),
        format!("<header><p class=\"kind\">Profile</p><h1>{name}</h1>{}</header>", tiles(report)),
        format!("<main>\n<section><h2>Which algorithms suit it</h2>{}</section>", families(report)),
        format!("<section><h2>What to look into</h2>{}</section>", findings(report)),
        format!("<section><h2>Charts</h2><div class=\"charts\">{}</div></section>", charts(report)),
        format!("<section><h2>All characters</h2>{}</section>\n</main>", characters(report)),
        format!("<footer>{}</footer>\n</body>\n</html>\n", footer(report)),
    ]
    .join("\n")
}

fn tiles(report: &ProfileReport) -> String {
    let of = &report.characters;
    let labels = match &of.labels {
        LabelCharacters::Classes { positive_share, .. } => {
            ("positive", format!("{:.1} %", 100.0 * positive_share))
        }
        LabelCharacters::Numbers { mean, deviation, .. } => {
            ("label", format!("{} ± {}", short(*mean), short(*deviation)))
        }
    };
    let tiles = [
        ("rows", grouped(of.rows)),
        ("features", grouped(of.features)),
        ("not zero", format!("{:.3} %", 100.0 * of.density)),
        ("different rows", format!("{:.1} %", 100.0 * of.diversity.distinct_share.mean)),
        ("rho", short(of.rho.mean)),
        labels,
        ("columns", if report.standardised { "standardised" } else { "as they are" }.to_owned()),
    ];
    let tile = |(name, value): (&str, String)| {
        format!("<div class=\"tile\"><b>{value}</b><span>{name}</span></div>")
    };
    format!("<div class=\"tiles\">{}</div>", tiles.map(tile).concat())
}

fn families(report: &ProfileReport) -> String {
    let row = |family: &Family| {
        let bound = &family.bound;
        let [low, median, high] = bound.workers.map(workers);
        let around = if low == high { String::new() } else { format!("<small>{low} to {high}</small>") };
        let (class, verdict) = if bound.suits { ("yes", "suits") } else { ("no", "does not suit") };
        format!(
            "<tr><th>{}<small>{}</small></th><td class=\"{class}\">{verdict}</td><td class=\"number\">{median}{around}</td>\
             <td>{}</td></tr>",
            escaped(&bound.family),
            escaped(&bound.algorithms.join(", ")),
            escaped(&bound.reason),
        )
    };
    let rows: String = report.families.iter().map(row).collect();
    format!(
        "<table class=\"families\"><thead><tr><th>Family</th><th></th><th class=\"number\">Workers that pay</th><th>Because</th>\
         </tr></thead><tbody>{rows}</tbody></table>{}",
        paper(report)
    )
}

fn paper(report: &ProfileReport) -> String {
    report.paper_bound.map_or_else(String::new, |bound| {
        let says = if bound < 1.0 { "below 1, so it is vacuous here" } else { "workers" };
        format!(
            "<p class=\"note\">Theorem 2 of the paper bounds asynchronous SGD by 1/(6 Ω √δ) = {}, {says}.</p>",
            short(bound)
        )
    })
}

fn findings(report: &ProfileReport) -> String {
    if report.characters.findings.is_empty() {
        return "<p>Nothing: no constant, empty or duplicate columns, no leak, no rows that are ordered or repeated.</p>"
            .to_owned();
    }
    let one = |finding: &hemingway_data::Finding| {
        format!("<li><b>{}</b> {}</li>", escaped(&finding.text), escaped(&finding.advice))
    };
    format!("<ol>{}</ol>", report.characters.findings.iter().map(one).collect::<String>())
}

fn charts(report: &ProfileReport) -> String {
    let one = |figure: &super::charts::Figure| {
        format!(
            "<figure>{}<figcaption>{}</figcaption></figure>",
            figure.chart.svg(),
            escaped(&figure.caption)
        )
    };
    figures(report).iter().map(one).collect()
}

fn characters(report: &ProfileReport) -> String {
    let of = &report.characters;
    let distribution = |name: &str, of: &Distribution| {
        let numbers = [of.min, of.lower_quartile, of.median, of.upper_quartile, of.max, of.mean];
        let cells: String =
            numbers.iter().map(|value| format!("<td class=\"number\">{}</td>", short(*value))).collect();
        format!("<tr><th>{name}</th>{cells}</tr>")
    };
    let spread = [
        distribution("values that are not zero in a row", &of.row_nonzeros),
        distribution("lengths of rows", &of.row_norms),
        distribution("means of features", &of.feature_means),
        distribution("variances of features", &of.feature_variances),
    ];
    let fact = |(name, value): (&str, String)| format!("<tr><th>{name}</th><td>{value}</td></tr>");
    let order = &of.order;
    let mut facts = vec![
        ("Ω, the most values in a row", grouped(of.row_nonzeros.max as usize)),
        ("δ, share of rows with the most frequent feature", short(of.delta)),
        ("ρ, two rows share a feature", interval(&of.rho)),
        ("different rows", interval(&of.diversity.distinct_rows)),
        ("near-duplicates of a row", interval(&of.diversity.near_duplicates)),
        ("C_sim of shuffled rows", interval(&order.shuffled)),
        ("LS, asynchronous: C_sim of 16 following rows", interval(&order.asynchronous.distance)),
        ("LS, batches: the largest C_sim inside one", interval(&order.batches.distance)),
        ("effective dimension", short(report.sample.effective_dimension)),
    ];
    for at in &report.sample.gradients {
        let name = match at.passes {
            0 => "gradient noise scale at the beginning",
            1 => "gradient noise scale after one pass",
            _ => "gradient noise scale after ten passes",
        };
        let more = format!("more than {} rows", grouped(report.sample.rows / 2));
        facts.push((name, at.noise_scale.map_or(more, |scale| format!("{} rows", short(scale)))));
    }
    let crowded = |of: &hemingway_train::Crowded| {
        format!(
            "<tr><th class=\"number\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            of.workers,
            short(of.along_gradient),
            short(of.least),
            short(of.safe)
        )
    };
    let crowding: String = report.sample.crowding.iter().map(crowded).collect();
    format!(
        "<div class=\"tables\"><table>{}</table><table><thead><tr><th></th><th>smallest</th><th>quarter</th><th>median</th>\
         <th>three quarters</th><th>largest</th><th>mean</th></tr></thead><tbody>{}</tbody></table>\
         <table><thead><tr><th>workers</th><th>σ' along the gradient</th><th>σ' at least</th><th>safe</th></tr></thead>\
         <tbody>{crowding}</tbody></table></div>",
        facts.into_iter().map(fact).collect::<String>(),
        spread.concat(),
    )
}

fn footer(report: &ProfileReport) -> String {
    format!(
        "{} loss, lambda {}. Values with an interval come from {} sampled rows; all others are exact. Nothing was trained.",
        report.loss,
        short(report.lambda),
        grouped(report.characters.sampled_rows)
    )
}

fn interval(of: &Interval) -> String {
    match of.is_exact() {
        true => short(of.mean),
        false => format!("{} <small>({} to {})</small>", short(of.mean), short(of.low), short(of.high)),
    }
}

fn workers(count: f64) -> String {
    if count < 10.0 { format!("{count:.1}").replace(".0", "") } else { grouped(count.round() as usize) }
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Three digits or so.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e3).contains(&size) => {
            let digits = (2.0 - size.log10().floor()).max(0.0) as usize;
            let text = format!("{value:.digits$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
        size if (1e3..1e9).contains(&size) && value > 0.0 => grouped(value.round() as usize),
        _ => format!("{value:.2e}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Charts are drawn black on white; on dark screens their paper and their ink change places, not their colours.
const STYLE: &str = "
:root { --paper: #ffffff; --ground: #f4f5f7; --ink: #1d2430; --faint: #667085; --line: #dfe3e8; --yes: #1a7f4b; --no: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #1b2029; --ground: #12161d; --ink: #e6e9ef; --faint: #98a2b3; --line: #303744; --yes: #4cc38a; --no: #f97066; }
  figure svg rect[fill='#FFFFFF'] { fill: var(--paper); }
  figure svg text { fill: var(--ink) !important; }
  figure svg line, figure svg polyline[stroke='#000000'] { stroke: #cbd2dc; }
  figure svg polyline, figure svg polygon, figure svg circle { filter: brightness(1.5); }
}
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); }
header, main, footer { max-width: 1180px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 36px; }
.kind { margin: 0; color: var(--faint); text-transform: uppercase; letter-spacing: .08em; font-size: 13px; }
h1 { margin: 0 0 16px; font-size: 30px; overflow-wrap: anywhere; }
h2 { margin: 36px 0 12px; font-size: 20px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; }
.tile { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; }
.tile b { display: block; font-size: 22px; } .tile span { color: var(--faint); font-size: 14px; }
table { border-collapse: collapse; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; width: 100%; }
th, td { text-align: left; padding: 8px 14px; border-top: 1px solid var(--line); vertical-align: top; font-weight: normal; }
thead th { color: var(--faint); font-size: 14px; border-top: 0; } tbody th { font-weight: 600; }
small { display: block; color: var(--faint); font-weight: normal; font-size: 13px; } td small { display: inline; }
.families td small { display: block; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.yes { color: var(--yes); white-space: nowrap; } .no { color: var(--no); white-space: nowrap; }
.note { color: var(--faint); }
ol { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 12px 24px 12px 44px; margin: 0; }
li { padding: 6px 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 16px; }
figure { margin: 0; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 8px; }
figure svg { width: 100%; height: auto; display: block; }
figcaption { color: var(--faint); font-size: 14px; padding: 0 12px 8px; }
.tables { display: grid; gap: 16px; overflow-x: auto; }
footer { color: var(--faint); padding-top: 28px; padding-bottom: 48px; font-size: 14px; }
";
