"""Gym's locomotion with D4RL's files: half-cheetah, hopper, walker."""

from vmg.envs.arranging import set_joints
from vmg.envs.disturbances import JOINTS
from vmg.envs.families.common import add_tasks, d4rl_files, get_d4rl, paper_settings, program_settings
from vmg.envs.task import Task

_FALLS = " The step that falls is no longer paid for being healthy, 1 less in the return."
BODIES = {
    "halfcheetah": (8, (-280.178953, 12135.0), ""),
    "hopper": (5, (-20.272305, 3234.3), _FALLS),
    "walker2d": (8, (1.629008, 4592.3), f"{_FALLS} The feet have D4RL's friction, not v5's."),
}
"""Joints, the returns that score 0 and 100 in D4RL, and what differs from its simulator."""


def _locomotion(body: str, kind: str, joints: int, score_range: tuple[float, float], differs: str = "") -> Task:
    # The paper gives no settings for locomotion. These are its row for pen and door, whose reward is dense as well.
    paper = paper_settings(0.3, 0.8, 2, 12)
    environment = {"halfcheetah": "HalfCheetah-v5", "hopper": "Hopper-v5", "walker2d": "Walker2d-v5"}[body]
    data = f"{body}_{kind.replace('-', '_')}-v2"
    return Task(
        name=f"{body}-{kind}",
        environment=environment,
        # The model with D4RL's friction of the feet, 0.9 and 1.9; v5's own has 1.9 for both.
        options={"xml_file": "walker2d.xml"} if body == "walker2d" else {},
        data=f"d4rl:{data}.hdf5",
        also=d4rl_files(f"{body}[-_]{kind.replace('-', '[-_]')}-v[12]"),
        get=get_d4rl(data),
        # Joints without the place along the track, then the velocities of all of them.
        fields={"height": (0,), "angle": (1,), "speed": (joints,), "positions": tuple(range(joints))},
        arrange=set_joints,
        disturbances=JOINTS,
        horizon=1000,
        score_range=score_range,
        protocol=f"Dense reward, 1000 steps, scaled as D4RL does. The environment is {environment} on MuJoCo 3, "
        f"where D4RL's was v2 on MuJoCo 2: the same observation, another simulator.{differs}",
        presets={"paper": paper, "program": program_settings(paper)},
    )


KINDS = ("medium", "medium-replay", "medium-expert")
add_tasks(*(_locomotion(body, kind, *facts) for kind in KINDS for body, facts in BODIES.items()))
