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

SKILLS: dict[str, tuple[float, float]] = {
    "bottom burner": (0.7, 69.7),
    "top burner": (3.7, 88.3),
    "hinge cabinet": (0.0, 7.3),
}
"""New rewards in the kitchen: the score before and after the graph is solved for each."""

RATIOS = {
    "antmaze-umaze": 4.4,
    "antmaze-umaze-diverse": 3.3,
    "antmaze-medium-play": 14.4,
    "antmaze-medium-diverse": 15.1,
    "antmaze-large-play": 10.3,
    "antmaze-large-diverse": 9.7,
    "kitchen-complete": 1.1,
    "kitchen-partial": 2.0,
    "kitchen-mixed": 2.0,
    "pen-human": 1.8,
    "pen-cloned": 4.9,
    "hammer-human": 3.1,
    "hammer-cloned": 9.9,
    "door-human": 1.0,
    "door-cloned": 1.5,
}
"""Environment steps per graph step (App. G)."""

CLUSTERS = {
    "antmaze-umaze": 6000,
    "antmaze-umaze-diverse": 2000,
    "antmaze-medium-play": 1000,
    "antmaze-medium-diverse": 1000,
    "antmaze-large-play": 10000,
    "antmaze-large-diverse": 10000,
    "kitchen-complete": 3000,
    "kitchen-partial": 25000,
    "kitchen-mixed": 25000,
}
"""Numbers of clusters for k-means (App. E.2)."""
