//! How functions become tests that the harness can name, choose, ignore and run.

use std::any::type_name;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};

/// The variable that names the folder of the shared test data.
const VARIABLE: &str = "HYBRIDENV_SHARED";

/// The folder with the Game Boy test data: below the one that [`VARIABLE`] names, or else below
/// `../shared` beside the repository.
struct Data {
    folder: PathBuf,
    /// Whether somebody said that it is there: then it has to be.
    named: bool,
}

impl Data {
    fn new() -> Self {
        let named = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
        let shared = named.as_ref().map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
            PathBuf::from,
        );
        Self { folder: shared.join("data/gameboy"), named: named.is_some() }
    }

    /// The folder, or why there is none.
    fn find(&self) -> Result<&Path, String> {
        if self.folder.is_dir() {
            return Ok(&self.folder);
        }
        let folder = self.folder.display();
        Err(if self.named {
            format!("no test data at {folder}, where {VARIABLE} says that it is")
        } else {
            format!("no test data at {folder} (set {VARIABLE} to the folder that holds `data`)")
        })
    }
}

/// A test that needs nothing from outside the repository.
pub fn test<F: Fn() + Send + 'static>(run: F) -> Trial {
    Trial::test(name_of::<F>(), move || {
        run();
        Ok(())
    })
}

/// A test over the shared data, whose Game Boy folder it gets. Where nobody promised the data and
/// it is missing, the test is ignored; where [`VARIABLE`] promises it in vain, the test fails.
pub fn test_with_data<F: Fn(&Path) + Send + 'static>(run: F) -> Trial {
    let data = Data::new();
    let missing = data.find().is_err();
    let ignored = missing && !data.named;
    Trial::test(name_of::<F>(), move || {
        run(data.find().map_err(Failed::from)?);
        Ok(())
    })
    .with_kind(if missing { "no test data" } else { "" })
    .with_ignored_flag(ignored)
}

/// Says why tests are ignored, unless they are only listed.
pub fn explain(arguments: &Arguments) {
    if let (Err(reason), false) = (Data::new().find(), arguments.list) {
        eprintln!("{reason}");
    }
}

/// `module::function` of a function of this suite.
fn name_of<F>() -> String {
    let path = type_name::<F>();
    path.split_once("::").map_or(path, |(_, name)| name).to_owned()
}
