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
# A k-d tree over all points, halved in the middle of its widest side until a leaf holds at most LEAF_SIZE. Node i has
# the children 2i+1 and 2i+2; the last 2^levels nodes are the leaves. All of them are full but the last, and some are
# empty, so that the points of a leaf are one (dimensions, LEAF_SIZE) block: their distances are vectorised loops.

LEAF_SIZE = 64


@_jit
def build_tree(points: Any, levels: int) -> Any:
    """Return (order, leaves, low, high): points by leaf, bounds of each leaf in it, bounding box of each node."""
    n, dimensions = points.shape
    n_leaves = 1 << levels
    order = np.arange(n).astype(np.int32)
    bounds = np.zeros((2 * n_leaves - 1, 2), np.int64)
    bounds[0, 1] = n
    low = np.empty((2 * n_leaves - 1, dimensions), np.float32)
    high = np.empty((2 * n_leaves - 1, dimensions), np.float32)
    stack = np.zeros(levels + 2, np.int64)
    depth = 1
    while depth > 0:  # depth first: what was just moved is still in the cache
        depth -= 1
        node = stack[depth]
        begin, end = bounds[node, 0], bounds[node, 1]
        _bounding_box(points, order, begin, end, low[node], high[node])
        if node >= n_leaves - 1:
            continue
        blocks = (end - begin + LEAF_SIZE - 1) // LEAF_SIZE
        middle = min(begin + (blocks + 1) // 2 * LEAF_SIZE, end)
        if middle < end:
            _select(points[:, np.argmax(high[node] - low[node])], order, begin, end - 1, middle)
        bounds[2 * node + 1] = (begin, middle)
        bounds[2 * node + 2] = (middle, end)
        stack[depth] = 2 * node + 2
        stack[depth + 1] = 2 * node + 1
        depth += 2
    return order, bounds[n_leaves - 1 :], low, high


@_jit
def _bounding_box(points: Any, order: Any, begin: int, end: int, low: Any, high: Any) -> None:
    low[:], high[:] = np.float32(np.inf), np.float32(-np.inf)
    for position in range(begin, end):
        point = points[order[position]]
        for k in range(len(point)):
            low[k], high[k] = min(low[k], point[k]), max(high[k], point[k])


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
    the same search. Each search visits only the boxes the ball touches. A box's distance may be summed in any order,
    which is faster; it is held against a threshold wider than all rounding, so that no point that counts is skipped.
    """
    n, dimensions = points.shape
    order, leaves, low, high = build_tree(points, levels)
    n_leaves = len(leaves)
    blocks = np.full(((n + LEAF_SIZE - 1) // LEAF_SIZE, dimensions, LEAF_SIZE), np.float32(np.inf), np.float32)
    for position in range(n):
        blocks[position // LEAF_SIZE, :, position % LEAF_SIZE] = points[order[position]]

    labels = np.full(n, -1, np.int32)
    nearest = np.full(n, np.float32(np.inf), np.float32)
    rows = np.empty(n, np.int32)
    n_vertices = 0
    stack = np.empty(2 * levels + 2, np.int64)
    squares = np.empty(LEAF_SIZE, np.float32)
    beyond = threshold * np.float32(1 + 1e-6 * dimensions)
    for row in range(n):
        if labels[row] >= 0:
            continue
        centre = points[row]
        depth = 1
        stack[0] = 0
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if _box_square(centre, low[node], high[node]) > beyond:
                continue
            if node < n_leaves - 1:
                stack[depth] = 2 * node + 2
                stack[depth + 1] = 2 * node + 1
                depth += 2
                continue
            begin, end = leaves[node - n_leaves + 1]
            if begin == end:
                continue
            _leaf_squares(centre, blocks[begin // LEAF_SIZE], squares)
            for place in range(end - begin):
                square = squares[place]
                if square <= threshold:
                    member = order[begin + place]
                    if square < nearest[member] and (member >= row or not online):
                        nearest[member] = square
                        labels[member] = n_vertices
        rows[n_vertices] = row
        n_vertices += 1
    return rows[:n_vertices].copy(), labels


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _box_square(centre: Any, low: Any, high: Any) -> Any:
    square = np.float32(0)
    for k in range(len(centre)):
        gap = max(low[k] - centre[k], centre[k] - high[k], np.float32(0))
        square += gap * gap
    return square


@_jit
def _leaf_squares(centre: Any, block: Any, squares: Any) -> None:
    """Sum over dimensions one by one, as `squared_distances` does; four of them are read at a time."""
    dimensions, width = block.shape
    squares[:] = np.float32(0)
    in_fours = dimensions // 4 * 4
    for k in range(0, in_fours, 4):
        c0, c1, c2, c3 = centre[k], centre[k + 1], centre[k + 2], centre[k + 3]
        for place in range(width):
            g0, g1 = block[k, place] - c0, block[k + 1, place] - c1
            g2, g3 = block[k + 2, place] - c2, block[k + 3, place] - c3
            squares[place] = (((squares[place] + g0 * g0) + g1 * g1) + g2 * g2) + g3 * g3
    for k in range(in_fours, dimensions):
        for place in range(width):
            gap = block[k, place] - centre[k]
            squares[place] += gap * gap


# --- edges --------------------------------------------------------------------------------------------------------


@_jit
def join_steps(tails: Any, heads: Any, n: int) -> Any:
    """Edges between n vertices from the vertices every step leaves and arrives at.

    Return (first edge of each vertex, head of each edge, steps on each edge and then inside each vertex, slot of every
    step). Steps are sorted by head, then by tail, each by counting.
    """
    n_steps = len(tails)
    slots = np.empty(n_steps, np.int32)
    first_edge = np.zeros(n + 1, np.int32)
    edge_heads = np.empty(n_steps, np.int32)
    counts = np.zeros(n_steps + n, np.int32)
    n_edges = 0
    last_tail, last_head = -1, -1
    for step in _sorted_by(tails, _sorted_by(heads, np.arange(n_steps).astype(np.int32), n), n):
        tail, head = tails[step], heads[step]
        if tail == head:
            continue
        if tail != last_tail or head != last_head:
            edge_heads[n_edges] = head
            first_edge[tail + 1] += 1
            n_edges += 1
            last_tail, last_head = tail, head
        slots[step] = n_edges - 1
        counts[n_edges - 1] += 1
    for step in range(n_steps):
        if tails[step] == heads[step]:
            slots[step] = n_edges + tails[step]
            counts[slots[step]] += 1
    for vertex in range(n):
        first_edge[vertex + 1] += first_edge[vertex]
    return first_edge, edge_heads[:n_edges].copy(), counts[: n_edges + n].copy(), slots


@_jit
def _sorted_by(keys: Any, order: Any, n: int) -> Any:
    """Sort by keys below n; equal ones keep their order."""
    first = np.zeros(n + 1, np.int64)
    for key in keys:
        first[key + 1] += 1
    for key in range(n):
        first[key + 1] += first[key]
    found = np.empty_like(order)
    for each in order:
        found[first[keys[each]]] = each
        first[keys[each]] += 1
    return found


# --- values -------------------------------------------------------------------------------------------------------


@_jit
def iterate_values(
    first_edge: Any, heads: Any, edge_rewards: Any, settled: Any, values: Any, discount: float, stop: float
) -> int:
    """V(j) = max over edges of R_G + discount · V, in place, until a sweep over all edges moves no value by `stop`.

    Vertices that are `settled` (loops, whose value is known in closed form, and dead ends) keep the value they came
    with. New values are used at once (Gauss-Seidel): the sweep is still a contraction by the discount, so the bound on
    the error holds. Between two such sweeps values are those of following the best edges alone, exactly (policy
    iteration); started below the solution, values only rise, and end at it. Returns the sweeps.
    """
    n = len(values)
    best_edge = np.zeros(n, np.int64)
    walked, seen_from = np.empty(n, np.int32), np.empty(n, np.int32)
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
        _follow_best(heads, edge_rewards, settled, best_edge, values, discount, walked, seen_from)


@_jit
def _follow_best(
    heads: Any,
    edge_rewards: Any,
    settled: Any,
    best_edge: Any,
    values: Any,
    discount: float,
    walked: Any,
    seen_from: Any,
) -> None:
    """Give each vertex the value of following the best edges for ever: they lead to a settled vertex or in a circle."""
    seen_from[:] = -1
    for start in range(len(values)):
        depth, vertex = 0, start
        while not settled[vertex] and seen_from[vertex] < 0:
            seen_from[vertex] = start
            walked[depth] = vertex
            depth += 1
            vertex = heads[best_edge[vertex]]
        circle = -1
        if not settled[vertex] and seen_from[vertex] == start and depth > 0:
            circle = vertex
            total, factor = 0.0, 1.0
            while factor == 1.0 or vertex != circle:
                total += factor * edge_rewards[best_edge[vertex]]
                factor *= discount
                vertex = heads[best_edge[vertex]]
            values[circle] = total / (1 - factor)
        for i in range(depth - 1, -1, -1):
            vertex = walked[i]
            if vertex != circle:
                edge = best_edge[vertex]
                values[vertex] = edge_rewards[edge] + discount * values[heads[edge]]


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


@_jit
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

    Entry v < n of the table is vertex v on the way to its own target; entries from n on are vertices passed on the way
    to somebody else's target, which exist only when the search is limited. Then `limits` says what the path from each
    vertex weighs at most; without any, every vertex of a path shares the path's target. Vertices with the same target
    that are marked as `ends` are all as good as the target: each path leads to the one it reaches most cheaply.
    Returns (next entry of each entry, vertex of the entries from n on).

    One Dijkstra backwards from each target, over (weight, edges) with whole-number weights, so that ties are exact; a
    tie goes to the next vertex of lower index. It stops when all vertices with that target have their path. Vertices
    reached over an edge of the greatest weight, nearly all where rewards are sparse, are reached in the order in which
    they will be done: they wait in a line, and only the others in a heap.

    Where search is limited, few of the vertices around a target have it. A first search, half the way forwards from
    those, then tells which vertices lie too far from all of them to be on a path.
    """
    n = len(targets)
    passed = np.empty(16, np.int32)
    hops = np.arange(n + len(passed)).astype(np.int32)
    n_passed = 0

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
            step_to[vertex], entry[vertex], done[vertex] = -1, -1, False
        for i in range(n_begun):
            weight_from[begun[i]] = np.iinfo(np.int64).max
        begin = end
    return hops[: n + n_passed].copy(), passed[:n_passed].copy()


AHEAD = 512  # vertices looked at forwards, and two for each source: more costs more than it saves


@_jit
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


@_jit
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


@_jit
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


@_jit
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


@_jit
def _less(first: int, second: int, other_first: int, other_second: int) -> Any:
    return first < other_first or (first == other_first and second < other_second)


@_jit
def _before(a: int, b: int, weight: Any, edges: Any) -> Any:
    return weight[a] < weight[b] or (weight[a] == weight[b] and edges[a] < edges[b])


_NEVER = np.iinfo(np.int64).max
_ENDS, _STOPS = -2, -1  # instead of a step's cost: the way ends here, or the recording is not followed from here
_BEST = np.dtype([("cost", "i8"), ("hops", "i4"), ("follow", "i4")])
"""The best way on from a vertex: what it costs, its hops, and the observation whose recording it follows."""


@_jit
def along_recordings(
    labels: Any, leaving: Any, slot_costs: Any, switch_costs: Any, targets: Any, ends: Any, absorbing: Any
) -> Any:
    """Cheapest ways from every recorded observation to the target of its vertex, along recordings.

    From observation x the recording leads to x + 1, at what the slot leaving[x] costs (below 0 where it ends), and the
    vertex of x to any observation y in it, at switch_costs[x] + switch_costs[y]. Returned is the entry each vertex
    leads to, n + y for its best observation y or itself where ways end; whether the way from each observation changes
    to that one; and whether any way goes on along each slot. `targets`, `ends` and `absorbing` are as in `next_hops`:
    every observation of a way shares the way's target.

    Ways are compared by (cost, hops). Recordings are swept backwards until nothing becomes cheaper: every sweep settles
    ways with at least one change more, and good ways change seldom. From sweep to sweep only what is best for each
    vertex is kept, which the cache holds; the recordings are read in order, which no cache needs to.
    """
    n_rows, n = len(labels), len(targets)
    steps = np.empty(n_rows, np.int32)
    for x in range(n_rows):
        vertex = labels[x]
        if ends[vertex]:
            steps[x] = _ENDS
        elif leaving[x] < 0 or absorbing[vertex] or targets[vertex] != targets[labels[x + 1]]:
            steps[x] = _STOPS
        else:
            steps[x] = slot_costs[leaving[x]]
    best, changes = np.empty(n, _BEST), np.empty(n_rows, np.bool_)
    for vertex in range(n):
        best[vertex].cost = _NEVER
        best[vertex].hops = 0
        best[vertex].follow = -1
    while _sweep_back(labels, steps, switch_costs, best, changes):
        pass
    leads, taken = np.arange(n).astype(np.int32), np.zeros(len(slot_costs), np.bool_)
    for vertex in range(n):
        if best[vertex].follow >= 0:
            leads[vertex] = n + best[vertex].follow
    for x in range(n_rows):
        if leaving[x] >= 0 and steps[x] != _ENDS and not changes[x]:
            taken[leaving[x]] = True
    return leads, changes, taken


@_jit
def _sweep_back(labels: Any, steps: Any, switch_costs: Any, best: Any, changes: Any) -> bool:
    """Go back along all recordings once; say whether any vertex has found a better way."""
    improved = False
    cost, hops = np.int64(_NEVER), np.int32(0)
    for x in range(len(labels) - 1, -1, -1):
        changes[x] = False
        if steps[x] == _ENDS:
            cost, hops = np.int64(0), np.int32(0)
            continue
        here, switch = best[labels[x]], switch_costs[x]
        if steps[x] == _STOPS or cost == _NEVER:
            cost = np.int64(_NEVER)
        else:
            cost, hops = cost + steps[x], np.int32(hops + 1)
            over = cost + switch
            if over < here.cost or (
                over == here.cost and (hops < here.hops or (hops == here.hops and x < here.follow))
            ):
                here.cost = over
                here.hops = hops
                here.follow = x
                improved = True
        if here.cost != _NEVER:
            through = here.cost + switch
            if through < cost or (through == cost and here.hops + 1 < hops):
                cost, hops, changes[x] = through, np.int32(here.hops + 1), True
    return improved
