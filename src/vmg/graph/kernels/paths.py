"""The best vertex that each can reach, and cheapest paths there over edges."""

from typing import Any

import numpy as np

from vmg.graph.kernels.compiling import jit


@jit
def tie_classes(values: Any, descending: Any, tolerance: float) -> Any:
    """Number the values from the best down; values within `tolerance` (relative) of the first of a class share it."""
    classes = np.empty(len(values), np.int64)
    current = 0
    leader = values[descending[0]]
    for vertex in descending:
        value = values[vertex]
        if leader - value > tolerance * max(abs(leader), abs(value)):
            current += 1
            leader = value
        classes[vertex] = current
    return classes


@jit
def best_reachable(first_in: Any, tails: Any, absorbing: Any, by_rank: Any, groups: Any) -> Any:
    """For each vertex the best-ranked vertex it can reach: walk backwards from the best, then the next best, ...

    Vertices of equal rank form a group, `groups` in order of rank; the first of them found stands for all.
    """
    n = len(by_rank)
    targets = np.full(n, -1, np.int32)
    stack = np.empty(n, np.int32)
    begin = 0
    while begin < n:
        end = begin + 1
        while end < n and groups[end] == groups[begin]:
            end += 1
        depth = 0
        for vertex in by_rank[begin:end]:
            if targets[vertex] < 0:
                stack[depth] = vertex
                depth += 1
        for i in range(depth):
            targets[stack[i]] = stack[0]
        begin = end
        target = stack[0]
        while depth > 0:
            depth -= 1
            head = stack[depth]
            for edge in range(first_in[head], first_in[head + 1]):
                tail = tails[edge]
                if targets[tail] < 0 and not absorbing[tail]:
                    targets[tail] = target
                    stack[depth] = tail
                    depth += 1
    return targets


@jit
def best_within(
    first_edge: Any, heads: Any, weights: Any, absorbing: Any, ranks: Any, by_rank: Any, search_steps: int
) -> Any:
    """For each vertex the best-ranked vertex within `search_steps` edges of it, itself included, and the weight of a
    path there of no more edges: the cheapest of those found on the way.
    """
    best, spent = ranks.copy(), np.zeros(len(ranks), np.int64)
    for _ in range(search_steps):
        before, spent_before = best.copy(), spent.copy()
        changed = False
        for vertex in range(len(best)):
            if absorbing[vertex]:
                continue
            for edge in range(first_edge[vertex], first_edge[vertex + 1]):
                rank = before[heads[edge]]
                if rank > best[vertex]:
                    continue
                weight = spent_before[heads[edge]] + weights[edge]
                if rank < best[vertex] or weight < spent[vertex]:
                    changed |= rank < best[vertex]
                    best[vertex], spent[vertex] = rank, weight
        if not changed:
            break
    return by_rank[best].astype(np.int32), spent


@jit
def next_hops(
    first_edge: Any,
    heads: Any,
    first_in: Any,
    edges_in: Any,
    tails: Any,
    weights: Any,
    absorbing: Any,
    targets: Any,
    ends: Any,
    by_target: Any,
    limits: Any,
) -> Any:
    """Cheapest paths from every vertex to its target, as one table of hops.

    Entry v < n of the table is vertex v on the way to its own target; entries from n on are vertices on a path whose
    target differs from their own, which exist only when the search is limited. Then `limits` says what the path from
    each vertex weighs at most; without any, every vertex of a path shares the path's target. Vertices with the same
    target that are marked as `ends` are all as good as the target: each path leads to the one it reaches most cheaply.
    Returns (next entry of each entry, vertex of the entries from n on).

    One Dijkstra backwards from each target, over (weight, edges) with whole-number weights, so that ties are exact; a
    tie goes to the next vertex of lower index. It stops when all vertices with that target have their path. Vertices
    reached over an edge of the greatest weight, nearly all where rewards are sparse, are reached in the order in which
    they will be done: they wait in a line, and only the others in a heap.

    Where search is limited, few of the vertices around a target have it. A first search, half the way forwards from
    those, then tells which vertices lie too far from all of them to be on a path.
    """
    n = len(targets)
    via = np.empty(16, np.int32)
    hops = np.arange(n + len(via)).astype(np.int32)
    n_via = 0

    heaviest = np.max(weights) if len(weights) > 0 else 0
    weights_in, tails_in = weights[edges_in], tails[edges_in]
    confined = len(limits) == 0
    limit, far = np.int64(0), np.int64(0)
    weight_to = np.full(n, np.iinfo(np.int64).max, np.int64)
    edges_to = np.zeros(n, np.int32)
    step_to = np.full(n, -1, np.int32)
    done = np.zeros(n, np.bool_)
    entry = np.full(n, -1, np.int32)
    touched = np.empty(n, np.int32)
    line = np.empty(n + len(tails), np.int32)
    heap = np.empty((16, 2), np.int64)
    weight_from = np.full(n, np.iinfo(np.int64).max, np.int64)
    begun = np.empty(n, np.int32)

    begin = 0
    while begin < n:
        target = targets[by_target[begin]]
        end = begin
        while end < n and targets[by_target[end]] == target:
            end += 1
        n_begun = 0
        if not confined:
            limit = np.max(limits[by_target[begin:end]])
            n_begun, far, heap = _search_forwards(
                by_target[begin:end], target, limit // 2, first_edge, heads, weights, heaviest, absorbing,
                weight_from, done, begun, line, heap,
            )  # fmt: skip
        missing = end - begin
        n_touched, served, queued, n_heap = 0, 0, 0, 0
        for i in range(begin - 1, end):
            vertex = target if i < begin else by_target[i]
            if i < begin or (ends[vertex] and vertex != target):
                touched[n_touched] = vertex
                n_touched += 1
                weight_to[vertex] = 0
                line[queued] = vertex
                queued += 1
        while missing > 0:
            head, served, n_heap = _next(line, served, queued, heap, n_heap, done, weight_to, edges_to)
            if head < 0:
                break
            done[head] = True
            if targets[head] == target:
                missing -= 1
            edges = edges_to[head] + 1
            for edge in range(first_in[head], first_in[head + 1]):
                tail = tails_in[edge]
                if done[tail] or absorbing[tail] or (confined and targets[tail] != target):
                    continue
                weight = weight_to[head] + weights_in[edge]
                if not confined and weight + min(weight_from[tail], far) > limit:
                    continue
                if weight < weight_to[tail] or (weight == weight_to[tail] and edges < edges_to[tail]):
                    if step_to[tail] < 0:
                        touched[n_touched] = tail
                        n_touched += 1
                    weight_to[tail], edges_to[tail], step_to[tail] = weight, edges, head
                    if weights_in[edge] == heaviest:
                        line[queued] = tail
                        queued += 1
                    else:
                        heap, n_heap = _add(heap, n_heap, weight, (np.int64(edges) << 32) | tail)
                elif weight == weight_to[tail] and edges == edges_to[tail] and head < step_to[tail]:
                    step_to[tail] = head

        for i in range(begin, end):
            entry[by_target[i]] = by_target[i]
        for i in range(begin, end):
            vertex = by_target[i]
            while step_to[vertex] >= 0 and hops[entry[vertex]] == entry[vertex]:
                following = step_to[vertex]
                if entry[following] < 0:
                    if n_via == len(via):
                        hops = np.concatenate((hops, np.arange(len(hops), len(hops) + n_via).astype(np.int32)))
                        via = np.concatenate((via, np.empty_like(via)))
                    entry[following] = n + n_via
                    via[n_via] = following
                    n_via += 1
                hops[entry[vertex]] = entry[following]
                vertex = following
        for i in range(n_touched):
            vertex = touched[i]
            weight_to[vertex], edges_to[vertex] = np.iinfo(np.int64).max, 0
            step_to[vertex], entry[vertex], done[vertex] = -1, -1, False
        for i in range(n_begun):
            weight_from[begun[i]] = np.iinfo(np.int64).max
        begin = end
    return hops[: n + n_via].copy(), via[:n_via].copy()


AHEAD = 512  # vertices looked at forwards, and two for each source: more costs more than it saves


@jit
def _search_forwards(
    sources: Any,
    target: int,
    limit: int,
    first_edge: Any,
    heads: Any,
    weights: Any,
    heaviest: int,
    absorbing: Any,
    weight_from: Any,
    done: Any,
    begun: Any,
    line: Any,
    heap: Any,
) -> Any:
    """Weights of the cheapest ways from any source to the vertices within a limit of them.

    Returns the vertices begun, how far the others are at least, and the heap; `done` is left as it was found.
    """
    n_begun, served, queued, n_heap, n_done = 0, 0, 0, 0, 0
    for vertex in sources:
        if vertex != target:
            begun[n_begun] = vertex
            n_begun += 1
            weight_from[vertex] = 0
            line[queued] = vertex
            queued += 1
    far = np.int64(0)
    while n_begun > 0:
        tail, served, n_heap = _next(line, served, queued, heap, n_heap, done, weight_from, weight_from)
        if tail < 0:
            far = np.int64(np.iinfo(np.int64).max // 2)
            break
        far = weight_from[tail]
        if far > limit or n_done > AHEAD + 2 * len(sources):
            break
        done[tail] = True
        n_done += 1
        if absorbing[tail]:
            continue
        for edge in range(first_edge[tail], first_edge[tail + 1]):
            head, weight = heads[edge], far + weights[edge]
            if weight >= weight_from[head]:
                continue
            if weight_from[head] == np.iinfo(np.int64).max:
                begun[n_begun] = head
                n_begun += 1
            weight_from[head] = weight
            if weights[edge] == heaviest:
                line[queued] = head
                queued += 1
            else:
                heap, n_heap = _add(heap, n_heap, weight, head)
    for i in range(n_begun):
        done[begun[i]] = False
    return n_begun, far, heap


@jit
def _next(line: Any, served: int, queued: int, heap: Any, n_heap: int, done: Any, weight: Any, edges: Any) -> Any:
    """The vertex that is done next, of those that wait in the line and in the heap; below 0 where none does."""
    while served < queued and done[line[served]]:
        served += 1
    while n_heap > 0 and done[heap[0, 1] & _VERTEX]:
        n_heap = _drop_first(heap, n_heap)
    if served == queued and n_heap == 0:
        return -1, served, n_heap
    vertex = heap[0, 1] & _VERTEX if n_heap > 0 else line[served]
    if served < queued and not _before(vertex, line[served], weight, edges):
        vertex = line[served]
    return vertex, served, n_heap


_VERTEX = 0xFFFFFFFF  # the lower half of a heap's second number; the upper half is the edges to it


@jit
def _add(heap: Any, size: int, first: int, second: int) -> Any:
    """Put a pair of numbers into a heap, the smallest on top; a vertex may lie in it more than once."""
    if size == len(heap):
        heap = np.concatenate((heap, np.empty_like(heap)))
    i = size
    while i > 0:
        parent = (i - 1) // 2
        if not _less(first, second, heap[parent, 0], heap[parent, 1]):
            break
        heap[i, 0], heap[i, 1] = heap[parent, 0], heap[parent, 1]
        i = parent
    heap[i, 0], heap[i, 1] = first, second
    return heap, size + 1


@jit
def _drop_first(heap: Any, size: int) -> int:
    size -= 1
    first, second = heap[size, 0], heap[size, 1]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _less(heap[child + 1, 0], heap[child + 1, 1], heap[child, 0], heap[child, 1]):
            child += 1
        if not _less(heap[child, 0], heap[child, 1], first, second):
            break
        heap[i, 0], heap[i, 1] = heap[child, 0], heap[child, 1]
        i = child
    heap[i, 0], heap[i, 1] = first, second
    return size


@jit
def _less(first: int, second: int, other_first: int, other_second: int) -> Any:
    return first < other_first or (first == other_first and second < other_second)


@jit
def _before(a: int, b: int, weight: Any, edges: Any) -> Any:
    return weight[a] < weight[b] or (weight[a] == weight[b] and edges[a] < edges[b])
