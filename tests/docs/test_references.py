"""What the pages refer to is there: pages, headings, public names and their signatures, options, tasks, extras."""

import ast
import importlib
import inspect
import re
import tomllib
import unicodedata
from dataclasses import MISSING, fields
from urllib.parse import unquote

import pytest
from pages import DOCS, README, ROOT, prose

import vmg
from vmg.cli.main import COMMANDS
from vmg.data import READERS
from vmg.envs import TASKS

PAGES = [page for page in (README, *DOCS) if page.exists()]
CONFIGS = ("LearnConfig", "Translator", "GraphConfig", "SolveConfig", "ActConfig", "TaskGoal")


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def slug(heading):
    """A heading's anchor, as Markdown's table of contents makes it."""
    plain = unicodedata.normalize("NFKD", heading.replace("`", "")).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


@pytest.mark.parametrize("source", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(source):
    links = r"""\]\(([^)\s]+)\)|\b(?:src|srcset)="([^"]+)"|^--8<-- "([^"]+)"$"""
    for link, picture, included in re.findall(links, prose(source), re.MULTILINE):
        if included:
            assert (ROOT / included).is_file(), f"{source.name} includes {included}"
            continue
        target = link or picture
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        there = (source.parent / path) if path else source
        assert there.exists(), f"{source.name} links to {target}"
        if anchor:
            assert anchor in map(slug, sections(there)), f"{source.name} links to {target}"


def sections(page):
    """The text under each heading of a page, up to the next one."""
    _, *parts = re.split(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


METHOD = ROOT / "docs" / "method.md"
EQUATIONS = re.findall(r"\[`(vmg[\w.]+)`\]\(api\.md#([\w-]+)\)", METHOD.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "anchor"), sorted(set(EQUATIONS)))
def test_the_function_beside_an_equation_exists_and_is_in_the_reference(name, anchor):
    assert callable(resolve(name))
    (section,) = [text for heading, text in sections(ROOT / "docs" / "api.md").items() if slug(heading) == anchor]
    assert re.search(rf"`{re.escape(name)}\b", section), f"{name} is not where method.md says it is"


def test_every_equation_names_its_function():
    tables = re.findall(
        r"^\| (?:equation|step) \| function \|\n\|---\|---\|\n((?:\|.*\n)+)", METHOD.read_text(encoding="utf-8"), re.M
    )
    assert len(tables) == 10
    rows = [row for table in tables for row in table.splitlines()]
    assert all(re.search(r"\| (?:\[`vmg|the same)", row) for row in rows)


def test_every_page_can_be_found():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert sorted(re.findall(r"[\w/-]+\.md", navigation)) == [str(p.relative_to(ROOT / "docs")) for p in DOCS]


@pytest.mark.parametrize("source", PAGES, ids=lambda page: page.stem)
def test_names_that_are_mentioned_exist(source):
    text = source.read_text(encoding="utf-8")
    for name in sorted(set(re.findall(r"\bvmg(?:\.[A-Za-z_]\w*)+", text))):
        resolve(name)
    for word in ("node", "nodes"):
        assert not re.search(rf"\b{word}\b", text, re.IGNORECASE), f"{source.name}: say vertex, not {word}"


def resolve(name):
    """Import as much of a dotted name as is a module, and look the rest up."""
    module, rest = "vmg", name.split(".")[1:]
    found = vmg
    while rest:
        following = rest.pop(0)
        try:
            found = getattr(found, following)
        except AttributeError:
            if following in getattr(found, "__dataclass_fields__", ()):
                return None
            found = importlib.import_module(f"{module}.{following}")
        module = f"{module}.{following}"
    return found


def test_the_reference_holds_every_public_name():
    text = page("api.md")
    missing = [name for name in vmg.__all__ if not re.search(rf"\bvmg\.{name}\b", text)]
    assert not missing


SIGNATURES = [
    (name, written)
    for name, written in re.findall(r"`(vmg(?:\.\w+)+)(\([^`]*\))`", page("api.md"))
    if name.removeprefix("vmg.") not in CONFIGS  # settings have tables of their own
]


def test_there_are_signatures():
    assert {"vmg.load", "vmg.solve", "vmg.Policy.decide"} <= {name for name, _ in SIGNATURES}


@pytest.mark.parametrize(("name", "written"), SIGNATURES, ids=[name for name, _ in SIGNATURES])
def test_signatures_are_the_real_ones(name, written):
    parsed = ast.parse(f"def function{written}: ...").body[0].args
    parameters = inspect.signature(resolve(name)).parameters.values()
    positional = [p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD and p.name != "self"]
    keywords = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY]
    assert [argument.arg for argument in parsed.args] == positional
    assert [argument.arg for argument in parsed.kwonlyargs] == keywords
    assert (parsed.kwarg is not None) == any(p.kind == p.VAR_KEYWORD for p in parameters)
    defaults = [ast.literal_eval(default) for default in (*parsed.defaults, *parsed.kw_defaults) if default is not None]
    assert defaults == [p.default for p in parameters if p.default is not p.empty]


@pytest.mark.parametrize("name", CONFIGS)
def test_options_and_their_defaults_are_the_real_ones(name):
    section = re.split(r"^### ", page("api.md"), flags=re.MULTILINE)
    (table,) = [part for part in section if part.startswith(f"`vmg.{name}`")]
    written = re.findall(r"^\| `(\w+)` \| (.+?) \|", table, re.MULTILINE)
    real = [(f.name, default_of(f)) for f in fields(getattr(vmg, name))]
    assert written == [(option, default.replace("'", '"')) for option, default in real]


def default_of(field):
    if field.default_factory is not MISSING:
        return f"`vmg.{type(field.default_factory()).__name__}()`"
    return "needed" if field.default is MISSING else f"`{field.default!r}`"


def test_every_command_task_and_source_has_its_place():
    assert set(re.findall(r"^## `vmg ([\w ]+)`", page("commands.md"), re.MULTILINE)) == set(COMMANDS)
    assert set(TASKS) <= set(re.findall(r"[\w-]+", page("tasks.md")))
    assert all(f"`{source}:" in page("data.md") for source in READERS)


@pytest.mark.parametrize("source", PAGES, ids=lambda page: page.stem)
def test_extras_exist(source):
    with open(ROOT / "pyproject.toml", "rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    text = source.read_text(encoding="utf-8")
    named = re.findall(r"(?:value-memory-graph|'\.)\[([\w,]+)\]", text)
    assert {extra for names in named for extra in names.split(",")} <= set(extras)
