//! The encoding of Protocol Buffers, as far as ONNX needs it: a message is a list of fields, each a key (its number and how
//! long its value is said to be) and the value: a number in seven bits a byte, or a length and so many bytes.

/// A message that is being written.
#[derive(Debug, Clone, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

/// How a value's length is known: it ends itself, or its length is in front.
const VARINT: u32 = 0;
const LENGTH: u32 = 2;

impl Message {
    /// A number.
    pub(super) fn number(mut self, field: u32, value: i64) -> Message {
        self.key(field, VARINT);
        // Negative numbers are written as unsigned ones of 64 bits.
        self.varint(value as u64);
        self
    }

    /// A string.
    pub(super) fn text(self, field: u32, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    /// A message inside.
    pub(super) fn message(self, field: u32, message: &Message) -> Message {
        self.bytes(field, &message.bytes)
    }

    /// The same field once for each.
    pub(super) fn repeated<T>(
        self,
        items: impl IntoIterator<Item = T>,
        add: impl Fn(Message, T) -> Message,
    ) -> Message {
        items.into_iter().fold(self, add)
    }

    /// Bytes of any kind.
    pub(super) fn bytes(mut self, field: u32, bytes: &[u8]) -> Message {
        self.key(field, LENGTH);
        self.varint(bytes.len() as u64);
        self.bytes.extend(bytes);
        self
    }

    /// What was written.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn key(&mut self, field: u32, length: u32) {
        self.varint(u64::from(field << 3 | length));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

/// Reads back what was written, for tests.
#[cfg(test)]
pub(super) mod reading {
    /// A field's value.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) enum Value {
        Number(u64),
        Bytes(Vec<u8>),
    }

    /// All fields of a message with their numbers.
    pub(crate) fn fields(mut bytes: &[u8]) -> Vec<(u32, Value)> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => Value::Number(varint(&mut bytes)),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    Value::Bytes(bytes.split_off(..length).expect("as long as it says").to_vec())
                }
                other => panic!("nothing is written with a length of kind {other}"),
            };
            fields.push(((key >> 3) as u32, value));
        }
        fields
    }

    /// The messages, strings or bytes in a field.
    pub(crate) fn all(bytes: &[u8], field: u32) -> Vec<Vec<u8>> {
        let found = fields(bytes).into_iter().filter(|(number, _)| *number == field);
        found
            .filter_map(|(_, value)| if let Value::Bytes(bytes) = value { Some(bytes) } else { None })
            .collect()
    }

    /// The strings in a field.
    pub(crate) fn texts(bytes: &[u8], field: u32) -> Vec<String> {
        all(bytes, field).into_iter().map(|text| String::from_utf8(text).expect("text")).collect()
    }

    /// The numbers in a field.
    pub(crate) fn numbers(bytes: &[u8], field: u32) -> Vec<i64> {
        let found = fields(bytes).into_iter().filter(|(number, _)| *number == field);
        found
            .filter_map(|(_, value)| if let Value::Number(n) = value { Some(n as i64) } else { None })
            .collect()
    }

    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *bytes.split_off_first().expect("the number goes on");
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
        }
        panic!("a number of more than 64 bits")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::reading::{Value, fields};
    use super::*;

    #[test]
    fn bytes_are_those_of_the_specification() {
        // The examples of the encoding guide: field 1 is 150, field 2 is "testing", field 3 holds the first message.
        let first = Message::default().number(1, 150);
        assert_eq!(first.clone().into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing").into_bytes();
        assert_eq!(text, [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        assert_eq!(Message::default().message(3, &first).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(
            Message::default().number(1, -2).into_bytes().len(),
            11,
            "negative numbers take ten bytes"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(number in any::<i64>(), text in ".*", field in 1u32..2000) {
            let message = Message::default().number(field, number).text(field, &text);
            let read = fields(&message.into_bytes());
            prop_assert_eq!(&read[0], &(field, Value::Number(number as u64)));
            prop_assert_eq!(&read[1], &(field, Value::Bytes(text.into_bytes())));
        }
    }
}
