"""Films of a real episode, drawn without a screen."""

import os

import numpy as np
import pytest
from acting_cases import agent
from PIL import Image
from viewing_cases import TASK, episode, layouts

from vmg.base.errors import VMGError
from vmg.view import episodes as watching
from vmg.view.film import make_film, save_film


@pytest.fixture(scope="module")
def film():
    try:
        return make_film(agent(), TASK, layouts()["floor"], 1)
    except VMGError as error:
        pytest.skip(f"Films cannot be drawn here: {error}")


def test_a_film_shows_the_episode_that_was_scored_from_its_first_step_to_its_last(film):
    assert film.episode.score == episode().score
    steps = list(film.episode.frames)
    assert steps[0] == 0
    assert steps[-1] == film.episode.score.steps
    assert len(film.frames) == len(steps)


def test_both_sides_of_the_picture_move(film):
    first, last = film.frames[0].astype(int), film.frames[-2].astype(int)
    moved = np.abs(first - last).max(-1) > 40
    assert moved[:, :480].sum() > 100
    assert moved[:, 480:].sum() > 100


def test_a_film_is_written_as_mp4_and_gif(film, tmp_path):
    import imageio_ffmpeg

    save_film(film, tmp_path / "film.mp4")
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "film.mp4"))
    assert frames == len(film.frames) + 10  # the end stays for a second
    assert seconds == pytest.approx(frames / 10, abs=0.2)
    save_film(film, tmp_path / "again.mp4")
    assert (tmp_path / "film.mp4").read_bytes() == (tmp_path / "again.mp4").read_bytes()
    save_film(film, tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as gif:
        assert gif.n_frames == pytest.approx(len(film.frames) / 2, abs=1)
        assert gif.width == 720
    with pytest.raises(VMGError, match=r"written as \.mp4 or \.gif"):
        save_film(film, tmp_path / "film.avi")


def test_an_episode_can_be_watched_without_a_picture():
    seen = episode()
    assert not seen.frames
    assert len(seen.states) == len(seen.decisions) == len(seen.done) == seen.score.steps
    assert seen.goal.shape == (2,)
    assert (seen.values == seen.plan.values[seen.vertices]).all()


def test_without_a_renderer_the_packages_are_named(monkeypatch):
    for name in ("MUJOCO_GL", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(watching, "find_library", lambda name: None)
    with pytest.raises(VMGError, match=r"libegl1 libgl1-mesa-dri.*libosmesa6"):
        watching.watch(agent(), TASK, 0, frame_every=1)
    assert "MUJOCO_GL" not in os.environ


def test_an_environment_that_cannot_be_drawn_says_so():
    from dataclasses import replace

    blind = replace(TASK, environment=TASK.make, options={})
    with pytest.raises(VMGError, match="render_mode='rgb_array'"):
        watching.watch(agent(), blind, 0, frame_every=1)
