#!/usr/bin/env python3
"""All kinds of objects at all places where functrace reads a file (tests/scenarios/named_places.py); words select some.
Prints TAP."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import builds
import named_places
from processes import Failure, Room


def run(function):
    """Returns problems."""
    room = Room()
    try:
        problems, _ = function(room)
    except Failure as failure:
        problems = [str(failure)]
    finally:
        left = room.close()
    return problems + left


def main():
    count, failed = 0, 0
    for name, function in named_places.all_cells():
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        count += 1
        try:
            problems = run(function)
        except builds.Skip as skip:
            print('ok %d - %s # SKIP %s' % (count, name, skip), flush=True)
            continue
        failed += bool(problems)
        print('%s %d - %s' % ('not ok' if problems else 'ok', count, name))
        for problem in problems:
            print('# ' + problem.replace('\n', '\n# '))
        sys.stdout.flush()
    print('1..%d' % count)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
