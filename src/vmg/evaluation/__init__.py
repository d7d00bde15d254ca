"""Evaluation: episodes in, scores out; objectives of one's own, baselines, executors."""

from typing import TYPE_CHECKING

from vmg.base.lazy import lazy_names
from vmg.evaluation.evaluation import Actor, evaluate, run_episode
from vmg.evaluation.executors import EXECUTORS
from vmg.evaluation.objectives import scored_by
from vmg.evaluation.scores import EpisodeScore, Scores, Summary

if TYPE_CHECKING:
    from vmg.evaluation.baselines import clone

__all__ = ["EXECUTORS", "Actor", "EpisodeScore", "Scores", "Summary", "clone", "evaluate", "run_episode", "scored_by"]

__getattr__ = lazy_names(__name__, {"vmg.evaluation.baselines": ["clone"]})
