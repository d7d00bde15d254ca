"""Calls of the public functions that read and make data and objectives."""

from pathlib import Path

import numpy as np
from legal_values import DICTS, FUNCTIONS, NOTHING, TEXTS
from trust_cases import Call, agent, episodes, place

import vmg
from vmg import goals


def of_data() -> dict[str, Call]:
    own = episodes()
    arrays = {name: getattr(own, name) for name in ("observations", "actions", "rewards", "lengths", "terminated")}
    one = [(np.zeros((3, 1)), np.zeros((2, 1)), np.zeros(2), True, False)]
    columns = vmg.data.describe_columns(own)
    texts = {"source": TEXTS, "fields": (*NOTHING, *DICTS)}
    readers = {
        name: Call(getattr(vmg.data, name), {"path": "there is no such file"}, {"path": ()})
        for name in ("read_d4rl", "read_hdf5", "read_npz", "read_ogbench", "read_robomimic", "read_table")
    }
    return readers | {
        "Episodes": Call(
            vmg.Episodes,
            {**arrays, "truncated": own.truncated, "source": "x", "fields": {}, "left_out": {}},
            {"source": TEXTS, "fields": DICTS, "left_out": DICTS},
        ),
        "Episodes.filter": Call(own.filter, {"keep": len}, {"keep": FUNCTIONS}),
        "Episodes.from_list": Call(vmg.Episodes.from_list, {"episodes": one, "source": "x", "fields": None}, texts),
        "Episodes.relabel": Call(own.relabel, {"rewards": own.rewards}),
        "Episodes.split": Call(own.split, {"validation": 0.5, "seed": 0}, {"seed": ("0", "10**30", "10**400")}),
        "Episodes.subset": Call(own.subset, {"indices": [0]}, {"indices": ("[-1]",)}),
        "brings_environment": Call(vmg.data.brings_environment, {"data_id": "x"}, {"data_id": TEXTS}),
        "check": Call(vmg.data.check, {"episodes": own}),
        "collect": Call(
            vmg.data.collect, {"maze": "umaze", "steps": 1, "seed": 0}, {"seed": ("0", "10**30", "10**400")}, long=True
        ),
        "concatenate": Call(vmg.concatenate, {"parts": [own], "source": "x"}, {"source": (*TEXTS, *NOTHING)}),
        "describe_columns": Call(vmg.data.describe_columns, {"episodes": own}),
        "from_arrays": Call(
            vmg.data.from_arrays,
            {**arrays, "source": "x", "fields": None},
            {**texts, "rewards": NOTHING, "terminated": NOTHING},
        ),
        "load": Call(vmg.load, {"name": "npz:there is no such file", "keys": None}, {"keys": ()}),
        "make_environment": Call(vmg.data.make_environment, {"data_id": "x"}),
        "read_lerobot": Call(vmg.data.read_lerobot, {"name": "x", "keys": None}),
        "read_minari": Call(vmg.data.read_minari, {"dataset_id": "x", "keys": None}),
        "reader_of": Call(vmg.data.reader_of, {"data_id": "x"}, {"data_id": TEXTS}),
        "render": Call(vmg.data.render, {"summary": vmg.data.summarise(own)}),
        "render_columns": Call(vmg.data.render_columns, {"columns": columns}, {"columns": ("an empty list",)}),
        "save": Call(vmg.data.save, {"episodes": own, "path": Path("x.npz")}, {"path": TEXTS}, long=True),
        "summarise": Call(vmg.data.summarise, {"episodes": own}),
        "takes_keys": Call(vmg.data.takes_keys, {"data_id": "x"}, {"data_id": TEXTS}),
    }


def of_goals() -> dict[str, Call]:
    here, rows = place(), episodes().observations
    named = {"name": (*TEXTS, *NOTHING)}
    one = {"columns": (0,), "name": "x"}
    both = {
        f"{kind}.{name}": call
        for kind, each in (("Objective", here), ("Conjunction", goals.all_of([here])))
        for name, call in {
            "avoiding": Call(each.avoiding, {"region": here}),
            "costing": Call(each.costing, {"weight": 1.0, "paying": here}, {"weight": ("0", "1.5", "1e20", "10**30")}),
            "distances": Call(each.distances, {"observations": rows}),
            "reached": Call(each.reached, {"observations": rows}),
            "step_rewards": Call(each.step_rewards, {"episodes": episodes()}),
        }.items()
    }
    stages = goals.in_order([here])
    graph, weights = agent().built, agent().weights
    return both | {
        "Objective": Call(
            vmg.Objective,
            {
                "name": "x",
                "distance": None,
                "tolerance": 0.0,
                "rewards": None,
                "kind": "reach",
                "avoided": (),
                "penalties": (),
            },
            {
                "name": TEXTS,
                "distance": (*NOTHING, *FUNCTIONS),
                "tolerance": ("0", "1.5", "1e20", "10**30", "infinity"),
                "rewards": (*NOTHING, *FUNCTIONS),
                "avoided": ("an empty list",),
                "penalties": ("an empty list",),
            },
        ),
        "Stages.avoiding": Call(stages.avoiding, {"region": here}),
        "Stages.costing": Call(
            stages.costing, {"weight": 1.0, "paying": here}, {"weight": ("0", "1.5", "1e20", "10**30")}
        ),
        "all_of": Call(goals.all_of, {"objectives": [here], "before": ()}, {"before": ("an empty list",)}),
        "any_of": Call(goals.any_of, {"objectives": [here]}),
        "in_order": Call(goals.in_order, {"objectives": [here]}),
        "in_vertices": Call(
            goals.in_vertices, {"graph": graph, "weights": weights, "vertices": [0]}, {"weights": DICTS}
        ),
        "near": Call(
            goals.near,
            {"place": [0.0], **one, "tolerance": 0.5},
            {"place": ("[-1]",), "columns": ("[10**30]",), "tolerance": ("0", "1.5", "1e20", "10**30"), **named},
        ),
        "paid_in_vertices": Call(
            goals.paid_in_vertices, {"graph": graph, "weights": weights, "pay": {0: 1.0}}, {"weights": DICTS}
        ),
        "reward_file": Call(goals.reward_file, {"place": "x.py:f"}),
        "reward_function": Call(
            goals.reward_function, {"function": len, "name": "x"}, {"function": FUNCTIONS, **named}
        ),
        "step_rewards": Call(
            goals.step_rewards, {"rewards": [0.0]}, {"rewards": ("[-1]", "an empty list", "an empty array")}
        ),
        "weighted": Call(goals.weighted, {"parts": [(1.0, here)]}),
        "where": Call(
            goals.where,
            {"predicate": len, "fields": {"x": (0,)}, "name": "x"},
            {"predicate": FUNCTIONS, "fields": DICTS, **named},
        ),
        "within": Call(
            goals.within,
            {"low": [-1.0], "high": [1.0], **one},
            {"low": ("[-1]",), "high": ("[-1]",), "columns": ("[10**30]",), **named},
        ),
    }
