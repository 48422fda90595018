//! Charts on a canvas, one below the other: title above, legend to the right, everything else from plotters.

use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};

use super::ruler::Ruler;
use super::{COLOURS, Chart, Mark, Series, size};

/// Told apart by most eyes, and in an order that suits growing numbers.
const PALETTE: [RGBColor; COLOURS] = [
    RGBColor(68, 40, 140),
    RGBColor(49, 104, 190),
    RGBColor(33, 150, 160),
    RGBColor(60, 165, 70),
    RGBColor(190, 165, 20),
    RGBColor(240, 130, 20),
    RGBColor(215, 55, 60),
    RGBColor(150, 25, 100),
];
const INK: RGBColor = RGBColor(40, 40, 40);
const FONT: &str = "sans-serif";
/// The width of the plot; the legend has the rest.
const PLOT: i32 = 645;
/// The height of the title.
const TITLE: i32 = 40;
/// From one line of the legend to the next.
const LINE: i32 = 21;

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;
type Area<B> = DrawingArea<B, Shift>;
type Plane<B> = DrawingArea<B, Cartesian2d<Ruler, Ruler>>;

/// Fills a bitmap of three bytes a pixel.
pub(super) fn on_bitmap(charts: &[Chart], pixels: &mut [u8]) {
    let canvas = BitMapBackend::with_buffer(pixels, size(charts)).into_drawing_area();
    draw_all(charts, &canvas).expect("memory takes any picture");
}

/// Writes an SVG into a text.
pub(super) fn on_svg(charts: &[Chart], text: &mut String) {
    let canvas = SVGBackend::with_string(text, size(charts)).into_drawing_area();
    draw_all(charts, &canvas).expect("memory takes any picture");
}

fn draw_all<B: DrawingBackend>(charts: &[Chart], canvas: &Area<B>) -> Drawn<B> {
    bring_font();
    canvas.fill(&WHITE)?;
    let panels = canvas.split_evenly((charts.len(), 1));
    charts.iter().zip(&panels).try_for_each(|(chart, panel)| draw(chart, panel))?;
    canvas.present()
}

fn draw<B: DrawingBackend>(chart: &Chart, canvas: &Area<B>) -> Drawn<B> {
    canvas.draw_text(&chart.title, &(FONT, 18).into_text_style(canvas).color(&INK), (16, 13))?;
    let (_, below) = canvas.split_vertically(TITLE);
    let (plot, legend) = below.split_horizontally(PLOT);
    draw_plot(chart, &plot)?;
    draw_legend(chart, &legend)
}

/// Makes the embedded font the one that is used.
fn bring_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let known = register_font(FONT, FontStyle::Normal, include_bytes!("font/DejaVuSans-subset.ttf"));
        assert!(known.is_ok(), "the embedded font is a font");
    });
}

fn draw_plot<B: DrawingBackend>(chart: &Chart, area: &Area<B>) -> Drawn<B> {
    let points = || chart.series.iter().flat_map(|series| chart.shown(series));
    let x = Ruler::new(&chart.x, points().map(|point| point.0));
    let y = Ruler::new(&chart.y, points().map(|point| point.1));
    let mut context = ChartBuilder::on(area)
        .margin_right(20)
        .margin_bottom(8)
        .margin_left(8)
        .x_label_area_size(44)
        .y_label_area_size(66)
        .build_cartesian_2d(x, y)?;
    context
        .configure_mesh()
        .x_desc(chart.x.label)
        .y_desc(chart.y.label)
        .label_style((FONT, 14).into_font().color(&INK))
        .axis_desc_style((FONT, 15).into_font().color(&INK))
        .bold_line_style(BLACK.mix(0.13))
        .light_line_style(TRANSPARENT)
        .draw()?;
    for series in &chart.series {
        draw_series(series, chart.shown(series), context.plotting_area())?;
    }
    Ok(())
}

fn draw_series<B: DrawingBackend>(series: &Series, points: Vec<(f64, f64)>, plane: &Plane<B>) -> Drawn<B> {
    let colour = colour(series);
    match series.mark {
        Mark::Line => plane.draw(&PathElement::new(points, colour.stroke_width(2))),
        Mark::Band => plane.draw(&Polygon::new(points, colour.mix(0.18))),
        Mark::Dots => points
            .into_iter()
            .try_for_each(|point| plane.draw(&Circle::new(point, 3, colour.mix(0.45).filled()))),
        Mark::Text => {
            let below = Pos::new(HPos::Center, VPos::Top);
            let style = (FONT, 13).into_font().color(&colour).pos(below);
            points.into_iter().try_for_each(|point| {
                plane
                    .draw(&(EmptyElement::at(point) + Text::new(series.label.clone(), (0, 7), style.clone())))
            })
        }
    }
}

/// Each label once, with its marks before it, then the notes.
fn draw_legend<B: DrawingBackend>(chart: &Chart, area: &Area<B>) -> Drawn<B> {
    let style = (FONT, 14).into_text_style(area).color(&INK);
    let mut rows: Vec<(&str, usize)> = Vec::new();
    let mut next = 0;
    for series in chart.series.iter().filter(|series| series.mark != Mark::Text) {
        let known = rows.iter().find(|(label, _)| *label == series.label).map(|(_, row)| *row);
        if known.is_none() {
            rows.push((&series.label, next));
            next += series.label.lines().count();
        }
        let row = known.or_else(|| rows.last().map(|(_, row)| *row)).unwrap_or(0);
        draw_sample(series, area, LINE * row as i32 + 10)?;
    }
    let texts =
        rows.iter().flat_map(|(label, row)| label.lines().zip(*row..).map(|(line, row)| (line, row, 34)));
    let notes = chart.notes.iter().zip(next + 1..).map(|(note, row)| (*note, row, 2));
    for (text, row, left) in texts.chain(notes) {
        area.draw_text(text, &style, (left, LINE * row as i32 + 4))?;
    }
    Ok(())
}

fn draw_sample<B: DrawingBackend>(series: &Series, area: &Area<B>, middle: i32) -> Drawn<B> {
    let colour = colour(series);
    match series.mark {
        Mark::Line => area.draw(&PathElement::new([(2, middle), (27, middle)], colour.stroke_width(3))),
        Mark::Dots => area.draw(&Circle::new((14, middle), 4, colour.mix(0.45).filled())),
        Mark::Band => {
            area.draw(&Rectangle::new([(2, middle - 7), (27, middle + 7)], colour.mix(0.18).filled()))
        }
        Mark::Text => Ok(()),
    }
}

fn colour(series: &Series) -> RGBColor {
    PALETTE[series.colour % PALETTE.len()]
}
