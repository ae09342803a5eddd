#!/usr/bin/env python3
"""-a on generated programs of calls, as in tests/scenarios/made_calls.py of `make check`, but in all builds, with
LONG_SEEDS programs in C and in C++ (10 by default), from seed LONG_FIRST_SEED (1,001) on. Prints TAP; the last line has
the number of wrong values."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import builds
import made_calls
from processes import Room, probes_in_turn


FUNCTIONS = 250  # functions of a program


def run_one(name, seed, total):
    count, problems, room = made_calls.Count(), [], Room()
    try:
        for language in made_calls.LANGUAGES:
            path = made_calls.program(name, language, seed, FUNCTIONS)
            problems += made_calls.compare(room, path, count, language, probes_in_turn(seed))
            os.unlink(path)
    finally:
        room.close()
    total.append(count)
    return problems + count.wrong, count.text()


def main():
    first, seeds = int(os.environ.get('LONG_FIRST_SEED', '1001')), int(os.environ.get('LONG_SEEDS', '10'))
    total, failed, number = [], 0, 0
    print('1..%d' % (seeds * len(made_calls.BUILDS_OF_CALLS)))
    for seed in range(first, first + seeds):
        for name in made_calls.BUILDS_OF_CALLS:
            number += 1
            text = 'seed %d [%s]' % (seed, name)
            try:
                problems, remark = run_one(name, seed, total)
            except builds.Skip as why:
                print('ok %d - %s # SKIP %s' % (number, text, why), flush=True)
                continue
            failed += bool(problems)
            print('%s %d - %s: %s' % ('not ok' if problems else 'ok', number, text, remark), flush=True)
            for problem in problems:
                print('#   ' + problem)
    print('# calls: %d signatures in %d builds, %d wrong values' % (
        seeds * FUNCTIONS * len(made_calls.LANGUAGES), len(made_calls.BUILDS_OF_CALLS),
        sum(len(count.wrong) for count in total)))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
