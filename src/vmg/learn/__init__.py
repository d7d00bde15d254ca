"""Learning the metric space and a low-level policy from episodes; needs JAX, but neither simulator nor compiler."""

from typing import TYPE_CHECKING

from vmg.base.lazy import lazy_names
from vmg.learn.config import LearnConfig, Training

if TYPE_CHECKING:
    from vmg.learn.judging import losses_on
    from vmg.learn.store import load_checkpoint
    from vmg.learn.training import fit, fit_cloning, fit_together

__all__ = ["LearnConfig", "Training", "fit", "fit_cloning", "fit_together", "load_checkpoint", "losses_on"]

# JAX is imported only when something is learned: whoever reads a saved agent's settings need not have it.
__getattr__ = lazy_names(
    "vmg.learn",
    {
        "vmg.learn.judging": ["losses_on"],
        "vmg.learn.store": ["load_checkpoint"],
        "vmg.learn.training": ["fit", "fit_cloning", "fit_together"],
    },
)
