"""Settings chosen from the data alone: what columns are, what is learned to judge, and what is chosen in the end."""

from dataclasses import replace

import numpy as np
import pytest

from vmg.agent.agent import Agent
from vmg.agent.auto import choose, learning
from vmg.agent.auto.columns import look_at
from vmg.agent.auto.graphs import choose_graph, step_length
from vmg.agent.auto.imagination import Imagination
from vmg.agent.auto.learning import choose_learning, choose_subgoal, held_out_of
from vmg.agent.auto.likeness import steps_apart
from vmg.base.errors import VMGError
from vmg.data import Episodes
from vmg.learn.config import LearnConfig, Training
from vmg.learn.training import fit, fit_models
from vmg.learn.trials import ForwardModel, TranslatorModel
from vmg.networks.actions import recorded_actions, scaled_actions
from vmg.networks.forward import forward_errors, predict
from vmg.networks.lowlevel import Translator
from vmg.networks.lowlevel.translator import translate


def cart(n_episodes: int = 24, steps: int = 40, scale: float = 1.0, seed: int = 0) -> Episodes:
    """A cart that is pushed to random places: place, speed, a block it shoves at times, and a constant."""
    rng = np.random.default_rng(seed)
    episodes = []
    for _ in range(n_episodes):
        x, v, block, target = rng.uniform(-1, 1), 0.0, 1.5, rng.uniform(-1, 1.7)
        observations, actions = [(x, v, block, 3.0)], []
        for _ in range(steps):
            a = np.clip(2 * (target - x) - v + rng.normal(0, 0.2), -1, 1)
            v += 0.3 * (a - v)
            x += 0.2 * v
            block = max(block, x + 0.1)
            observations.append((x, v, block, 3.0))
            actions.append([scale * a])
        episodes.append((np.array(observations), np.array(actions), np.zeros(steps), False, True))
    return Episodes.from_list(episodes, source="a cart")


@pytest.fixture(scope="module")
def data():
    return cart()


def test_columns_are_told_apart(data):
    found = look_at(data)
    assert found.constant.tolist() == [False, False, False, True]
    assert found.velocity_of.tolist() == [-1, 0, -1, -1]
    assert found.moving == (0, 1)
    assert found.positions == (0, 2)
    assert found.moving_positions == (0,)


@pytest.mark.parametrize("gripping", [0.05, 0.3])
def test_a_gripper_that_seldom_moves_is_the_robots_own(gripping):
    """The joints follow their actions, and so does it; the box that it grips does not, and rests."""
    rng, parts = np.random.default_rng(0), []
    for _ in range(20):
        said = np.column_stack([np.cumsum(rng.normal(0, 0.1, (60, 2)), 0), rng.uniform(0, 1, 60) < gripping])
        seen = np.vstack([np.zeros(3), said + rng.normal(0, 0.01, (60, 3)) * [1, 1, 0]])
        parts.append((np.column_stack([seen, np.arange(61) > 40]), said, np.zeros(60), False, True))
    assert look_at(Episodes.from_list(parts)).moving == (0, 1, 2)


def test_where_most_that_follows_actions_rests_resting_says_nothing():
    """As with the joints of a hand that holds something."""
    rng, parts = np.random.default_rng(0), []
    for _ in range(20):
        said = np.repeat(rng.uniform(0, 1, (3, 3)), 20, 0)
        said[:, 2] = rng.uniform(0, 1, 60)
        parts.append((np.vstack([np.zeros(3), said]), said, np.zeros(60), False, True))
    assert look_at(Episodes.from_list(parts)).moving == (2,)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_what_columns_are_does_not_depend_on_their_units(data, scale):
    scaled = replace(data, observations=data.observations * np.float32(scale))
    found, as_before = look_at(scaled), look_at(data)
    assert found.velocity_of.tolist() == as_before.velocity_of.tolist()
    assert found.moving == as_before.moving


@pytest.fixture(scope="module")
def forward(data):
    config = LearnConfig(steps=600, checkpoint_every=600)
    return fit_models([ForwardModel(config)], [Training(data, (0, 1))], show_progress=False)[0]


def test_a_model_of_the_robot_is_learned(data, forward):
    rows = data.step_observation
    now, following = data.observations[rows], data.observations[rows + 1]
    errors = (forward_errors(forward[0], now, data.actions, following) ** 2).mean(0)
    assert errors[:2].max() < 0.2  # 1: no better than that nothing changes
    ahead = predict(forward[0], now, data.actions)
    assert np.abs(ahead - following)[:, :2].mean() < np.abs(now - following)[:, :2].mean() / 3


def test_following_in_the_model_tells_a_good_policy_from_a_bad_one(data, forward):
    known, held_out = held_out_of(data)
    imagination = Imagination.of(known, held_out, tuple(forward))

    def good(o, g):
        return np.clip(4 * (g[:, :1] - o[:, :1]) + (g[:, 1:2] - o[:, 1:2]) + o[:, 1:2], -1, 1)

    def copies(o, g):
        return np.clip(o[:, 1:2], -1, 1)

    (good_error, pace), (bad_error, _) = (imagination.followed(act, forward[0], 3) for act in (good, copies))
    assert good_error[0] < bad_error[0] / 2
    assert 0.5 < pace <= 1.5


def test_columns_that_are_not_seen_do_not_count(data):
    config = LearnConfig(steps=30, checkpoint_every=30, low_level=Translator(columns=(0, 1), inputs="raw relative"))
    ((weights,),) = fit_models([TranslatorModel(config)], [Training(data)], show_progress=False)
    o, g = data.observations[:50], data.observations[50:100]
    other = o + np.array([0, 0, 7, -5], np.float32)
    np.testing.assert_array_equal(translate(weights, o, g), translate(weights, other, g))
    assert not np.array_equal(translate(weights, o, g), translate(weights, o + np.float32(0.1), g))


def test_candidates_learn_alone_as_they_do_side_by_side(data):
    configs = [
        LearnConfig(steps=20, checkpoint_every=20, low_level=Translator(columns=columns, inputs="raw relative"))
        for columns in ((), (0, 1), (0,))
    ]
    models = [TranslatorModel(config) for config in configs]
    together = fit_models(models, [Training(data)] * 3, show_progress=False)
    for model, (weights,) in zip(models, together, strict=True):
        ((alone,),) = fit_models([model], [Training(data)], show_progress=False)
        np.testing.assert_array_equal(alone["translator"]["w0"], weights["translator"]["w0"])


def test_learning_longer_goes_on_from_where_it_was(data, tmp_path):
    short = LearnConfig(steps=20, checkpoint_every=20)
    long = replace(short, steps=40, checkpoint_every=40)
    fit(data, short, folder=tmp_path, show_progress=False)
    (on,) = fit(data, long, folder=tmp_path, show_progress=False)
    (whole,) = fit(data, long, show_progress=False)
    np.testing.assert_allclose(on["translator"]["w0"], whole["translator"]["w0"], atol=1e-6)
    with pytest.raises(Exception, match="has learned for 40 steps already"):
        fit(data, short, folder=tmp_path, show_progress=False)


def test_a_choice_that_is_killed_anywhere_goes_on_and_ends_the_same(data, tmp_path, monkeypatch):
    for name, value in {"TRIAL_STEPS": 10, "MOST_STEPS": 40, "WORSE": -1.0}.items():  # decay is tried, too
        monkeypatch.setattr(learning, name, value)
    data = data.subset(range(12))
    whole = choose_learning(data, tmp_path / "whole", show_progress=False)
    assert choose_learning(data, tmp_path / "whole", show_progress=False) == whole  # killed when all was learned
    judged, times = learning._Trials._action_error, iter(range(100))

    def killed(trials, weights):
        if next(times) in (1, 4):
            raise KeyboardInterrupt
        return judged(trials, weights)

    monkeypatch.setattr(learning._Trials, "_action_error", killed)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            choose_learning(data, tmp_path / "killed", show_progress=False)
    assert choose_learning(data, tmp_path / "killed", show_progress=False) == whole


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_actions_of_any_size_are_learned_and_given_in_their_own_units(scale):
    episodes = cart(scale=scale)
    config = choose_learning(episodes, steps=200, show_progress=False).config
    assert config.actions == "normalised"
    (weights,) = fit(episodes, replace(config, steps=400), show_progress=False)
    rows = episodes.step_observation[episodes.steps_left >= 3]
    kept = episodes.actions[episodes.steps_left >= 3]
    given = recorded_actions(weights, translate(weights, episodes.observations[rows], episodes.observations[rows + 3]))
    assert np.mean((given - kept) ** 2) < 0.5 * kept.var()
    np.testing.assert_allclose(
        recorded_actions(weights, scaled_actions(weights, kept)), kept, rtol=1e-4, atol=scale * 1e-5
    )


def placed(episodes: Episodes):
    """Known and held-out episodes, each with the place and speed of the cart as features."""
    known, held_out = held_out_of(episodes)
    return known, known.observations[:, :2].copy(), held_out, held_out.observations[:, :2].copy()


def test_the_radius_covers_what_was_held_out():
    known, features, held_out, held = placed(cart(60))
    chosen = choose_graph(known, features, held_out, held)
    (radius, _) = chosen.choices
    assert chosen.radius == pytest.approx(float(radius.value), rel=1e-2)
    uncovered = dict(radius.tried)
    assert uncovered[radius.value] <= 0.1
    smaller = [share for tried, share in radius.tried if float(tried) < chosen.radius * 0.99]
    assert all(share > 0.1 for share in smaller) or step_length(known, features) > chosen.radius


def test_the_radius_tells_apart_where_objects_are():
    """A door that opens halfway in each episode: open and shut are near in the metric space, one step lies between."""
    rng, parts = np.random.default_rng(0), []
    for _ in range(60):
        place = np.cumsum(rng.normal(0, 0.5, (41, 2)), axis=0)
        door = np.repeat([0.0, 1.0], [20, 21])
        parts.append((np.column_stack([place, door]), np.zeros((40, 1)), np.zeros(40), False, True))
    known, held_out = held_out_of(Episodes.from_list(parts))

    def chosen(gap):
        """With the door so far open in the metric space."""
        features, held = (each.observations * np.array([1, 1, gap], np.float32) for each in (known, held_out))
        return choose_graph(known, features, held_out, held)

    apart, near = chosen(10.0), chosen(0.2)
    assert near.radius < apart.radius
    assert near.radius < 0.3  # at which open and shut come together
    assert "tells apart where objects are" in near.choices[0].why
    assert "tells apart" not in apart.choices[0].why


def test_coverage_of_a_few_episodes_does_not_widen_the_radius(data):
    known, features, held_out, held = placed(data)
    elsewhere = held + np.float32(3 * step_length(known, features))
    near, far = (choose_graph(known, features, held_out, each) for each in (held, elsewhere))
    assert near.radius == far.radius
    assert "Too little was held out" in far.choices[0].why


def test_where_nothing_covers_enough_the_radius_still_reaches():
    known, features, held_out, held = placed(cart(60))
    chosen = choose_graph(known, features, held_out, held + np.float32(1e3))
    assert chosen.radius >= 2 * step_length(known, features) * 0.999
    assert "None covers enough" in chosen.choices[0].why


def test_recordings_are_as_far_apart_as_they_are():
    here = cart(20)
    shifts = np.repeat(np.arange(20) * 50.0, 41)[:, None] * np.array([1, 0, 0, 0])
    apart = replace(here, observations=here.observations + shifts.astype(np.float32))
    spread = look_at(here).spread
    assert steps_apart(*held_out_of(here), spread) < 1
    assert steps_apart(*held_out_of(apart), spread) > 100


def test_recordings_unlike_one_another_are_not_followed():
    here = cart(8, 20)
    worlds = np.repeat(np.random.default_rng(0).normal(size=(8, 9)), 21, axis=0).astype(np.float32)
    unlike = replace(here, observations=np.hstack([here.observations, worlds]))
    chosen = choose(unlike, steps=20, show_progress=False)
    assert chosen.config.solve.paths == "edges"
    assert not chosen.config.act.keep_path
    assert chosen.config.learn.low_level.inputs in ("raw", "normalised")


@pytest.mark.parametrize("columns", [(0, 1, 2, 3), (0, 1, 3)], ids=["with a thing", "a body alone"])
def test_routes_look_where_recordings_are_alike(columns):
    here = cart(8, 20)
    chosen = choose(replace(here, observations=here.observations[:, columns]), steps=20, show_progress=False)
    assert chosen.config.solve.paths == "observed"
    assert [choice.value for choice in chosen.choices if choice.setting == "solve.paths"] == ["observed"]


def test_an_agent_without_settings_gets_them_from_the_data(monkeypatch):
    monkeypatch.setattr("vmg.agent.auto.learning.TRIAL_STEPS", 40)
    monkeypatch.setattr("vmg.agent.auto.learning.MOST_STEPS", 80)
    episodes = cart(8, 20)
    (agent,) = Agent.fit(episodes, show_progress=False)
    assert agent.config.learn.steps in (80, 160)
    assert agent.config.solve.paths == "observed"
    assert {choice.setting for choice in agent.choices} >= {"graph.radius", "act.subgoal-steps", "learn.steps"}
    solved = agent.build(episodes).solve()
    assert np.isfinite(solved.policy().act(episodes.observations[0])).all()


@pytest.mark.parametrize("episodes", [cart(1, 30), cart(2, 1)], ids=["one episode", "single steps"])
def test_little_data_are_enough_to_choose(episodes, monkeypatch):
    monkeypatch.setattr("vmg.agent.auto.imagination.STARTS", 5)
    learned = choose_learning(episodes, steps=10, show_progress=False)
    assert learned.subgoal_steps >= 1
    assert np.isfinite(learned.noise)
    points = episodes.observations[:, :2].copy()
    assert choose_graph(episodes, points, episodes, points).radius > 0


def test_recordings_shorter_than_those_held_out_say_how_far_columns_change():
    known, held_out = cart(9, 10), cart(1, 40)
    changes = np.stack([each.observations[-1] - each.observations[0] for each in known])
    typical = np.sqrt(np.mean(changes.astype(np.float64) ** 2, axis=0))
    np.testing.assert_allclose(Imagination.of(known, held_out, ()).scale[:3], typical[:3], rtol=1e-6)


def test_of_one_episode_it_is_said_that_nothing_was_held_out():
    (routes,) = [each for each in choose_learning(cart(1, 30), steps=10).choices if each.setting == "solve.paths"]
    assert "There is one episode, so nothing was held out" in routes.why


def test_nothing_can_be_chosen_where_nothing_changes(data):
    still = replace(data, observations=np.ones_like(data.observations))
    with pytest.raises(VMGError, match="nothing to learn from"):
        choose_learning(still, steps=10)


def test_subgoals_that_the_model_cannot_tell_apart_are_as_far_as_it_takes_to_be_fast():
    slow, fast = {1: 0.80, 2: 0.85, 3: 0.90, 5: 0.901}, {1: 0.95, 2: 0.95, 3: 0.95, 5: 0.95}
    alike, unlike = dict.fromkeys(slow, 0.9), {1: 0.9, 2: 0.5, 3: 0.49, 5: 0.49}
    assert choose_subgoal(alike, slow).value == "3"
    assert choose_subgoal(alike, fast).value == "1"
    assert choose_subgoal(unlike, slow).value == "2"
    assert "of the fastest" in choose_subgoal(alike, slow).why
    assert "of the fastest" not in choose_subgoal(unlike, slow).why
