#!/usr/bin/env python3
"""SIGKILL to the engine, LONG_ROUNDS (100 by default) times for each kind of target; prints how many targets live. A
target that dies of anything else than SIGTRAP, or whose checks fail afterwards, is a failure."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import engine_kill
from processes import Room, may_attach

ROUNDS = int(os.environ.get('LONG_ROUNDS', '100'))


def main():
    reason = may_attach()
    if reason:
        print('cannot attach here: ' + reason)
        return 77
    failed, kinds_of_target = 0, []
    for launched in (True, False):
        for threads in (1, 8, 64):
            kinds_of_target += [(launched, threads, period, ()) for period in (engine_kill.BUSY, engine_kill.CALM)]
    kinds_of_target += [(False, 1, engine_kill.BUSY, (mode,)) for mode in ('signals', 'trap-ignored', 'trap-handled')]
    for launched, threads, period, mode in kinds_of_target:
        room = Room()
        count = engine_kill.rounds(room, ROUNDS, launched, threads, period, *mode)
        print('%s, %2d threads, %s: %s, %d died of SIGTRAP, %d of anything else or unsound' % (
            'launched' if launched else 'attached', threads, 'busy' if period == engine_kill.BUSY else 'a round each 100 ms',
            count, count.trapped, len(count.problems)) + ''.join(' (%s)' % m for m in mode), flush=True)
        for problem in (count.problems + room.close())[:5]:
            print('  ' + problem, flush=True)
            failed += 1
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
