# Reads histories as lines of JSON, and writes the changes that Apache Otava finds at its defaults.
import json
import sys

from otava.analysis import compute_change_points

DEFAULTS = {"window_len": 50, "max_pvalue": 0.001, "min_magnitude": 0.0}


def changes(values):
    found, _ = compute_change_points(values, **DEFAULTS)
    return [int(change.index) for change in found]


for line in sys.stdin:
    asked = json.loads(line)
    values, at = asked["values"], asked["change"]
    delay = None
    for after in asked["delays"]:
        if any(abs(place - at) <= asked["near"] for place in changes(values[: at + after])):
            delay = after
            break
    print(json.dumps({"changes": changes(values), "delay": delay}), flush=True)
