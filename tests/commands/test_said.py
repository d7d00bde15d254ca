"""What would go wrong in silence is said: graphs in pieces, radii, options that do nothing, goals that nobody reads."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import vmg
from vmg.act.likeness import likeness, spread_of_starts
from vmg.act.settings import ActConfig
from vmg.agent.settings import AgentConfig
from vmg.cli.main import main
from vmg.data import save
from vmg.envs.fitting import fitting, ignored_goal
from vmg.evaluation import EpisodeScore, Scores
from vmg.graph import GraphConfig, SolveConfig, add_edges
from vmg.learn import LearnConfig
from vmg.runs import Run, remarks, stages
from vmg.runs.notes import Trial


def graph_of(walks, radius=0.5, **options):
    """A graph whose features are the states themselves."""
    parts = [
        (np.array(walk, np.float32)[:, None], np.zeros((len(walk) - 1, 1)), np.zeros(len(walk) - 1), False, True)
        for walk in walks
    ]
    episodes = vmg.Episodes.from_list(parts)
    return vmg.build(episodes.observations, episodes, radius, **options)


def told(graph):
    return " ".join(remarks.on_graph(graph, "runs/x"))


def test_training_says_what_is_wrong_with_the_recordings(tmp_path, monkeypatch):
    rng, walks, sentences = np.random.default_rng(0), [], []
    monkeypatch.setattr(stages, "say", sentences.append)
    for kind in (0.0, 1.0) * 6:
        places = rng.normal(0, 1, (21, 2)).cumsum(0)
        walks.append((np.column_stack([places, np.full(21, kind)]), np.ones((20, 1)), np.zeros(20), False, True))
    save(vmg.Episodes.from_list(walks), tmp_path / "sorted.npz")
    few = AgentConfig(learn=LearnConfig(steps=2, hidden_units=8, batch_size=4))
    stages.train(Run(f"npz:{tmp_path / 'sorted.npz'}", few, folder=tmp_path / "run"))
    said = " ".join(sentences)
    assert "Observation column 2 differs between episodes and never changes within one, with few values" in said
    assert "leave it out (--keys '[0:2]';" in said
    assert "Action column 0 never changes." in said


@pytest.mark.parametrize("seed", range(3))
def test_other_data_are_told_apart_from_those_learned_from_however_large(seed):
    """No sentence says that something differs and then gives the same number twice."""
    rng = np.random.default_rng(seed)

    def walks(n):
        parts = [(rng.normal(size=(5, 2)), np.zeros((4, 1)), np.zeros(4), False, True) for _ in range(n)]
        return vmg.Episodes.from_list(parts)

    learned_from, as_many, more = walks(3), walks(3), walks(4)
    facts_of = vmg.data.facts.DataFacts.of(learned_from)
    assert remarks.on_other_data(facts_of, learned_from) == []
    (said,) = remarks.on_other_data(facts_of, as_many)
    assert "it has as many, 3 episodes with 12 steps, but with other numbers in them" in said
    (said,) = remarks.on_other_data(facts_of, more)
    assert "it has 4 episodes with 16 steps, and had 3 episodes with 12 steps" in said


def test_a_graph_of_other_data_is_refused_with_the_commands_there_are(tmp_path, capsys):
    assert main(["build", str(tmp_path), "--data", "npz:other.npz"]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert "takes no --data" in said
    assert "vmg grow RUN npz:other.npz" in said


def test_a_graph_in_pieces_is_said_with_a_command_that_joins_them(tmp_path):
    whole = graph_of([range(30), range(30)])
    assert told(whole) == ""
    parts = graph_of([[*range(30), *range(30)], [*range(100, 130), *range(100, 130)]])
    said = told(parts)
    assert "The graph is in 2 pieces that no recorded step joins; the largest has 50 % of the vertices" in said
    assert "vmg build runs/x --graph.radius 1" in said
    said = " ".join(remarks.on_graph(parts, "runs/x", "The largest that tells apart."))
    assert "another one gives that up: The largest that tells apart." in said


def test_a_radius_that_keeps_almost_every_state_or_merges_almost_all_is_said():
    walk = np.linspace(0, 10, 200)
    assert "keeps 199 of 200 states" in told(graph_of([[*walk[:-1], walk[-2]]], radius=0.01))
    assert "merges 200 states into 2 vertices, too few to plan on" in told(graph_of([walk], radius=6.0))
    assert told(graph_of([[*walk, *walk[::-1]]], radius=0.1)) == ""


def test_edges_that_nobody_recorded_are_said():
    graph = add_edges(graph_of([[*range(30), 29]]), "mine", [3, 4], [9, 8], steps=1, prices=0)
    assert "2 of its 31 edges nobody recorded (mine)." in told(graph)


def test_a_price_on_falls_is_said_with_the_falls_that_are_known():
    graph, asked = graph_of([range(9), range(9), range(9)]), SolveConfig(fall_cost=9.0)
    assert remarks.on_falls(graph, SolveConfig()) == []
    assert "does nothing: no recorded fall is known" in remarks.on_falls(graph, asked)[0]
    fell = replace(graph, falls=np.array([8, 9, 12], np.int32))
    assert remarks.on_falls(fell, asked) == ["2 of 3 recordings fell."]


def test_how_much_can_be_reached_from_starts():
    walk = np.array([*range(10), 9])
    assert remarks.reach_of_starts(graph_of([walk])) == 1.0
    assert remarks.reach_of_starts(graph_of([walk, walk + 100])) == 0.5


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"solve": SolveConfig(switch_cost=5.0)}, "--solve.switch-cost does nothing along edges"),
        (
            {"solve": SolveConfig(search="greedy", search_steps=3)},
            "--solve.search-steps does nothing in a greedy search",
        ),
        ({"solve": SolveConfig(search="greedy", ties="nearest")}, "--solve.ties does nothing"),
        ({"solve": SolveConfig(search="greedy", path_weights="hops")}, "--solve.path-weights does nothing"),
        ({"solve": SolveConfig(search="greedy", fall_cost=9.0)}, "--solve.fall-cost does nothing"),
        ({"solve": SolveConfig(paths="program", slow_cost=9.0)}, "--solve.slow-cost does nothing"),
        ({"solve": SolveConfig(fall_cost=9.0, slow_cost=9.0)}, None),
        ({"graph": GraphConfig(merging="kmeans", labelling="online")}, "--graph.labelling does nothing with k-means"),
        ({"graph": GraphConfig(merging="kmeans", clusters=9, radius=3.0)}, "--graph.radius does nothing with k-means"),
        ({"act": ActConfig(noise_when="stuck")}, "--act.noise-when does nothing without --act.noise"),
        (
            {"act": ActConfig(noise_when="stuck", noise=0.1)},
            "--act.noise does nothing with --act.noise-when stuck unless",
        ),
        ({"act": ActConfig(noise_when="stuck", noise=0.1, keep_path=True)}, None),
        ({}, None),
        ({"solve": SolveConfig(paths="recordings", switch_cost=5.0), "graph": GraphConfig(recordings=True)}, None),
    ],
)
def test_options_that_do_nothing_are_said(config, words):
    said = [each for stage in ("graph", "solve", "act") for each in remarks.idle_options(AgentConfig(**config), stage)]
    assert [words in sentence for sentence in said] == ([True] if words else [])


def test_workers_that_are_none_are_said():
    assert remarks.idle_workers(Trial(executor="here", workers=4))
    assert not remarks.idle_workers(Trial(executor="processes", workers=4))


def test_options_that_do_nothing_really_do_nothing():
    walk = [*range(20), *range(0, 20, 3), *range(20)]
    graph = graph_of([walk])
    episodes = vmg.Episodes.from_list(
        [(np.array(walk, np.float32)[:, None], np.zeros((len(walk) - 1, 1)), np.arange(len(walk) - 1) % 7, False, True)]
    )
    rewards = vmg.reward(graph, episodes)
    usual = vmg.solve(graph, rewards, 0.9, search="greedy").arrays()
    for option in ({"ties": "nearest"}, {"path_weights": "hops"}, {"search_steps": 3}, {"slow_cost": 9.0}):
        other = vmg.solve(graph, rewards, 0.9, search="greedy", **option).arrays()
        assert all(np.array_equal(usual[name], other[name]) for name in usual), option
    usual, other = (vmg.solve(graph, rewards, 0.9, paths="program", slow_cost=cost).arrays() for cost in (0.0, 9.0))
    assert all(np.array_equal(usual[name], other[name]) for name in usual)
    usual, other = (vmg.solve(graph, rewards, 0.9, switch_cost=cost).arrays() for cost in (30.0, 1.0))
    assert all(np.array_equal(usual[name], other[name]) for name in usual)


# --- a world that is not as recorded ----------------------------------------------------------------------------------


def test_likeness_measures_what_it_says():
    graph = graph_of([range(10), np.arange(10) + 0.2], radius=0.5, recordings=True)
    on, off = (likeness(graph, np.array(states, np.float32)[:, None]) for states in ([0, 1, 2, 3], [12, 9, 20, 8]))
    assert (on.off_graph, on.start, on.from_starts) == (0.0, 0.0, 0.0)
    assert off.off_graph == 0.5
    assert off.start == pytest.approx(6)
    assert off.from_starts == pytest.approx((12 - 0.2) / 0.5)
    assert spread_of_starts(graph) == pytest.approx(0.4)


def scores_with(report=None, **numbers):
    noted = {"off_graph": 0.031, "start": 0.2, "from_starts": 0.2, **numbers}
    return Scores("t", "", (0.0, 1.0), (EpisodeScore(0, 5, 1.0, None, "time out", report or {}, likeness=noted),))


def test_starts_unlike_the_recorded_ones_are_said():
    graph = graph_of([range(10), np.arange(10) + 0.2], recordings=True)
    assert remarks.on_likeness(scores_with(), graph) == [
        "3.1 % of the steps were off the graph, farther than its radius from it."
    ]
    assert "Starts are 3.2 radii from anything recorded" in remarks.on_likeness(scores_with(start=3.2), graph)[1]
    (avoiding,) = remarks.on_likeness(scores_with(start=3.2, report={"avoided_steps": 4}), graph)
    assert "with what is to be avoided left out" in avoiding
    elsewhere = remarks.on_likeness(scores_with(from_starts=8.0), graph)[1]
    assert (
        "Starts are 8.0 radii from the nearest recorded start, and those are at most 0.4 from the next one" in elsewhere
    )


def test_episodes_noted_before_likeness_was_measured_still_count():
    assert Scores("t", "", (0.0, 1.0), (EpisodeScore(0, 5, 1.0, None, "time out"),)).likeness == {}


# --- an environment that does not fit ---------------------------------------------------------------------------------


class Pair:
    """An environment with two parts, and a goal."""

    def __init__(self, goal_size=1):
        self.goal_size = goal_size

    def reset(self, *, seed=None, options=None):
        rng = np.random.default_rng(seed)
        parts = {"arm": rng.normal(size=2), "cup": rng.normal(size=1)}
        return parts | {"achieved_goal": parts["cup"][:1], "desired_goal": rng.normal(size=self.goal_size)}, {}

    def close(self):
        pass


def facts(fields, size=3):
    episodes = vmg.Episodes.from_list(
        [(np.zeros((4, size)) + np.arange(4)[:, None], np.zeros((3, 1)), np.zeros(3), False, True)]
    )
    return vmg.data.facts.DataFacts.of(replace(episodes, fields=fields))


def test_parts_are_taken_in_the_order_the_agent_learned_them():
    task = vmg.Task(name="pair", environment=Pair)
    fitted = fitting(task, facts({"cup": (0,), "arm": (1, 2)}))
    assert fitted.keys == ("cup", "arm")
    assert fitted.fields == {"cup": (0,), "arm": (1, 2)}
    assert fitted.goal.columns == (0,)
    assert fitting(task, facts({"arm": (0, 1), "cup": (2,)})).goal.columns == (2,)


def test_parts_in_another_order_than_the_agent_s_are_refused_with_the_right_order():
    task = vmg.Task(name="pair", environment=Pair, keys=("arm", "cup"))
    with pytest.raises(vmg.VMGError, match=r"another order.*Give the task keys=\('cup', 'arm'\)"):
        fitting(task, facts({"cup": (0,), "arm": (1, 2)}))


def test_a_state_of_another_size_is_refused_with_what_there_is():
    with pytest.raises(
        vmg.VMGError, match=r"states of 7 numbers, and the environment of pair shows arm \(2\), cup \(1\)"
    ):
        fitting(vmg.Task(name="pair", environment=Pair), facts({}, size=7))


class Whole(Pair):
    """The same parts in one observation, beside the goal."""

    def reset(self, *, seed=None, options=None):
        parts, info = super().reset(seed=seed, options=options)
        return {"observation": np.append(parts["arm"], parts["cup"]), "desired_goal": parts["desired_goal"]}, info


def test_parts_of_plain_vectors_are_parts_of_the_one_observation_that_the_environment_shows():
    task = vmg.Task(name="whole", environment=Whole, keys=("[0:1]", "[2:3]"))
    fitted, (shown, _) = fitting(task, facts({}, size=2)), Whole().reset(seed=1)
    assert np.array_equal(fitted.state_of(shown), shown["observation"][[0, 2]].astype(np.float32))
    with pytest.raises(vmg.VMGError, match=r"the observation has no '\[0:1\]', '\[2:3\]'"):
        fitting(replace(task, environment=Pair), facts({}, size=2))  # arm or cup: nobody knows


def test_a_goal_that_nobody_reads_is_said_with_how_to_name_it():
    task = vmg.Task(name="pair", environment=Pair, keys=("arm",))
    first, _ = Pair().reset(seed=0)
    assert fitting(task, facts({}, size=2)).goal is None  # the state does not hold the cup
    said = ignored_goal(task, first)
    assert "names a goal in each episode ('desired_goal', 1 numbers), which is ignored" in said
    assert "goal=vmg.TaskGoal(columns=(0,), tolerance=0.1)" in said
    assert ignored_goal(replace(task, goal=vmg.TaskGoal(columns=(0,), tolerance=1)), first) == ""
    assert ignored_goal(task, first["arm"]) == ""


def test_data_whose_columns_have_moved_are_refused(tmp_path, capsys):
    rng = np.random.default_rng(0)
    walks = [
        (np.cumsum(rng.normal(size=(30, 3)), 0), rng.normal(size=(29, 1)), np.zeros(29), False, True) for _ in range(4)
    ]
    episodes, file, run = vmg.Episodes.from_list(walks), tmp_path / "logs.npz", str(tmp_path / "run")
    save(replace(episodes, fields={"arm": (0, 1), "cup": (2,)}), file)
    learn = vmg.LearnConfig(steps=5, hidden_units=8)
    stages.train(Run(f"npz:{file}", AgentConfig(learn=learn), folder=tmp_path / "run"))
    save(replace(episodes, fields={"cup": (0,), "arm": (1, 2)}), file)
    assert main(["build", run]) == 2
    assert "arm was 0, 1 and is 1, 2" in " ".join(capsys.readouterr().err.split())
    save(replace(episodes, fields={"arm": (0, 1), "cup": (2,)}), file)
    assert main(["build", run]) == 0
    assert main(["solve", run]) == 0
    assert "No recorded step is rewarded" in capsys.readouterr().err


def test_a_first_compilation_is_said_once_and_a_cached_one_is_not(tmp_path):
    script = (
        "import numpy as np\n"
        "from vmg.graph.kernels import values\n"
        "for _ in range(2):\n"
        "    values.iterate_values(np.array([0, 1, 1], np.int32), np.array([1], np.int32), np.ones(1),\n"
        "                          np.array([False, True]), np.zeros(2), 0.9, 1e-6)\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    heard = [
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
        ).stderr
        for _ in range(2)
    ]
    assert [text.count("Compiling the graph's loops, once per machine") for text in heard] == [1, 0]


def test_warnings_are_sentences_in_commands(tmp_path, capsys, monkeypatch):
    def warn(arguments):
        import warnings

        warnings.simplefilter("default")
        warnings.warn("The radius 9 leaves a single vertex: choose a smaller one.", stacklevel=2)

    monkeypatch.setattr("vmg.cli.build.run", warn)
    assert main(["build", "x"]) == 0
    assert capsys.readouterr().err == "Warning: The radius 9 leaves a single vertex: choose a smaller one.\n"
