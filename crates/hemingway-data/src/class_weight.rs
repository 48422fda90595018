//! How often the rows of each class count: `balanced`, or a number for each class by its name.
//!
//! `balanced` lets every class count alike: a row counts n/(k·n_c) times, where n_c of the n rows are of its class, one of
//! k. Where rows have weights of their own, n and n_c are sums of those, and both weights are multiplied.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::dataset::is_weight;
use crate::labels::same;
use crate::together::{Alone, sum};
use crate::{Dataset, Error, Labels, Part, Together};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum ClassWeight {
    /// Every class counts alike.
    Balanced,
    /// A row of a class counts so often; of a class that is not named, once.
    Named(Vec<(String, f32)>),
}

/// How often a row of a class counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountedClass {
    /// The class by its label.
    pub class: String,
    /// How often.
    pub weight: f32,
}

impl ClassWeight {
    /// One number per class, given the sum of weights of the rows of each: their number, where rows have none.
    pub fn of(&self, file: &str, classes: &[&str], sums: &[f64]) -> Result<Vec<f32>, Error> {
        let named = match self {
            ClassWeight::Named(named) => named,
            ClassWeight::Balanced => return balanced(file, classes, sums),
        };
        if let Some((unknown, _)) =
            named.iter().find(|(name, _)| !classes.iter().any(|class| same(class, name)))
        {
            let classes = classes.iter().map(|class| (*class).to_owned()).collect();
            return Err(Error::UnknownClass { file: file.to_owned(), class: unknown.clone(), classes });
        }
        let weight = |class: &&str| {
            named.iter().find(|(name, _)| same(name, class)).map_or(1.0, |(_, weight)| *weight)
        };
        let weights: Vec<f32> = classes.iter().map(weight).collect();
        if weights.iter().zip(sums).all(|(weight, sum)| *weight == 0.0 || *sum == 0.0) {
            return Err(Error::NoWeight { file: file.to_owned() });
        }
        Ok(weights)
    }
}

fn balanced(file: &str, classes: &[&str], sums: &[f64]) -> Result<Vec<f32>, Error> {
    let share = sums.iter().sum::<f64>() / classes.len() as f64;
    let weight = |(class, sum): (&&str, &f64)| {
        let weight = (share / sum) as f32;
        if is_weight(weight) {
            Ok(weight)
        } else {
            Err(Error::NothingToBalance { file: file.to_owned(), class: (*class).to_owned() })
        }
    };
    classes.iter().zip(sums).map(weight).collect()
}

impl Dataset {
    /// Multiplies how often rows count by what is asked for their class, and says what that is for each. The fingerprint
    /// becomes that of weighted data.
    pub fn weigh_classes(&mut self, asked: &ClassWeight) -> Result<Vec<CountedClass>, Error> {
        weigh(self, asked, &mut Alone)
    }
}

impl Part {
    /// As [`Dataset::weigh_classes`] on all parts at once. Every worker calls it and gets the same.
    pub fn weigh_classes(
        &mut self,
        asked: &ClassWeight,
        together: &mut dyn Together,
    ) -> Result<Vec<CountedClass>, Error> {
        weigh(&mut self.dataset, asked, together)
    }
}

fn weigh(
    data: &mut Dataset,
    asked: &ClassWeight,
    together: &mut dyn Together,
) -> Result<Vec<CountedClass>, Error> {
    let Some(classes) = classes(&data.labels) else {
        return Err(Error::ClassWeightOfNumbers { file: data.name.clone() });
    };
    let mut sums = vec![0.0; classes.len()];
    for (row, target) in data.targets.iter().enumerate() {
        sums[place(&data.labels, *target)] += f64::from(data.weight(row));
    }
    let found = asked.of(&data.name, &classes, &sum(&sums, together)?)?;
    // The largest numbers times one another are none.
    let of_class = |target: f32| found[place(&data.labels, target)];
    let weight = |(row, target): (usize, &f32)| (data.weight(row) * of_class(*target)).min(f32::MAX);
    let weights = data.targets.iter().enumerate().map(weight).collect();
    let counted = classes.into_iter().zip(&found);
    let counted = counted.map(|(class, weight)| CountedClass { class: class.to_owned(), weight: *weight });
    let counted = counted.collect();
    data.weights = Some(weights);
    data.fingerprint = data.fingerprint.treated(&format!("rows of classes count {found:?} times"));
    Ok(counted)
}

/// The classes by their labels.
fn classes(labels: &Labels) -> Option<Vec<&str>> {
    match labels {
        Labels::Classes { negative, positive } => Some(vec![negative, positive]),
        Labels::Several(names) => Some(names.iter().map(String::as_str).collect()),
        Labels::Numbers => None,
    }
}

/// Which of them a target stands for.
fn place(labels: &Labels, target: f32) -> usize {
    match labels {
        Labels::Several(_) => target as usize,
        Labels::Classes { .. } | Labels::Numbers => usize::from(target > 0.0),
    }
}

impl FromStr for ClassWeight {
    type Err = Error;

    /// `balanced`, or `NAME=WEIGHT,…`.
    fn from_str(text: &str) -> Result<ClassWeight, Error> {
        if text.trim() == "balanced" {
            return Ok(ClassWeight::Balanced);
        }
        let refuse = |problem: String| Error::ClassWeight { text: text.to_owned(), problem };
        let mut named: Vec<(String, f32)> = Vec::new();
        for piece in text.split(',') {
            let Some((name, weight)) = piece.rsplit_once('=') else {
                return Err(refuse(format!("“{}” is no NAME=WEIGHT", piece.trim())));
            };
            let (name, weight) = (name.trim(), weight.trim());
            let number = weight.parse().ok().filter(|weight| is_weight(*weight));
            let number = number.ok_or_else(|| {
                refuse(format!("the weight “{weight}” of “{name}” is not a finite number of 0 or more"))
            })?;
            if named.iter().any(|(other, _)| same(other, name)) {
                return Err(refuse(format!("“{name}” is there twice")));
            }
            named.push((name.to_owned(), number));
        }
        Ok(ClassWeight::Named(named))
    }
}

impl fmt::Display for ClassWeight {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let ClassWeight::Named(named) = self else { return f.write_str("balanced") };
        let pieces: Vec<String> = named.iter().map(|(name, weight)| format!("{name}={weight}")).collect();
        f.write_str(&pieces.join(","))
    }
}

impl From<ClassWeight> for String {
    fn from(weight: ClassWeight) -> String {
        weight.to_string()
    }
}

impl TryFrom<String> for ClassWeight {
    type Error = Error;

    fn try_from(text: String) -> Result<ClassWeight, Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dense, Matrix};

    fn data(targets: &[f32]) -> Dataset {
        let matrix = Matrix::Dense(Dense::new(targets.len(), 1, vec![1.0; targets.len()]));
        let labels = Labels::Classes { negative: "no".into(), positive: "yes".into() };
        Dataset::new("test", matrix, targets.to_vec(), labels)
    }

    fn weighed(mut data: Dataset, asked: &str) -> Result<Vec<f32>, String> {
        let asked: ClassWeight = asked.parse().map_err(|error: Error| error.to_string())?;
        data.weigh_classes(&asked).map_err(|error| error.to_string())?;
        Ok(data.weights.unwrap_or_default())
    }

    #[test]
    fn several_classes_count_alike() {
        let labels = Labels::Several(["a", "b", "c"].map(str::to_owned).to_vec());
        let six = Dataset { labels, ..data(&[0.0, 1.0, 1.0, 2.0, 2.0, 2.0]) };
        let third = 6.0 / 9.0;
        assert_eq!(weighed(six.clone(), "balanced"), Ok(vec![2.0, 1.0, 1.0, third, third, third]));
        assert_eq!(weighed(six, "b=5"), Ok(vec![1.0, 5.0, 5.0, 1.0, 1.0, 1.0]));
    }

    #[test]
    fn classes_count_as_asked_or_alike() {
        let four = || data(&[1.0, -1.0, -1.0, -1.0]);
        assert_eq!(weighed(four(), "yes=3"), Ok(vec![3.0, 1.0, 1.0, 1.0]));
        assert_eq!(weighed(four(), "no=0.5, yes=2"), Ok(vec![2.0, 0.5, 0.5, 0.5]));
        let [few, many] = [2.0, 4.0 / 6.0];
        assert_eq!(weighed(four(), "balanced"), Ok(vec![few, many, many, many]));
        // A row that counts 0 times is not there.
        let three = four().with_weights(vec![4.0, 1.0, 1.0, 0.0]).unwrap();
        assert_eq!(weighed(three.clone(), "yes=3"), Ok(vec![12.0, 1.0, 1.0, 0.0]));
        assert_eq!(weighed(three, "balanced"), Ok(vec![3.0, 1.5, 1.5, 0.0]));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_name() {
        let refused = |asked: &str, parts: &[&str]| {
            let message = weighed(data(&[1.0, -1.0]), asked).unwrap_err();
            assert!(parts.iter().all(|part| message.contains(part)), "{asked}: {message}");
        };
        refused("yess=3", &["no class “yess”", "did you mean yes?"]);
        refused("yes=-1", &["the weight “-1” of “yes”"]);
        refused("yes=nan", &["“nan”"]);
        refused("yes=inf", &["“inf”"]);
        refused("yes=1e39", &["“1e39”"]);
        refused("yes", &["“yes” is no NAME=WEIGHT"]);
        refused("", &["“” is no NAME=WEIGHT"]);
        refused("yes=1,yes=2", &["“yes” is there twice"]);
        refused("yes=0,no=0", &["all rows have weight 0"]);
        let mut numbers = data(&[1.0, 2.0]);
        numbers.labels = Labels::Numbers;
        assert!(weighed(numbers, "balanced").unwrap_err().contains("quantities"));
        let one_sided = data(&[1.0, -1.0]).with_weights(vec![1.0, 0.0]).unwrap();
        assert!(weighed(one_sided.clone(), "balanced").unwrap_err().contains("“no”"));
        assert!(weighed(one_sided, "yes=0").unwrap_err().contains("all rows have weight 0"));
    }

    #[test]
    fn names_of_numbers_are_numbers() {
        let mut numbered = data(&[1.0, -1.0]);
        numbered.labels = Labels::Classes { negative: "-1".into(), positive: "+1".into() };
        assert_eq!(weighed(numbered, "1.0=3,-1=2"), Ok(vec![3.0, 2.0]));
    }

    #[test]
    fn as_text_and_back() {
        for text in ["balanced", "yes=3,no=0.5"] {
            let asked: ClassWeight = text.parse().unwrap();
            assert_eq!(asked.to_string(), text);
            assert_eq!(
                serde_json::from_str::<ClassWeight>(&serde_json::to_string(&asked).unwrap()).unwrap(),
                asked
            );
        }
    }

    #[test]
    fn other_weights_are_other_data() {
        let plain = data(&[1.0, -1.0, -1.0]);
        let weights = |weights: [f32; 3]| plain.clone().with_weights(weights.to_vec()).unwrap().fingerprint;
        assert_eq!(weights([1.0, 2.0, 3.0]), weights([1.0, 2.0, 3.0]));
        for other in [[1.0, 3.0, 2.0], [1.0, 2.0, 0.0]] {
            assert_ne!(weights([1.0, 2.0, 3.0]), weights(other));
        }
        assert_ne!(weights([1.0; 3]), plain.fingerprint);
        let mut weighed = plain.clone();
        weighed.weigh_classes(&"yes=3".parse().unwrap()).unwrap();
        assert_eq!(weighed.fingerprint.difference(&plain.fingerprint), Some(crate::Difference::Treatment));
    }

    #[test]
    fn weights_that_are_none_are_refused_with_their_row() {
        for unusable in [-1.0, f32::NAN, f32::INFINITY] {
            let message = data(&[1.0, -1.0]).with_weights(vec![1.0, unusable]).unwrap_err().to_string();
            assert!(message.contains("row 2") && message.contains(&unusable.to_string()), "{message}");
        }
        let message = data(&[1.0, -1.0]).with_weights(vec![0.0; 2]).unwrap_err().to_string();
        assert!(message.contains("all rows have weight 0"), "{message}");
    }

    #[test]
    fn rows_keep_their_weights_wherever_they_go() {
        let rows = 200;
        let targets: Vec<f32> = (0..rows).map(|row| if row % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let values: Vec<f32> = (0..rows).map(|row| row as f32).collect();
        let matrix = Matrix::Dense(Dense::new(rows, 1, values.clone()));
        let labels = Labels::Classes { negative: "no".into(), positive: "yes".into() };
        let all = Dataset::new("test", matrix, targets, labels).with_weights(values).unwrap();
        let sampled = crate::sample_rows(&all, 20, 1);
        for some in [all.sample(0.3, 1), all.shuffled(1), all.rows_at(&[7, 3]), sampled] {
            let Matrix::Dense(dense) = &some.matrix else { panic!("dense rows stay dense") };
            assert_eq!(some.weights.as_deref(), Some(dense.values()));
        }
        assert_ne!(
            all.sample(0.3, 1).fingerprint,
            Dataset { weights: None, ..all }.sample(0.3, 1).fingerprint
        );
    }
}
