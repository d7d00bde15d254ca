"""The built-in tasks, one file per family; importing this registers them."""

from vmg.envs.families import mazes, kitchen, adroit, locomotion, ogbench, ogbench_objects, d4rl  # isort: skip

__all__ = ["adroit", "d4rl", "kitchen", "locomotion", "mazes", "ogbench", "ogbench_objects"]
