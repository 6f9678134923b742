#!/usr/bin/env python3
"""Records cases from an independent model of the same merge, written in Python: run by hand, where that model is.

  record.py FOLDER [SEEDS] > cases.txt     FOLDER has merge.py and sim.py

A case is two lines: the operations that its server accepted in one simulation, as JSON, and what its replicas showed
in the end, as `Shown.description` writes it.
"""
import json
import sys

folder, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
sys.path.insert(0, folder)
import sim  # noqa: E402

PREFIX = {"L": "L.L", "S": "S.S", "M": "M.M", "E": "E.E"}


def text(value):
    if value is None:
        return "nil"
    if isinstance(value, tuple):
        return f"→Thing({value[1]})"
    return str(value)


def shown(node):
    parts = {}
    for name, value in node.items():
        if name == "L":
            parts["L.L"] = "[" + ", ".join(text(v) for v in value) + "]"
        elif name == "S":
            parts["S.S"] = "(" + ", ".join(sorted(text(v) for v in value)) + ")"
        elif name == "M":
            entries = {str(k): text(v) for k, v in value.items()}
            parts["M.M"] = "<" + ", ".join(f"{k}: {entries[k]}" for k in sorted(entries)) + ">"
        elif name == "E":
            parts["E.E"] = shown(value)
        else:
            parts["V." + name] = text(value)
    return "{" + ", ".join(f"{k}: {parts[k]}" for k in sorted(parts)) + "}"


def plain(operation):
    """The operation as numbers and texts; the object and what a link points to by their number."""
    result = {"k": operation["k"], "o": operation["o"][1], "e": operation["e"], "s": operation["s"]}
    for name in ("p", "ce", "key", "id", "pos", "dflt", "v"):
        if name in operation:
            result[name] = operation[name]
    for name in ("e", "ce"):
        if not any(result.get(name, ())):
            result.pop(name, None)
    if not operation["k"].startswith("m"):
        result.pop("key", None)
    if operation.get("via"):
        result["via"] = operation["via"][0][1]
    if isinstance(result.get("v"), tuple):
        del result["v"]
        result["link"], result["le"] = operation["v"][1][1], operation["v"][2]
    return result


for seed in range(seeds):
    run = sim.Sim(seed, 3, 0.08, True)
    run.heavy = seed % 3 == 0
    assert run.run(90) is None, f"the model itself diverged at seed {seed}"
    accepted = [sim.tv(op) for entry in run.hist if entry[1] == "cs" for op in entry[4]]
    print(json.dumps([plain(op) for op in accepted], separators=(",", ":")))
    visible = run.srv.vis()
    print("; ".join(f"{key[1]} {shown(visible[key])}" for key in sorted(visible)))
