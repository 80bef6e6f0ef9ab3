"""A search for faults: random questions, each held against an independent reference.

`python -m tests.search --kind digits --minutes 60 --seed 1` searches, and its report names the
seed, the formula, the point, the answer and the reference of whatever it finds.
"""
