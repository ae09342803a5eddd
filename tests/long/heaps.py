#!/usr/bin/env python3
"""Heaps of made programs, as tests/scenarios/made_heaps.py has them in `make check`, but of many seeds in all its builds.

usage: heaps.py [--seeds A-B] [--builds PART,PART...] [--ways live,end] [-j N]

Prints TAP: a line for each seed. LONG_SEEDS programs (20 if unset), from LONG_FIRST_SEED (1,001) on, without --seeds."""

import argparse
import concurrent.futures
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import builds
import made_heaps
from processes import Failure, Room


def run_one(build, seed, is_live):
    """(problems, how many blocks)."""
    room = Room()
    try:
        return made_heaps.run_heap(room, build, seed, is_live)
    except Failure as failure:
        return [str(failure)], 0
    finally:
        room.close()


def main():
    first, count = int(os.environ.get('LONG_FIRST_SEED', '1001')), int(os.environ.get('LONG_SEEDS', '20'))
    parser = argparse.ArgumentParser()
    parser.add_argument('--seeds', default='%d-%d' % (first, first + count - 1))
    parser.add_argument('--builds', default='')
    parser.add_argument('--ways', default='live,end')
    parser.add_argument('-j', type=int, default=2)
    options = parser.parse_args()
    first, _, last = options.seeds.partition('-')
    seeds = range(int(first), int(last or first) + 1)
    names = [name for name in made_heaps.BUILDS_OF_HEAPS if any(part in name for part in options.builds.split(','))]
    chosen, failed, blocks, runs, start = [], 0, 0, 0, time.monotonic()
    for name in names:
        try:
            chosen.append(made_heaps.Build(name))
        except builds.Skip as why:
            print('# %s: skipped, %s' % (name, why))
    print('1..%d' % len(seeds))
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for number, seed in enumerate(seeds, 1):
            jobs = [(build, seed, way == 'live') for build in chosen for way in options.ways.split(',')]
            results = list(pool.map(lambda job: run_one(*job), jobs))
            problems = [problem for result in results for problem in result[0]]
            blocks, runs, failed = blocks + sum(result[1] for result in results), runs + len(results), failed + len(problems)
            print('%s %d - seed %d: %d runs, %d blocks' % ('not ok' if problems else 'ok', number, seed, len(results),
                                                          sum(result[1] for result in results)), flush=True)
            for problem in problems:
                print('#   ' + problem, flush=True)
    print('# %d runs in %d builds, %d blocks, %d of them wrong, in %d s' % (
        runs, len(chosen), blocks, failed, time.monotonic() - start))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
