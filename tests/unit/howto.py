#!/usr/bin/env python3
"""Checks the examples of the HOWTOs: each C file in them compiles without a warning with the tree's headers, and each
description of a module can be read. Prints TAP."""

import glob
import os
import subprocess
import sys
import tempfile

import hacking

TOP = hacking.TOP
BUILD = os.environ.get('TOP_BUILDDIR', os.getcwd())
CC = os.environ.get('CC', 'gcc').split()
FLAGS = ['-std=gnu11', '-D_GNU_SOURCE', '-O2', '-c', '-o', '/dev/null', '-Wall', '-Wextra', '-Werror', '-Wstrict-prototypes',
         '-Wmissing-prototypes', '-Wno-missing-field-initializers']


def write_files(folder, text):
    """Writes the files of a text's examples; returns their paths in the tree."""
    files = [(path, code) for path, code in hacking.FENCED.findall(text) if path]
    for path, code in files:
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), 'w') as file:
            file.write(code)
    return [path for path, _ in files]


def compile_one(folder, path):
    """Returns the compiler's messages, "" if there are none. Headers of the example precede those of the tree."""
    places = [os.path.join(folder, 'src'), folder, BUILD, os.path.join(TOP, 'src'), TOP, os.path.join(TOP, os.path.dirname(path))]
    command = CC + FLAGS + [word for place in places for word in ('-I', place)] + [os.path.join(folder, path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout or ('' if done.returncode == 0 else 'status %d' % done.returncode)


def read_one(folder, path):
    """Returns functrace's message about a description, "" if only the program is missing."""
    command = [os.environ['FUNCTRACE'], '-e', os.path.join(folder, path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return '' if 'nothing to trace' in done.stdout else done.stdout or 'status %d' % done.returncode


def problems_of(text):
    """Returns the number of files that were tried, and the problems."""
    with tempfile.TemporaryDirectory() as folder:
        paths, tried, problems = write_files(folder, text), 0, []
        for path in paths:
            look = compile_one if path.endswith('.c') else read_one if path.endswith('.conf') else None
            if look:
                said = look(folder, path)
                tried += 1
                problems += ['%s: %s' % (path, line) for line in said.splitlines()[:20]]
    return tried, problems


def results():
    """Yields (name, problems) of each text with examples, and of this test itself."""
    count = 0
    for name in sorted(glob.glob(os.path.join(TOP, 'doc', '*.md'))):
        with open(name) as file:
            tried, problems = problems_of(file.read())
        count += tried
        if tried:
            yield '%s: %d examples compile' % (os.path.basename(name), tried), problems
    yield 'there are examples, %d' % count, [] if count >= 5 else ['there are too few']
    for name, text in (('an example that does not compile is found',
                        '```c src/trace/x.c\n#include "trace/no.h"\n```\n'),
                       ('a wrong description of a module is found', '```conf x/x.conf\nno such word\n```\n')):
        yield name, [] if problems_of(text)[1] else ['it is not']


def main():
    done = list(results())
    print('1..%d' % len(done))
    for number, (name, problems) in enumerate(done, 1):
        print('%s %d %s' % ('not ok' if problems else 'ok', number, name))
        for problem in problems:
            print('# ' + problem)
    return any(problems for _, problems in done)


if __name__ == '__main__':
    sys.exit(main())
