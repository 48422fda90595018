//! Charts: labelled series over two axes, as PNG and as SVG.
//!
//! A chart is plain data, so that whoever makes one can be tested without looking at pixels, and so that the same data
//! can be written as CSV. `axis` and `ruler` decide where values go and which are named, `draw` puts it all on a canvas. The
//! legend stands beside the plot, never on it. Several charts make one picture, one below the other. Letters come from an embedded font: charts look the same on machines
//! that have none.

mod axis;
mod draw;
mod ruler;

pub(crate) use axis::{Axis, Scale};

/// Width and height of a chart in pixels.
pub(crate) const SIZE: (u32, u32) = (800, 500);

/// Colours that are told apart.
pub(crate) const COLOURS: usize = 8;

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    pub title: String,
    /// What the marks stand for, beside the plot; one line each.
    pub notes: Vec<&'static str>,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// What they are, in one line or more; several series may share a label, the legend shows it once.
    pub label: String,
    /// A number in the palette.
    pub colour: usize,
    pub mark: Mark,
    pub points: Vec<(f64, f64)>,
}

/// How points are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Line,
    Dots,
    /// A translucent area; its outline is the points.
    Band,
    /// The label itself, below each point; the legend leaves it out.
    Text,
}

impl Mark {
    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Line => "line",
            Mark::Dots => "dots",
            Mark::Band => "band",
            Mark::Text => "text",
        }
    }
}

impl Chart {
    /// As PNG.
    pub fn png(&self) -> Vec<u8> {
        png(std::slice::from_ref(self))
    }

    /// As SVG.
    pub fn svg(&self) -> String {
        svg(std::slice::from_ref(self))
    }

    /// Its data, one line for each point.
    pub fn csv(&self) -> String {
        let mut text = "series,mark,x,y\n".to_owned();
        for series in &self.series {
            for (x, y) in &series.points {
                text += &format!("{},{},{x},{y}\n", series.label, series.mark.name());
            }
        }
        text
    }

    /// The points of a series that can be shown: finite, and inside the axes.
    fn shown(&self, series: &Series) -> Vec<(f64, f64)> {
        let inside = |(x, y): &(f64, f64)| self.x.shows(*x) && self.y.shows(*y);
        series.points.iter().copied().filter(inside).collect()
    }
}

/// Charts one below the other, as PNG.
pub(crate) fn png(charts: &[Chart]) -> Vec<u8> {
    let (width, height) = size(charts);
    let mut pixels = vec![255; 3 * width as usize * height as usize];
    draw::on_bitmap(charts, &mut pixels);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    written.expect("memory takes any picture");
    bytes
}

/// The same as SVG.
pub(crate) fn svg(charts: &[Chart]) -> String {
    let mut text = String::new();
    draw::on_svg(charts, &mut text);
    text
}

fn size(charts: &[Chart]) -> (u32, u32) {
    (SIZE.0, SIZE.1 * charts.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let line = |label: &str, colour: usize, mark: Mark, factor: f64| Series {
            label: label.to_owned(),
            colour,
            mark,
            points: (1..50).map(|i| (f64::from(i), factor / f64::from(i))).collect(),
        };
        let mut broken = line("broken", 2, Mark::Line, 1.0);
        broken.points[3].1 = f64::NAN;
        broken.points[7].1 = -1.0;
        Chart {
            title: "Progress".into(),
            notes: vec!["dots: measured"],
            x: Axis::new("rounds", Scale::Linear),
            y: Axis::new("sub-optimality", Scale::Decades),
            series: vec![line("m = 1", 0, Mark::Line, 1.0), line("m = 2", 1, Mark::Dots, 2.0), broken],
        }
    }

    fn decode(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width, info.height, pixels)
    }

    #[test]
    fn a_png_has_its_size_and_is_not_blank() {
        let (width, height, pixels) = decode(&chart().png());
        assert_eq!((width, height), SIZE);
        let dark = pixels.chunks(3).filter(|pixel| pixel.iter().all(|&value| value < 128)).count();
        assert!(dark > 500, "only {dark} dark pixels: no letters");
        let coloured = pixels.chunks(3).filter(|pixel| pixel.iter().max() > pixel.iter().min()).count();
        assert!(coloured > 500, "only {coloured} coloured pixels: no series");
    }

    #[test]
    fn an_svg_has_every_word() {
        let text = chart().svg();
        for word in ["Progress", "rounds", "sub-optimality", "m = 1", "m = 2", "dots: measured"] {
            assert!(text.contains(word), "{word}");
        }
    }

    #[test]
    fn two_charts_are_one_picture() {
        let mut charts = [chart(), chart()];
        charts[1].title = "Below".to_owned();
        charts[1].series[0].label = "first line\nsecond line".to_owned();
        let (width, height, _) = decode(&png(&charts));
        assert_eq!((width, height), (SIZE.0, 2 * SIZE.1));
        let text = svg(&charts);
        for word in ["Progress", "Below", "first line", "second line"] {
            assert!(text.contains(word), "{word}");
        }
    }

    #[test]
    fn an_empty_chart_is_a_chart() {
        let empty = Chart { series: Vec::new(), ..chart() };
        assert_eq!(decode(&empty.png()).0, SIZE.0);
        assert_eq!(empty.csv(), "series,mark,x,y\n");
    }
}
