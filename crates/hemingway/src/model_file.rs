//! The model file: what training leaves behind and prediction starts from.
//!
//! One JSON object, made to be read by other programs too:
//!
//! | field | what it holds |
//! |---|---|
//! | `format` | always `"hemingway-model"` |
//! | `version` | `1`, `2` if there are `indices`, `3` if there is a `table` or there are `classes` |
//! | `loss` | `"hinge"`, `"smoothed-hinge"`, `"logistic"` or `"squared"` |
//! | `lambda` | strength of the L2 penalty |
//! | `lambda_choice` | how λ was chosen: the λ that were tried, folds or validation data, and the score; absent if it was given |
//! | `labels` | `{"classes": {"negative": …, "positive": …}}`, `{"several": [name, …]}`, or `"numbers"` for regression |
//! | `class_weights` | `[{"class": …, "weight": …}, …]`: how often a row of each class counted; absent if all counted once |
//! | `table` | what became of the columns of a table, see below; absent for data of other formats |
//! | `features` | number of features d, as the user counts them |
//! | `indices` | the features that have weights, counted from 0 and increasing; absent if all have |
//! | `weights` | d numbers, or as many as there are indices; none if there are `classes` |
//! | `bias` | a number, or `null` if the model has none |
//! | `transform` | what was done to the features before training, and has to be done to new data |
//! | `classes` | for each of several classes its `name`, `weights`, `bias`, `primal`, `dual`, `certified_error` and `run`; absent if there are two |
//! | `platt` | `slope` and `intercept` of the curve from margins to probabilities; absent if none was fitted |
//! | `primal` | the objective P at these weights; the sum over all classes |
//! | `dual` | a proved lower bound on the best possible P, or `null` |
//! | `certified_error` | proved bound on (P − P*)/P*, or `null`; the largest of all classes |
//! | `run` | the run it came from |
//! | `dataset` | what it was trained on |
//! | `fingerprint` | what that contained; what is proved is about no other data |
//!
//! A row x, transformed, is predicted by its margin x·weights + bias: the positive class if that is at least 0, the
//! negative class otherwise; for regression the margin is the prediction. Of several classes the one with the largest
//! margin is predicted, the first of those that are equal. Features without weights are left out of x
//! before it is transformed.
//!
//! A `table` has `header` (whether columns are known by name or by place), `numbers` (how they are written, if not as
//! programs do), `label` (`name` and `position`, counted from 1) and `columns`: for each one besides the label `name`,
//! `position` and what it `becomes`:
//!
//! | `becomes` | features |
//! |---|---|
//! | `{"number": {"fill", "centre", "indicator"}}` | the number, or `fill` if it is missing, less `centre`; with an indicator another one, 1 if it is missing |
//! | `{"boolean": {"fill", "indicator"}}` | 1 for true and yes, 0 for false and no, else as above |
//! | `{"date": {"order", "fill", "centre", "indicator"}}` | days since 1970-01-01 less `centre`, else as above; `order` is `day_first` or `month_first` in dates like 3/1/2024 |
//! | `{"text": {"levels", "other"}}` | one for each level, and one for all other values if `other`; where these are two, only the second; the level `""` is a missing value |
//! | `{"hashed": {"buckets"}}` | so many, of which the hash of the text chooses one |
//! | `{"left_out": {"reason"}}` | none |
//!
//! Features are numbered through the columns in their order.
//!
//! The file is written under another name first and then renamed, so it is there as a whole or not at all. Numbers are
//! written so that reading gives back the same bits.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use hemingway_data::{CountedClass, Encoding, Fingerprint, Labels, Transform};
use hemingway_train::Loss;
use serde::{Deserialize, Serialize};

use crate::target::Target;
use crate::{Error, LambdaChoice, PlattScaling};

/// The value of the field `format`.
pub const FORMAT: &str = "hemingway-model";

/// The version of models with a weight for every feature.
pub const VERSION: u32 = 1;

/// The version of models whose indices say which features have weights. Programs that know only [`VERSION`] must not
/// take such weights for those of the first features.
pub const SPARSE_VERSION: u32 = 2;

/// The version of models of tables and of several classes. Programs that do not know how columns become features, or which
/// weights are of which class, must not guess.
pub const LATEST_VERSION: u32 = 3;

/// A trained model with all that is needed to use it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFile {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`], [`SPARSE_VERSION`] if there are indices, or [`LATEST_VERSION`] if there is a table or there are classes.
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
    /// How often a row of each class counted in training, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_weights: Vec<CountedClass>,
    /// What became of the columns of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Encoding>,
    /// Number of features, as the user counts them.
    pub features: usize,
    /// The features that have weights, counted from 0 and increasing; nothing if all have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indices: Option<Vec<u32>>,
    /// One per feature that has one; none if there are classes.
    pub weights: Vec<f64>,
    /// The constant term, if it has one.
    pub bias: Option<f64>,
    /// Several classes, each told from the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassModel>,
    /// What was done to the features.
    pub transform: Transform,
    /// The curve from margins to probabilities, if one was fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platt: Option<PlattScaling>,
    /// The objective at these weights; the sum over all classes.
    pub primal: f64,
    /// Proved lower bound on the best possible objective.
    pub dual: Option<f64>,
    /// Proved bound on the relative error; the largest of all classes.
    pub certified_error: Option<f64>,
    /// The run it came from.
    pub run: String,
    /// What it was trained on.
    pub dataset: String,
    /// What that contained; unknown in models of older versions.
    #[serde(default)]
    pub fingerprint: Option<Fingerprint>,
}

/// What tells one of several classes from the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassModel {
    /// The label of the class.
    pub name: String,
    /// One per feature that has one.
    pub weights: Vec<f64>,
    /// The constant term, if it has one.
    pub bias: Option<f64>,
    /// The objective at these weights.
    pub primal: f64,
    /// Proved lower bound on the best possible objective.
    pub dual: Option<f64>,
    /// Proved bound on the relative error.
    pub certified_error: Option<f64>,
    /// The run it came from.
    pub run: String,
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

    /// Weights as training has them, the bias, if any, at the end: of each class, or the only ones.
    pub fn all_weights(&self) -> Vec<Vec<f64>> {
        let joined = |(weights, bias): (&[f64], Option<f64>)| weights.iter().copied().chain(bias).collect();
        self.blocks().into_iter().map(joined).collect()
    }

    /// Weights without the bias, and the bias: of each class, or the only ones.
    pub(crate) fn blocks(&self) -> Vec<(&[f64], Option<f64>)> {
        if self.classes.is_empty() {
            return vec![(&self.weights, self.bias)];
        }
        self.classes.iter().map(|class| (class.weights.as_slice(), class.bias)).collect()
    }

    /// The curve from margins to probabilities, if there is one: as it was fitted, or else that of the logistic loss.
    pub fn scaling(&self) -> Option<PlattScaling> {
        self.platt.or((self.loss == Loss::Logistic).then_some(PlattScaling::LOGISTIC))
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
        if !(VERSION..=LATEST_VERSION).contains(&header.version) {
            let known = format!("known are versions {VERSION} to {LATEST_VERSION}");
            return Err(format!("it has version {}, {known}", header.version));
        }
        let model: ModelFile = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<(), String> {
        self.check_table()?;
        self.check_indices()?;
        self.check_classes()?;
        let columns = self.transform.columns.as_ref();
        let weighted = self.indices.as_ref().map_or(self.features, Vec::len);
        let own = (!self.is_several()).then_some(self.weights.len());
        let weights = own.into_iter().chain(self.classes.iter().map(|class| class.weights.len()));
        let scaling = [
            ("means", columns.map_or(weighted, |columns| columns.mean.len())),
            ("scales", columns.map_or(weighted, |columns| columns.scale.len())),
        ];
        let mut counts = weights.map(|count| ("weights", count)).chain(scaling);
        if let Some((what, count)) = counts.find(|(_, count)| *count != weighted) {
            let what_for = if self.indices.is_some() { "indices" } else { "features" };
            return Err(format!("it has {count} {what} for {weighted} {what_for}"));
        }
        if let Some(weight) = self.all_weights().iter().flatten().find(|weight| !weight.is_finite()) {
            return Err(format!("one of its weights is {weight}"));
        }
        if let Some(PlattScaling { slope, intercept }) = self.platt.filter(|platt| !platt.is_finite()) {
            return Err(format!(
                "its curve from margins to probabilities has slope {slope} and intercept {intercept}"
            ));
        }
        let mut scales = columns.into_iter().flat_map(|columns| &columns.scale);
        match scales.find(|scale| !(**scale > 0.0 && scale.is_finite())) {
            Some(scale) => Err(format!("one of its scales is {scale}")),
            None => Ok(()),
        }
    }
}

impl ModelFile {
    fn is_several(&self) -> bool {
        !self.classes.is_empty()
    }

    fn check_table(&self) -> Result<(), String> {
        match (&self.table, self.version) {
            (Some(_), version) if version != LATEST_VERSION => {
                Err(format!("it has a table, which version {version} does not have"))
            }
            (Some(table), _) if table.features() != self.features => {
                Err(format!("its table has {} features, it has {}", table.features(), self.features))
            }
            (None, LATEST_VERSION) if !self.is_several() => {
                Err(format!("it has version {LATEST_VERSION} but neither a table nor classes"))
            }
            _ => Ok(()),
        }
    }

    /// Several classes have a block each, in the order of the labels.
    fn check_classes(&self) -> Result<(), String> {
        let named: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        match &self.labels {
            Labels::Several(names) if self.version != LATEST_VERSION => {
                Err(format!("it has {} classes, which version {} does not have", names.len(), self.version))
            }
            Labels::Several(names) if *names == named && names.len() > 2 => Ok(()),
            Labels::Several(names) => {
                Err(format!("its labels are {}, its classes {}", names.join(", "), named.join(", ")))
            }
            _ if self.is_several() => {
                Err("it has classes, but its labels are not of several classes".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn check_indices(&self) -> Result<(), String> {
        match (&self.indices, self.version) {
            (None, VERSION | LATEST_VERSION) => Ok(()),
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
pub(crate) mod tests {
    use hemingway_data::{Becomes, SourceColumn};

    use super::*;

    fn sparse() -> ModelFile {
        let indices = Some(vec![6, 99_999_999, 3_999_999_999]);
        ModelFile { version: SPARSE_VERSION, features: 4_000_000_000, indices, ..model() }
    }

    pub(crate) fn model() -> ModelFile {
        ModelFile {
            format: FORMAT.into(),
            version: VERSION,
            loss: Loss::Logistic,
            lambda: 1e-4,
            lambda_choice: None,
            labels: Labels::Classes { negative: "rest".into(), positive: "5".into() },
            table: None,
            class_weights: Vec::new(),
            features: 3,
            indices: None,
            weights: vec![0.1, -2.5e-300, 1.0 / 3.0],
            bias: Some(0.7),
            classes: Vec::new(),
            transform: Transform::default(),
            platt: None,
            primal: 0.25,
            dual: Some(0.2499),
            certified_error: Some(4e-4),
            run: "abcde".into(),
            dataset: "embedded:mnist".into(),
            fingerprint: Some(Fingerprint::default().treated("somehow")),
        }
    }

    pub(crate) fn several() -> ModelFile {
        let class = |name: &str, weight: f64| ClassModel {
            name: name.into(),
            weights: vec![weight, -weight, 1.0 / 3.0],
            bias: None,
            primal: 0.1,
            dual: None,
            certified_error: None,
            run: "fghjk".into(),
        };
        ModelFile {
            version: LATEST_VERSION,
            labels: Labels::Several(["a", "b", "c"].map(str::to_owned).into()),
            weights: Vec::new(),
            bias: None,
            classes: vec![class("a", 1.0), class("b", 2.0), class("c", 3.0)],
            ..model()
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
        let platt = Some(PlattScaling { slope: 1.0 / 3.0, intercept: -0.1 });
        for model in [sparse(), several(), ModelFile { platt, ..model() }, model()] {
            model.write(&file).unwrap();
            assert_eq!(ModelFile::read(&file).unwrap(), model);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
    }

    #[test]
    fn unusable_models_are_refused_with_the_reason() {
        assert_eq!(problem(|m| m["version"] = 9.into()), "it has version 9, known are versions 1 to 3");
        assert_eq!(problem(|m| m["format"] = "other".into()), "its format is `other`, not `hemingway-model`");
        assert_eq!(problem(|m| m["features"] = 4.into()), "it has 3 weights for 4 features");
        let columns = |mean: &[f32], scale: &[f32]| serde_json::json!({ "mean": mean, "scale": scale });
        let two_means = problem(|m| m["transform"]["columns"] = columns(&[0.0; 2], &[1.0; 3]));
        assert_eq!(two_means, "it has 2 means for 3 features");
        let no_scale = problem(|m| m["transform"]["columns"] = columns(&[0.0; 3], &[1.0, 0.0, 1.0]));
        assert_eq!(no_scale, "one of its scales is 0");
        assert!(problem(|m| m["platt"] = serde_json::json!({ "slope": 1.0 })).contains("intercept"));
        assert!(problem(|m| m["weights"][1] = serde_json::Value::Null).contains("null"));
        assert!(ModelFile::parse(b"1 2:3").unwrap_err().starts_with("no model"));
        assert!(ModelFile::parse(b"").unwrap_err().starts_with("no model"));
    }

    #[test]
    fn tables_have_a_version_of_their_own() {
        let number = Becomes::Number { fill: 0.1, centre: 29.7, indicator: false };
        let column = |position: usize| SourceColumn {
            name: format!("column {position}"),
            position,
            becomes: number.clone(),
        };
        let table = Encoding { columns: (1..=3).map(column).collect(), ..Encoding::default() };
        let model = ModelFile { version: LATEST_VERSION, table: Some(table), ..model() };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("model.json");
        model.write(&file).unwrap();
        assert_eq!(ModelFile::read(&file).unwrap(), model);
        let problem = |change: fn(&mut serde_json::Value)| problem_of(&model, change);
        assert_eq!(problem(|m| m["version"] = 1.into()), "it has a table, which version 1 does not have");
        assert_eq!(problem(|m| m["table"]["columns"] = [0; 0].into()), "its table has 0 features, it has 3");
        assert_eq!(
            self::problem(|m| m["version"] = 3.into()),
            "it has version 3 but neither a table nor classes"
        );
    }

    #[test]
    fn models_with_a_weight_for_every_feature_stay_as_they_were() {
        let value = serde_json::to_value(model()).unwrap();
        assert_eq!((&value["version"], value.get("indices")), (&1.into(), None));
        assert_eq!(value.get("classes"), None);
    }

    #[test]
    fn classes_that_make_no_sense_are_refused() {
        let of_several = |change: fn(&mut serde_json::Value)| problem_of(&several(), change);
        assert_eq!(
            of_several(|m| m["classes"][1]["weights"] = vec![1.0].into()),
            "it has 1 weights for 3 features"
        );
        assert_eq!(
            of_several(|m| m["classes"][1]["name"] = "d".into()),
            "its labels are a, b, c, its classes a, d, c"
        );
        assert_eq!(
            of_several(|m| m["version"] = 1.into()),
            "it has 3 classes, which version 1 does not have"
        );
        assert!(of_several(|m| m["labels"] = "numbers".into()).contains("not of several classes"));
        assert!(problem(|m| m["version"] = 3.into()).contains("neither a table nor classes"));
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
