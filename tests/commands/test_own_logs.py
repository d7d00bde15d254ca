"""A stranger's first commands: own logs, no task, a task in a file, a gymnasium id; every `Next:` works when typed."""

import json
import os
import shlex
import stat

import numpy as np
import pytest

import vmg
from vmg.base.registry import import_file
from vmg.cli.main import main
from vmg.runs import Run, stages

TASK = '''
import gymnasium
import numpy as np

import vmg


class Cart(gymnasium.Env):
    """A cart on a line: where it is, how fast it goes, and what a second sensor says of where it is."""

    observation_space = gymnasium.spaces.Box(-9, 9, (3,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.speed = self.np_random.uniform(-0.3, 0.3), 0.0
        return self.seen(), {}

    def step(self, action):
        self.speed = 0.8 * self.speed + 0.2 * float(np.clip(action, -1, 1)[0])
        self.at = float(np.clip(self.at + self.speed, -5, 5))
        return self.seen(), float(self.at > 3), False, False, {}

    def seen(self):
        return np.array([self.at, self.speed, 2 * self.at], np.float32)


class GoalCart(Cart):
    """The same, with a goal in every episode that the observation names."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.goal = self.np_random.uniform(-3, 3)
        return self.seen_with_goal(), {}

    def step(self, action):
        _, _, _, _, _ = super().step(action)
        there = abs(self.at - self.goal) < 0.3
        return self.seen_with_goal(), float(there), bool(there), False, {"is_success": bool(there)}

    def seen_with_goal(self):
        return {"observation": self.seen(), "achieved_goal": np.array([self.at]), "desired_goal": np.array([self.goal])}


def logged(n=40, seed=0):
    rng, episodes, env = np.random.default_rng(seed), [], Cart()
    for i in range(n):
        seen, actions, rewards = [env.reset(seed=i)[0]], [], []
        wanted = rng.uniform(-4, 4)
        for _ in range(50):
            actions.append(np.clip([wanted - env.at - 2 * env.speed + rng.normal(0, 0.3)], -1, 1))
            observation, reward, _, _, _ = env.step(actions[-1])
            seen.append(observation)
            rewards.append(reward)
        episodes.append((np.array(seen), np.array(actions), np.array(rewards), False, True))
    return episodes


gymnasium.register("OwnCart-v0", Cart, max_episode_steps=50)
gymnasium.register("OwnGoalCart-v0", GoalCart, max_episode_steps=50)
cart = vmg.Task(name="cart", environment=Cart, horizon=50, score_range=(0.0, 50.0), fields={"place": (0,)})
'''
LITTLE = [
    "--preset",
    "paper",
    "--learn.steps",
    "300",
    "--learn.hidden-units",
    "32",
    "--learn.encoder-inputs",
    "normalised",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Logs as a stranger has them, and a file with a task."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "own_cart.py").write_text(TASK)
    return folder


@pytest.fixture(scope="module")
def logs(folder):
    """Plain arrays, one row per step, as many programs write them."""
    episodes = import_file(str(folder / "own_cart.py")).logged()
    seen, actions, rewards = (np.array([episode[i] for episode in episodes]) for i in range(3))
    rows = {"observations": seen[:, :-1], "next_observations": seen[:, 1:], "actions": actions}
    rows = {name: array.reshape(-1, array.shape[-1]) for name, array in rows.items()}
    ends = np.tile(np.arange(50) == 49, len(episodes))
    file = folder / "logs.npz"
    np.savez(file, **rows, rewards=rewards.ravel(), terminals=np.zeros_like(ends), timeouts=ends)
    return file


def said(capsys, *arguments):
    """Run a command and return what it said on standard error, in one line per sentence."""
    capsys.readouterr()
    assert main(list(arguments)) == 0
    return capsys.readouterr().err


def following(text):
    """The command that the last `Next:` names."""
    (command,) = [line.removeprefix("Next: ") for line in text.splitlines() if line.startswith("Next: ")]
    program, *arguments = shlex.split(command)
    assert program == "vmg"
    return arguments


def walk(capsys, *first):
    """Type the first command, then whatever `Next:` says, until it says no more; return every command typed."""
    typed, arguments = [], list(first)
    while arguments:
        typed.append(arguments)
        text = said(capsys, *arguments)
        arguments = following(text) if "Next: " in text else []
        if arguments[:1] == ["evaluate"]:
            arguments += ["--episodes", "3", "--workers", "1"]
        if arguments[:1] == ["report"]:
            arguments += ["--films", "0", "--replays", "1"]
    return typed


def test_own_logs_without_a_task_end_with_an_answer(logs, folder, capsys):
    run = folder / "bare"
    learn = vmg.LearnConfig(steps=300, hidden_units=32, encoder_inputs="normalised")
    stages.train(Run(f"npz:{logs}", vmg.AgentConfig(learn=learn), folder=run))  # as `vmg train` does, but in seconds
    typed = walk(capsys, "build", str(run))
    assert [arguments[0] for arguments in typed] == ["build", "solve", "retask"]
    assert typed[-1][-2:] == ["--episodes", "0"]
    (file,) = (run / "retask").glob("*.json")
    content = json.loads(file.read_text())
    assert content["summary"] is None
    assert content["agents"][0]["from_a_start"][0]["possible"]


def test_a_goal_without_a_task_is_answered_and_why_it_is_not_tried_is_said(logs, folder, capsys):
    assert main(["retask", str(folder / "bare"), "--goal", "0=2"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "How near to '0=2' counts as reached is not said: within 0." in told
    assert "From the start of recorded episode 0" in told
    assert "It is not tried. No task is known" in told
    assert "--task: file.py:NAME" in told


def test_evaluating_without_a_task_names_the_cure_and_the_cure_works(logs, folder, capsys):
    run = str(folder / "bare")
    assert main(["evaluate", run]) == 2
    assert "Name one with --task: file.py:NAME" in " ".join(capsys.readouterr().err.split())
    few = ["--episodes", "3", "--workers", "1"]
    assert main(["evaluate", run, "--task", f"{folder}/own_cart.py:cart", *few]) == 0
    assert main(["evaluate", run, *few]) == 0  # it is remembered
    assert main(["retask", run, "--goal", "place=2", "--tolerance", "0.5", *few]) == 0
    assert "a start of cart (seed 0)" in capsys.readouterr().out
    scores = json.loads((folder / "bare" / "scores.json").read_text())
    assert scores["task"] == "cart"
    assert 0 <= scores["scores"]["VMG"][0]["likeness"]["off_graph"] <= 1


def test_a_task_that_does_not_fit_is_not_remembered(logs, folder, capsys):
    before = (folder / "bare" / "run.json").read_bytes()
    assert main(["evaluate", str(folder / "bare"), "--task", "MountainCarContinuous-v0", "--episodes", "1"]) == 2
    assert "MountainCarContinuous-v0 shows 2" in " ".join(capsys.readouterr().err.split())
    assert (folder / "bare" / "run.json").read_bytes() == before


def test_asking_again_keeps_what_more_episodes_scored(logs, folder, capsys):
    asked = ["retask", str(folder / "bare"), "--goal", "place=2", "--tolerance", "0.5", "--workers", "1"]
    assert main([*asked, "--episodes", "3"]) == 0
    (file,) = (each for each in (folder / "bare" / "retask").glob("*.json") if json.loads(each.read_text())["summary"])
    measured = file.read_bytes()
    for fewer in ("0", "1"):
        capsys.readouterr()
        assert main([*asked, "--episodes", fewer]) == 0
        assert "keeps what 3 episodes per agent scored" in " ".join(capsys.readouterr().out.split())
        assert file.read_bytes() == measured
    assert main([*asked, "--episodes", "4"]) == 0
    assert json.loads(file.read_text())["summary"]["episodes"] == 4


def test_the_walk_with_a_task_in_a_file(logs, folder, capsys):
    task = f"{folder}/own_cart.py:cart"
    typed = walk(capsys, "train", f"npz:{logs}", "--out", str(folder / "file"), "--task", task, *LITTLE)
    assert [arguments[0] for arguments in typed] == ["train", "build", "solve", "evaluate", "report"]
    assert (folder / "file" / "report.html").exists()
    others_can_read(folder / "file")


def others_can_read(folder):
    """Everything has the modes of the user's umask, so that others in the lab can read it."""
    before = os.umask(0)
    os.umask(before)
    for path in folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o777 if path.is_dir() else 0o666) & ~before, path


def test_the_walk_with_a_gymnasium_id(logs, folder, capsys):
    run = folder / "registered"
    typed = walk(capsys, "train", f"npz:{logs}", "--out", str(run), "--task", "own_cart:OwnCart-v0", *LITTLE)
    assert [arguments[0] for arguments in typed] == ["train", "build", "solve", "evaluate", "report"]
    scores = json.loads((run / "scores.json").read_text())
    assert scores["task"] == "own_cart:OwnCart-v0"
    low, high = scores["scores"]["VMG"][0]["score_range"]
    assert 0 < low < high <= 50  # what was recorded scores 0 and 100
    assert "mean return of the recorded episodes" in scores["protocol"]


def test_the_goal_that_an_environment_names_is_found_in_the_state_and_followed(logs, folder, capsys):
    few = ["--episodes", "4", "--workers", "1"]
    assert main(["evaluate", str(folder / "registered"), "--task", "own_cart:OwnGoalCart-v0", *few, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["VMG"][0]["success_rate"] is not None
    config = json.loads((folder / "registered" / "run.json").read_text())["config"]
    assert config["graph"]["goal_columns"] == [0]
    assert main(["retask", str(folder / "registered"), "--goal", "random", *few]) == 0


def test_baselines_of_an_own_task(logs, folder):
    assert main(["evaluate", str(folder / "file"), "--episodes", "2", "--workers", "1", "--baselines"]) == 0
    scores = json.loads((folder / "file" / "scores.json").read_text())
    assert scores["scores"].keys() == {"VMG", "BC", "GCBC"}


@pytest.mark.parametrize("preset", [[], LITTLE], ids=["auto", "paper"])
@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ("Wide", "has states of 3 numbers, but other shows 4"),
        ("TwoHanded", "has actions of 1 number, but other takes 2"),
    ],
)
def test_a_task_that_does_not_fit_the_data_is_refused_before_anything_is_learned(
    logs, tmp_path, capsys, environment, sentence, preset
):
    file = tmp_path / f"other_{environment.lower()}_{len(preset)}.py"
    file.write_text(f"""
import gymnasium
import numpy as np
import vmg

class {environment}(gymnasium.Env):
    action_space = gymnasium.spaces.Box(-1, 1, ({1 if environment == "Wide" else 2},))

    def reset(self, *, seed=None, options=None):
        return np.zeros({4 if environment == "Wide" else 3}, np.float32), {{}}

other = vmg.Task(name="other", environment={environment}, horizon=9)
""")
    out = tmp_path / "run"
    assert main(["train", f"npz:{logs}", "--out", str(out), "--task", f"{file}:other", *preset]) == 2
    assert sentence in capsys.readouterr().err.replace("\n", " ")
    assert not (out / "run.json").exists()
    assert not (out / "training").exists()
    assert not (out / "auto").exists()


def test_a_task_that_cannot_be_made_here_is_learned_for_all_the_same(logs, tmp_path, monkeypatch):
    """Who learns need not have the simulator."""
    file, sentences = tmp_path / "elsewhere.py", []
    make = "def make():\n    raise OSError('no licence')"
    file.write_text(f"import vmg\n\n{make}\n\nt = vmg.Task(name='t', environment=make)")
    monkeypatch.setattr(stages, "say", sentences.append)
    few = vmg.AgentConfig(learn=vmg.LearnConfig(steps=2, hidden_units=8, batch_size=4))
    stages.train(Run(f"npz:{logs}", few, task=f"{file}:t", folder=tmp_path / "run"))
    assert "Whether t fits the data is not checked, since it cannot be made here: no licence" in sentences
