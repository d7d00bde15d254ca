"""Settings from the data alone: no environment, nobody who knows it. This is the preset `auto`.

Before learning, `before` chooses what the translator sees, how far ahead it aims and how long to learn; after it,
`after` chooses the radius and the discount from where the learned model puts the data.
"""

from vmg.agent.auto.choice import Choice, Chosen
from vmg.agent.auto.stages import after, before

__all__ = ["Choice", "Chosen", "after", "before"]
