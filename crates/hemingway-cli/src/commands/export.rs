//! `hemingway export`: a model as a file for other programs.

use std::process::ExitCode;

use hemingway::ModelFile;
use serde_json::json;

use crate::arguments::Export;
use crate::failure::Usage;
use crate::output;

pub fn run(arguments: Export) -> anyhow::Result<ExitCode> {
    let Export { model, file, json } = arguments;
    let model = ModelFile::read(&model)?;
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let what = match ending.as_deref() {
        Some("csv") => {
            model.coefficients().write_csv(&file)?;
            "coefficients"
        }
        Some("onnx") => {
            model.write_onnx(&file)?;
            "model"
        }
        _ => {
            let file = file.display();
            return Err(
                Usage(format!("{file} ends in none of .csv and .onnx, which say what to write")).into()
            );
        }
    };
    if json {
        output::json(&json!({ "file": file, "what": what, "run": model.run }))?;
    } else {
        output::note(&format!("{what} of {} written to {}", model.run, file.display()));
    }
    Ok(ExitCode::SUCCESS)
}
