#!/usr/bin/env python3
"""Runs the tests of tests/unit and tests/post, and those in MORE, that read CHECK_LONG, with CHECK_LONG set. Builds test
programs by make first."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, '..')
BUILD = os.environ.get('TOP_BUILDDIR', os.getcwd())
# The text by which a source reads CHECK_LONG: a C source calls test_is_long(), a script uses rounds.py.
KNOWS = {'.c': re.compile(r'\btest_is_long\('), '.py': re.compile(r'\bLONG\b|\brounds\(')}
MORE = ['install/completion.py', 'scenarios/generated.py', 'scenarios/process_state.py']


def knowing():
    """Returns the names below tests/ of the sources that read CHECK_LONG."""
    for folder in ('unit', 'post'):
        for name in sorted(os.listdir(os.path.join(TESTS, folder))):
            pattern = KNOWS.get(os.path.splitext(name)[1])
            path = os.path.join(TESTS, folder, name)
            if not pattern:
                continue
            with open(path, encoding='utf-8') as file:
                if pattern.search(file.read()):
                    yield folder + '/' + name
    yield from MORE


def programs_of(name):
    """The test programs that are built from a C source, from the variables of the Makefile."""
    with open(os.path.join(BUILD, 'Makefile'), encoding='utf-8') as file:
        text = file.read().replace('\\\n', ' ')
    found = []
    for program, sources in re.findall(r'^tests_unit_(\w+)_SOURCES = (.*)$', text, re.M):
        if 'tests/' + name in sources.split() or f'$(tests_unit_{os.path.basename(name)[:-2]}_SOURCES)' in sources:
            found.append('tests/unit/' + program)
    return found


def main():
    scripts, programs = [], []
    for name in knowing():
        made = programs_of(name) if name.endswith('.c') else []
        if name.endswith('.c') and not made:
            print(f'{name}: there is no program of it')
            return 1
        programs += made
        scripts += [] if made else [name]
    subprocess.run(['make', '-s', *programs], cwd=BUILD, check=True)
    commands = [[os.path.join(BUILD, program)] for program in programs]
    commands += [[sys.executable, os.path.join(TESTS, name)] for name in scripts]
    failed = []
    for command in commands:
        print('== ' + ' '.join(command), flush=True)
        # 77: the test was skipped, and has printed the reason.
        if subprocess.run(command, env=dict(os.environ, CHECK_LONG='1'), cwd=BUILD, check=False).returncode not in (0, 77):
            failed.append(command[-1])
    print(f'{len(commands)} tests, {len(failed)} failed: {" ".join(failed)}' if failed else f'{len(commands)} tests, none failed')
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main())
