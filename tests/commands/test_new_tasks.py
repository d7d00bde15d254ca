"""New tasks by command, in the small maze: answers, sequences, rewards from a file, and what nothing leads to."""

import json

import numpy as np
import pytest
from maze_settings import little_maze

import vmg
from vmg import find_task
from vmg.cli.main import main
from vmg.runs import Run, stages

DATA = "pointmaze:umaze?steps=20000"
REWARD = """
import numpy as np

def left(o_t, a_t, o_tp1):
    return -o_tp1[:, 0]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("retask") / "run"
    stages.train(Run(DATA, little_maze(steps=4000, hidden_units=64), folder=folder))
    assert main(["build", str(folder)]) == 0
    return folder


def retasked(run, capsys, *options):
    """What the command prints as JSON."""
    capsys.readouterr()
    assert main(["retask", str(run), "--json", "--workers", "1", *options]) == 0
    return json.loads(capsys.readouterr().out)


def kept(run, content):
    """The file that holds it, too."""
    (file,) = [file for file in (run / "retask").glob("*.json") if json.loads(file.read_text()) == content]
    return file


def test_a_goal_is_answered_tried_and_kept(run, capsys):
    content = retasked(run, capsys, "--goal", "position=1,-1", "--episodes", "5")
    (answers,) = content["agents"]
    (plan,), (explanation,) = answers["plans"], answers["from_a_start"]
    assert plan["known"]
    assert 0 < plan["rewarded_steps"] < 20_000
    assert plan["reaching_vertices"] > 0.8 * answers["vertices"]
    assert explanation["possible"]
    assert explanation["steps"] > 0
    assert answers["first_action_ms"] > 0
    assert content["summary"]["score"] >= 80
    assert "Scored on the state by the objective itself" in content["protocol"]
    assert kept(run, content).stem.startswith("position_at_1_-1_within_0.45-")  # not that of 1,1


def test_in_words_it_says_the_same(run, capsys):
    assert main(["retask", str(run), "--goal", "position=1,-1", "--episodes", "2", "--workers", "1"]) == 0
    said = capsys.readouterr().out
    for words in (
        "Task: position at 1,-1, within 0.45.",
        "recorded steps are rewarded",
        "can reach it",
        "It can be done",
        "% of the steps were off the graph",
    ):
        assert words in said
    assert "95 % interval" in said


def test_what_the_run_keeps_is_asked_without_loading_data_or_making_a_simulator(run, capsys, monkeypatch):
    """Goals in the columns that the graph keeps, in any run; and rewards from the data that were made on the spot."""
    monkeypatch.setattr("vmg.envs.task.Task.make", None)
    monkeypatch.setattr("vmg.data.readers.pointmaze._record", None)
    with monkeypatch.context() as patch:
        patch.setattr("vmg.runs.run.Run.episodes", None)
        content = retasked(run, capsys, "--goal", "position=1,-1", "position=1,1", "--episodes", "0")
        assert content["agents"][0]["from_a_start"][0]["possible"]
    content = retasked(run, capsys, "--goal", "velocity=0,0", "--episodes", "0")  # these columns are not kept
    assert content["wanted"].startswith("velocity at 0,0, within 0.")


def test_how_near_counts_is_said_where_nobody_said_it(run, capsys):
    assert main(["retask", str(run), "--goal", "velocity=0,0", "--episodes", "0"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "How near to 'velocity=0,0' counts as reached is not said: within 0." in said
    assert "a twentieth of what the data cover there. --tolerance changes it." in said
    assert main(["retask", str(run), "--goal", "position=0..1,0..1", "--tolerance", "1", "--episodes", "0"]) == 0
    assert "The tolerance does nothing for 'position=0..1,0..1', which is a region." in capsys.readouterr().out


def test_columns_are_as_good_as_fields(run, capsys):
    by_field = retasked(run, capsys, "--goal", "position=1,-1", "--episodes", "0")
    by_columns = retasked(run, capsys, "--goal", "0,1=1,-1", "--tolerance", "0.45", "--episodes", "0")
    assert by_field["agents"][0]["plans"][0]["rewarded_steps"] == by_columns["agents"][0]["plans"][0]["rewarded_steps"]


def test_several_goals_are_done_in_turn_in_one_episode(run, capsys):
    content = retasked(run, capsys, "--goal", "position=1,-1", "position=-1,1", "position=1,1", "--episodes", "3")
    (answers,) = content["agents"]
    assert len(answers["plans"]) == len(answers["from_a_start"]) == 3
    assert answers["scores"]["score_range"] == [0, 3]
    assert answers["scores"]["score"] >= 66
    assert "in 900 steps counts, each once and in this order" in content["protocol"]


def test_one_of_several_goals_and_all_of_them_at_once(run, capsys):
    either = retasked(run, capsys, "--goal", "position=1,-1", "position=30,30", "--any", "--episodes", "2")
    assert either["summary"]["score"] == 100
    assert " or " in either["wanted"]
    both = retasked(run, capsys, "--goal", "0=1", "1=-1", "--all", "--tolerance", "0.4", "--episodes", "2")
    assert " and " in both["wanted"]
    assert "--all" in both["command"]


def test_another_order_is_another_request_with_episodes_of_its_own(run, capsys):
    goals = ["--goal", "0=1", "1=-1", "--all", "--tolerance", "0.4", "--episodes", "2"]
    one, other, free = (
        retasked(run, capsys, *goals, *order) for order in (["--before", "1,2"], ["--before", "2,1"], [])
    )
    assert one["wanted"].endswith(", columns 0 at 1, within 0.4 before columns 1 at -1, within 0.4")
    assert other["wanted"].endswith(", columns 1 at -1, within 0.4 before columns 0 at 1, within 0.4")
    assert len({kept(run, each) for each in (one, other, free)}) == 3
    noted = [set((run / "evaluations").glob(f"*{kept(run, each).stem[-12:]}*")) for each in (one, other, free)]
    assert [len(each) for each in noted] == [1, 1, 1]
    assert len(set.union(*noted)) == 3
    assert "what comes before its turn counts once it is reached anew after it" in one["protocol"]


def test_what_is_avoided_is_kept_off_and_its_price_is_said(run, capsys):
    """The maze is a U: without its bend there is no way from one leg to the other."""
    free = retasked(run, capsys, "--goal", "position=-1,1", "--episodes", "0")
    start = free["agents"][0]["from_a_start"][0]
    held = retasked(run, capsys, "--goal", "position=-1,1", "--avoid", "0=0.5..9", "1=-9..-0.5", "--episodes", "0")
    assert "avoiding columns 0 in 0.5..9, avoiding columns 1 in -9..-0.5" in held["wanted"]
    assert held["agents"][0]["plans"][0]["reaching_vertices"] < free["agents"][0]["plans"][0]["reaching_vertices"]
    assert start["possible"]


def test_a_penalty_on_the_way_is_another_request(run, capsys, tmp_path):
    file = tmp_path / "cost.py"
    file.write_text(REWARD.replace("-o_tp1[:, 0]", "np.abs(a_t).sum(1)"))
    costly = retasked(run, capsys, "--goal", "position=1,-1", "--penalty", f"{file}:left", "--episodes", "1")
    assert "at 1 step × (the function left" in costly["wanted"]
    heavier = [*["--goal", "position=1,-1", "--penalty", f"{file}:left"], "--penalty-weight", "9", "--episodes", "0"]
    assert kept(run, retasked(run, capsys, *heavier)) != kept(run, costly)


def test_random_goals_are_drawn_by_the_environment(run, capsys):
    content = retasked(run, capsys, "--goal", "random", "--episodes", "6")
    assert content["summary"]["score"] >= 80
    assert content["wanted"] == "a goal drawn by the environment, another one in every episode"
    assert content["protocol"].startswith("Start and goal are drawn by the environment in each episode; reached")
    assert content["agents"][0]["first_action_ms"] > 0


def test_a_reward_from_a_file_and_another_one_when_the_file_changes(run, capsys, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(REWARD)
    content = retasked(run, capsys, "--reward", f"{file}:left", "--episodes", "2")
    assert content["summary"]["success_rate"] is None
    assert content["summary"]["mean_return"] > 0  # the start lies right of the middle; it went left
    assert "0 is the mean return of the first 300 steps of the recorded episodes" in content["protocol"]
    first = kept(run, content)
    file.write_text(REWARD.replace("-o_tp1", "o_tp1"))
    other = retasked(run, capsys, "--reward", f"{file}:left", "--episodes", "2")
    assert kept(run, other) != first
    assert other["summary"]["mean_return"] > 0


def test_called_again_it_runs_only_what_is_missing(run, capsys, monkeypatch):
    before = retasked(run, capsys, "--goal", "position=-1,-1", "--episodes", "3")
    monkeypatch.setattr("vmg.evaluation.evaluation.run_episode", None)
    again = retasked(run, capsys, "--goal", "position=-1,-1", "--episodes", "2")
    assert again["agents"][0]["scores"]["episodes"] == before["agents"][0]["scores"]["episodes"][:2]


def test_a_place_nobody_went_to_is_answered_with_the_nearest(run, capsys):
    content = retasked(run, capsys, "--goal", "position=30,30", "--episodes", "0")
    (answers,) = content["agents"]
    assert content["summary"] is None
    assert "scores" not in answers
    assert not answers["plans"][0]["known"]
    (explanation,) = answers["from_a_start"]
    assert not explanation["possible"]
    assert explanation["nearest"]["distance"] == pytest.approx(answers["plans"][0]["distance"])
    episodes = vmg.load(DATA)
    episode = episodes[explanation["nearest"]["episode"]]
    place = episode.observations[explanation["nearest"]["step"], :2]
    assert np.linalg.norm(place - 30) == pytest.approx(explanation["nearest"]["distance"], rel=1e-4)


def test_the_example_of_a_goal_with_as_many_numbers_works(run, capsys):
    assert main(["retask", str(run), "--goal", "position=1"]) == 2
    example = capsys.readouterr().err.partition("write as many, ")[2].partition(", or LOW")[0]
    assert retasked(run, capsys, "--goal", example, "--episodes", "0")["wanted"].startswith("position at ")


def test_a_reward_that_pays_nothing_is_not_explained_a_way(run, capsys, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(REWARD.replace("-o_tp1", "0 * o_tp1"))
    assert main(["retask", str(run), "--reward", f"{file}:left", "--episodes", "0"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "so no way is better than another" in said
    assert "It can be done" not in said
    assert retasked(run, capsys, "--reward", f"{file}:left", "--episodes", "0")["agents"][0]["from_a_start"] == []


def test_what_python_calls_avoiding_is_an_option_here(run, capsys):
    """Both legs of the U but not the bend: no way keeps clear of it from one of them, whichever the start is in."""
    place = vmg.load(DATA)[0].observations[0, :2]
    goal = ["--goal", f"position=-1,{-np.sign(place[1]):g}", "--episodes", "0", "--avoid", "0=0.5..9"]
    assert main(["retask", str(run), *goal]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "passes what is to be avoided" in said
    assert "Ask without --avoid to take that way" in said
    assert "`avoiding`" not in said


def test_recorded_rewards_are_scored_by_what_the_environment_pays(run, capsys):
    """Nobody knows what would be recorded of new steps; they were scored as if they paid nothing."""
    content = retasked(run, capsys, "--reward", "recorded", "--episodes", "2")
    assert content["protocol"].endswith("the recorded rewards are known of recorded steps alone.")
    assert content["agents"][0]["scores"]["score_range"] == list(find_task("pointmaze-umaze").score_range)


OWN = """
import numpy as np

def breaks(o_t, a_t, o_tp1):
    return np.stack(o_t, a_t)

def gone(o_t, a_t, o_tp1):
    return o_tp1[:, 0] * np.nan

def two(o_t, a_t, o_tp1):
    return o_tp1[:, :2]

def once(o_t, a_t, o_tp1):
    return o_tp1[:, 0] * (1 / (len(o_t) > 1))
"""


FAILS_LATER = """
import numpy as np
calls = []

def later(o_t, a_t, o_tp1):
    calls.append(len(o_t))
    return np.full(len(o_t), 1 / (calls.count(1) < 30)) * o_tp1[:, 0]
"""


@pytest.mark.parametrize("option", ["--reward", "--penalty"])
@pytest.mark.parametrize(
    ("name", "did"),
    [
        ("breaks", "raised TypeError in line 5: "),
        ("gone", "gave nan in row 0 and such numbers in 20,000 of 20,000 rows."),
        ("two", "gave an array of the shape (20000, 2) for 20,000 steps."),
    ],
)
def test_a_function_of_ones_own_that_fails_is_named_in_one_sentence(run, capsys, tmp_path, option, name, did):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    goal = [] if option == "--reward" else ["--goal", "position=1,1"]
    assert main(["retask", str(run), *goal, option, f"{file}:{name}", "--episodes", "1"]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith(f"Error: The function {name} of {file} {did}")
    assert "one finite number per step: mend it there." in said


def test_a_function_that_fails_on_single_steps_is_named_before_it_is_tried(run, capsys, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    assert main(["retask", str(run), "--reward", f"{file}:once", "--episodes", "1"]) == 2
    assert f"The function once of {file} raised ZeroDivisionError in line 14" in capsys.readouterr().err


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_function_that_fails_while_it_is_tried_is_named_too(run, capsys, tmp_path, workers):
    """By one process or several."""
    file = tmp_path / "mine.py"
    file.write_text(FAILS_LATER)
    options = ["--reward", f"{file}:later", "--episodes", "2", "--workers", workers]
    assert main(["retask", str(run), *options]) == 2
    assert f"The function later of {file} raised ZeroDivisionError in line 7: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "Say one thing that is wanted"),
        (["--goal", "position=1,1", "--skill", "top burner"], "Say one thing that is wanted"),
        (["--skill", "top burner", "--tolerance", "1"], "A tolerance says how near a place counts as reached"),
        (["--goal", "position=1"], "'position' has 2 numbers, but 1 number is given in 'position=1': write as many"),
        (["--goal", "position"], "'position' has 2 numbers, but 0 numbers are given"),
        (["--goal", "1=1", "--avoid", "position=1..2,3,4"], "'position' has 2 numbers, but 3 numbers are given"),
        (
            ["--goal", "position=1,1", "0=1", "--all", "--before", "1,2", "2,1"],
            "No order fits: by --before 1,2 2,1 a goal would have to come before itself. Leave a pair out.",
        ),
        (["--goal", "place=1,1"], "'place=1,1' is no goal of pointmaze-umaze"),
        (["--goal", "7=1"], "The columns are 0 to 3"),
        (["--goal", "position=1,1", "--any"], "--any and --all join several goals"),
        (["--goal", "position=1,1", "position=0,0", "--any", "--all"], "give --any or --all, not both"),
        (["--goal", "position=1,1", "position=0,0", "--before", "1,2"], "--before orders the goals of --all"),
        (["--goal", "position=1,1", "0=1", "--all", "--before", "1,3"], "--before takes two numbers of goals, 1 to 2"),
        (["--goal", "random", "--kind", "stay"], "give it with --goal FIELD=NUMBERS"),
        (["--goal", "random", "--avoid", "0=0..1"], "for goals that are named"),
        (["--skill", "top burner"], "has no named skills"),
        (["--reward", "nowhere.py:f"], "does not name a function"),
        (["--goal", "position=1,1", "--seeds", "7"], "has no agent of seed 7"),
    ],
)
def test_mistakes_are_said(run, options, words, capsys):
    assert main(["retask", str(run), *options]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_run_without_a_graph_says_what_to_do(tmp_path, capsys):
    bare = ["train", "pointmaze:umaze?steps=500", "--out", str(tmp_path / "bare"), "--preset", "paper"]
    assert main([*bare, "--learn.steps", "20", "--learn.hidden-units", "8"]) == 0
    assert main(["retask", str(tmp_path / "bare"), "--goal", "position=1,1"]) == 2
    assert "build it first" in capsys.readouterr().err
