"""OGBench's own scores: mean and standard deviation over eight models of each reference method.

They are those of its paper (Park, Frans, Eysenbach and Levine, ICLR 2025, arXiv:2410.20092), the table of all
state-based data sets. The data there are OGBench's own files.
"""

METHODS = ("GCBC", "GCIVL", "GCIQL", "QRL", "CRL", "HIQL")

_ROWS = """
pointmaze-medium-navigate     9±6    63±6   53±8   82±5   29±7   79±5
pointmaze-large-navigate      29±6   45±5   34±3   86±9   39±7   58±5
pointmaze-giant-navigate      1±2    0±0    0±0    68±7   27±10  46±9
pointmaze-medium-stitch       23±18  70±14  21±9   80±12  0±1    74±6
pointmaze-large-stitch        7±5    12±6   31±2   84±15  0±0    13±6
pointmaze-giant-stitch        0±0    0±0    0±0    50±8   0±0    0±0
antmaze-medium-navigate       29±4   72±8   71±4   88±3   95±1   96±1
antmaze-large-navigate        24±2   16±5   34±4   75±6   83±4   91±2
antmaze-giant-navigate        0±0    0±0    0±0    14±3   16±3   65±5
antmaze-medium-stitch         45±11  44±6   29±6   59±7   53±6   94±1
antmaze-large-stitch          3±3    18±2   7±2    18±2   11±2   67±5
antmaze-giant-stitch          0±0    0±0    0±0    0±0    0±0    2±2
antmaze-medium-explore        2±1    19±3   13±2   1±1    3±2    37±10
antmaze-large-explore         0±0    10±3   0±0    0±0    0±0    4±5
humanoidmaze-medium-navigate  8±2    24±2   27±2   21±8   60±4   89±2
humanoidmaze-large-navigate   1±0    2±1    2±1    5±1    24±4   49±4
humanoidmaze-giant-navigate   0±0    0±0    0±0    1±0    3±2    12±4
humanoidmaze-medium-stitch    29±5   12±2   12±3   18±2   36±2   88±2
humanoidmaze-large-stitch     6±3    1±1    0±0    3±1    4±1    28±3
humanoidmaze-giant-stitch     0±0    0±0    0±0    0±0    0±0    3±2
cube-single-play              6±2    53±4   68±6   5±1    19±2   15±3
cube-double-play              1±1    36±3   40±5   1±0    10±2   6±2
scene-play                    5±1    42±4   51±4   5±1    19±2   38±3
puzzle-3x3-play               2±0    6±1    95±1   1±0    3±1    12±2
"""


def _scores(cells: list[str]) -> dict[str, tuple[float, float]]:
    pairs = (tuple(map(float, cell.split("±"))) for cell in cells)
    return {method: (mean, deviation) for method, (mean, deviation) in zip(METHODS, pairs, strict=True)}


PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    name: _scores(cells) for name, *cells in map(str.split, _ROWS.strip().splitlines())
}
"""By data set and method; the data sets of this table are those of the study."""


def best_published(name: str) -> tuple[str, float, float]:
    """Return the best of the reference methods on a data set: its name, its mean and its deviation."""
    method, (mean, deviation) = max(PUBLISHED[name].items(), key=lambda item: item[1][0])
    return method, mean, deviation
