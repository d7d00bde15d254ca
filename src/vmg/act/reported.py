"""The paper's scores: VMG's mean and standard deviation over three models, and behaviour cloning beside it.

The checkpoints behind them were chosen in the environment. The table of locomotion tasks gives no deviations.
"""

SCORES: dict[str, tuple[float, float | None, float]] = {
    "kitchen-complete": (73.0, 6.7, 65.0),
    "kitchen-partial": (68.8, 11.9, 38.0),
    "kitchen-mixed": (50.6, 4.1, 51.5),
    "antmaze-umaze": (93.7, 2.3, 54.6),
    "antmaze-umaze-diverse": (94.0, 2.0, 45.6),
    "antmaze-medium-play": (82.7, 3.1, 0.0),
    "antmaze-medium-diverse": (84.3, 2.1, 0.0),
    "antmaze-large-play": (67.3, 3.2, 0.0),
    "antmaze-large-diverse": (74.3, 3.1, 0.0),
    "pen-human": (70.7, 5.2, 63.9),
    "pen-cloned": (58.2, 1.6, 37.0),
    "hammer-human": (4.1, 1.2, 1.2),
    "hammer-cloned": (2.2, 1.4, 0.6),
    "door-human": (1.5, 0.5, 2.0),
    "door-cloned": (2.2, 0.7, 0.0),
    "halfcheetah-medium": (42.2, None, 42.6),
    "hopper-medium": (49.4, None, 52.9),
    "walker2d-medium": (70.4, None, 75.3),
    "halfcheetah-medium-replay": (38.2, None, 36.6),
    "hopper-medium-replay": (15.2, None, 18.1),
    "walker2d-medium-replay": (28.6, None, 26.0),
    "halfcheetah-medium-expert": (80.5, None, 55.2),
    "hopper-medium-expert": (49.5, None, 52.5),
    "walker2d-medium-expert": (70.4, None, 107.5),
}
