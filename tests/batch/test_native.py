"""The native module has a wrapper for everything, a stub that fits, and only frozen classes."""

import ast
import inspect
import re
from pathlib import Path

import hybridenv.batch
from hybridenv import _native

PACKAGE = Path(hybridenv.__file__).parent
BINDING = Path(__file__).parents[2] / "crates" / "envpool-rs" / "src" / "python"
STUB = Path(__file__).parents[2] / "python" / "hybridenv" / "_native.pyi"


def public(thing: object) -> set[str]:
    return {name for name in vars(thing) if not name.startswith("_")}


def used_attributes(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_everything_native_is_used_by_the_package() -> None:
    used = used_attributes(PACKAGE / "batch.py") | used_attributes(PACKAGE / "memory.py")
    names = public(_native)
    assert names == {"Batch", "States", "build_info"}
    members = public(_native.Batch) | public(_native.States)
    assert len(members) >= 30
    assert not (names | members) - used


def test_every_operation_has_a_documented_wrapper() -> None:
    renamed = {"read_range", "write_range", "picture"}  # behind `memory` and `screenshot`
    operations = public(_native.Batch) - renamed
    assert len(operations) >= 25
    for name in operations:
        wrapper = inspect.getattr_static(hybridenv.batch.GameBoyBatch, name)
        assert inspect.getdoc(wrapper), name


def test_the_stub_names_what_is_there() -> None:
    classes = {
        node.name: {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.ClassDef)
    }
    assert classes.keys() == {"Batch", "States"}
    for name, members in classes.items():
        assert members - {"__new__"} == public(getattr(_native, name))


def test_every_pyclass_is_frozen() -> None:
    declared = [
        attribute
        for path in sorted(BINDING.glob("*.rs"))
        for attribute in re.findall(r"#\[pyclass[^\]]*\]", path.read_text())
    ]
    assert len(declared) >= 3
    assert all("frozen" in attribute for attribute in declared), declared


def test_only_one_module_imports_the_native_one() -> None:
    modules = sorted(PACKAGE.rglob("*.py"))
    assert len(modules) >= 6
    importers = {
        path.name
        for path in modules
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.ImportFrom) and any(a.name == "_native" for a in node.names))
    }
    assert importers == {"batch.py"}


def test_unsafe_code_is_in_one_file() -> None:
    sources = sorted(BINDING.parent.rglob("*.rs"))
    assert len(sources) >= 10
    found = {path.name for path in sources if re.search(r"\bunsafe\b(?!_)", path.read_text())}
    assert found == {"arrays.rs"}
