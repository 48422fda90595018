//! What older versions have stored in another form, and nobody needs to read again.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// A value, or the default where it has the form of an older version.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    from: D,
) -> Result<T, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}
