"""How often `make check` does what tests/long/rounds.py does in full."""

import os

ROUNDS = float(os.environ.get('SCENARIO_ROUNDS', '0.15'))


def rounds(whole):
    """How many of the rounds of a search, for a race or for what a changed byte breaks, are done in this run."""
    return max(2, round(whole * ROUNDS))
