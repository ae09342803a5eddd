#!/usr/bin/env python3
"""All C and C++ is as clang-format 14 makes it of .clang-format: another version makes other lines of the same rules."""

import os
import shutil
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
FOLDERS = ('src', 'arch', 'modules', 'tests', 'examples', 'bench')
VERSION = '14'


def formatter():
    """The program, or None and why there is none."""
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


def main():
    print('1..1')
    if not os.path.exists(os.path.join(TOP, '.clang-format')):
        print('ok 1 # SKIP there is no .clang-format here')
        return 0
    name, why = formatter()
    if not name:
        print('ok 1 # SKIP ' + why)
        return 0
    said = subprocess.run([name, '--dry-run', '--Werror', '--style=file:' + os.path.join(TOP, '.clang-format')] +
                          list(sources()), stderr=subprocess.PIPE, text=True)
    wrong = sorted({os.path.relpath(line.split(':')[0], TOP) for line in said.stderr.splitlines() if ': error:' in line})
    print('%s 1 every file is as clang-format %s makes it' % ('ok' if said.returncode == 0 else 'not ok', VERSION))
    for path in wrong:
        print('# %s is not: run %s -i %s' % (path, name, path))
    return said.returncode


if __name__ == '__main__':
    sys.exit(main())
