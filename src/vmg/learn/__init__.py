"""Learning the metric space and the action translator from episodes; needs JAX, but neither simulator nor compiler."""

from vmg.learn.config import LearnConfig
from vmg.learn.store import load_checkpoint
from vmg.learn.training import fit

__all__ = ["LearnConfig", "fit", "load_checkpoint"]
