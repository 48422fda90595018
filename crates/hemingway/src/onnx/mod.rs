//! A model as ONNX, for runtimes in other languages: transform, weights, labels and probabilities in one file.
//!
//! A model of a table has an input for each column (`columns`); of others the input `features` has one column for each
//! feature that has a weight, in their order. Outputs are `label`, `margin`
//! and, where the model gives them, `probabilities` (the negative class first); for regression `prediction`. Of several
//! classes margins and probabilities have a column each. Everything
//! is computed in 32 bits, which all runtimes can do; ours sums in 64 bits, so margins differ in the seventh digit.
//!
//! ONNX is a handful of Protocol Buffers messages. They are written by hand (`wire`, `graph`): a code generator would be
//! a larger dependency than what it generates.

mod columns;
mod graph;
mod wire;

use std::path::Path;

use hemingway_data::{Labels, Standardise};

use crate::target::Target;
use crate::{Error, ModelFile, PlattScaling};
use graph::{Attribute, Graph, Kind, Size, Value};

impl ModelFile {
    /// Writes it as ONNX, as a whole or not at all.
    pub fn write_onnx(&self, file: &Path) -> Result<(), Error> {
        let bytes = self.to_onnx()?;
        let written = Target::of(file).and_then(|target| target.write(|out| out.write_all(&bytes)));
        written.map_err(|source| Error::Unwritable { file: file.to_path_buf(), source })
    }

    /// The same in memory.
    pub fn to_onnx(&self) -> Result<Vec<u8>, Error> {
        let mut graph = Graph::default();
        let classes = self.blocks().len();
        let features = self.features(&mut graph)?;
        let transformed = self.transformed(&mut graph, features);
        let margin = self.margin(&mut graph, &transformed)?;
        let sizes = [Size::Rows, Size::Fixed(classes)];
        let label = match &self.labels {
            Labels::Numbers => {
                graph.output("prediction", &margin, Kind::Float, &sizes);
                return Ok(graph.into_file("hemingway", &self.facts()));
            }
            Labels::Classes { negative, positive } => {
                label_of_two(&mut graph, &margin, &[negative.clone(), positive.clone()])
            }
            Labels::Several(names) => label_of_several(&mut graph, &margin, names),
        };
        graph.output("label", &label, Kind::Text, &[Size::Rows]);
        graph.output("margin", &margin, Kind::Float, &sizes);
        if let Some(scaling) = self.scaling() {
            let each = probabilities(&mut graph, &margin, scaling, classes)?;
            graph.output("probabilities", &each, Kind::Float, &[Size::Rows, Size::Fixed(classes.max(2))]);
        }
        Ok(graph.into_file("hemingway", &self.facts()))
    }

    /// One input for all features, or one for each column of a table.
    fn features(&self, graph: &mut Graph) -> Result<Value, Error> {
        let Some(table) = &self.table else {
            let columns = self.blocks()[0].0.len();
            return Ok(graph.input("features", Kind::Float, &[Size::Rows, Size::Fixed(columns)]));
        };
        let all = columns::features(graph, table)?;
        let Some(indices) = &self.indices else { return Ok(all) };
        let indices: Vec<i64> = indices.iter().map(|index| i64::from(*index)).collect();
        let indices = graph.integers(&indices);
        Ok(graph.apply("Gather", &[&all, &indices], &[Attribute::Whole("axis", 1)]))
    }

    fn transformed(&self, graph: &mut Graph, mut value: Value) -> Value {
        if let Some(columns) = &self.transform.columns {
            value = standardised(graph, value, columns);
        }
        if self.transform.rows { normalised(graph, &value) } else { value }
    }

    fn margin(&self, graph: &mut Graph, transformed: &Value) -> Result<Value, Error> {
        let blocks = self.blocks();
        // A row for each class, which `transB` turns into a column.
        let weights = blocks.iter().flat_map(|(weights, _)| *weights).map(|weight| single(*weight, "weight"));
        let weights = weights.collect::<Result<Vec<f32>, Error>>()?;
        let weights = graph.floats(&[blocks.len(), blocks[0].0.len()], &weights);
        let biases = blocks.iter().map(|(_, bias)| single(bias.unwrap_or(0.0), "bias"));
        let biases = graph.floats(&[blocks.len()], &biases.collect::<Result<Vec<f32>, Error>>()?);
        Ok(graph.apply("Gemm", &[transformed, &weights, &biases], &[Attribute::Whole("transB", 1)]))
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let indices = self.indices.as_ref().map(|indices| {
            let indices: Vec<String> = indices.iter().map(u32::to_string).collect();
            ("indices", indices.join(","))
        });
        let facts =
            [("run", self.run.clone()), ("dataset", self.dataset.clone()), ("loss", self.loss.to_string())];
        facts.into_iter().chain(indices).collect()
    }
}

fn standardised(graph: &mut Graph, mut value: Value, columns: &Standardise) -> Value {
    let width = columns.scale.len();
    if columns.mean.iter().any(|mean| *mean != 0.0) {
        let mean = graph.floats(&[width], &columns.mean);
        value = graph.apply("Sub", &[&value, &mean], &[]);
    }
    let scale = graph.floats(&[width], &columns.scale);
    graph.apply("Div", &[&value, &scale], &[])
}

/// Rows of length 1. They are divided by their largest value first: squares of tiny or huge ones are none in 32 bits.
fn normalised(graph: &mut Graph, value: &Value) -> Value {
    let smallest = graph.floats(&[1], &[f32::MIN_POSITIVE]);
    let over_columns = [Attribute::List("axes", vec![1]), Attribute::Whole("keepdims", 1)];
    let sizes = graph.apply("Abs", &[value], &[]);
    let largest = graph.apply("ReduceMax", &[&sizes], &over_columns);
    let largest = graph.apply("Max", &[&largest, &smallest], &[]);
    let moderate = graph.apply("Div", &[value, &largest], &[]);
    let length = graph.apply("ReduceL2", &[&moderate], &over_columns);
    let length = graph.apply("Max", &[&length, &smallest], &[]);
    graph.apply("Div", &[&moderate, &length], &[])
}

/// The name of the class: the second where the margin is at least 0.
fn label_of_two(graph: &mut Graph, margin: &Value, names: &[String; 2]) -> Value {
    let (zero, names, all_rows) = (graph.floats(&[1], &[0.0]), graph.texts(names), graph.integers(&[-1]));
    let is_positive = graph.apply("GreaterOrEqual", &[margin, &zero], &[]);
    let class = graph.apply("Cast", &[&is_positive], &[Attribute::Whole("to", Kind::Integer as i64)]);
    let class = graph.apply("Reshape", &[&class, &all_rows], &[]);
    graph.apply("Gather", &[&names, &class], &[])
}

/// The name of the class with the largest margin, the first of those that are equal.
fn label_of_several(graph: &mut Graph, margins: &Value, names: &[String]) -> Value {
    let names = graph.texts(names);
    let largest = [Attribute::Whole("axis", 1), Attribute::Whole("keepdims", 0)];
    let class = graph.apply("ArgMax", &[margins], &largest);
    graph.apply("Gather", &[&names, &class], &[])
}

/// A column for each class.
fn probabilities(
    graph: &mut Graph,
    margin: &Value,
    scaling: PlattScaling,
    classes: usize,
) -> Result<Value, Error> {
    let mut z = margin.clone();
    if scaling != PlattScaling::LOGISTIC {
        let slope = graph.floats(&[1], &[single(scaling.slope, "slope")?]);
        let intercept = graph.floats(&[1], &[single(scaling.intercept, "intercept")?]);
        z = graph.apply("Mul", &[&z, &slope], &[]);
        z = graph.apply("Add", &[&z, &intercept], &[]);
    }
    if classes > 1 {
        return Ok(shares(graph, &z));
    }
    let opposite = graph.apply("Neg", &[&z], &[]);
    let positive = graph.apply("Sigmoid", &[&z], &[]);
    let negative = graph.apply("Sigmoid", &[&opposite], &[]);
    Ok(graph.apply("Concat", &[&negative, &positive], &[Attribute::Whole("axis", 1)]))
}

/// Probabilities of classes that were told from the rest one by one, brought to a sum of 1. Logarithms first, whose
/// exponentials are divided by the largest: so not all of them are 0 where none is likely.
fn shares(graph: &mut Graph, z: &Value) -> Value {
    let opposite = graph.apply("Neg", &[z], &[]);
    let softplus = graph.apply("Softplus", &[&opposite], &[]);
    let logarithms = graph.apply("Neg", &[&softplus], &[]);
    graph.apply("Softmax", &[&logarithms], &[Attribute::Whole("axis", 1)])
}

/// In 32 bits, if it is a number there.
fn single(value: f64, what: &str) -> Result<f32, Error> {
    let single = value as f32;
    let problem = || Error::NotInOnnx { problem: format!("its {what} {value:e} is too large for 32 bits") };
    single.is_finite().then_some(single).ok_or_else(problem)
}

#[cfg(test)]
mod tests {
    use hemingway_data::Transform;

    use super::wire::reading::{all, numbers, texts};
    use super::*;
    use crate::model_file::tests::{model, several};

    /// Operators in order, names of inputs, and names of outputs.
    fn structure(file: &[u8]) -> (Vec<String>, Vec<String>, Vec<String>) {
        let graph = &all(file, 7)[0];
        let names = |field: u32| all(graph, field).iter().flat_map(|one| texts(one, 1)).collect::<Vec<_>>();
        let operators = all(graph, 1).iter().flat_map(|node| texts(node, 4)).collect();
        (operators, names(11), names(12))
    }

    /// Every value that an operator takes is an input, a constant or what an earlier operator made; so is every output.
    fn check_order(file: &[u8]) {
        let graph = &all(file, 7)[0];
        let (_, mut known, outputs) = structure(file);
        known.extend(all(graph, 5).iter().flat_map(|constant| texts(constant, 8)));
        for node in all(graph, 1) {
            let taken = texts(&node, 1);
            assert!(taken.iter().all(|name| known.contains(name)), "{taken:?} of {:?}", texts(&node, 4));
            known.extend(texts(&node, 2));
        }
        assert!(outputs.iter().all(|name| known.contains(name)), "{outputs:?}");
    }

    #[test]
    fn a_logistic_model_gives_label_margin_and_probabilities() {
        let file = model().to_onnx().unwrap();
        let (operators, inputs, outputs) = structure(&file);
        assert_eq!(
            (inputs, outputs.join(" ")),
            (vec!["features".to_owned()], "label margin probabilities".to_owned())
        );
        assert_eq!(operators[0], "Gemm", "there is nothing to transform");
        check_order(&file);
        assert_eq!(numbers(&file, 1), [7]);
        assert_eq!(texts(&file, 2), ["hemingway"]);
        assert_eq!(numbers(&all(&file, 8)[0], 2), [13]);
    }

    #[test]
    fn constants_are_those_of_the_model() {
        let file = model().to_onnx().unwrap();
        let constants = all(&all(&file, 7)[0], 5);
        let weights = all(&constants[0], 9)[0].clone();
        let weights: Vec<f32> =
            weights.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
        assert_eq!(weights, [0.1, 0.0, 1.0 / 3.0]);
        assert_eq!((numbers(&constants[0], 1), numbers(&constants[0], 2)), (vec![1, 3], vec![1]));
        assert!(constants.iter().any(|constant| texts_of(constant) == ["rest", "5"]), "the classes in order");
    }

    /// The texts of a tensor of texts.
    fn texts_of(tensor: &[u8]) -> Vec<String> {
        if numbers(tensor, 2) == [8] { texts(tensor, 6) } else { Vec::new() }
    }

    #[test]
    fn all_that_a_model_can_have_is_computed_in_order() {
        let columns = Some(Standardise { mean: vec![1.0, 0.0, 0.0], scale: vec![2.0; 3] });
        let platt = Some(PlattScaling { slope: 2.0, intercept: -1.0 });
        let transform = Transform { rows: true, columns };
        let file = ModelFile { transform, platt, ..model() }.to_onnx().unwrap();
        check_order(&file);
        let (operators, ..) = structure(&file);
        assert_eq!(operators[..2], ["Sub", "Div"]);
        assert!(operators.iter().any(|operator| operator == "ReduceL2"), "{operators:?}");
        assert_eq!(operators.iter().filter(|operator| *operator == "Sigmoid").count(), 2);
    }

    #[test]
    fn hinge_and_regression_have_no_probabilities() {
        let hinge = ModelFile { loss: hemingway_train::Loss::Hinge, ..model() };
        assert_eq!(structure(&hinge.to_onnx().unwrap()).2, ["label", "margin"]);
        let squared = ModelFile { loss: hemingway_train::Loss::Squared, labels: Labels::Numbers, ..model() };
        assert_eq!(structure(&squared.to_onnx().unwrap()).2, ["prediction"]);
    }

    #[test]
    fn several_classes_are_columns_of_one_product() {
        let file = several().to_onnx().unwrap();
        check_order(&file);
        let (operators, _, outputs) = structure(&file);
        assert_eq!(outputs, ["label", "margin", "probabilities"]);
        assert!(operators.iter().any(|operator| operator == "ArgMax"), "{operators:?}");
        let constants = all(&all(&file, 7)[0], 5);
        assert_eq!(numbers(&constants[0], 1), [3, 3]);
        assert!(constants.iter().any(|constant| texts_of(constant) == ["a", "b", "c"]));
    }

    #[test]
    fn weights_beyond_32_bits_are_refused() {
        let error = ModelFile { bias: Some(1e300), ..model() }.to_onnx().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the model cannot be written as ONNX: its bias 1e300 is too large for 32 bits"
        );
    }

    #[test]
    fn features_without_weights_are_no_part_of_the_input() {
        let sparse =
            ModelFile { features: 4_000_000_000, indices: Some(vec![6, 99, 3_999_999_999]), ..model() };
        let file = sparse.to_onnx().unwrap();
        let facts: Vec<Vec<String>> = all(&file, 14).iter().map(|fact| texts(fact, 2)).collect();
        assert!(facts.contains(&vec!["6,99,3999999999".to_owned()]), "{facts:?}");
    }
}
