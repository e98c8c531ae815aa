"""The harness: asks any solver, replays its answers in exact integers, and keeps what came of it as numbers.

Begin with `solver.py` for what a solver is, `judge.py` for what counts, `session.py` for how one is asked.
"""
