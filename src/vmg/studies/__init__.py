"""Studies: the tables of the paper and our own, each by one command, from data to Markdown and figures.

runs/study/TASK/paper/       a run: networks, losses, checkpoints, every episode (graphs are built when needed)
runs/study/NAME.json         every row: scores by model, endings, settings, data, versions, command
runs/study/NAME.md           the table; NAME_light.png, NAME_dark.svg, ...: the figure

Killed, a study goes on where it was. Training needs the data and no simulator, evaluation needs both; `only` splits a
study over two machines: copy the folder from the one to the other and call the same command there. What decides is the
data's content, not its name.
"""

from vmg.studies.reproduce import STUDIES, StudyName, reproduce
from vmg.studies.study import Study
from vmg.studies.tables import study_table

__all__ = ["STUDIES", "Study", "StudyName", "reproduce", "study_table"]
