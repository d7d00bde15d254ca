"""The built-in tasks, one file per family; importing this registers them."""

from vmg.envs.families import mazes, kitchen, adroit, locomotion, ogbench  # isort: skip

__all__ = ["adroit", "kitchen", "locomotion", "mazes", "ogbench"]
