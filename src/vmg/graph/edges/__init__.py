"""Where edges come from: one file per source, each a function that returns the graph with its edges.

The built-in source joins vertices that a recorded step joins. Others are added with `@EDGE_SOURCES.register("name")`
and named in `GraphConfig.edges`; an edge that nobody recorded is possible, and has a price.
"""

from vmg.graph.edges.base import EDGE_SOURCES, Edge, EdgeSource, Unrecorded, add_edges
from vmg.graph.edges.recorded import recorded

__all__ = ["EDGE_SOURCES", "Edge", "EdgeSource", "Unrecorded", "add_edges", "recorded"]
