"""Evaluation: episodes in, scores out; objectives of one's own, baselines, executors."""

from vmg.evaluation.evaluation import Actor, evaluate, run_episode
from vmg.evaluation.executors import EXECUTORS
from vmg.evaluation.objectives import scored_by
from vmg.evaluation.scores import EpisodeScore, Scores, Summary

__all__ = ["EXECUTORS", "Actor", "EpisodeScore", "Scores", "Summary", "evaluate", "run_episode", "scored_by"]
