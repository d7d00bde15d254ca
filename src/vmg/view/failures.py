"""Where and why an episode failed, read off what was decided at every step."""

from dataclasses import dataclass

import numpy as np

from vmg.base.types import Int32s
from vmg.envs import TaskGoal
from vmg.view.episodes import Watched

LEAST = 20
"""At least this many steps are looked at."""


@dataclass(frozen=True)
class Diagnosis:
    """What went wrong in one episode."""

    seed: int
    where: str
    kind: str
    """In a few words, to be counted: what the tables count it as, and what was seen at its end."""
    why: str
    """A sentence."""


def diagnose(episode: Watched, goal: TaskGoal | None = None) -> Diagnosis:
    """Look at the last third of an episode: what kept it from going on? `goal` says where its task names goals."""
    kind, why = _reason(episode)
    failure = episode.score.failure
    kind = kind if failure in (None, kind) else f"{failure}: {kind}"
    if episode.to_do:
        why += f" Still to do: {', '.join(episode.to_do)}."
    return Diagnosis(episode.score.seed, _where(episode, goal), kind, why)


def _reason(episode: Watched) -> tuple[str, str]:
    last, window = episode.decisions[-1], min(max(LEAST, len(episode.decisions) // 3), len(episode.decisions))
    recent = episode.decisions[-window:]
    ahead = len(last.path) - 1
    left = "one edge was left" if ahead == 1 else f"{ahead} edges were left"
    if episode.score.fell is not None:
        return "fall", f"It fell in step {episode.score.fell} and did not get up again; {left}."
    lost = float(np.mean([decision.off_graph for decision in recent]))
    if lost > 0.5:
        return "off the graph", (
            f"In {100 * lost:.0f} % of its last {window} steps it was farther than the radius "
            f"({episode.plan.graph.radius:g}) from every vertex: nothing recorded looks like where it was."
        )
    if ahead == 0:
        return "nothing better ahead", (
            f"It had come to its target, vertex {last.vertex:,}: no recorded way leads on to anything worth more."
        )
    visited = np.unique(episode.vertices[-window:])
    if len(visited) <= max(3, window // 20):
        return "stuck", (
            f"For its last {window} steps it was in {_names(visited)}: the actions did not carry it to "
            f"the subgoal, vertex {last.subgoal:,}; {left}."
        )
    best = int(np.argmax(episode.values))
    if best < len(episode.decisions) - window:
        return "going round", (
            f"It was nearest to its aim in step {best} and then lost ground: {len(visited)} vertices in the last "
            f"{window} steps, none worth more; {left}."
        )
    if episode.score.failure == "jam":
        return "no progress", (
            f"For {episode.score.stalled} steps in a row it came to no vertex worth more than all before; {left} to "
            f"vertex {last.target:,}."
        )
    return "out of time", f"It was still getting on when time was up; {left} to vertex {last.target:,}."


def _where(episode: Watched, goal: TaskGoal | None) -> str:
    vertex = episode.decisions[-1].vertex
    if goal is None:
        return f"vertex {vertex:,}, worth {episode.values[-1]:.3g}"
    here = episode.states[-1][list(goal.columns)]
    place = ", ".join(f"{x:.2f}" for x in here)
    if episode.goal is None:
        return f"({place}), vertex {vertex:,}"
    return f"({place}), {np.linalg.norm(here - episode.goal):.2f} from the goal; vertex {vertex:,}"


def _names(vertices: Int32s) -> str:
    names = " and ".join(f"{vertex:,}" for vertex in vertices[:3])
    return (
        f"vert{'ex' if len(vertices) == 1 else 'ices'} {names}" if len(vertices) <= 3 else f"{len(vertices)} vertices"
    )
