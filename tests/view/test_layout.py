"""Where vertices lie on paper."""

import time

import numpy as np
import pytest
from acting_cases import agent
from viewing_cases import layouts, noisy_routes

from vmg.view.graphs import graph_figure
from vmg.view.layout import LAID_OUT, lay_out
from vmg.view.style import save_figure


def test_the_same_seed_gives_the_same_layout_and_another_another():
    features = agent().built.features
    again, other = lay_out(features), lay_out(features, seed=1)
    assert (again.points == layouts()["graph"].points).all()
    assert not np.allclose(again.points, other.points)
    assert f"all {len(features):,} vertices" in again.note


def test_vertices_that_are_near_are_drawn_near():
    features = agent().built.features
    nearest = agent().built.nearest(features + 1e-6)[0]
    assert (nearest == np.arange(len(features))).all()
    gaps = np.linalg.norm(features[:, None] - features[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    drawn = layouts()["graph"].points
    between_neighbours = np.linalg.norm(drawn - drawn[gaps.argmin(1)], axis=1)
    between_any = np.linalg.norm(drawn - drawn[::-1], axis=1)
    assert np.median(between_neighbours) < 0.2 * np.median(between_any)


@pytest.mark.parametrize(("vertices", "dimensions"), [(1, 3), (2, 1), (10, 5)])
def test_a_few_vertices_are_placed_too(vertices, dimensions):
    features = np.random.default_rng(0).normal(size=(vertices, dimensions)).astype(np.float32)
    layout = lay_out(features)
    assert layout.points.shape == (vertices, 2)
    assert np.isfinite(layout.points).all()
    assert "too few" in layout.note


def test_vertices_on_a_floor_lie_where_their_states_are():
    floor = layouts()["floor"]
    assert np.allclose(floor.points, agent().built.states[:, :2])
    assert len(floor.floor.cells) == 5


def test_a_hundred_thousand_vertices_and_half_a_million_edges_are_drawn_in_twenty_seconds(tmp_path):
    routes = noisy_routes(100_000, 500_000)
    began = time.process_time()
    layout = lay_out(routes.graph.features)
    save_figure(graph_figure(routes, layout), tmp_path / "large.png")
    assert time.process_time() - began < 20
    assert f"UMAP of {LAID_OUT:,} of the 100,000 vertices" in layout.note
    assert np.isfinite(layout.points).all()
