"""One decision: a look-up in the solved tables beside Dijkstra in networkx at every step."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.agents import synthetic_agent
from benchmarks.networkx_peer import NetworkxGraph
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import timed
from vmg.act.policy import Policy
from vmg.agent import Agent
from vmg.graph import reward
from vmg.networks import encode, translate
from vmg.types import Float32s

BATCH = 1024


@dataclass(frozen=True)
class Size:
    """Steps and vertices of the graph; calls timed with one observation, with a batch, and of the peer."""

    steps: int
    vertices: int
    singles: int
    batches: int
    peers: int


SIZES: dict[Level, Size] = {
    "full": Size(124_000, 34_000, 5_000, 100, 30),
    "quick": Size(12_400, 3_400, 1_000, 30, 20),
    "tiny": Size(800, 200, 20, 3, 3),
}


def measure(level: Level) -> Iterator[Row]:
    """Decide for one observation and for 1,024, near recorded ones but never the same.

    The batch is timed with BLAS as it is, and on one thread, as evaluation runs it: on busy cores that is faster.
    """
    size = SIZES[level]
    agent, episodes = synthetic_agent(size.steps, size.vertices)
    policy = Policy(agent)
    rng = np.random.default_rng(1)
    chosen = episodes.observations[rng.integers(0, len(episodes.observations), max(size.singles, BATCH))]
    seen = (chosen + rng.normal(0, 0.01, chosen.shape)).astype(np.float32)
    peer = NetworkxPolicy(agent, NetworkxGraph(agent.built, reward(agent.built, episodes)))
    checked = _check_same(policy, peer, seen[: size.peers])
    peer_seconds = float(np.median([timed(partial(peer.act, o))[1] for o in seen[: size.peers]]))
    singles = _latencies(policy, [seen[i] for i in range(size.singles)])
    rolled = [np.roll(seen, i, axis=0)[:BATCH] for i in range(size.batches)]
    batches = _latencies(policy, rolled)
    with threadpool_limits(1, "blas"):
        single_thread = _latencies(policy, rolled)
    bars = (Bar("at most", 0.2e-3), Bar("at most", 15e-3)) if level == "full" else (None, None)
    extrapolated = f"; networkx: one decision's median, times {BATCH:,}"
    yield _row("one observation", agent, singles, peer_seconds, bars[0], checked)
    for name, found in ((f"{BATCH:,} observations", batches), (f"{BATCH:,}, one BLAS thread", single_thread)):
        yield _row(name, agent, found, BATCH * peer_seconds, bars[1], checked, extrapolated)


class NetworkxPolicy:
    """Our networks, nearest vertex and targets, but a path searched anew at every step."""

    def __init__(self, agent: Agent, graph: NetworkxGraph) -> None:
        self.agent, self.graph = agent, graph
        self.low, self.high = (np.array(bound, np.float32) for bound in (agent.data.action_low, agent.data.action_high))

    def act(self, observation: Float32s) -> tuple[Float32s, list[int]]:
        """Return the action and the path it follows."""
        agent = self.agent
        vertex = int(agent.built.nearest(encode(agent.weights, observation[None]))[0][0])
        path = self.graph.path(vertex, int(agent.solved.targets[vertex]))
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


def _latencies(policy: Policy, batches: list[Float32s]) -> np.ndarray:
    policy.act(batches[0])
    return np.array([timed(partial(policy.act, batch))[1] for batch in batches])


def _row(
    name: str, agent: Agent, seconds: np.ndarray, peer: float, bar: Bar | None, checked: str, note: str = ""
) -> Row:
    p50, p95, p99 = np.percentile(seconds, [50, 95, 99])
    return Row(
        family="decisions",
        name=f"decision, {name}",
        size=f"{agent.built.n_vertices:,} vertices, {agent.built.n_edges:,} edges",
        ours=float(p50),
        peer_name="networkx",
        peer=peer,
        bar=bar,
        checked=checked,
        note=f"{len(seconds):,} calls, p50 {p50 * 1e3:.3f}, p95 {p95 * 1e3:.3f}, p99 {p99 * 1e3:.3f} ms{note}",
    )
