"""Says how many rounds a repeated test does: all of them if CHECK_LONG is in the environment (make check-long sets it),
else a tenth."""

import os

LONG = bool(os.environ.get('CHECK_LONG'))
ROUNDS = 1 if LONG else 0.1


def rounds(whole):
    """Returns how many of `whole` rounds this run does, in a search for a race or for an error after a changed byte."""
    return max(2, round(whole * ROUNDS))
