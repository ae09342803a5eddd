#!/usr/bin/env python3
"""The unit tests of functrace built for i386, on x86-64. tests/guest/guest fetches the compiler and the 32-bit
libraries into build/guests; if that fails, or if the kernel runs no 32-bit programs, the test is skipped, with the
reason."""

import os
import platform
import re
import subprocess
import sys

TOP_SRCDIR = os.path.abspath(os.environ.get('TOP_SRCDIR', os.path.join(os.path.dirname(__file__), '..', '..')))
TOP_BUILDDIR = os.path.abspath(os.environ.get('TOP_BUILDDIR', '.'))
GUESTS = os.environ.get('ARM_GUEST_DIR', os.path.join(TOP_BUILDDIR, 'guests'))
BUILD = os.path.join(TOP_BUILDDIR, 'guest-i386')
TRIPLET = 'i686-linux-gnu'
# A `make` target that runs 'make check TESTS=...' with each unit test of this build, and no scenario.
LIST = 'include Makefile\nunit-tests: ; @echo $(filter tests/unit/%,$(TESTS))\n'
STATIC = {'tests/unit/floors.py', 'tests/unit/format.py', 'tests/unit/hacking.py', 'tests/unit/port.py'}  # the same for every build


def skip(why):
    print('1..0 # SKIP ' + why)
    sys.exit(77)


def run(command, **how):
    """Runs a command; prints its output if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, **how)
    if done.returncode:
        print('\n'.join('# ' + line for line in done.stdout.split('\n')[-40:]))
        print('not ok 1 - ' + ' '.join(command)[:80])
        sys.exit(1)
    return done.stdout


def configure(environment, sysroot):
    """The programs run with the sysroot's libraries, because this machine may have no other 32-bit libraries."""
    libraries = os.path.join(sysroot, 'usr/lib/i386-linux-gnu')
    link = '-Wl,--disable-new-dtags,-rpath,%s,--dynamic-linker,%s/ld-linux.so.2' % (libraries, libraries)
    musl = TRIPLET + '-musl-gcc -Wl,--dynamic-linker,%s/usr/lib/ld-musl-i386.so.1' % sysroot
    os.makedirs(BUILD, exist_ok=True)
    if not os.path.exists(os.path.join(BUILD, 'config.status')):
        run([os.path.relpath(os.path.join(TOP_SRCDIR, 'configure'), BUILD), '-q', '--host=' + TRIPLET, '--enable-werror', 'LDFLAGS=' + link,
             'MUSL_CC=' + musl], cwd=BUILD, env=environment, timeout=900)


def runs():
    """Returns true if this kernel runs 32-bit programs."""
    try:
        return subprocess.run([os.path.join(BUILD, 'functrace'), '--version'], stdout=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def main():
    if platform.machine() != 'x86_64':
        skip('programs of i386 run on x86-64')
    fetched = subprocess.run([os.path.join(TOP_SRCDIR, 'tests/guest/guest'), 'i386', 'path'], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, universal_newlines=True, env=dict(os.environ, ARM_GUEST_DIR=GUESTS),
                             timeout=3600)
    if fetched.returncode:
        skip('no compiler and libraries of i386: ' + (fetched.stderr.strip().split('\n') or [''])[-1])
    tools = fetched.stdout.strip()
    environment = {name: value for name, value in os.environ.items()
                   if name not in ('CC', 'CXX', 'MAKEFLAGS', 'MFLAGS', 'FUNCTRACE', 'FUNCTRACE_POSTPROC', 'TOP_BUILDDIR')}
    environment['PATH'] = tools + ':' + environment['PATH']
    configure(environment, os.path.join(os.path.dirname(tools), 'sysroot'))
    jobs = '-j%d' % (os.cpu_count() or 1)
    run(['make', jobs], cwd=BUILD, env=environment, timeout=3600)
    named = subprocess.run(['make', '-s', '-f', '-', 'unit-tests'], cwd=BUILD, env=environment, input=LIST,
                           stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout.split()
    tests = ' '.join(name for name in named if name not in STATIC)
    if not runs():
        run(['make', jobs, 'check', 'TESTS='], cwd=BUILD, env=environment, timeout=3600)
        skip('everything was built, but this kernel runs no 32-bit programs')
    done = subprocess.run(['make', jobs, 'check', 'TESTS=' + tests], cwd=BUILD, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, timeout=3600)
    for line in done.stdout.split('\n'):
        if re.match(r'(FAIL|ERROR|SKIP):|# (TOTAL|PASS|SKIP|FAIL|ERROR):', line):
            print('# ' + line.lstrip('# '))
    passed = re.search(r'^# PASS:\s*(\d+)$', done.stdout, re.M)
    good = done.returncode == 0 and passed and int(passed.group(1)) > 100
    if not good and not passed:
        print('\n'.join('# ' + line for line in done.stdout.split('\n')[-40:]))
    print('%s 1 - unit tests of functrace built for i386' % ('ok' if good else 'not ok'))
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
