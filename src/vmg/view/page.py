"""A web page in one file: pictures and films lie inside it, nothing is fetched from elsewhere."""

import io
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from vmg.base.errors import require
from vmg.view.style import STYLES

CSS = f"""
:root {{ color-scheme: light dark; --paper: {STYLES["light"].paper}; --ink: {STYLES["light"].ink}; --faint: #5a5a5a;
  --line: {STYLES["light"].wall}; --soft: #f4f5f6; --accent: #00594f; --good: #00664c; --bad: #a33c00; }}
@media (prefers-color-scheme: dark) {{ :root {{ --paper: {STYLES["dark"].paper}; --ink: {STYLES["dark"].ink};
  --faint: #a3a7ad; --line: {STYLES["dark"].wall}; --soft: #20242b; --accent: #6fd3c3; --good: #4fd3ab;
  --bad: #ff9f4a; }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; padding: 1rem clamp(0.9rem, 3vw, 2rem) 4rem; max-width: 72rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.8rem; line-height: 1.2; margin: 1rem 0 0.3rem; }}
h2 {{ font-size: 1.3rem; margin: 2.6rem 0 0.6rem; padding-top: 0.6rem; border-top: 1px solid var(--line); }}
h3 {{ font-size: 1.05rem; margin: 1.6rem 0 0.4rem; }}
p {{ max-width: 46rem; margin: 0.5rem 0; }}
a {{ color: var(--accent); }}
nav {{ display: flex; flex-wrap: wrap; gap: 0.3rem 1.1rem; margin: 0.8rem 0; }}
.facts {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.7rem; margin: 1.2rem 0; }}
.facts div {{ background: var(--soft); border-radius: 0.5rem; padding: 0.7rem 0.9rem; }}
.facts b {{ display: block; font-size: 1.45rem; line-height: 1.25; }}
.facts span {{ color: var(--faint); font-size: 0.88rem; }}
.pictures {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 1.2rem;
  align-items: start; margin: 1rem 0; }}
figure {{ margin: 0; min-width: 0; }}
figure.wide {{ grid-column: 1 / -1; overflow-x: auto; }}
figure img, figure video {{ width: 100%; height: auto; display: block; border-radius: 0.3rem; }}
figure.wide img {{ min-width: 34rem; max-width: 60rem; }}
figure.wide video {{ max-width: 60rem; }}
figcaption {{ color: var(--faint); font-size: 0.9rem; margin-top: 0.4rem; max-width: 46rem; }}
figure.wide figcaption {{ position: sticky; left: 0; max-width: min(46rem, 88vw); }}
.scroll {{ overflow-x: auto; max-height: 40rem; overflow-y: auto; margin: 0.6rem 0; }}
table {{ border-collapse: collapse; font-size: 0.93rem; }}
th, td {{ text-align: left; vertical-align: top; padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: normal; }}
.scroll th, .scroll td {{ white-space: nowrap; }}
.list td {{ overflow-wrap: anywhere; }}
.list td:first-child {{ overflow-wrap: normal; color: var(--faint); min-width: 7rem; }}
td.number, th.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
thead th {{ position: sticky; top: 0; background: var(--paper); }}
ol.outcomes {{ list-style: none; display: flex; flex-wrap: wrap; gap: 3px; padding: 0; margin: 0.4rem 0 1rem; }}
ol.outcomes li {{ width: 1.5rem; height: 1.5rem; line-height: 1.5rem; text-align: center; font-size: 0.85rem;
  border-radius: 0.25rem; border: 1px solid var(--line); }}
ol.outcomes li.good {{ border-color: var(--good); color: var(--good); font-weight: 600; }}
ol.outcomes li.bad {{ border-color: var(--bad); color: var(--bad); border-style: dashed; }}
pre {{ background: var(--soft); padding: 0.8rem 1rem; border-radius: 0.5rem; white-space: pre-wrap;
  font-size: 0.88rem; }}
summary {{ cursor: pointer; color: var(--accent); }}
.note {{ border-left: 4px solid var(--bad); padding: 0.3rem 0.9rem; background: var(--soft); }}
@media print {{ nav, video {{ display: none; }} .scroll {{ max-height: none; }} h2 {{ break-after: avoid; }} }}
"""


def document(title: str, lead: Iterable[str], sections: Mapping[str, Sequence[str]]) -> str:
    """Put a page together: a title, what stands above all, and sections with links to them."""
    links = "".join(f'<a href="#{_anchor(name)}">{escape(name)}</a>' for name in sections)
    body = "".join(f'<h2 id="{_anchor(name)}">{escape(name)}</h2>{"".join(parts)}' for name, parts in sections.items())
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{CSS}</style></head><body>"
        f"<h1>{escape(title)}</h1>{''.join(lead)}<nav>{links}</nav>{body}</body></html>\n"
    )


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def note(text: str) -> str:
    """Return a remark that stands out."""
    return f'<p class="note">{escape(text)}</p>'


def heading(text: str) -> str:
    """Return a heading inside a section."""
    return f"<h3>{escape(text)}</h3>"


def code(text: str) -> str:
    """Return text as a terminal shows it."""
    return f"<pre>{escape(text)}</pre>"


def facts(pairs: Mapping[str, str]) -> str:
    """Return a row of large numbers with what they are."""
    return (
        '<div class="facts">'
        + "".join(f"<div><b>{escape(v)}</b><span>{escape(k)}</span></div>" for k, v in pairs.items())
        + "</div>"
    )


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table that scrolls by itself; numbers, and what looks like them, stand on the right."""
    body, numeric = [[str(cell) for cell in row] for row in rows], []
    for column in range(len(header)):
        numeric.append(bool(body) and all(_is_number(row[column]) for row in body))
    head = "".join(f"<th{_aligned(n)}>{escape(name)}</th>" for name, n in zip(header, numeric, strict=True))
    lines = "".join(
        "<tr>"
        + "".join(f"<td{_aligned(n)}>{escape(cell)}</td>" for cell, n in zip(row, numeric, strict=True))
        + "</tr>"
        for row in body
    )
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def listed(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and what is to be said of each, line by line."""
    lines = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in pairs)
    return f'<table class="list"><tbody>{lines}</tbody></table>'


def folded(title: str, content: str) -> str:
    """Return something long that opens when asked."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def pictures(*figures: str) -> str:
    """Return figures beside each other where there is room."""
    return f'<div class="pictures">{"".join(figures)}</div>'


def embedded(figure: Any, *, vector: bool) -> str:
    """Return a figure as an address that holds it; vectors are for figures with little in them."""
    kind, mime, nothing = ("svg", "image/svg+xml", "Date") if vector else ("png", "image/png", "Software")
    content = io.BytesIO()
    with require("matplotlib", "view").rc_context({"svg.hashsalt": "vmg"}):
        figure.savefig(content, format=kind, dpi=150, metadata={nothing: None})
    return _data_uri(content.getvalue(), mime)


def picture(images: Sequence[str], caption: str, *, wide: bool = False) -> str:
    """Return a figure embedded in both themes, (light, dark); the reader's browser shows one."""
    light, dark = images
    image = (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img src="{light}" alt="{escape(caption, quote=True)}"></picture>'
    )
    return f"<figure{' class=wide' * wide}>{image}<figcaption>{escape(caption)}</figcaption></figure>"


def film(content: bytes, caption: str) -> str:
    """Return an MP4 film."""
    uri = _data_uri(content, "video/mp4")
    video = f'<video controls muted playsinline loop preload="auto" src="{uri}"></video>'
    return f'<figure class="wide">{video}<figcaption>{escape(caption)}</figcaption></figure>'


def outcomes(marks: Iterable[tuple[str, bool | None, str]]) -> str:
    """Return a row of small boxes, one per episode: its mark, whether it was good, and its story for the pointer."""
    classes = {True: "good", False: "bad", None: "open"}
    boxes = "".join(
        f'<li class="{classes[good]}" title="{escape(story)}">{escape(mark)}</li>' for mark, good, story in marks
    )
    return f'<ol class="outcomes">{boxes}</ol>'


def _data_uri(content: bytes, mime: str) -> str:
    return f"data:{mime};base64,{b64encode(content).decode()}"


def _anchor(name: str) -> str:
    return "-".join(word for word in name.lower().split())


def _is_number(text: str) -> bool:
    return (
        text == "–"
        or text.replace(",", "").replace(".", "").replace("-", "").replace(" – ", "").replace("%", "").strip().isdigit()
    )


def _aligned(numeric: bool) -> str:
    return ' class="number"' if numeric else ""
