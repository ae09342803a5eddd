#!/usr/bin/env python3
"""Random stalls (tests/scenarios/stalls.py) of traced servers: LONG_SEEDS of them (40 by default) from seed
LONG_FIRST_SEED on, for at most LONG_SECONDS. Prints TAP; a server that is not installed is skipped."""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ['CHECK_LONG'] = '1'  # read by rounds.py
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import builds
import servers
import stalls
from processes import Failure, Room, may_attach

FIRST = int(os.environ.get('LONG_FIRST_SEED', '1'))
SEEDS = int(os.environ.get('LONG_SEEDS', '40'))
SECONDS = float(os.environ.get('LONG_SECONDS', '3600'))
MAKES = (servers.python, servers.installed_redis, servers.node, servers.nginx)


def run(function):
    """Returns (problems, remark)."""
    room = Room()
    try:
        problems, remark = function(room)
    except Failure as failure:
        problems, remark = [str(failure)], ''
    finally:
        left = room.close()
    return problems + left, remark


def main():
    reason = may_attach()
    if reason:
        print('1..0 # SKIP cannot attach here: ' + reason)
        return 77
    end, count, failed = time.monotonic() + SECONDS, 0, 0
    for seed in range(FIRST, FIRST + SEEDS):
        if time.monotonic() > end:
            break
        name, function = stalls.drawn(seed, MAKES)
        count += 1
        try:
            problems, remark = run(function)
        except builds.Skip as skip:
            print('ok %d - seed %d: %s # SKIP %s' % (count, seed, name, skip), flush=True)
            continue
        failed += bool(problems)
        print('%s %d - seed %d: %s (%s)' % ('not ok' if problems else 'ok', count, seed, name, remark))
        for problem in problems:
            print('# ' + problem.replace('\n', '\n# '))
        sys.stdout.flush()
    print('1..%d' % count)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
