"""Learning the metric space and the action translator from episodes; needs JAX, but neither simulator nor compiler."""

from typing import TYPE_CHECKING, Any

from vmg.learn.config import LearnConfig, Training

if TYPE_CHECKING:
    from vmg.learn.store import load_checkpoint
    from vmg.learn.training import fit, fit_cloning, fit_together

__all__ = ["LearnConfig", "Training", "fit", "fit_cloning", "fit_together", "load_checkpoint"]


def __getattr__(name: str) -> Any:
    """Import JAX only when something is learned: whoever reads a saved agent's settings need not have it."""
    if name == "load_checkpoint":
        from vmg.learn.store import load_checkpoint

        return load_checkpoint
    if name in __all__:
        from vmg.learn import training

        return getattr(training, name)
    raise AttributeError(f"module 'vmg.learn' has no attribute {name!r}")
