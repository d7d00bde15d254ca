"""Sections of the report about episodes: how they were scored, how each ended, why some failed, and one in films."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from vmg.base.errors import VMGError
from vmg.data.counting import counted
from vmg.evaluation.scores import FAILURES, JAM, LYING, METHODS, EpisodeScore, in_words
from vmg.view import page
from vmg.view.episodes import DONE
from vmg.view.failures import Diagnosis, diagnose
from vmg.view.film import make_film, save_film
from vmg.view.gallery import Gallery
from vmg.view.graphs import ending


def protocol(gallery: Gallery) -> list[str]:
    """Say how the run was scored."""
    if gallery.scores is None:
        return [page.note(f"Not evaluated yet: vmg evaluate {gallery.run.folder}")]
    return [page.paragraph(gallery.scores["protocol"])]


def scores(gallery: Gallery) -> list[str]:
    """Give the score of every model, and how each of its episodes ended."""
    if gallery.scores is None:
        return []
    rows = [_score_row(method, row) for method, models in gallery.scores["scores"].items() for row in models]
    header = ("method", "seed", "score", "95 % interval", "episodes", "how they ended")
    parts = [page.table(header, rows)]
    if not (gallery.run.agent_folder(gallery.agent.seed) / "scores.json").exists():
        parts.append(page.note("The run's settings have changed since it was scored: evaluate it again."))
    return [*parts, page.heading("Every episode"), *_every_episode(gallery)]


def failures(gallery: Gallery) -> list[str]:
    """Say how many episodes failed, and why those that were looked at did."""
    noted = [episode for episodes in gallery.outcomes.get("VMG", {}).values() for episode in episodes]
    if not noted:
        return [page.note("No episodes were run yet.")]
    failed = sum(episode.failed for episode in noted)
    parts = [page.paragraph(f"{failed:,} of {counted(len(noted), 'episode')} of VMG failed, over all models.")]
    parts += [*_kinds(noted), *_subtasks(gallery, noted)]
    if not gallery.failed:
        return parts
    goal = gallery.task.goal if gallery.task else None
    found = [diagnose(episode, goal) for episode in gallery.failed]
    reasons = ((f"seed {each.seed}: {each.kind}", f"{each.why} It ended at {each.where}.") for each in found)
    parts += [page.paragraph(_looked_at(gallery, found)), page.listed(reasons)]
    return [*parts, *([page.note(gallery.missing["replay"])] if "replay" in gallery.missing else [])]


def nothing_to_show(gallery: Gallery) -> list[str]:
    """Say so where there is no episode to show."""
    if gallery.episode is None:
        return [page.note("There is nothing to show before the run is solved and evaluated.")]
    return []


def episode(gallery: Gallery, *, films: int) -> list[str]:
    """Say when the subtasks of the episode shown were done, and film it."""
    if gallery.episode is None:
        return []
    steps = [(name, str(step)) for name, step in gallery.episode.subtasks]
    subtasks = [page.table(("subtask", "done in step"), steps)] if steps else []
    return [*subtasks, page.heading("Films"), *_films(gallery, films)]


def _score_row(method: str, row: dict[str, Any]) -> list[str]:
    low, high = row["interval"]
    name, endings = METHODS.get(method, method), in_words(row["endings"], row.get("failures", {}))
    return [name, str(row["seed"]), f"{row['score']:.1f}", f"{low:.1f} – {high:.1f}", str(row["n_episodes"]), endings]


def _every_episode(gallery: Gallery) -> list[str]:
    parts = [
        page.paragraph(
            "One box per episode: ✓ a success, a number the subtasks done, ✗ neither. The pointer tells more."
        )
    ]
    rows = []
    for method, models in gallery.outcomes.items():
        for seed, episodes in models.items():
            parts.append(page.paragraph(f"{METHODS.get(method, method)}, seed {seed}"))
            parts.append(page.outcomes(_mark(each) for each in episodes))
            rows += [
                (method, str(seed), str(e.seed), e.ended, str(e.steps), f"{e.reward:.4g}", _report(e)) for e in episodes
            ]
    header = ("method", "model", "episode's seed", "ended", "steps", "return", "noted")
    return [*parts, page.folded(f"All {len(rows):,} episodes as a table", page.table(header, rows))]


def _mark(episode: EpisodeScore) -> tuple[str, bool | None, str]:
    done = len(episode.report.get(DONE, ()))
    mark = "✓" if episode.success else str(done) if done else "✗" if episode.failed else "·"
    story = f"seed {episode.seed}: {episode.ended} after {counted(episode.steps, 'step')}, return {episode.reward:.4g}"
    return mark, episode.success, f"{story} {_report(episode)}".strip()


def _report(episode: EpisodeScore) -> str:
    found = [", ".join(value) if isinstance(value, list) else str(value) for value in episode.report.values()]
    found += [] if episode.planned is None else [f"planned {episode.planned:.0f} steps"]
    return "; ".join([*found, *([episode.failure] if episode.failure else [])])


def _kinds(noted: Sequence[EpisodeScore]) -> list[str]:
    """Count why episodes failed, where that was noted."""
    counts = Counter(each.failure for each in noted if each.failure)
    why = {
        "fall": f"It fell, and lay for at least {LYING} steps up to its end.",
        "jam": f"For {JAM} steps or more it came to no vertex worth more than all before.",
        "late": f"Neither: it never went {JAM} steps without progress, and time was up all the same.",
    }
    rows = [(kind, f"{counts[kind]:,}", f"{100 * counts[kind] / len(noted):.1f} %", why[kind]) for kind in FAILURES]
    return [page.table(("failure", "episodes", "share", "what it is"), rows)] if counts else []


def _subtasks(gallery: Gallery, noted: Sequence[EpisodeScore]) -> list[str]:
    """Say how often each subtask was done, where there are any."""
    if gallery.episode is None or not any(DONE in each.report for each in noted):
        return []
    names = [*(name for name, _ in gallery.episode.subtasks), *gallery.episode.to_do]
    counts = Counter(name for each in noted for name in each.report.get(DONE, ()))
    rows = [(name, f"{counts[name]:,}", f"{100 * counts[name] / len(noted):.0f} %") for name in names]
    return [page.table(("subtask", "episodes that did it", "share"), rows)]


def _looked_at(gallery: Gallery, found: Sequence[Diagnosis]) -> str:
    counts = ", ".join(f"{count} {kind}" for kind, count in Counter(each.kind for each in found).most_common())
    return (
        f"{len(found)} of the failed episodes of the model of seed {gallery.agent.seed}, run again and looked at "
        f"step by step: {counts}."
    )


def _films(gallery: Gallery, films: int) -> list[str]:
    """Film the episode shown and the first that failed; both kinds of file stay in the run's folder."""
    assert gallery.episode is not None
    assert gallery.task is not None
    folder, parts = gallery.run.folder / "films", []
    for watched in [gallery.episode, *gallery.failed][:films]:
        seed = watched.score.seed
        try:
            made = make_film(gallery.agent, gallery.task, gallery.layout, seed)
        except VMGError as error:
            return [page.note(str(error))]
        for kind in ("mp4", "gif"):
            save_film(made, folder / f"seed_{seed}.{kind}")
        caption = f"Seed {seed}: {ending(made.episode)}. Also as films/seed_{seed}.gif in the run's folder."
        parts.append(page.film((folder / f"seed_{seed}.mp4").read_bytes(), caption))
    return [page.pictures(*parts)]
