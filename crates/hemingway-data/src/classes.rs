//! Several classes, each of which in turn is told from the rest.
//!
//! Whoever trains has rows of two classes. So that the rows of several classes need not be there once for each of them, only
//! targets change: class after class becomes +1, all others -1. What the dataset contains then is what it would contain had
//! it been read with that class picked.

use crate::labels::REST;
use crate::{Dataset, Fingerprint, Labels};

/// The classes of a dataset with several.
#[derive(Debug, Clone, PartialEq)]
pub struct EachClass {
    /// In order.
    pub names: Vec<String>,
    /// The class of each row.
    classes: Vec<f32>,
    /// What the dataset contains with each class against the rest, but for what was done to it since.
    contents: Vec<Fingerprint>,
}

impl EachClass {
    /// Of a dataset as it was read or sampled; nothing if it has not several classes.
    pub fn of(data: &Dataset) -> Option<EachClass> {
        let Labels::Several(names) = &data.labels else { return None };
        let contents = data.fingerprint.against_the_rest(&data.targets, names.len());
        Some(EachClass { names: names.clone(), classes: data.targets.clone(), contents })
    }

    /// The same classes in the present order of the rows.
    pub fn in_order_of(self, data: &Dataset) -> EachClass {
        EachClass { classes: data.targets.clone(), ..self }
    }

    /// The place of a class by its name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|of| of == name)
    }

    /// The number of each row's class.
    pub fn numbers(&self) -> &[f32] {
        &self.classes
    }

    /// How many rows are of a class.
    pub fn rows(&self, class: usize) -> usize {
        self.classes.iter().filter(|of| **of == class as f32).count()
    }

    /// What the dataset contained with this class against the rest.
    pub fn content(&self, class: usize) -> Fingerprint {
        self.contents[class]
    }

    /// Makes a class +1 and all others -1, in the dataset that this is of.
    pub fn tell_apart(&self, class: usize, data: &mut Dataset) {
        let sign = |of: &f32| if *of == class as f32 { 1.0 } else { -1.0 };
        data.targets.iter_mut().zip(&self.classes).for_each(|(target, of)| *target = sign(of));
        data.labels = Labels::Classes { negative: REST.to_string(), positive: self.names[class].clone() };
        data.fingerprint = data.fingerprint.with_targets_of(self.contents[class]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, parse_bytes};

    const DATA: &str = "b 1:1 2:3\na 2:1\nc 1:2\na 1:0.5\nc 2:0.1\n";

    fn read(options: &LoadOptions) -> Dataset {
        parse_bytes(None, DATA.as_bytes(), options).unwrap().dataset
    }

    fn several() -> Dataset {
        read(&LoadOptions { several: true, ..LoadOptions::default() })
    }

    fn picked(class: &str) -> Dataset {
        read(&LoadOptions { positive: Some(class.to_string()), ..LoadOptions::default() })
    }

    #[test]
    fn a_class_told_apart_is_as_if_it_had_been_picked() {
        let mut data = several();
        let each = EachClass::of(&data).unwrap();
        assert_eq!(each.names, ["a", "b", "c"]);
        assert_eq!([0, 1, 2].map(|class| each.rows(class)), [2, 1, 2]);
        for (class, name) in ["a", "b", "c"].into_iter().enumerate() {
            each.tell_apart(class, &mut data);
            assert_eq!(data, picked(name));
        }
    }

    #[test]
    fn so_it_is_after_shuffling() {
        let mut data = several().shuffled(3);
        let each = EachClass::of(&several()).unwrap().in_order_of(&data);
        each.tell_apart(2, &mut data);
        assert_eq!(data, picked("c").shuffled(3));
    }

    #[test]
    fn a_sample_has_rows_of_each_class() {
        let sample = several().sample(0.5, 1);
        let each = EachClass::of(&sample).unwrap();
        assert_eq!([0, 1, 2].map(|class| each.rows(class)), [1, 1, 1]);
        assert_eq!(EachClass::of(&picked("a")), None);
    }
}
