//! How much of each judge the machine passes, as data: `bench/results/accuracy.json` holds the counts,
//! and tables are generated from it.
//!
//! A ratchet: a count that is not the recorded one fails its test, whether it is worse or better.
//! `make accuracy` sets [`VARIABLE`] to a folder; each count is then written there and not compared.

use std::path::{Path, PathBuf};

use serde_json::{json, Value};

const VARIABLE: &str = "HYBRIDENV_ACCURACY";

/// Records or compares that `passed` of the subjects of `judge` pass; `of` is their number.
pub fn settle(judge: &str, passed: usize, of: usize) {
    let found = json!({ "passed": passed, "of": of });
    if let Some(folder) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let file = PathBuf::from(folder).join(format!("{judge}.json"));
        std::fs::write(&file, found.to_string())
            .unwrap_or_else(|error| panic!("{VARIABLE}: {}: {error}", file.display()));
        return;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/results/accuracy.json");
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}; run `make accuracy`", file.display()));
    let recorded: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        found, recorded["suite"][judge],
        "{judge}: got the left, recorded is the right; if that is progress, run `make accuracy`"
    );
}
