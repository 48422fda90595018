//! A computation as ONNX writes it: inputs, constants, and operators that make new values from named ones.
//!
//! The numbers of fields are those of `onnx.proto`; only the messages that models here need are written.

use super::wire::Message;

/// The version of the file's structure, and of the operators: both from 2020, so that old runtimes read them, too.
const IR_VERSION: i64 = 7;
const OPERATORS: i64 = 13;

/// What a value is made of, with the number that ONNX gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Float = 1,
    Integer = 7,
    Text = 8,
}

/// The size of a value in one direction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Size {
    /// As many as there are rows.
    Rows,
    /// So many.
    Fixed(usize),
}

/// A named value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value(String);

/// A computation that is being put together.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
}

/// A setting of an operator.
#[derive(Debug, Clone)]
pub(super) enum Attribute {
    /// A whole number.
    Whole(&'static str, i64),
    /// A list of them.
    List(&'static str, Vec<i64>),
    /// A list of texts.
    Texts(&'static str, Vec<String>),
}

/// Operators of a set of their own, which has a name and a version.
const MACHINE_LEARNING: (&[&str], &str, i64) = (&["LabelEncoder"], "ai.onnx.ml", 2);

impl Graph {
    /// A value that the caller gives.
    pub(super) fn input(&mut self, name: &str, kind: Kind, sizes: &[Size]) -> Value {
        self.inputs.push(described(name, kind, sizes));
        Value(name.to_owned())
    }

    /// A value that the caller gets.
    pub(super) fn output(&mut self, name: &str, value: &Value, kind: Kind, sizes: &[Size]) {
        let identity = node("Identity", &[value], name, &[]);
        self.nodes.push(identity);
        self.outputs.push(described(name, kind, sizes));
    }

    /// A tensor of constants.
    pub(super) fn floats(&mut self, sizes: &[usize], values: &[f32]) -> Value {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(|tensor| sized(tensor, Kind::Float, sizes).bytes(9, &bytes))
    }

    /// A list of whole numbers.
    pub(super) fn integers(&mut self, values: &[i64]) -> Value {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(|tensor| sized(tensor, Kind::Integer, &[values.len()]).bytes(9, &bytes))
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, values: &[String]) -> Value {
        self.constant(|tensor| {
            let tensor = sized(tensor, Kind::Text, &[values.len()]);
            tensor.repeated(values, |tensor, text| tensor.text(6, text))
        })
    }

    /// What an operator makes of some values. Its name begins with a stroke, as few columns do.
    pub(super) fn apply(&mut self, operator: &str, inputs: &[&Value], attributes: &[Attribute]) -> Value {
        let name = format!("/{}_{}", operator.to_lowercase(), self.nodes.len());
        self.nodes.push(node(operator, inputs, &name, attributes));
        Value(name)
    }

    /// The file, with some facts about the model.
    pub(super) fn into_file(self, name: &str, facts: &[(&str, String)]) -> Vec<u8> {
        let graph = Message::default()
            .repeated(&self.nodes, |graph, node| graph.message(1, node))
            .text(2, name)
            .repeated(&self.constants, |graph, constant| graph.message(5, constant))
            .repeated(&self.inputs, |graph, input| graph.message(11, input))
            .repeated(&self.outputs, |graph, output| graph.message(12, output));
        let (_, machine_learning, version) = MACHINE_LEARNING;
        let operators = |set: &str, version: i64| Message::default().text(1, set).number(2, version);
        let model = Message::default()
            .number(1, IR_VERSION)
            .text(2, "hemingway")
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, &graph)
            .message(8, &operators("", OPERATORS))
            .message(8, &operators(machine_learning, version));
        let fact = |name: &str, text: &str| Message::default().text(1, name).text(2, text);
        model.repeated(facts, |model, (name, text)| model.message(14, &fact(name, text))).into_bytes()
    }

    fn constant(&mut self, fill: impl FnOnce(Message) -> Message) -> Value {
        let name = format!("/constant_{}", self.constants.len());
        self.constants.push(fill(Message::default()).text(8, &name));
        Value(name)
    }
}

fn node(operator: &str, inputs: &[&Value], output: &str, attributes: &[Attribute]) -> Message {
    // After the name the value, in a field for its kind, and the number of that kind.
    let attribute = |attribute: &Attribute| match attribute {
        Attribute::Whole(name, value) => Message::default().text(1, name).number(3, *value).number(20, 2),
        Attribute::List(name, values) => {
            let named = Message::default().text(1, name);
            named.repeated(values, |list, value| list.number(8, *value)).number(20, 7)
        }
        Attribute::Texts(name, texts) => {
            let named = Message::default().text(1, name);
            named.repeated(texts, |list, text| list.text(9, text)).number(20, 8)
        }
    };
    let node = Message::default()
        .repeated(inputs, |node, Value(name)| node.text(1, name))
        .text(2, output)
        .text(4, operator)
        .repeated(attributes, |node, one| node.message(5, &attribute(one)));
    let (of_set, set, _) = MACHINE_LEARNING;
    if of_set.contains(&operator) { node.text(7, set) } else { node }
}

/// The beginning of a tensor: its sizes and what it is made of.
fn sized(tensor: Message, kind: Kind, sizes: &[usize]) -> Message {
    tensor.repeated(sizes, |tensor, size| tensor.number(1, *size as i64)).number(2, kind as i64)
}

/// What callers need to know of an input or output.
fn described(name: &str, kind: Kind, sizes: &[Size]) -> Message {
    let size = |size: &Size| match size {
        Size::Rows => Message::default().text(2, "rows"),
        Size::Fixed(size) => Message::default().number(1, *size as i64),
    };
    let shape = Message::default().repeated(sizes, |shape, one| shape.message(1, &size(one)));
    let tensor = Message::default().number(1, kind as i64).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}
