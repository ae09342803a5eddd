#!/usr/bin/env python3
"""Heaps of generated programs, as in tests/scenarios/made_heaps.py of `make check`, but of many seeds in all builds.

usage: heaps.py [--seeds A-B] [--builds PART,PART...] [--ways live,end,core,valgrind] [--each N] [--in-turn] [-j N]

--each N: N builds for each seed, in turn; by default all. --in-turn: each of these builds in only one of the
ways, which take turns. If valgrind can run the program, its classes are compared, too: each must follow from valgrind's
own definitions (tests/generate/heap_valgrind.py). Prints TAP: a line for each seed, and counts of the cases that
occurred. Without --seeds there are LONG_SEEDS programs (20 by default), from seed LONG_FIRST_SEED (1,001) on."""

import argparse
import collections
import concurrent.futures
import os
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import builds
import made_heaps
from processes import Failure, Room


WITH_VALGRIND = ('gcc -O0', 'gcc -O1', 'gcc -O2', 'gcc -O3', 'clang -O0', 'clang -O2', 'clang -O3', 'g++ -O0', 'g++ -O2', 'clang++ -O2')


def run_one(build, seed, way):
    room = Room()
    try:
        if way == 'valgrind':
            return made_heaps.compare_with_valgrind(room, build, seed)
        return made_heaps.run_heap(room, build, seed, way)
    except Failure as failure:
        return made_heaps.Answer([str(failure)])
    finally:
        room.close()


def main():
    first, count = int(os.environ.get('LONG_FIRST_SEED', '1001')), int(os.environ.get('LONG_SEEDS', '20'))
    parser = argparse.ArgumentParser()
    parser.add_argument('--seeds', default='%d-%d' % (first, first + count - 1))
    parser.add_argument('--builds', default='')
    parser.add_argument('--ways', default='live,end,core,valgrind')
    parser.add_argument('--each', type=int, default=0)
    parser.add_argument('--in-turn', action='store_true')
    parser.add_argument('-j', type=int, default=2)
    options = parser.parse_args()
    first, _, last = options.seeds.partition('-')
    seeds = range(int(first), int(last or first) + 1)
    names = [name for name in made_heaps.BUILDS_OF_HEAPS if any(part in name for part in options.builds.split(','))]
    ways = [way for way in options.ways.split(',') if way != 'valgrind' or shutil.which('valgrind')]
    if ways != options.ways.split(','):
        print('# valgrind is not installed: nothing is compared with it')
    chosen, start, total = [], time.monotonic(), collections.Counter()
    by_build, reasons = collections.Counter(), collections.Counter()
    for name in names:
        try:
            chosen.append(made_heaps.Build(name))
        except builds.Skip as why:
            print('# %s: skipped, %s' % (name, why))
    each = min(options.each or len(chosen), len(chosen))
    print('1..%d' % len(seeds))
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for number, seed in enumerate(seeds, 1):
            some = [chosen[(seed * each + i) % len(chosen)] for i in range(each)]
            turn = seed * each // len(chosen)
            jobs = [(build, seed, way) for i, build in enumerate(some)
                    for way in (ways[(i + turn) % len(ways)],) * options.in_turn or ways
                    if way != 'valgrind' or build.name in WITH_VALGRIND]
            results = list(pool.map(lambda job: run_one(*job), jobs))
            problems = [problem for answer in results for problem in answer.problems]
            total.update(runs=len(results), wrong=len(problems), blocks=sum(answer.blocks for answer in results),
                         alike=sum(len(answer.alike) for answer in results))
            by_build.update(build.name for build in some)
            for (_, _, way), answer in zip(jobs, results):
                total['blocks by ' + way] += answer.blocks
                reasons.update(answer.reasons)
            print('%s %d - seed %d: %d runs, %d blocks' % ('not ok' if problems else 'ok', number, seed, len(results),
                                                          sum(answer.blocks for answer in results)), flush=True)
            for line in problems + [text for answer in results for text in answer.alike]:
                print('#   ' + line, flush=True)
    print('# %d runs in %d builds (of %d seeds at least), %d blocks, %d of them wrong, %d words that looked like pointers, in %d s' % (
        total['runs'], len(chosen), min(by_build[build.name] for build in chosen), total['blocks'], total['wrong'], total['alike'],
        time.monotonic() - start))
    print('# blocks: ' + ', '.join('%s %d' % (made_heaps.WAYS[way], total['blocks by ' + way]) for way in ways))
    for reason, blocks in reasons.most_common():
        print('# otherwise in valgrind: %d blocks: %s' % (blocks, reason))
    return 1 if total['wrong'] else 0


if __name__ == '__main__':
    sys.exit(main())
