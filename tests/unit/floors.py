#!/usr/bin/env python3
"""Checks that the sources follow the map of layers: no file includes or calls a file of a higher layer, and each name
is unique.

Reads all sources, and the calls between the objects of the build. The map is floors.txt; exceptions.txt lists the
places that break a rule on names or contents, and only gets shorter; callbacks.txt lists the calls upward by pointers,
and wrapped.txt functrace's own functions that unit tests replace.
Prints TAP. Options: --self-test tests only the rules, on small trees that break them; --list prints the places that
break a rule: rule, thing, number of places, places; --shrink removes exceptions that are no longer needed."""

import os
import sys

from floors_pointers import Pointers
from floors_rooms import Map, call_edges, circles, upward
from floors_rules import CALLBACKS, RULES, WRAPPED, Exceptions, Listed, lengths, private_calls, wrapped
from floors_self_test import SELF_TESTS
from floors_source import read_tree

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, '..', '..')
BUILD = os.environ.get('TOP_BUILDDIR', os.getcwd())
FOLDERS = ('src', 'arch', 'modules', 'context')


def lines_of(name):
    with open(os.path.join(HERE, name)) as file:
        return file.read().splitlines()


def read_makefiles():
    texts = {}
    for folder in FOLDERS + ('tests',):
        for place, _, names in os.walk(os.path.join(TOP, folder)):
            for name in names:
                if name.endswith('.mk'):
                    path = os.path.join(place, name)
                    with open(path) as file:
                        texts[os.path.relpath(path, TOP)] = file.read()
    return texts


class Tap:
    def __init__(self, planned):
        self.count = self.failed = 0
        print('1..%d' % planned)

    def result(self, name, problems):
        self.count += 1
        self.failed += bool(problems)
        print('%s %d %s' % ('not ok' if problems else 'ok', self.count, name))
        for problem in problems:
            print('# ' + problem)


def check_tree(tap):
    house, exceptions = Map(lines_of('floors.txt')), Exceptions(lines_of('exceptions.txt'))
    tree = read_tree(TOP, FOLDERS)
    tap.result('every folder has its place in floors.txt, every exception its rule',
               sorted({'%s has no place in floors.txt' % folder for folder in map(house.unplaced, tree.sources)
                       if folder}) + ['%s is in floors.txt only' % place for place in house.missing(tree.sources)] +
               exceptions.unknown(RULES))
    edges = tree.include_edges() + call_edges(tree, BUILD)
    tap.result('no file includes or calls one of a higher layer', sorted(set(upward(house, edges))))
    tap.result('no files depend on each other in a circle', sorted(circles(edges)))
    tap.result('files are short, and only some folders use ptrace and processor conditions',
               sorted([*lengths(tree), *private_calls(tree)]))
    for rule, broken in RULES.items():
        tap.result('%s: %s' % (rule, broken.__doc__), list(exceptions.problems(rule, broken(tree))))
    tap.result('calls upward by pointers are listed',
               list(Listed(lines_of('callbacks.txt')).problems(Pointers(house, tree).found, *CALLBACKS)))
    tap.result('functions of the program that tests replace with the linker are listed',
               list(Listed(lines_of('wrapped.txt')).problems(wrapped(tree, read_makefiles()), *WRAPPED)))


def work_list(shrink):
    """Prints the broken rules, or removes unneeded exceptions from exceptions.txt."""
    tree = read_tree(TOP, FOLDERS)
    broken = {rule: {thing: sorted(places) for thing, places in find(tree)} for rule, find in RULES.items()}
    if shrink:
        left = list(Exceptions(lines_of('exceptions.txt')).shrunk(broken))
        with open(os.path.join(HERE, 'exceptions.txt'), 'w') as file:
            file.write('\n'.join(left) + '\n')
        return
    for rule, things in broken.items():
        for thing, places in sorted(things.items()):
            print('\t'.join((rule, thing, str(len(places)), ' '.join(places))))


def main(options):
    if '--list' in options or '--shrink' in options:
        work_list('--shrink' in options)
        return 0
    with_tree = '--self-test' not in options
    tap = Tap(len(SELF_TESTS) + (6 + len(RULES) if with_tree else 0))
    if with_tree:
        check_tree(tap)
    for name, problems in SELF_TESTS.items():
        tap.result(name, problems())
    return tap.failed != 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
