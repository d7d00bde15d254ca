"""Which vertex is best: by value with ties, and of all that each vertex can reach."""

import numpy as np

from vmg.base.types import Bools, Int32s, Int64s
from vmg.graph import kernels
from vmg.graph.routes.base import Problem
from vmg.graph.settings import Ties
from vmg.graph.values import Values

TIE = 1e-6
"""Values closer than this (relative) count as equal."""
NOISE = 1e-12
"""Values smaller than this, in proportion to the largest, count as 0: it is what sums leave that should cancel."""


def by_rank(solved: Values, ties: Ties) -> tuple[Int64s, Int64s]:
    """Vertices from the best down: by value (ties as classes), looping ones first, then by index.

    And the group of each in that order: vertices of a group are equally good, where ties go to the nearest.
    """
    sizes = np.abs(solved.values)
    values = np.where(sizes > NOISE * sizes.max(initial=0.0), solved.values, 0.0)
    descending = np.argsort(-values, kind="stable")
    classes = kernels.paths.tie_classes(values, descending, TIE)
    order: Int64s = np.lexsort((~solved.looping, classes))
    groups = np.arange(len(order)) if ties == "index" else (2 * classes + ~solved.looping)[order]
    return order, groups


def best_anywhere(problem: Problem) -> tuple[Int32s, Bools]:
    """For every vertex the best it can reach, and whether it is itself as good as that."""
    order, groups = by_rank(problem.values, problem.settings.ties)
    if problem.stays is not None and problem.settings.ties == "nearest":
        groups = np.where(problem.stays[order], -1, groups)
        order, groups = order[by_group := np.argsort(groups, kind="stable")], groups[by_group]
    first_in, edges_in = problem.graph.incoming
    tails = problem.graph.tails[edges_in]
    targets = kernels.paths.best_reachable(first_in, tails, problem.rewards.absorbing, order, groups)
    group_of = np.empty_like(groups)
    group_of[order] = groups
    return targets, group_of == group_of[targets]
