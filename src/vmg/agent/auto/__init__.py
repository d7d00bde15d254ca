"""Settings from the data alone: no environment, nobody who knows it. This is the preset `auto`.

Before learning, `choose` chooses what the translator sees, how far ahead it aims and how long to learn; after it,
`complete` chooses the radius and the discount from where the learned model puts the data.
"""

from vmg.agent.auto.choice import Choice, Chosen
from vmg.agent.auto.stages import choose, complete

__all__ = ["Choice", "Chosen", "choose", "complete"]
