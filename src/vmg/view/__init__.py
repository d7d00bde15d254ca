"""Pictures: what people would rather look at than read.

Figures of your own are added with `@FIGURES.register("name")`, and from then on `vmg draw` and `vmg report` have them.
"""

from typing import TYPE_CHECKING

from vmg.base.lazy import lazy_names

if TYPE_CHECKING:
    from vmg.view.figures import FIGURES, Figure, figure
    from vmg.view.gallery import Gallery

__all__ = ["FIGURES", "Figure", "Gallery", "figure"]

# Drawing brings much with it: what only prints a table need not import it.
__getattr__ = lazy_names(
    "vmg.view", {"vmg.view.figures": ("FIGURES", "Figure", "figure"), "vmg.view.gallery": ("Gallery",)}
)
