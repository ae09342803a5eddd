#!/usr/bin/env python3
"""Attaches to programs whose threads execute them anew, some of which also fork, several at once on busy processors,
for LONG_SECONDS / 6 (ten minutes by default): the interleavings differ each time, and no process may be lost."""

import concurrent.futures
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import builds
import kinds
import lifecycle
from processes import Failure, Room, may_attach

SECONDS = float(os.environ.get('LONG_SECONDS', '3600')) / 6
AT_ONCE = 4


def storm(end):
    """Returns how many times functrace attached to one program, and the first problem."""
    rounds = 0
    while time.monotonic() < end:
        for scenario in (lifecycle.exec_storm, lifecycle.forks_before_exec):
            room = Room()
            try:
                problems, told = scenario(room)
            except Failure as failure:
                problems, told = [str(failure)], '0 rounds'
            problems += room.close()
            rounds += int((told or '0').split()[0])
            if problems:
                return rounds, problems
    return rounds, []


def main():
    reason = may_attach()
    if reason:
        print('cannot attach here: ' + reason)
        return 77
    builds.target('regress_execstorm', 'O2')
    builds.target('regress_execfork', 'O2')
    busy = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(os.cpu_count())]
    try:
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            done = list(pool.map(storm, [time.monotonic() + SECONDS] * AT_ONCE))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    problems = [p for _, some in done for p in some]
    print('attached %d times to programs that execute themselves' % sum(rounds for rounds, _ in done))
    return kinds.told(problems)


if __name__ == '__main__':
    sys.exit(main())
