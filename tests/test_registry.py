"""Registries, and extensions: files and modules outside the package that add to them."""

import os
import sys
from types import ModuleType

import pytest

from vmg.base import registry
from vmg.base.errors import VMGError
from vmg.base.registry import ClassRegistry, Registry, import_file, load_extension, load_extensions


@pytest.fixture(autouse=True)
def no_extensions(monkeypatch, tmp_path):
    """Nothing is loaded yet, and what a test loads is forgotten after it."""
    monkeypatch.delenv(registry.VARIABLE, raising=False)
    monkeypatch.setattr(registry, "_loaded", set())
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def tools(monkeypatch):
    """A registry that extensions can find: `from registry_test_tools import TOOLS`."""
    module = ModuleType("registry_test_tools")
    module.TOOLS = Registry("tool")
    module.TOOLS.add("hammer", "a hammer")
    monkeypatch.setitem(sys.modules, "registry_test_tools", module)
    return module.TOOLS


def write(file, *lines):
    file.write_text("\n".join(["from registry_test_tools import TOOLS", *lines]) + "\n", encoding="utf-8")
    return str(file)


# --- names ------------------------------------------------------------------------------------------------------------


def test_what_is_registered_is_found_by_its_name(tools):
    @tools.register("saw")
    def saw():
        return "zzz"

    assert saw() == "zzz"
    assert tools.find("saw") is saw
    assert "saw" in tools
    assert "drill" not in tools
    assert list(tools) == ["hammer", "saw"]
    assert tools.items() == [("hammer", "a hammer"), ("saw", saw)]


def test_a_name_that_is_taken_is_refused_and_stays(tools):
    with pytest.raises(VMGError, match=r"^The tool 'hammer' exists already\. Register yours under another name\.$"):
        tools.add("hammer", "another hammer")
    assert tools.find("hammer") == "a hammer"
    tools.add("hammer", tools.find("hammer"))


def test_one_definition_imported_twice_takes_its_own_name(tools):
    def define():
        def saw():
            return None

        return saw

    first, second = define(), define()
    tools.add("saw", first)
    tools.add("saw", second)
    assert tools.find("saw") is second


def test_an_unknown_name_is_answered_with_those_there_are(tools):
    tools.add("saw", "a saw")
    with pytest.raises(VMGError) as refused:
        tools.find("drill")
    assert str(refused.value) == (
        "There is no tool 'drill'. There are: hammer, saw. If an extension brings it, name the extension in "
        "VMG_EXTENSIONS."
    )


def test_a_class_is_told_its_name():
    shapes: ClassRegistry[type] = ClassRegistry("shape")

    @shapes.register("ball")
    class Ball:
        pass

    @shapes.register("egg")
    class Egg(Ball):
        pass

    assert (Ball.kind, Egg.kind) == ("ball", "egg")
    with pytest.raises(VMGError, match=r"The shape 'sphere' calls itself 'ball': register it under its own name"):
        shapes.add("sphere", Ball)
    with pytest.raises(VMGError, match=r"The shape 'egg' exists already"):
        shapes.add("egg", type("Omelette", (), {}))
    assert list(shapes) == ["ball", "egg"]


# --- extensions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "look", [lambda tools: tools.find("drill"), lambda tools: "drill" in tools, list, lambda tools: tools.items()]
)
def test_an_extension_is_loaded_when_a_name_is_unknown_or_all_are_listed(tools, tmp_path, monkeypatch, look):
    file = write(tmp_path / "extension_with_a_drill.py", 'TOOLS.add("drill", "a drill")')
    monkeypatch.setenv(registry.VARIABLE, file)
    assert tools.find("hammer") == "a hammer"
    assert "extension_with_a_drill" not in sys.modules
    look(tools)
    assert tools.find("drill") == "a drill"


def test_several_are_separated_as_in_path_and_each_is_loaded_once(tools, tmp_path, monkeypatch):
    files = [
        write(tmp_path / f"extension_number_{name}.py", f'TOOLS.add("{name}", [])', f'TOOLS.find("{name}").append(1)')
        for name in ("one", "two")
    ]
    monkeypatch.setenv(registry.VARIABLE, os.pathsep.join(["", *files, files[0]]))
    load_extensions()
    load_extensions()
    assert tools.items() == [("hammer", "a hammer"), ("one", [1]), ("two", [1])]


def test_an_extension_can_be_a_module(tools, tmp_path, monkeypatch):
    (tmp_path / "extending_package").mkdir()
    write(tmp_path / "extending_package" / "__init__.py")
    write(tmp_path / "extending_package" / "drills.py", 'TOOLS.add("drill", "a drill")')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(registry.VARIABLE, "extending_package.drills")
    assert tools.find("drill") == "a drill"


def test_an_installed_package_can_name_one(tools, tmp_path, monkeypatch):
    write(tmp_path / "installed_extension.py", 'TOOLS.add("drill", "a drill")')
    information = tmp_path / "installed_extension-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: installed-extension\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[vmg.extensions]\ndrills = installed_extension\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry._installed.cache_clear()
    try:
        assert tools.find("drill") == "a drill"
    finally:
        registry._installed.cache_clear()


def test_an_extension_may_look_things_up_while_it_is_imported(tools, tmp_path, monkeypatch):
    lines = ('assert "nothing" not in TOOLS', 'TOOLS.add("drill", list(TOOLS))')
    monkeypatch.setenv(registry.VARIABLE, write(tmp_path / "extension_that_looks.py", *lines))
    assert tools.find("drill") == ["hammer"]


def test_a_missing_file_is_named_whenever_it_is_asked_for(tools, tmp_path, monkeypatch):
    monkeypatch.setenv(registry.VARIABLE, str(tmp_path / "gone.py"))
    for _ in range(2):
        with pytest.raises(VMGError, match=r"The file .*gone\.py does not exist"):
            tools.find("drill")
    assert tools.find("hammer") == "a hammer"


def test_a_missing_module_is_named():
    with pytest.raises(VMGError, match=r"There is no module 'nowhere_to_be.found' to import\. A file is named by"):
        load_extension("nowhere_to_be.found")


def test_what_an_extension_itself_cannot_find_is_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "extension_in_need.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(tmp_path)
    for place in ("extension_in_need", str(tmp_path / "extension_in_need.py")):
        with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
            load_extension(place)


def test_a_file_is_imported_under_its_own_name_and_once(tmp_path):
    file = tmp_path / "module_of_its_own.py"
    file.write_text("class Thing: ...\n")
    module = import_file(str(file))
    assert module is import_file(str(file)) is sys.modules["module_of_its_own"]
    assert module.Thing.__module__ == "module_of_its_own"
    assert str(tmp_path) in sys.path


def test_a_file_that_is_called_like_another_module_is_refused(tmp_path):
    (tmp_path / "json.py").write_text("")
    with pytest.raises(VMGError, match=r"json\.py cannot be imported: another module is called json\. Rename the file"):
        import_file(str(tmp_path / "json.py"))
