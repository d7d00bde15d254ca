"""The hot loops of the graph, compiled: they take arrays, know no classes and check nothing.

Every kernel has a slow, obvious twin in the tests and must equal it on random input. Nothing here is needed to act
with a saved agent, so this module is imported where it is used and not before.
"""

from typing import Any

import numba
import numpy as np

_jit = numba.njit(cache=True, nogil=True)

# --- greedy merging -----------------------------------------------------------------------------------------------
#
# A balanced k-d tree over all points, halved at the median of its widest side until a leaf holds at most LEAF_SIZE.
# Node i has the children 2i+1 and 2i+2; the leaves are the last 2^levels nodes, each a (dimensions, width) block
# padded with infinity, so that the distances of a whole leaf are one vectorised loop.

LEAF_SIZE = 32


@_jit
def build_tree(points: Any, levels: int) -> Any:
    """Return (order, starts, low, high): points by leaf, first position of each leaf, bounding box of each node."""
    n, dimensions = points.shape
    n_leaves = 1 << levels
    order = np.arange(n).astype(np.int32)
    bounds = np.zeros((2 * n_leaves - 1, 2), np.int64)
    bounds[0, 1] = n
    low = np.empty((2 * n_leaves - 1, dimensions), np.float32)
    high = np.empty((2 * n_leaves - 1, dimensions), np.float32)
    starts = np.empty(n_leaves + 1, np.int64)
    starts[n_leaves] = n
    for node in range(2 * n_leaves - 1):
        begin, end = bounds[node, 0], bounds[node, 1]
        _bounding_box(points, order, begin, end, low[node], high[node])
        if node >= n_leaves - 1:
            starts[node - n_leaves + 1] = begin
            continue
        middle = (begin + end) // 2
        _select(points[:, np.argmax(high[node] - low[node])], order, begin, end - 1, middle)
        bounds[2 * node + 1] = (begin, middle)
        bounds[2 * node + 2] = (middle, end)
    return order, starts, low, high


@_jit
def _bounding_box(points: Any, order: Any, begin: int, end: int, low: Any, high: Any) -> None:
    low[:], high[:] = np.float32(np.inf), np.float32(-np.inf)
    for position in range(begin, end):
        for k in range(points.shape[1]):
            x = points[order[position], k]
            low[k], high[k] = min(low[k], x), max(high[k], x)


@_jit
def _select(column: Any, order: Any, left: int, right: int, k: int) -> None:
    """Quickselect: put at position k of `order` what a sort of order[left..right] by `column` would put there."""
    while left < right:
        pivot = column[order[(left + right) // 2]]
        i, j = left, right
        while i <= j:
            while column[order[i]] < pivot:
                i += 1
            while column[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if k <= j:
            right = j
        elif k >= i:
            left = i
        else:
            return


@_jit
def merge_greedily(points: Any, threshold: Any, online: bool, levels: int) -> Any:
    """Alg. 1: return (rows that became vertices, label of every row).

    `threshold` is the largest float32 square that counts as within the radius. When a row becomes a vertex, every row
    within the radius of it is covered and remembers the nearest vertex so far: scanning for a vertex and labelling are
    the same search. Each search visits only the boxes the ball touches; box and point distances are accumulated in the
    same order in float32, so rounding is monotone and no point that counts is ever skipped.
    """
    n, dimensions = points.shape
    order, starts, low, high = build_tree(points, levels)
    n_leaves = len(starts) - 1
    width = np.max(starts[1:] - starts[:-1])
    blocks = np.full((n_leaves, dimensions, width), np.float32(np.inf), np.float32)
    for leaf in range(n_leaves):
        for place in range(starts[leaf + 1] - starts[leaf]):
            blocks[leaf, :, place] = points[order[starts[leaf] + place]]

    labels = np.full(n, -1, np.int32)
    nearest = np.full(n, np.float32(np.inf), np.float32)
    rows = np.empty(n, np.int32)
    n_vertices = 0
    stack = np.empty(2 * levels + 2, np.int64)
    squares = np.empty(width, np.float32)
    for row in range(n):
        if labels[row] >= 0:
            continue
        centre = points[row]
        depth = 1
        stack[0] = 0
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if _box_square(centre, low[node], high[node], threshold) > threshold:
                continue
            if node < n_leaves - 1:
                stack[depth] = 2 * node + 2
                stack[depth + 1] = 2 * node + 1
                depth += 2
                continue
            leaf = node - n_leaves + 1
            _leaf_squares(centre, blocks[leaf], squares)
            for place in range(starts[leaf + 1] - starts[leaf]):
                square = squares[place]
                if square <= threshold:
                    member = order[starts[leaf] + place]
                    if square < nearest[member] and (member >= row or not online):
                        nearest[member] = square
                        labels[member] = n_vertices
        rows[n_vertices] = row
        n_vertices += 1
    return rows[:n_vertices].copy(), labels


@_jit
def _box_square(centre: Any, low: Any, high: Any, threshold: Any) -> Any:
    square = np.float32(0)
    for k in range(len(centre)):
        gap = max(low[k] - centre[k], centre[k] - high[k])
        if gap > 0:
            square += gap * gap
            if square > threshold:
                break
    return square


@_jit
def _leaf_squares(centre: Any, block: Any, squares: Any) -> None:
    squares[:] = np.float32(0)
    for k in range(block.shape[0]):
        c = centre[k]
        for place in range(block.shape[1]):
            gap = block[k, place] - c
            squares[place] += gap * gap


# --- values -------------------------------------------------------------------------------------------------------


EVALUATIONS = 20


@_jit
def iterate_values(
    first_edge: Any, heads: Any, edge_rewards: Any, settled: Any, values: Any, discount: float, stop: float
) -> int:
    """V(j) = max over edges of R_G + discount · V, in place, until a sweep over all edges moves no value by `stop`.

    Vertices that are `settled` (loops, whose value is known in closed form, and dead ends) keep the value they came
    with. New values are used at once (Gauss-Seidel): the sweep is still a contraction by the discount, so the bound on
    the error holds. Between two such sweeps values are evaluated along the best edges alone, which costs a fraction
    (modified policy iteration); started below the solution, values only rise, and end at it. Returns the sweeps.
    """
    n = len(values)
    best_edge = np.zeros(n, np.int64)
    sweeps = 0
    while True:
        change = 0.0
        for i in range(n):
            vertex = i if sweeps % 2 else n - 1 - i
            if settled[vertex]:
                continue
            best = -np.inf
            for edge in range(first_edge[vertex], first_edge[vertex + 1]):
                value = edge_rewards[edge] + discount * values[heads[edge]]
                if value > best:
                    best = value
                    best_edge[vertex] = edge
            change = max(change, abs(best - values[vertex]))
            values[vertex] = best
        sweeps += 1
        if change <= stop:
            return sweeps
        for k in range(EVALUATIONS):
            moved = 0.0
            for i in range(n):
                vertex = i if k % 2 else n - 1 - i
                if settled[vertex]:
                    continue
                edge = best_edge[vertex]
                value = edge_rewards[edge] + discount * values[heads[edge]]
                moved = max(moved, abs(value - values[vertex]))
                values[vertex] = value
            if moved <= stop:
                break


# --- planning -----------------------------------------------------------------------------------------------------


@_jit
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


@_jit
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


@_jit
def best_within(first_edge: Any, heads: Any, absorbing: Any, ranks: Any, by_rank: Any, search_steps: int) -> Any:
    """For each vertex the best-ranked vertex within `search_steps` edges of it, itself included."""
    best = ranks.copy()
    for _ in range(search_steps):
        before = best.copy()
        changed = False
        for vertex in range(len(best)):
            if absorbing[vertex]:
                continue
            for edge in range(first_edge[vertex], first_edge[vertex + 1]):
                if before[heads[edge]] < best[vertex]:
                    best[vertex] = before[heads[edge]]
                    changed = True
        if not changed:
            break
    return by_rank[best].astype(np.int32)


@_jit
def next_hops(
    first_in: Any, tails: Any, weights: Any, absorbing: Any, targets: Any, ends: Any, by_target: Any, confined: bool
) -> Any:
    """Cheapest paths from every vertex to its target, as one table of hops.

    Entry v < n of the table is vertex v on the way to its own target; entries from n on are vertices passed on the way
    to somebody else's target, which exist only when the search is limited (`confined` says it is not: then every
    vertex of a path shares the path's target). Vertices with the same target that are marked as `ends` are all as good
    as the target: each path leads to the one it reaches most cheaply. Returns (next entry of each entry, vertex of the
    entries from n on).

    One Dijkstra backwards from each target, over (weight, edges) with whole-number weights, so that ties are exact; a
    tie goes to the next vertex of lower index. It stops when all vertices with that target have their path.
    """
    n = len(targets)
    passed = np.empty(16, np.int32)
    hops = np.arange(n + len(passed)).astype(np.int32)
    n_passed = 0

    weight_to = np.full(n, np.iinfo(np.int64).max, np.int64)
    edges_to = np.zeros(n, np.int32)
    step_to = np.full(n, -1, np.int32)
    done = np.zeros(n, np.bool_)
    entry = np.full(n, -1, np.int32)
    touched = np.empty(n, np.int32)
    heap = np.empty(16, np.int32)
    place = np.full(n, -1, np.int32)

    begin = 0
    while begin < n:
        target = targets[by_target[begin]]
        end = begin
        while end < n and targets[by_target[end]] == target:
            end += 1
        missing = end - begin
        n_touched, n_heap = 0, 0
        for i in range(begin - 1, end):
            vertex = target if i < begin else by_target[i]
            if i < begin or (ends[vertex] and vertex != target):
                touched[n_touched] = vertex
                n_touched += 1
                weight_to[vertex] = 0
                heap, n_heap = _push(heap, n_heap, place, vertex, weight_to, edges_to)
        while n_heap > 0 and missing > 0:
            head, n_heap = _pop(heap, n_heap, place, weight_to, edges_to)
            done[head] = True
            if targets[head] == target:
                missing -= 1
            for edge in range(first_in[head], first_in[head + 1]):
                tail = tails[edge]
                if done[tail] or absorbing[tail] or (confined and targets[tail] != target):
                    continue
                weight, edges = weight_to[head] + weights[edge], edges_to[head] + 1
                if weight < weight_to[tail] or (weight == weight_to[tail] and edges < edges_to[tail]):
                    if step_to[tail] < 0:
                        touched[n_touched] = tail
                        n_touched += 1
                    weight_to[tail], edges_to[tail], step_to[tail] = weight, edges, head
                    heap, n_heap = _push(heap, n_heap, place, tail, weight_to, edges_to)
                elif weight == weight_to[tail] and edges == edges_to[tail] and head < step_to[tail]:
                    step_to[tail] = head

        for i in range(begin, end):
            entry[by_target[i]] = by_target[i]
        for i in range(begin, end):
            vertex = by_target[i]
            while step_to[vertex] >= 0 and hops[entry[vertex]] == entry[vertex]:
                following = step_to[vertex]
                if entry[following] < 0:
                    if n_passed == len(passed):
                        hops = np.concatenate((hops, np.arange(len(hops), len(hops) + n_passed).astype(np.int32)))
                        passed = np.concatenate((passed, np.empty_like(passed)))
                    entry[following] = n + n_passed
                    passed[n_passed] = following
                    n_passed += 1
                hops[entry[vertex]] = entry[following]
                vertex = following
        for i in range(n_touched):
            vertex = touched[i]
            weight_to[vertex], edges_to[vertex] = np.iinfo(np.int64).max, 0
            step_to[vertex], entry[vertex], place[vertex], done[vertex] = -1, -1, -1, False
        begin = end
    return hops[: n + n_passed].copy(), passed[:n_passed].copy()


@_jit
def along_recordings(
    labels: Any,
    first_member: Any,
    members: Any,
    step_costs: Any,
    switch_costs: Any,
    targets: Any,
    ends: Any,
    absorbing: Any,
) -> Any:
    """Cheapest ways from every recorded observation to the target of its vertex, along recordings, as a table of hops.

    From observation x the recording leads to x + 1 (at step_costs[x], below 0 where it ends), and the vertex of x to
    any observation y in it, at switch_costs[x] + switch_costs[y]. Entry v < n of the table is a vertex, entry n + x an
    observation; each leads to an observation's entry, or to itself where the way ends. Returned with it is what the
    way costs from each observation. `targets`, `ends` and `absorbing` are as in `next_hops`: every observation of a way
    shares the way's target.

    One Dijkstra backwards from all ends at once, over (cost, hops); nodes are observations, then vertices.
    """
    n_rows, n = len(labels), len(targets)
    cost = np.full(n_rows + n, np.iinfo(np.int64).max, np.int64)
    hops_to = np.zeros(n_rows + n, np.int32)
    follow = np.full(n_rows + n, -1, np.int32)
    done = np.zeros(n_rows + n, np.bool_)
    heap = np.empty(n_rows + n, np.int32)
    place = np.full(n_rows + n, -1, np.int32)
    n_heap = 0
    for row in range(n_rows):
        if ends[labels[row]]:
            cost[row] = 0
            heap, n_heap = _push(heap, n_heap, place, row, cost, hops_to)
    while n_heap > 0:
        node, n_heap = _pop(heap, n_heap, place, cost, hops_to)
        done[node] = True
        if node < n_rows:
            vertex = labels[node]
            hub = n_rows + vertex
            if not done[hub] and not ends[vertex]:
                n_heap, heap = _reach(hub, node, switch_costs[node], 0, cost, hops_to, follow, heap, n_heap, place)
            before = node - 1
            if before < 0 or step_costs[before] < 0 or done[before]:
                continue
            tail = labels[before]
            if not absorbing[tail] and not ends[tail] and targets[tail] == targets[vertex]:
                n_heap, heap = _reach(before, node, step_costs[before], 1, cost, hops_to, follow, heap, n_heap, place)
        else:
            vertex = node - n_rows
            for i in range(first_member[vertex], first_member[vertex + 1]):
                row = members[i]
                if not done[row]:
                    n_heap, heap = _reach(row, node, switch_costs[row], 1, cost, hops_to, follow, heap, n_heap, place)

    table = np.arange(n + n_rows).astype(np.int32)
    for vertex in range(n):
        if follow[n_rows + vertex] >= 0:
            table[vertex] = n + follow[n_rows + vertex]
    for row in range(n_rows):
        following = follow[row]
        if following >= n_rows:
            table[n + row] = n + follow[following]
        elif following >= 0:
            table[n + row] = n + following
    return table, cost[:n_rows]


@_jit
def _reach(
    node: int,
    following: int,
    price: int,
    hops: int,
    cost: Any,
    hops_to: Any,
    follow: Any,
    heap: Any,
    n_heap: int,
    place: Any,
) -> Any:
    """Go on from `node` to `following` if that is cheaper than what is known, or as cheap in fewer hops."""
    through, n_hops = cost[following] + price, hops_to[following] + hops
    if through < cost[node] or (through == cost[node] and n_hops < hops_to[node]):
        cost[node], hops_to[node], follow[node] = through, n_hops, following
        heap, n_heap = _push(heap, n_heap, place, node, cost, hops_to)
    return n_heap, heap


@_jit
def _push(heap: Any, size: int, place: Any, vertex: int, weight: Any, edges: Any) -> Any:
    """Add a vertex, or move it up after its key has shrunk; `place` knows where each vertex lies."""
    i = place[vertex]
    if i < 0:
        if size == len(heap):
            heap = np.concatenate((heap, np.empty_like(heap)))
        i = size
        size += 1
    while i > 0:
        parent = (i - 1) // 2
        if not _before(vertex, heap[parent], weight, edges):
            break
        heap[i] = heap[parent]
        place[heap[i]] = i
        i = parent
    heap[i] = vertex
    place[vertex] = i
    return heap, size


@_jit
def _pop(heap: Any, size: int, place: Any, weight: Any, edges: Any) -> Any:
    top = heap[0]
    size -= 1
    last = heap[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _before(heap[child + 1], heap[child], weight, edges):
            child += 1
        if not _before(heap[child], last, weight, edges):
            break
        heap[i] = heap[child]
        place[heap[i]] = i
        i = child
    heap[i] = last
    place[last] = i
    return top, size


@_jit
def _before(a: int, b: int, weight: Any, edges: Any) -> Any:
    return weight[a] < weight[b] or (weight[a] == weight[b] and edges[a] < edges[b])
