"""Adroit's hand with pen, hammer and door."""

from vmg.envs.disturbances import JOINTS
from vmg.envs.families.common import add_tasks, paper_settings, program_settings
from vmg.envs.task import Task

SCORES = {
    "pen": (0.3, 100, (96.262799, 3076.8331017826877)),
    "hammer": (1.0, 200, (-274.856578, 12794.134825156867)),
    "door": (0.3, 200, (-56.512833, 2880.5693087298737)),
}
"""The paper's radius, D4RL's horizon, and the returns that score 0 and 100 there."""


def _adroit(tool: str, kind: str, radius: float, horizon: int, score_range: tuple[float, float]) -> Task:
    paper = paper_settings(radius, 0.8, 2, 12)
    flipped = "" if tool == "pen" else " Today's environment flips the sign of one reward term of D4RL's."
    return Task(
        name=f"{tool}-{kind}",
        environment=f"AdroitHand{tool.capitalize()}-v1",
        data=f"minari:D4RL/{tool}/{kind}-v2",
        also=(f"minari:*{tool}/{kind}-v*", f"d4rl:*{tool}-{kind}*"),
        get=f"minari download D4RL/{tool}/{kind}-v2",
        horizon=horizon,
        score_range=score_range,
        disturbances=JOINTS,
        protocol=f"Dense reward, {horizon} steps, scaled as D4RL does.{flipped}",
        presets={"paper": paper, "program": program_settings(paper)},
    )


add_tasks(*(_adroit(tool, kind, *facts) for tool, facts in SCORES.items() for kind in ("human", "cloned")))
