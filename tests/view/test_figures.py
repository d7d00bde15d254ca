"""Figures: all of them, in both themes and formats, the same bytes each time, and showing what they should."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from acting_cases import agent, episodes
from matplotlib.image import imread
from viewing_cases import episode, layouts, noisy_routes

from vmg.base.errors import VMGError
from vmg.goals import near
from vmg.graph import reward
from vmg.view.charts import (
    SHOWN,
    RadiusRow,
    histograms_figure,
    radius_figure,
    read_losses,
    scores_figure,
    training_figure,
)
from vmg.view.graphs import endings_figure, graph_figure, value_change_figure
from vmg.view.layout import Layout
from vmg.view.studies import study_figure
from vmg.view.style import STYLES, save_figure, value_colours

SCORES = {
    "summary": {"VMG": {"score": 80.0, "interval": [70.0, 88.0]}, "BC": {"score": 20.0, "interval": [5.0, 40.0]}},
    "scores": {"VMG": [{"score": 75.0}, {"score": 85.0}], "BC": [{"score": 20.0}]},
}
LOSSES = {
    "step": np.array([100.0, 200.0]),
    **{name: np.array([1.0, 0.01]) for name in ("contrastive", "action")},
    "translator": np.full(2, np.nan),
    **{f"validation_{name}": np.array([2.0, 0.5]) for name in ("contrastive", "action", "translator")},
}


def change(layout, theme):
    after = agent().plan(near([1.0, 1.0], columns=(0, 1), tolerance=0.45))
    goals = (episode().goal, np.array([1.0, 1.0]))
    return value_change_figure(episode().plan, after, layout, ("before", "after"), goals=goals, theme=theme)


FIGURES = {
    "graph": lambda theme: graph_figure(agent().own_plan, layouts()["graph"], theme=theme),
    "floor": lambda theme: graph_figure(agent().own_plan, layouts()["floor"], theme=theme),
    "episode on the graph": lambda theme: graph_figure(
        episode().plan, layouts()["graph"], episode=episode(), theme=theme
    ),
    "episode on the floor": lambda theme: graph_figure(
        episode().plan, layouts()["floor"], episode=episode(), theme=theme
    ),
    "failures": lambda theme: endings_figure(layouts()["floor"], [episode()], theme=theme),
    "change on the graph": lambda theme: change(layouts()["graph"], theme),
    "change on the floor": lambda theme: change(layouts()["floor"], theme),
    "training": lambda theme: training_figure({0: LOSSES, 1: LOSSES}, theme=theme),
    "histograms": lambda theme: histograms_figure(agent().own_plan, reward(agent().built, episodes()), theme=theme),
    "radius": lambda theme: radius_figure(
        [RadiusRow(1.0, 90, 300, 40.0, (30.0, 55.0), 20), RadiusRow(2.0, 30, 80)], 1.0, theme=theme
    ),
    "scores": lambda theme: scores_figure(SCORES, theme=theme),
    "variants": lambda theme: study_figure(
        [*variants(radii=(0.5, 0.5)), {"task": "pen", "missing": "data"}], theme=theme
    ),
    "radii": lambda theme: study_figure(variants(radii=(0.5, 2.0)), theme=theme),
    "ratio": lambda theme: study_figure(
        [{"task": "kitchen", "ratio": 2.0, "models": [1.9, 2.1], "paper": None}], theme=theme
    ),
    "curves": lambda theme: study_figure(
        [
            {
                "task": "kitchen",
                "seeds": [0, 1],
                "steps": [1, 2],
                "losses": {name: [[2.0, 0.1], [3.0, 0.0]] for name in SHOWN},
            }
        ],
        theme=theme,
    ),
}


def variants(radii):
    """A baseline and a variant of it, in two tasks."""
    return [
        {
            "task": task,
            "variant": f"variant {i}",
            "baseline": i == 0,
            "score": 50.0 + i,
            "interval": [40.0, 60.0],
            "models": [45.0, 56.0],
            "paper": 70.0 if i else None,
            "settings": {"graph": {"radius": radius}},
            "graphs": [{"vertices": 100}, {"vertices": 300}],
        }
        for task in ("kitchen", "maze")
        for i, radius in enumerate(radii)
    ]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_the_same_twice_and_on_its_theme_s_paper(name, tmp_path):
    for theme in ("light", "light", "dark"):
        figure = FIGURES[name](theme)
        kinds = ("png", "svg") if theme == "light" else ("png",)
        for kind in kinds:
            file = tmp_path / f"{theme}.{kind}"
            before = file.read_bytes() if file.exists() else None
            save_figure(figure, file)
            assert before in (None, file.read_bytes())
    for theme, style in STYLES.items():
        corner = (imread(tmp_path / f"{theme}.png")[-1, -1, :3] * 255).round().astype(int)
        assert "#" + "".join(f"{part:02x}" for part in corner) == style.paper
    assert ElementTree.parse(tmp_path / "light.svg").getroot().tag.endswith("svg")


def texts(figure):
    """Everything written in a figure."""
    from matplotlib.text import Text

    return " | ".join(text.get_text() for text in figure.findobj(Text))


def test_figures_say_what_they_show():
    graph = agent().built
    assert f"{graph.n_vertices:,} vertices, {graph.n_edges:,} edges" in texts(FIGURES["graph"]("light"))
    shown = texts(FIGURES["episode on the floor"]("light"))
    assert re.search(r"seed 1: (success|time out) after \d+ steps", shown)
    assert all(word in shown for word in ("where it went", "start", "end", "goal", "value of a vertex"))
    assert "seed 1, held out" in texts(FIGURES["training"]("light"))
    assert "translator" not in texts(FIGURES["training"]("light"))  # an ablation without it logs nothing
    assert "median" in texts(FIGURES["histograms"]("light"))
    assert "95 % interval" in texts(FIGURES["radius"]("light"))
    shown = texts(FIGURES["variants"]("light"))
    assert all(word in shown for word in ("kitchen", "maze", "variant 0", "variant 1", "the paper's", "baseline"))
    assert "pen" not in shown.split(" | ")  # nothing was measured there
    assert "vertices" in texts(FIGURES["radii"]("light"))
    assert "thousand updates" in texts(FIGURES["curves"]("light"))


def test_a_size_without_scores_needs_no_panel_for_them():
    assert len(radius_figure([RadiusRow(1.0, 90, 300), RadiusRow(2.0, 30, 80)], 1.0).axes) == 1


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("theme", STYLES)
def test_colours_stand_out_from_the_paper_and_values_rise_in_grey(theme):
    from matplotlib.colors import to_rgb

    style = STYLES[theme]
    paper = luminance(to_rgb(style.paper))

    def contrast(colour):
        light, dark = max(luminance(colour), paper), min(luminance(colour), paper)
        return (light + 0.05) / (dark + 0.05)

    assert all(contrast(to_rgb(colour)) >= 4.5 for colour in (style.ink, style.faint))  # WCAG AA, for letters
    assert all(contrast(to_rgb(colour)) >= 2.9 for colour in (*style.lines, style.trail, style.goal))
    greys = [luminance(value_colours(style)(level)) for level in np.linspace(0, 1, 32)]
    assert (np.diff(greys) > 0).all()
    assert contrast(value_colours(style)(0.0 if theme == "dark" else 1.0)) > 1.3


def test_wrong_requests_are_answered_in_sentences(tmp_path):
    with pytest.raises(VMGError, match="must be one of light, dark"):
        scores_figure(SCORES, theme="sepia")
    with pytest.raises(VMGError, match=r"written as \.png or \.svg"):
        save_figure(scores_figure(SCORES), tmp_path / "figure.jpeg")
    with pytest.raises(VMGError, match="trained without a folder"):
        read_losses(tmp_path / "metrics.csv")
    (tmp_path / "metrics.csv").write_text("step,seed\n")
    with pytest.raises(VMGError, match="holds no losses yet"):
        read_losses(tmp_path / "metrics.csv")


def test_a_vector_figure_of_a_large_graph_stays_small():
    routes = noisy_routes(4_000, 20_000)
    layout = Layout(routes.graph.features[:, :2].astype(np.float64), "title", "note")
    content = io.BytesIO()
    graph_figure(routes, layout).savefig(content, format="svg", dpi=100)
    assert len(content.getvalue()) < 1_000_000
