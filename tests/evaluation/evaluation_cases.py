"""A user's environment, and who acts in it."""

import gymnasium
import numpy as np

from vmg.envs import Task


class Line(gymnasium.Env):
    """A point on a line that moves by its action; past 3 it has won, below -3 it has fallen."""

    observation_space = gymnasium.spaces.Dict(
        {"place": gymnasium.spaces.Box(-9, 9, (1,)), "time": gymnasium.spaces.Box(0, 99, (1,))}
    )
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.time = self.np_random.uniform(-0.5, 0.5), 0
        return self._observation(), {}

    def step(self, action):
        self.place, self.time = self.place + float(action[0]), self.time + 1
        won = self.place > 3
        return self._observation(), float(won), won or self.place < -3, False, {"is_success": won, "place": self.place}

    def _observation(self):
        return {"place": np.array([self.place]), "time": np.array([self.time])}


class Walker:
    """Acts by the state alone: runs to the side it started on."""

    def begin(self, observation, objective):
        self.direction = np.sign(observation["place"][0])

    def act(self, state):
        assert state.shape == (1,)
        return np.array([0.5 * self.direction])


LINE = Task(name="line", environment=Line, keys=("place",), horizon=20, report=("place",))
