//! IDX, the format of MNIST: a small header, then one unsigned byte per pixel; labels in a file of their own.
//!
//! A header is two zero bytes, the type of the values (8: unsigned byte), the number of dimensions, and each dimension
//! as a big-endian 32-bit number. Pixels become `pixel / 255`. The labels of `…images-idx3-ubyte` are looked for in
//! `…labels-idx1-ubyte` beside it, either of them compressed or not.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use crate::assemble::{Assembler, Filled};
use crate::chunk::Chunk;
use crate::error::list;
use crate::input::Source;
use crate::labels::Column;
use crate::packing::{Packing, unpacked_name};
use crate::partition::Share;
use crate::pipeline::{self, BlockParser, Fault};
use crate::{Error, Format, LabelColumn, LoadOptions};

const UNSIGNED_BYTE: u8 = 8;
const LARGEST_ROW: u64 = 1 << 31;

/// Where the labels are.
pub(crate) enum LabelSource<'a> {
    /// In the file whose name follows from this one's.
    Beside,
    /// In this input.
    Given(Source<'a>),
    /// After the images in the same input: for tests, which have only one.
    Behind,
}

/// Reads this share of the images, and their labels unless they are not wanted.
pub(crate) fn read(
    source: &mut Source,
    labels: LabelSource,
    share: Share,
    block_bytes: usize,
    assembler: &mut Assembler,
) -> Result<Filled, Error> {
    check_options(source.file(), assembler.options)?;
    let images = Records::of_images(source)?;
    let rows = share.rows(source.file(), images.count)?;
    let filled = Filled { format: Format::Idx.name(), first_row: rows.start, total_rows: images.count };
    images.enter(source, &rows)?;
    pipeline::run(source, block_bytes, &Images { size: images.size as usize }, assembler)?;
    images.check_length(source, &rows)?;
    check_width(source.file(), images.size as usize, assembler.options)?;
    match labels {
        LabelSource::Behind => source.skip_to(images.end())?,
        _ => images.check_end(source, &rows)?,
    }
    if let Column::Skip = assembler.labels {
        return Ok(filled);
    }
    match labels {
        LabelSource::Behind => read_labels(source, &images, &rows, assembler)?,
        LabelSource::Given(mut given) => read_labels(&mut given, &images, &rows, assembler)?,
        LabelSource::Beside => {
            let mut beside = Source::open(&labels_beside(source.file())?)?;
            read_labels(&mut beside, &images, &rows, assembler)?;
        }
    }
    Ok(filled)
}

/// What follows a header: images or labels, all of one size.
#[derive(Debug)]
struct Records {
    count: usize,
    /// Bytes of each.
    size: u64,
    /// Where the header ends.
    begin: u64,
}

impl Records {
    fn of_images(source: &mut Source) -> Result<Records, Error> {
        let dimensions = header(source)?;
        let Some((count, rest @ [_, ..])) = dimensions.split_first() else {
            return Err(bad_header(
                source,
                "this IDX file has one dimension, so it holds labels, not images".to_string(),
                "name the images file; its labels are found beside it",
            ));
        };
        let size = rest.iter().fold(1u64, |product, size| product.saturating_mul(*size));
        if size > LARGEST_ROW {
            let problem =
                format!("the header says {size} bytes for each row; at most {LARGEST_ROW} are supported");
            return Err(bad_header(source, problem, "the file is probably damaged; fetch it again"));
        }
        if *count == 0 || size == 0 {
            return Err(Error::Empty { file: source.file().to_string() });
        }
        Ok(Records { count: *count as usize, size, begin: source.taken() })
    }

    fn of_labels(source: &mut Source) -> Result<Records, Error> {
        source.look_ahead()?;
        if source.head().is_empty() {
            let (file, tried) = (source.file().to_string(), "labels, and found no bytes".to_string());
            return Err(Error::IdxLabelsMissing { file, tried });
        }
        let dimensions = header(source)?;
        let [count] = dimensions[..] else {
            let problem = format!("a labels file has one dimension, this one has {}", dimensions.len());
            return Err(bad_header(source, problem, "check that images and labels are not swapped"));
        };
        Ok(Records { count: count as usize, size: 1, begin: source.taken() })
    }

    /// Brings the source to these rows and lets it end after them.
    fn enter(&self, source: &mut Source, rows: &Range<usize>) -> Result<(), Error> {
        source.skip_to(self.begin_of(rows.start))?;
        source.limit(rows.len() as u64 * self.size);
        Ok(())
    }

    /// Whether all these rows were there.
    fn check_length(&self, source: &mut Source, rows: &Range<usize>) -> Result<(), Error> {
        source.limit(u64::MAX);
        match source.taken() < self.begin_of(rows.end) {
            true => Err(self.wrong_length(source, source.taken().saturating_sub(self.begin).to_string())),
            false => Ok(()),
        }
    }

    /// Whether nothing follows, if these rows are the last.
    fn check_end(&self, source: &mut Source, rows: &Range<usize>) -> Result<(), Error> {
        match rows.end == self.count && source.fill(&mut Vec::new(), 1)? > 0 {
            true => Err(self.wrong_length(source, "more".to_string())),
            false => Ok(()),
        }
    }

    fn begin_of(&self, row: usize) -> u64 {
        self.begin + row as u64 * self.size
    }

    fn end(&self) -> u64 {
        self.begin_of(self.count)
    }

    fn wrong_length(&self, source: &Source, found: String) -> Error {
        Error::IdxLength { file: source.file().to_string(), expected: self.end() - self.begin, found }
    }
}

/// Parses images of so many bytes.
#[derive(Debug)]
struct Images {
    size: usize,
}

impl BlockParser for Images {
    fn whole_records(&self, buffer: &[u8]) -> usize {
        buffer.len() / self.size * self.size
    }

    fn most_values(&self, bytes: usize) -> usize {
        bytes
    }

    fn parse(&self, block: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        let shades: [f32; 256] = std::array::from_fn(|pixel| pixel as f32 / 255.0);
        for image in block.chunks_exact(self.size) {
            // Most of many images is background: eight pixels of it are one comparison.
            let (eights, rest) = image.as_chunks::<8>();
            for (at, eight) in eights.iter().enumerate().filter(|(_, eight)| **eight != [0; 8]) {
                chunk.push_some(8 * at as u32, eight.map(|pixel| shades[usize::from(pixel)]));
            }
            for (pixel, index) in rest.iter().zip(8 * eights.len() as u32..) {
                chunk.push(index, shades[usize::from(*pixel)]);
            }
            chunk.end_row();
        }
        chunk.widen(self.size);
        Ok(())
    }
}

/// The dimensions; the header is taken off the source.
fn header(source: &mut Source) -> Result<Vec<u64>, Error> {
    let head = source.head();
    let [0, 0, kind, count, rest @ ..] = head else {
        let problem =
            format!("an IDX file starts with two zero bytes, this one with {:?}", &head[..head.len().min(4)]);
        return Err(bad_header(source, problem, "--format names another format"));
    };
    if *kind != UNSIGNED_BYTE {
        let problem =
            format!("the values are of type 0x{kind:02x}; only unsigned bytes (0x08) are supported");
        return Err(bad_header(source, problem, "write the data as LIBSVM or CSV"));
    }
    let dimensions: Vec<u64> = (rest.chunks_exact(4).take(usize::from(*count)))
        .map(|bytes| u64::from(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])))
        .collect();
    if dimensions.is_empty() || dimensions.len() < usize::from(*count) {
        let problem = format!("the header promises {count} dimensions, but ends after {}", dimensions.len());
        return Err(bad_header(source, problem, "the file was cut short or damaged; fetch it again"));
    }
    source.skip(4 + 4 * dimensions.len());
    Ok(dimensions)
}

/// Reads the labels of these rows.
fn read_labels(
    source: &mut Source,
    images: &Records,
    rows: &Range<usize>,
    assembler: &mut Assembler,
) -> Result<(), Error> {
    let labels = Records::of_labels(source)?;
    if labels.count != images.count {
        return Err(Error::IdxCounts {
            images: assembler.file.to_string(),
            rows: images.count,
            labels: source.file().to_string(),
            count: labels.count,
        });
    }
    let mut bytes = Vec::new();
    labels.enter(source, rows)?;
    while source.fill(&mut bytes, pipeline::BLOCK_BYTES)? == pipeline::BLOCK_BYTES {}
    labels.check_length(source, rows)?;
    labels.check_end(source, rows)?;
    for (row, label) in rows.clone().zip(bytes) {
        let pushed = assembler.labels.push(label.to_string().as_bytes(), row);
        pushed.map_err(|problem| Error::Line { file: source.file().to_string(), line: row + 1, problem })?;
    }
    Ok(())
}

fn check_options(file: &str, options: &LoadOptions) -> Result<(), Error> {
    match options.label {
        LabelColumn::Auto | LabelColumn::Absent => Ok(()),
        _ => Err(Error::FixedLabel {
            file: file.to_string(),
            format: Format::Idx.to_string(),
            place: "labels have a file of their own",
        }),
    }
}

/// Test images must be at least as large as the training images.
fn check_width(file: &str, found: usize, options: &LoadOptions) -> Result<(), Error> {
    match options.columns {
        Some(expected) if found < expected => {
            Err(Error::FewerColumns { file: file.to_string(), expected, found })
        }
        _ => Ok(()),
    }
}

/// The first labels file that exists.
fn labels_beside(images: &str) -> Result<String, Error> {
    let candidates = label_names(images);
    candidates.iter().find(|path| Path::new(path).is_file()).cloned().ok_or_else(|| Error::IdxLabelsMissing {
        file: images.to_string(),
        tried: match candidates.as_slice() {
            [] => "the same name with labels for images, but the name has no “images”".to_string(),
            names => list(names, names.len()),
        },
    })
}

fn label_names(images: &str) -> Vec<String> {
    let path = Path::new(images);
    let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|name| name.contains("images"))
    else {
        return Vec::new();
    };
    let labels = name.replace("images", "labels").replace("idx3", "idx1");
    let plain = unpacked_name(&labels);
    let packed = Packing::ALL.map(|packing| format!("{plain}{}", packing.ending()));
    let mut names = vec![labels.clone(), plain.to_string()];
    names.extend(packed);
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names.into_iter().map(|name| path.with_file_name(name).display().to_string()).collect()
}

fn bad_header(source: &Source, problem: String, hint: &'static str) -> Error {
    Error::IdxHeader { file: source.file().to_string(), problem, hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dense, Matrix, parse_bytes};

    fn idx(dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
        let mut file = vec![0, 0, 8, dimensions.len() as u8];
        dimensions.iter().for_each(|dimension| file.extend(dimension.to_be_bytes()));
        file.extend(bytes);
        file
    }

    fn images() -> Vec<u8> {
        idx(&[2, 1, 2], &[255, 51, 0, 102])
    }

    fn check_error(bytes: &[u8], parts: &[&str]) {
        let message = parse_bytes(Format::Idx, bytes, &LoadOptions::default()).unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(message.contains(part), "{part}\nnot in\n{message}"));
    }

    #[test]
    fn pixels_become_fractions() {
        let both = [images(), idx(&[2], &[3, 7])].concat();
        let dataset = parse_bytes(Format::Idx, &both, &LoadOptions::default()).unwrap().dataset;
        assert_eq!(dataset.matrix, Matrix::Dense(Dense::new(2, 2, vec![1.0, 0.2, 0.0, 0.4])));
        assert_eq!(dataset.targets, vec![-1.0, 1.0]);
    }

    #[test]
    fn labels_may_be_far_behind() {
        let rows = 2 * pipeline::BLOCK_BYTES as u32;
        let labels: Vec<u8> = (0..rows).map(|row| (row % 2) as u8).collect();
        let both = [idx(&[rows, 1], &labels), idx(&[rows], &labels)].concat();
        let dataset = parse_bytes(Format::Idx, &both, &LoadOptions::default()).unwrap().dataset;
        assert_eq!((dataset.matrix.rows(), &dataset.targets[..3]), (rows as usize, &[-1.0, 1.0, -1.0][..]));
    }

    #[test]
    fn mistakes_are_explained() {
        check_error(&images(), &["no labels beside"]);
        check_error(&idx(&[2, 1, 2], &[1, 2, 3]), &["promises 4 bytes", "3 follow"]);
        check_error(&idx(&[5], &[1, 2, 3, 4, 5]), &["holds labels, not images"]);
        check_error(&[0, 0, 8, 3, 0, 0, 0, 1], &["promises 3 dimensions, but ends after 1"]);
        check_error(&[0, 0, 13, 1, 0, 0, 0, 1], &["type 0x0d"]);
        check_error(&[1, 2, 3, 4], &["two zero bytes, this one with [1, 2, 3, 4]"]);
        check_error(&idx(&[0, 1, 1], &[]), &["no rows"]);
        check_error(&idx(&[1, u32::MAX, u32::MAX], &[]), &["18446744065119617025 bytes for each row"]);
        check_error(&[images(), idx(&[3], &[1, 2, 3])].concat(), &["2 images, but", "has 3 labels"]);
        check_error(&[images(), idx(&[2], &[1])].concat(), &["promises 2 bytes", "1 follow"]);
        check_error(&[images(), idx(&[2], &[1, 2, 3])].concat(), &["promises 2 bytes", "more follow"]);
        check_error(&[images(), idx(&[2, 1], &[1, 2])].concat(), &["one dimension, this one has 2"]);
    }

    #[test]
    fn names_of_labels() {
        assert_eq!(
            label_names("a/t10k-images-idx3-ubyte.zst"),
            ["zst", "", "gz", "bz2", "xz"].map(|ending| match ending {
                "" => "a/t10k-labels-idx1-ubyte".to_string(),
                _ => format!("a/t10k-labels-idx1-ubyte.{ending}"),
            })
        );
        assert_eq!(
            label_names("train-images.idx3-ubyte")[..2],
            ["train-labels.idx1-ubyte", "train-labels.idx1-ubyte.gz"]
        );
        assert!(label_names("digits").is_empty());
    }
}
