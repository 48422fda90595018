//! Real data inside the program, so that the first run needs no download: the 10,000 test digits of MNIST.
//!
//! Where they come from and their licence: `embedded/README.md`.

use crate::assemble::{Assembler, Filled};
use crate::idx::{self, LabelSource};
use crate::input::Source;
use crate::partition::Share;
use crate::pipeline::BLOCK_BYTES;
use crate::{Error, LoadOptions};

/// The spec of the embedded dataset.
pub const EMBEDDED: &str = "embedded:mnist";

/// The digit told from the rest unless another is picked.
const POSITIVE: &str = "5";

static IMAGES: &[u8] = include_bytes!("../embedded/mnist-t10k-images-idx3-ubyte.gz");
static LABELS: &[u8] = include_bytes!("../embedded/mnist-t10k-labels-idx1-ubyte.gz");

/// The options, with a digit picked.
pub(crate) fn with_defaults(options: &LoadOptions) -> LoadOptions {
    let mut options = options.clone();
    options.positive.get_or_insert_with(|| POSITIVE.to_string());
    options
}

/// Reads the embedded dataset through the same code as files.
pub(crate) fn read(spec: &str, name: &str, share: Share, assembler: &mut Assembler) -> Result<Filled, Error> {
    if spec != EMBEDDED {
        let (spec, name) = (spec.to_string(), name.to_string());
        return Err(Error::UnknownEmbedded { spec, name, known: EMBEDDED });
    }
    let labels = LabelSource::Given(Box::new(Source::memory(spec, LABELS)?));
    idx::read(&mut Source::memory(spec, IMAGES)?, labels, share, BLOCK_BYTES, assembler)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Labels, Matrix, load};

    #[test]
    fn ten_thousand_digits() {
        let dataset = load(EMBEDDED, &LoadOptions::default()).unwrap();
        assert_eq!((dataset.matrix.rows(), dataset.matrix.columns()), (10_000, 784));
        assert!(matches!(dataset.matrix, Matrix::Sparse(_)));
        assert_eq!(dataset.targets.iter().filter(|target| **target > 0.0).count(), 892);
        assert_eq!(
            dataset.labels,
            Labels::Classes { negative: "rest".to_string(), positive: "5".to_string() }
        );
    }

    #[test]
    fn another_digit() {
        let options = LoadOptions { positive: Some("0".to_string()), ..LoadOptions::default() };
        let dataset = load(EMBEDDED, &options).unwrap();
        assert_eq!(dataset.targets.iter().filter(|target| **target > 0.0).count(), 980);
    }

    #[test]
    fn there_is_only_one() {
        let message = load("embedded:iris", &LoadOptions::default()).unwrap_err().to_string();
        assert!(message.contains("“iris”") && message.contains("embedded:mnist"), "{message}");
    }
}
