#!/usr/bin/env python3
"""Checks that a new processor needs nothing outside arch/, its build files and tests: no other source may name the
processor of the example port (port_riscv64.c). Prints TAP."""

import os
import re

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
ROOMS = ('src', 'modules', 'context', 'bench', 'completion')
NAME = re.compile(r'risc.?v', re.I)


def naming(rooms):
    """Returns file:line of each line that names it."""
    for room in rooms:
        for folder, _, names in os.walk(os.path.join(TOP, room)):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, errors='replace') as file:
                    for number, line in enumerate(file, 1):
                        if NAME.search(line):
                            yield '%s:%d' % (os.path.relpath(path, TOP), number)


def main():
    found = list(naming(ROOMS))
    print('1..2')
    print('%sok 1 no source outside arch/ names the example port\'s processor' % ('not ' if found else ''))
    for place in found:
        print('# ' + place)
    seen = any(place.startswith('tests/unit/port_riscv64.c:') for place in naming(('tests/unit',)))
    print('%sok 2 a source that names the processor is found' % ('' if seen else 'not '))
    return bool(found) or not seen


if __name__ == '__main__':
    raise SystemExit(main())
