//! Records how the crate was built, for `hybridenv._native.build_info()`.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|out| String::from_utf8(out.stdout).ok())
        .map_or_else(|| "unknown".into(), |text| text.trim().to_owned());
    println!("cargo::rustc-env=HYBRIDENV_RUSTC={version}");
    for (name, source) in [
        ("HYBRIDENV_PROFILE", "PROFILE"),
        ("HYBRIDENV_OPT_LEVEL", "OPT_LEVEL"),
        ("HYBRIDENV_TARGET", "TARGET"),
        ("HYBRIDENV_TARGET_FEATURES", "CARGO_CFG_TARGET_FEATURE"),
    ] {
        println!("cargo::rustc-env={name}={}", env::var(source).unwrap_or_default());
    }
    println!("cargo::rerun-if-changed=build.rs");
}
