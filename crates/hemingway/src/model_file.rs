//! The model file: what training leaves behind and prediction starts from.
//!
//! One JSON object, made to be read by other programs too:
//!
//! | field | what it holds |
//! |---|---|
//! | `format` | always `"hemingway-model"` |
//! | `version` | `1`, or `2` if there are `indices` |
//! | `loss` | `"hinge"`, `"smoothed-hinge"`, `"logistic"` or `"squared"` |
//! | `lambda` | strength of the L2 penalty |
//! | `lambda_choice` | how λ was chosen: the λ that were tried, folds or validation data, and the score; absent if it was given |
//! | `labels` | `{"classes": {"negative": …, "positive": …}}`, or `"numbers"` for regression |
//! | `features` | number of features d, as the user counts them |
//! | `indices` | the features that have weights, counted from 0 and increasing; absent if all have |
//! | `weights` | d numbers, or as many as there are indices |
//! | `bias` | a number, or `null` if the model has none |
//! | `transform` | what was done to the features before training, and has to be done to new data |
//! | `primal` | the objective P at these weights |
//! | `dual` | a proved lower bound on the best possible P, or `null` |
//! | `certified_error` | proved bound on (P − P*)/P*, or `null` |
//! | `run` | the run it came from |
//! | `dataset` | what it was trained on |
//! | `fingerprint` | what that contained; what is proved is about no other data |
//!
//! A row x, transformed, is predicted by its margin x·weights + bias: the positive class if that is at least 0, the
//! negative class otherwise; for regression the margin is the prediction. Features without weights are left out of x
//! before it is transformed.
//!
//! The file is written under another name first and then renamed, so it is there as a whole or not at all. Numbers are
//! written so that reading gives back the same bits.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use hemingway_data::{Fingerprint, Labels, Transform};
use hemingway_train::Loss;
use serde::{Deserialize, Serialize};

use crate::target::Target;
use crate::{Error, LambdaChoice};

/// The value of the field `format`.
pub const FORMAT: &str = "hemingway-model";

/// The version of models with a weight for every feature.
pub const VERSION: u32 = 1;

/// The version of models whose indices say which features have weights. Programs that know only [`VERSION`] must not
/// take such weights for those of the first features.
pub const SPARSE_VERSION: u32 = 2;

/// A trained model with all that is needed to use it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFile {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`], or [`SPARSE_VERSION`] if there are indices.
    pub version: u32,
    /// The loss it minimises.
    pub loss: Loss,
    /// Strength of the L2 penalty.
    pub lambda: f64,
    /// How that was chosen; absent if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda_choice: Option<LambdaChoice>,
    /// What predictions stand for.
    pub labels: Labels,
    /// Number of features, as the user counts them.
    pub features: usize,
    /// The features that have weights, counted from 0 and increasing; nothing if all have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indices: Option<Vec<u32>>,
    /// One per feature that has one.
    pub weights: Vec<f64>,
    /// The constant term, if it has one.
    pub bias: Option<f64>,
    /// What was done to the features.
    pub transform: Transform,
    /// The objective at these weights.
    pub primal: f64,
    /// Proved lower bound on the best possible objective.
    pub dual: Option<f64>,
    /// Proved bound on the relative error.
    pub certified_error: Option<f64>,
    /// The run it came from.
    pub run: String,
    /// What it was trained on.
    pub dataset: String,
    /// What that contained; unknown in models of older versions.
    #[serde(default)]
    pub fingerprint: Option<Fingerprint>,
}

/// Enough to tell a model of another version from a file of something else.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

impl ModelFile {
    /// Writes the file as a whole or not at all, at the end of a link if it is one; into a pipe or a device as it comes.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        let written = Target::of(file).and_then(|target| target.write(|out| self.write_to(out)));
        written.map_err(|source| Error::WriteModel { file: file.to_path_buf(), source })
    }

    /// Reads a model and checks that it can be used.
    pub fn read(file: &Path) -> Result<ModelFile, Error> {
        let text = fs::read(file).map_err(|source| Error::Read { file: file.to_path_buf(), source })?;
        ModelFile::parse(&text).map_err(|problem| Error::Model { file: file.to_path_buf(), problem })
    }

    /// Weights as training has them: the bias, if any, at the end.
    pub fn all_weights(&self) -> Vec<f64> {
        self.weights.iter().copied().chain(self.bias).collect()
    }

    fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    fn parse(text: &[u8]) -> Result<ModelFile, String> {
        let header: Header = serde_json::from_slice(text).map_err(|error| format!("no model: {error}"))?;
        if header.format != FORMAT {
            return Err(format!("its format is `{}`, not `{FORMAT}`", header.format));
        }
        if ![VERSION, SPARSE_VERSION].contains(&header.version) {
            let known = format!("known are versions {VERSION} and {SPARSE_VERSION}");
            return Err(format!("it has version {}, {known}", header.version));
        }
        let model: ModelFile = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<(), String> {
        self.check_indices()?;
        let columns = self.transform.columns.as_ref();
        let weighted = self.indices.as_ref().map_or(self.features, Vec::len);
        let counts = [
            ("weights", self.weights.len()),
            ("means", columns.map_or(weighted, |columns| columns.mean.len())),
            ("scales", columns.map_or(weighted, |columns| columns.scale.len())),
        ];
        if let Some((what, count)) = counts.iter().find(|(_, count)| *count != weighted) {
            let what_for = if self.indices.is_some() { "indices" } else { "features" };
            return Err(format!("it has {count} {what} for {weighted} {what_for}"));
        }
        if let Some(weight) = self.all_weights().iter().find(|weight| !weight.is_finite()) {
            return Err(format!("one of its weights is {weight}"));
        }
        let mut scales = columns.into_iter().flat_map(|columns| &columns.scale);
        match scales.find(|scale| !(**scale > 0.0 && scale.is_finite())) {
            Some(scale) => Err(format!("one of its scales is {scale}")),
            None => Ok(()),
        }
    }
}

impl ModelFile {
    fn check_indices(&self) -> Result<(), String> {
        match (&self.indices, self.version) {
            (None, VERSION) => Ok(()),
            (None, version) => Err(format!("it has version {version} but no indices")),
            (Some(_), VERSION) => Err(format!("it has indices, which version {VERSION} does not have")),
            (Some(indices), _) => {
                if let Some(pair) = indices.windows(2).find(|pair| pair[0] >= pair[1]) {
                    return Err(format!("its index {} follows {}", pair[1], pair[0]));
                }
                match indices.last() {
                    Some(last) if *last as usize >= self.features => {
                        Err(format!("its index {last} is beyond its {} features", self.features))
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse() -> ModelFile {
        let indices = Some(vec![6, 99_999_999, 3_999_999_999]);
        ModelFile { version: SPARSE_VERSION, features: 4_000_000_000, indices, ..model() }
    }

    fn model() -> ModelFile {
        ModelFile {
            format: FORMAT.into(),
            version: VERSION,
            loss: Loss::Logistic,
            lambda: 1e-4,
            lambda_choice: None,
            labels: Labels::Classes { negative: "rest".into(), positive: "5".into() },
            features: 3,
            indices: None,
            weights: vec![0.1, -2.5e-300, 1.0 / 3.0],
            bias: Some(0.7),
            transform: Transform::default(),
            primal: 0.25,
            dual: Some(0.2499),
            certified_error: Some(4e-4),
            run: "abcde".into(),
            dataset: "embedded:mnist".into(),
            fingerprint: Some(Fingerprint::default().treated("somehow")),
        }
    }

    fn problem(change: impl FnOnce(&mut serde_json::Value)) -> String {
        problem_of(&model(), change)
    }

    fn problem_of(model: &ModelFile, change: impl FnOnce(&mut serde_json::Value)) -> String {
        let mut value = serde_json::to_value(model).unwrap();
        change(&mut value);
        ModelFile::parse(value.to_string().as_bytes()).unwrap_err()
    }

    #[test]
    fn what_is_written_is_read_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("model.json");
        for model in [sparse(), model()] {
            model.write(&file).unwrap();
            assert_eq!(ModelFile::read(&file).unwrap(), model);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
    }

    #[test]
    fn unusable_models_are_refused_with_the_reason() {
        assert_eq!(problem(|m| m["version"] = 3.into()), "it has version 3, known are versions 1 and 2");
        assert_eq!(problem(|m| m["format"] = "other".into()), "its format is `other`, not `hemingway-model`");
        assert_eq!(problem(|m| m["features"] = 4.into()), "it has 3 weights for 4 features");
        let columns = |mean: &[f32], scale: &[f32]| serde_json::json!({ "mean": mean, "scale": scale });
        let two_means = problem(|m| m["transform"]["columns"] = columns(&[0.0; 2], &[1.0; 3]));
        assert_eq!(two_means, "it has 2 means for 3 features");
        let no_scale = problem(|m| m["transform"]["columns"] = columns(&[0.0; 3], &[1.0, 0.0, 1.0]));
        assert_eq!(no_scale, "one of its scales is 0");
        assert!(problem(|m| m["weights"][1] = serde_json::Value::Null).contains("null"));
        assert!(ModelFile::parse(b"1 2:3").unwrap_err().starts_with("no model"));
        assert!(ModelFile::parse(b"").unwrap_err().starts_with("no model"));
    }

    #[test]
    fn models_with_a_weight_for_every_feature_stay_as_they_were() {
        let value = serde_json::to_value(model()).unwrap();
        assert_eq!((&value["version"], value.get("indices")), (&1.into(), None));
    }

    #[test]
    fn indices_that_make_no_sense_are_refused() {
        let of_sparse = |change: fn(&mut serde_json::Value)| problem_of(&sparse(), change);
        assert_eq!(of_sparse(|m| m["indices"] = vec![1, 2].into()), "it has 3 weights for 2 indices");
        assert_eq!(of_sparse(|m| m["indices"] = vec![3, 3, 4].into()), "its index 3 follows 3");
        assert_eq!(of_sparse(|m| m["features"] = 9.into()), "its index 3999999999 is beyond its 9 features");
        assert_eq!(of_sparse(|m| m["version"] = 1.into()), "it has indices, which version 1 does not have");
        assert_eq!(problem(|m| m["version"] = 2.into()), "it has version 2 but no indices");
    }

    #[test]
    fn a_failed_write_names_the_file() {
        let error = model().write(Path::new("/no/such/folder/model.json")).unwrap_err();
        assert!(error.to_string().starts_with("cannot write the model to /no/such/folder/model.json"));
    }
}
