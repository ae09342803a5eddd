"""How often `make check` does what check-long, with CHECK_LONG in its environment, does in full."""

import os

LONG = bool(os.environ.get('CHECK_LONG'))
ROUNDS = 1 if LONG else 0.1


def rounds(whole):
    """How many of the rounds of a search, for a race or for what a changed byte breaks, are done in this run."""
    return max(2, round(whole * ROUNDS))
