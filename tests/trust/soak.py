"""Solves a small graph again and again, plans and acts in between, and watches the memory: it must stay as it is.

    python tests/trust/soak.py --solves 1000000 --seed 0 --json build/trust/soak.json

Every answer is compared with the first one to the same question.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import vmg
from vmg.base.versions import versions

QUESTIONS = 48
DISCOUNTS = (0.5, 0.9, 0.99)
PLAN_EVERY = 100
"""Solves between two plans, each with a policy, an action and a decision."""
WARM = 0.1
"""Share of the work before memory is looked at."""
SAMPLES = 200
MOST_GROWTH = 4.0
"""Megabytes that count as flat."""


@dataclass(frozen=True)
class World:
    """A small agent and what it is asked."""

    seed: int

    @cached_property
    def episodes(self) -> vmg.Episodes:
        return vmg.load(f"pointmaze:umaze?steps=400&seed={self.seed}")

    @cached_property
    def agent(self) -> vmg.Agent:
        learn = vmg.LearnConfig(steps=20, hidden_units=8, encoder_inputs="normalised")
        config = vmg.AgentConfig(learn=learn, graph=vmg.GraphConfig(radius=0.5, goal_columns=(0, 1)))
        (agent,) = vmg.Agent.fit(self.episodes, config, [self.seed], show_progress=False)
        return agent.build(self.episodes).solve()

    @cached_property
    def rewards(self) -> list[vmg.EdgeRewards]:
        rng, graph = np.random.default_rng(self.seed), self.agent.built
        drawn = (rng.normal(size=self.episodes.n_steps).astype(np.float32) for _ in range(QUESTIONS))
        return [vmg.reward(graph, replace(self.episodes, rewards=each)) for each in drawn]

    def solved(self, number: int) -> np.ndarray:
        rewards = self.rewards[number % QUESTIONS]
        return vmg.solve(self.agent.built, rewards, DISCOUNTS[number % len(DISCOUNTS)]).values

    def planned(self, number: int) -> np.ndarray:
        """Plan for a place that was recorded, and act and decide there."""
        start = self.episodes.observations[number % len(self.episodes.observations)]
        goal = self.episodes.observations[(7 * number) % len(self.episodes.observations), :2]
        policy = self.agent.plan(vmg.goals.near(goal, columns=(0, 1), tolerance=0.5)).policy()
        return np.concatenate([policy.act(start), policy.decide(start).actions.ravel()])


def memory() -> float:
    """Megabytes that this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def soak(solves: int, seed: int) -> dict[str, float]:
    """Solve so often in this process."""
    world, first, wrong, plans = World(seed), {}, 0, 0
    every, samples = max(solves // SAMPLES, 1), []
    for number in range(solves):
        question = number % (QUESTIONS * len(DISCOUNTS))
        answer = world.solved(question)
        wrong += not np.array_equal(first.setdefault(question, answer), answer)
        if number % PLAN_EVERY == 0:
            asked = plans % 50
            action = world.planned(asked)
            wrong += not np.array_equal(first.setdefault(("plan", asked), action), action)
            plans += 1
        if number % every == 0:
            samples.append(memory())
    warm = samples[int(WARM * len(samples)) :]
    tenth = max(len(warm) // 10, 1)
    before, after = (float(np.median(part)) for part in (warm[:tenth], warm[-tenth:]))
    return {"solves": solves, "plans": plans, "wrong": wrong, "before": before, "after": after}


def side_by_side(solves: int, seed: int, workers: int) -> dict:
    """Share the work among processes, and return what all of them found."""
    began = time.monotonic()
    shares = [solves // workers + (i < solves % workers) for i in range(workers)]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        found = list(pool.map(soak, shares, range(seed, seed + workers)))
    growth = max(each["after"] - each["before"] for each in found)
    wrong = sum(each["wrong"] for each in found)
    made_with = versions()
    made_with.pop("platform")
    return {
        "command": f"make soak SOLVES={solves} SEED={seed}",
        "seed": seed,
        "seconds": round(time.monotonic() - began, 1),
        "versions": made_with,
        "counts": {
            "graphs solved again": sum(each["solves"] for each in found),
            "plans made, each with an action and a decision": sum(each["plans"] for each in found),
            "answers that differ from the first to the same question": wrong,
            "processes": workers,
            "most megabytes in memory after the first tenth": round(max(each["before"] for each in found), 1),
            "most megabytes that a process grew by from then on": round(growth, 2),
        },
        "failures": wrong + (growth > MOST_GROWTH),
    }


def main() -> int:
    """Read the options, solve, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solves", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = side_by_side(options.solves, options.seed, options.workers)
    text = json.dumps(found, indent=2) + "\n"
    sys.stderr.write(text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(text)
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
