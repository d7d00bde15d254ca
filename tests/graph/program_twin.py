"""The published program's graph and policy, written out step by step from its description, with dicts and loops.

Two things are said here that the program leaves to its libraries: of equally short paths the one that is found first
from the end backwards, vertices in order; of equal values the last vertex first.
"""

import numpy as np

HALF = np.float16


def edges_of(labels, lengths, rewards):
    """{(a, b): mean reward}, in the order of first steps, with half of what is earned inside its two vertices."""
    earned, row, step = {}, 0, 0
    for length in lengths:
        for t in range(length):
            edge = int(labels[row + t]), int(labels[row + t + 1])
            earned.setdefault(edge, []).append(float(rewards[step + t]))
        row, step = row + length + 1, step + length
    mean = {edge: sum(all_of_it) / len(all_of_it) for edge, all_of_it in earned.items()}
    inside = {a: reward for (a, b), reward in mean.items() if a == b}
    return {(a, b): reward + inside.get(a, 0) / 2 + inside.get(b, 0) / 2 for (a, b), reward in mean.items() if a != b}


def values_of(n, edges, discount):
    loops = {}
    for vertex in range(n):
        incoming = [HALF(reward) for (_, b), reward in edges.items() if b == vertex]
        if incoming and not any(a == vertex for a, _ in edges):
            loops[vertex, vertex] = max(incoming)
    values = [HALF(0)] * n
    for _ in range(1000):
        new = [HALF(0)] * n
        for (a, b), reward in [*edges.items(), *loops.items()]:
            later = HALF(np.float32(discount) * np.float32(values[b]))
            new[a] = max(new[a], HALF(np.float32(HALF(reward)) + np.float32(later)))
        changed = any(abs(x - y) > 0.1 for x, y in zip(new, values, strict=True))
        values = new
        if not changed:
            break
    return values


class TwinPolicy:
    """Where an episode heads, one feature after another."""

    def __init__(self, features, edges, values, *, subgoal_steps, search_steps=None):
        self.features, self.edges, self.values = features, edges, values
        self.ahead, self.depth = subgoal_steps, search_steps
        ascending = sorted(range(len(values)), key=lambda vertex: values[vertex])
        self.ends = ascending[::-1][:29]
        self.end, self.path, self.reached, self.waited = 0, None, 0, 0

    def subgoal(self, feature):
        """The vertex it is at, and the one it heads for."""
        if self.path is None or self.waited > 10 or min(self._gaps(self.path, feature)) > 2:
            found = self._path_from(feature)
            if found is not None:
                self.path, self.reached, self.waited = found, 0, 0
        gaps = self._gaps(self.path, feature)
        here = gaps.index(min(gaps))
        if here > self.reached:
            self.reached, self.waited = here, 0
        else:
            self.waited += 1
        most, past = (6 if self.depth is None else 8), self.waited - 5
        further = int(past / 5 * (most - self.ahead)) if past >= 0 else 0
        return self.path[here], self.path[min(here + self.ahead + further, len(self.path) - 1)]

    def _gaps(self, path, feature):
        return [float(np.sqrt(np.sum((self.features[v] - feature) ** 2))) for v in path]

    def _path_from(self, feature):
        gaps = self._gaps(range(len(self.features)), feature)
        starts = sorted(range(len(gaps)), key=lambda vertex: gaps[vertex])[:10]
        if self.depth is not None:
            found = [highest_path(start, self.edges, self.values, self.depth) for start in starts]
            best = max(total for _, total in found)
            return next(path for path, total in found if total == best)
        for start in starts:
            if path := shortest_path(start, self.ends[self.end], self.edges):
                return path
        for number in range(1, len(self.ends)):
            if path := shortest_path(starts[0], self.ends[number], self.edges):
                self.end = number
                return path
        return None


def shortest_path(start, end, edges):
    following, found = {end: end}, [end]
    for head in found:
        for tail in sorted(a for a, b in edges if b == head):
            if tail not in following:
                following[tail] = head
                found.append(tail)
    if start not in following:
        return []
    path = [start]
    while path[-1] != end:
        path.append(following[path[-1]])
    return path


def highest_path(start, edges, values, depth):
    """Breadth first, children in the order of their edges; of the deepest level the highest sum, the last of equals."""
    paths, level = {start: ([start], values[start])}, [start]
    for _ in range(depth):
        below = []
        for vertex in level:
            for a, b in edges:
                if a == vertex and b not in paths:
                    path, total = paths[vertex]
                    paths[b] = ([*path, b], HALF(values[b] + total))
                    below.append(b)
        if not below:
            break
        level = below
    best = max(paths[vertex][1] for vertex in level)
    return next(paths[vertex] for vertex in reversed(level) if paths[vertex][1] == best)
