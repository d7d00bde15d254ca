"""Decisions: look-ups in solved tables beside Dijkstra in networkx at every step, as in the published program."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import agents
from benchmarks.networkx_peer import NetworkxGraph
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import timed
from vmg.act.policy import Policy
from vmg.agent.agent import Agent
from vmg.base.types import Float32s
from vmg.graph import reward
from vmg.networks import encode, translate

BARS = {1: Bar("at most", 0.2e-3), 1024: Bar("at most", 15e-3)}


@dataclass(frozen=True)
class Size:
    """Observations decided on at once, decisions timed for each, and decisions of the peer."""

    batches: tuple[int, ...]
    decisions: int
    peers: int

    def calls(self, batch: int) -> int:
        """Return how often a batch is timed: often enough for percentiles, not much more often."""
        return min(max(self.decisions // batch, 50), 5_000)


SIZES: dict[Level, Size] = {
    "full": Size((1, 4, 16, 64, 256, 1024, 4096), 50_000, 30),
    "quick": Size((1, 32, 1024), 5_000, 20),
    "tiny": Size((1, 8), 20, 3),
}


def measure(level: Level) -> Iterator[Row]:
    """Decide for observations near recorded ones but never the same.

    BLAS runs with its default threads and, for one batch, on one thread as in an evaluation: faster on busy cores.
    """
    size, steps = SIZES[level], agents.SIZES[level]
    agent, episodes = agents.synthetic_agent(steps.steps, steps.vertices)
    policy = agent.policy()
    rng = np.random.default_rng(1)
    chosen = episodes.observations[rng.integers(0, len(episodes.observations), 8 * max(size.batches))]
    seen = (chosen + rng.normal(0, 0.01, chosen.shape)).astype(np.float32)
    peer = NetworkxPolicy(agent, NetworkxGraph(agent.built, reward(agent.built, episodes)))
    as_published = agent.policy(replace(agent.config.act, paid_states=False))
    checked = _check_same(as_published, peer, seen[: size.peers])
    peer_seconds = float(np.median([timed(partial(peer.act, o))[1] for o in seen[: size.peers]]))
    for batch in size.batches:
        seconds = _latencies(policy, seen, batch, size.calls(batch))
        yield _row(level, agent, "decision", batch, seconds, batch * peer_seconds, checked)
    batch = min(1024, max(size.batches))
    with threadpool_limits(1, "blas"):
        seconds = _latencies(policy, seen, batch, size.calls(batch))
    yield _row(level, agent, "decision, one BLAS thread", batch, seconds, batch * peer_seconds, checked)


class NetworkxPolicy:
    """Our networks, nearest vertex and targets, but a path searched anew at every step."""

    def __init__(self, agent: Agent, graph: NetworkxGraph) -> None:
        self.agent, self.graph, self.targets = agent, graph, agent.own_plan.routes.targets
        self.low, self.high = (np.array(bound, np.float32) for bound in (agent.data.action_low, agent.data.action_high))

    def act(self, observation: Float32s) -> tuple[Float32s, list[int]]:
        """Return the action and the path it follows."""
        agent = self.agent
        vertex = int(agent.built.nearest(encode(agent.weights, observation[None]))[0][0])
        path = self.graph.path(vertex, int(self.targets[vertex]))
        subgoal = path[min(agent.config.act.subgoal_steps, len(path) - 1)]
        action = translate(agent.weights, observation, agent.built.states[subgoal])
        return np.clip(action, self.low, self.high), path


def _check_same(policy: Policy, peer: NetworkxPolicy, observations: Float32s) -> str:
    """Paths must cost the same; where they are the same, the actions must be too."""
    same = 0
    for observation in observations:
        ours, (action, path) = policy.decide(observation)[0], peer.act(observation)
        close = np.isclose(peer.graph.cost(path), peer.graph.cost(ours.path), rtol=1e-6, atol=1e-6)
        check(bool(close), f"the paths {ours.path} and {path} cost the same")
        if path == ours.path:
            same += 1
            check(np.allclose(action, ours.action, atol=1e-5), f"the actions {ours.action} and {action} are equal")
    n = len(observations)
    return f"{n} paths cost the same; the actions of the {same} identical ones are equal, the others are ties"


def _latencies(policy: Policy, seen: Float32s, batch: int, calls: int) -> np.ndarray:
    """Time this many calls, each with other observations."""
    starts = [i * batch % (len(seen) - batch + 1) for i in range(calls)]
    batches = [seen[start] if batch == 1 else seen[start : start + batch] for start in starts]
    policy.act(batches[0])
    return np.array([timed(partial(policy.act, each))[1] for each in batches])


def _row(level: Level, agent: Agent, name: str, batch: int, seconds: np.ndarray, peer: float, checked: str) -> Row:
    spread = dict(zip(("p50", "p95", "p99"), np.percentile(seconds, [50, 95, 99]).tolist(), strict=True))
    words = ", ".join(f"{percentile} {1e3 * found:.3f}" for percentile, found in spread.items())
    return Row(
        family="decisions",
        name=name,
        size=f"{batch:,} at once, {agent.built.n_vertices:,} vertices",
        ours=spread["p50"],
        peer_name="networkx",
        peer=peer,
        bar=BARS.get(batch) if level == "full" else None,
        checked=checked,
        note=f"{len(seconds):,} calls, {words} ms; networkx: one decision's median, times {batch:,}",
        amount=batch,
        percentiles=spread,
    )
