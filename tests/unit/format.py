#!/usr/bin/env python3
"""Checks that all C and C++ sources are formatted as clang-format 14 formats them with .clang-format (other versions
format differently), and that no line of C, of a makefile or of a text for contributors is longer than clang-format's
limit, comments included."""

import glob
import os
import shutil
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
FOLDERS = ('src', 'arch', 'modules', 'tests', 'examples', 'bench')
VERSION = '14'


def formatter():
    """Returns (program, None), or (None, the reason why there is no program)."""
    for name in ('clang-format-' + VERSION, 'clang-format'):
        if shutil.which(name):
            said = subprocess.run([name, '--version'], stdout=subprocess.PIPE, text=True).stdout
            if 'version %s.' % VERSION in said:
                return name, None
    return None, 'clang-format %s is not installed (Debian 12: clang-format-%s)' % (VERSION, VERSION)


def sources():
    for folder in FOLDERS:
        for place, _, names in sorted(os.walk(os.path.join(TOP, folder))):
            for name in sorted(names):
                if name.endswith(('.c', '.h', '.cpp')):
                    yield os.path.join(place, name)


LONGEST = 120  # ColumnLimit in .clang-format


def long_lines(text):
    """Yields the numbers and widths of lines that are too long. A tab ends at the next multiple of eight columns; a URL
    and a row of a text's table cannot be broken."""
    for number, line in enumerate(text.splitlines(), 1):
        width = len(line.expandtabs(8))
        if width > LONGEST and '://' not in line and not line.startswith('| '):
            yield number, width


def lines_of_all():
    paths = list(sources()) + [os.path.join(TOP, name) for name in ('HACKING.md', 'CONTRIBUTING.md')] + \
        glob.glob(os.path.join(TOP, 'doc', '*.md'))
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(TOP, folder)):
            paths += [os.path.join(place, name) for name in names if name.endswith('.mk')]
    return sorted(paths)


def check_lengths():
    found = []
    for path in lines_of_all():
        with open(path, encoding='utf-8', errors='replace') as file:
            found += [(os.path.relpath(path, TOP), number, width) for number, width in long_lines(file.read())]
    print('%s 1 no line is longer than %d columns' % ('not ok' if found else 'ok', LONGEST))
    for path, number, width in found:
        print('# %s:%d has %d columns' % (path, number, width))
    seen = list(long_lines('x' * 120 + '\n' + '\t' * 15 + 'x\n' + 'x' * 121 + '\n' + 'http://' + 'x' * 200 + '\n| ' + 'x' * 200))
    print('%s 2 a long line is found' % ('ok' if seen == [(2, 121), (3, 121)] else 'not ok'))
    return bool(found) or seen != [(2, 121), (3, 121)]


def main():
    print('1..3')
    too_long = check_lengths()
    if not os.path.exists(os.path.join(TOP, '.clang-format')):
        print('ok 3 # SKIP there is no .clang-format here')
        return too_long
    name, why = formatter()
    if not name:
        print('ok 3 # SKIP ' + why)
        return too_long
    said = subprocess.run([name, '--dry-run', '--Werror', '--style=file:' + os.path.join(TOP, '.clang-format')] +
                          list(sources()), stderr=subprocess.PIPE, text=True)
    wrong = sorted({os.path.relpath(line.split(':')[0], TOP) for line in said.stderr.splitlines() if ': error:' in line})
    print('%s 3 every file is as clang-format %s makes it' % ('ok' if said.returncode == 0 else 'not ok', VERSION))
    for path in wrong:
        print('# %s is not: run %s -i %s' % (path, name, path))
    return too_long or said.returncode


if __name__ == '__main__':
    sys.exit(main())
