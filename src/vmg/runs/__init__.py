"""What the commands make: a folder, its stages, its notes."""

from vmg.runs.run import Run, load_run, save_run

__all__ = ["Run", "load_run", "save_run"]
