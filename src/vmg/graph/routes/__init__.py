"""Routes: one file per kind. Built in are routes along edges and along recordings, in two ways each.

Others are added with `@ROUTES.register("name")` on a class that does what `Routes` says, and chosen by
`SolveConfig.paths`.
"""

from vmg.graph.routes.base import ROUTES, LookingTracker, Problem, Routes, Tracker
from vmg.graph.routes.finals import FinalStates

__all__ = ["ROUTES", "FinalStates", "LookingTracker", "Problem", "Routes", "Tracker"]
