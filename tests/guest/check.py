#!/usr/bin/env python3
"""Builds functrace for other processors, and runs its unit tests and scenarios on emulated machines; prints TAP.

usage: check.py [--form=NAME] [--guests=NAME,...] [--steady] [--count] [PART...]

A form (tests/guest/NAME.form) has a part of the names of scenarios in each line, and with "unit NAME" the unit tests that
run; without such lines all run. A guest may have a form of its own, which replaces the given one. PARTs replace a form;
"-" runs only unit tests.
With --steady a guest has one processor, whose clock counts instructions, so that a failure cannot come from a busy
machine. With --count the last line has the form of .ci/run: N passed, M failed, K skipped.
"""

import argparse
import collections
import compileall
import difflib
import os
import py_compile
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback

TOP_SRCDIR = os.path.abspath(os.environ.get('TOP_SRCDIR', os.path.join(os.path.dirname(__file__), '..', '..')))
TOP_BUILDDIR = os.path.abspath(os.environ.get('TOP_BUILDDIR', os.getcwd()))
HERE = os.path.join(TOP_SRCDIR, 'tests', 'guest')
GUEST = os.path.join(HERE, 'guest')
GUEST_DIR = os.path.abspath(os.environ.get('ARM_GUEST_DIR') or os.path.join(TOP_BUILDDIR, 'guests'))
POSTPROC = os.environ.get('FUNCTRACE_POSTPROC', os.path.join(TOP_BUILDDIR, 'functrace-postproc'))
ENVIRONMENT = dict(os.environ, ARM_GUEST_DIR=GUEST_DIR)

Guest = collections.namedtuple('Guest', 'name arch options about form', defaults=(None,))
GUESTS = [
    Guest('arm64', 'arm64', ['-c', 'cortex-a57'], 'AArch64, cortex-a57'),
    Guest('armhf', 'armhf', [], 'ARM, cortex-a15'),
    Guest('arm64-pac', 'arm64', ['-c', 'max,pauth-impdef=on'], 'AArch64 with PAC and BTI'),
    Guest('armhf-on-arm64', 'armhf', ['-k', 'arm64'], 'ARM programs on an AArch64 kernel'),
    Guest('arm64-mte', 'arm64', ['-c', 'max,pauth-impdef=on', '-M', 'mte=on'], 'AArch64 with tags of memory', 'mte'),
]
HEAP_LIST = 'tests/unit/heap_list'  # of all check_PROGRAMS the only one that scenarios run
TRIPLETS = {'arm64': 'aarch64-linux-gnu', 'armhf': 'arm-linux-gnueabihf'}
# Number of guests that run at the same time: one for each processor, although a guest has two and a build uses all.
AT_ONCE = max(1, min(len(GUESTS), os.cpu_count() or 1))
# Limits for a boot and for the time between two lines; a scenario's own limit is shorter. All scenarios take hours, and
# their programs need memory.
LIMIT, LONG_LIMIT, SILENCE = 3600, 6 * 3600, 900
LONG_MEMORY = '3072'
# 2^2 ns an instruction; armhf's kernel does not boot with several processors that take turns.
STEADY = ['-i', '2', '-s', '1']
# The guests of a form; None: all. `short` has one guest, whose kernel also runs 32-bit ARM programs, because a second
# one would need another build of functrace.
FORMS = {'short': ('arm64',), 'check': None, 'long': None}
# Tests that run on the build machine only, with the reason.
NOT_THERE = dict.fromkeys(('floors.py', 'format.py', 'hacking.py', 'howto.py', 'port.py', 'same_code.py'), 'it looks at the sources, on the build machine')
NOT_THERE.update(dict.fromkeys(('symbols_object', 'symbols_names', 'symbols_hostile', 'symbols_files', 'symbols_slots',
                                'signature', 'signature_hostile'), 'it needs a compiler and binutils, which no guest has'))
NOT_THERE.update(dict.fromkeys(('args_expected.py', 'hardening.py'), 'it needs binutils, which no guest has'))
NOT_THERE['abi_compilers.py'] = 'it needs compilers, which no guest has'
NOT_THERE.update(dict.fromkeys(('trace_io', 'trace_convert'), 'it tries too many inputs for an emulated machine'))


class Skip(Exception):
    """The guests cannot be fetched; the text is the reason."""


class Broken(Exception):
    """A build failed; the text is the output."""


class Tap:
    """Counts and prints the results of several guests at once."""

    def __init__(self):
        self.lock, self.counts, self.number = threading.Lock(), collections.Counter(), 0

    def result(self, passed, text, skip=None):
        with self.lock:
            self.number += 1
            self.counts['skipped' if skip else 'passed' if passed else 'failed'] += 1
            print('%s %d - %s%s' % ('ok' if passed or skip else 'not ok', self.number, text, ' # SKIP ' + skip if skip else ''), flush=True)

    def comment(self, text):
        with self.lock:
            print('# ' + text, flush=True)

    def end(self):
        print('1..%d' % self.number)
        return '%d passed, %d failed, %d skipped' % tuple(self.counts[k] for k in ('passed', 'failed', 'skipped'))


def run(command, what, folder=None, env=None, timeout=1800):
    """Returns the output of a command; raises Broken if it fails."""
    done = subprocess.run(command, cwd=folder, env=env or ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, errors='replace', timeout=timeout)
    if done.returncode:
        raise Broken('%s failed:\n%s' % (what, done.stdout[-4000:]))
    return done.stdout


class Build:
    """functrace and its tests for one kind of guest."""

    def __init__(self, arch, form):
        self.arch, self.triplet, self.is_short = arch, TRIPLETS[arch], form == 'short'
        # For a few tests a build without optimisation is faster: it has a folder of its own.
        self.folder = os.path.join(TOP_BUILDDIR, 'guest-' + arch + ('-short' if self.is_short else ''))
        self.suite = os.path.join(self.folder, 'suite')
        self.lock, self.broken = threading.Lock(), None

    @staticmethod
    def fetch(arch):
        """Returns the folder of an architecture's compilers, which are fetched once, with libraries and kernel."""
        done = subprocess.run([GUEST, arch, 'path'], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=1800)
        if done.returncode:
            raise Skip((done.stderr.strip().split('\n') or ['?'])[-1])
        return done.stdout.strip()

    def get_tools(self):
        folder = self.fetch(self.arch)
        prefix = os.path.join(folder, self.triplet + '-')
        # Without the settings of the outer make, because this is another build.
        self.env = {k: v for k, v in ENVIRONMENT.items()
                    if k not in ('CC', 'CXX', 'CFLAGS', 'CXXFLAGS', 'LDFLAGS', 'MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'MAKEOVERRIDES', 'TESTS')}
        self.env.update(PATH=folder + ':' + self.env['PATH'], CONFIG_SITE='/dev/null')
        self.tools = {'CC': prefix + 'gcc', 'CXX': prefix + 'g++', 'MUSL_CC': prefix + 'musl-gcc', 'CLANG': prefix + 'clang'}
        if self.arch == 'arm64':  # it also runs 32-bit ARM programs
            prefix = os.path.join(self.fetch('armhf'), TRIPLETS['armhf'] + '-')
            self.tools.update(ARM_CC=prefix + 'gcc', ARM_CXX=prefix + 'g++')

    def build_once(self, forms):
        """Builds for the first guest of this kind; the other guests use the same build. Raises Broken if that fails.
        forms: the unit tests and the parts that each guest runs."""
        with self.lock:
            if not self.broken and not hasattr(self, 'tests'):
                try:
                    self.build(forms)
                except Broken as broken:
                    self.broken = broken
        if self.broken:
            raise self.broken

    def build(self, forms):
        parts = sorted(set().union(*(parts for _, parts in forms.values())))
        os.makedirs(self.folder, exist_ok=True)
        jobs = '-j%d' % (os.cpu_count() or 1)
        if not os.path.exists(os.path.join(self.folder, 'config.status')):
            run([os.path.join(TOP_SRCDIR, 'configure'), '-q', '--host=' + self.triplet] + (
                ['CFLAGS=-O0', 'CXXFLAGS=-O0'] if self.is_short else ['--enable-werror']), 'configure', self.folder, self.env)
        run(['make', jobs], 'make', self.folder, self.env)
        tests = run(['make', '-s', 'guest-tests'], 'make', self.folder, self.env).split()
        programs = self.named_programs(tests, forms)
        if programs is None:
            run(['make', jobs, 'check', 'TESTS='], 'make check TESTS=', self.folder, self.env)
        elif programs:
            run(['make', jobs] + programs, 'make ' + ' '.join(programs), self.folder, self.env)
        if not self.is_short:
            run(['make', jobs, 'bench/floor', 'bench/targets/malloc'], 'make bench/floor', self.folder, self.env)
        if parts:
            env = dict(self.env, TOP_SRCDIR=TOP_SRCDIR, TOP_BUILDDIR=self.folder, FUNCTRACE=os.path.join(self.folder, 'functrace'), **self.tools)
            run([sys.executable, os.path.join(TOP_SRCDIR, 'tests', 'scenarios', 'run.py'), '--build', '-j', jobs[2:]] + parts,
                'building the programs of the scenarios', self.folder, env)
        self.gather({name: parts for name, (_, parts) in forms.items()})
        self.tests = tests

    @staticmethod
    def named_programs(tests, forms):
        """The unit tests that the forms name, and the program that scenarios run, if only these programs must be built.
        None if a form runs all tests, or a script, which may need any program."""
        names = [set(units) for units, _ in forms.values()]
        wanted = [test for test in tests if os.path.basename(test) in set().union(*names)]
        return None if not all(names) or any(test.endswith(('.py', '.sh')) for test in wanted) else wanted + [HEAP_LIST]

    def gather(self, lists):
        """Fills the folder that is copied to the guest: the build without objects, and the tests."""
        shutil.rmtree(self.suite, ignore_errors=True)
        left_out = shutil.ignore_patterns('*.o', '*.a', '*.log', '*.trs', '*.d', 'suite', 'sysroot', 'src', '*.part', '*.first', 'config*', 'Makefile')
        shutil.copytree(self.folder, os.path.join(self.suite, 'build'), symlinks=True, ignore=left_out)
        for name in ('tests', 'examples', 'man', 'bench'):
            shutil.copytree(os.path.join(TOP_SRCDIR, name), os.path.join(self.suite, 'src', name),
                            ignore=shutil.ignore_patterns('__pycache__', '*.o', 'corpus'))
        shutil.copy(os.path.join(TOP_SRCDIR, 'README.md'), os.path.join(self.suite, 'src'))
        shutil.copy(os.path.join(HERE, 'suite.sh'), self.suite)
        self.compile_python()
        if self.arch == 'arm64':
            self.fetch_arm_libraries()
        # The guest's files with the paths that they have there, for the reading of its traces here.
        self.sysroot = os.path.join(self.folder, 'sysroot')
        shutil.rmtree(self.sysroot, ignore_errors=True)
        os.makedirs(self.sysroot)
        for name, place in ('suite', self.suite), ('usr', os.path.join(GUEST_DIR, self.arch, 'sysroot', 'usr')), ('lib', 'usr/lib'):
            os.symlink(place, os.path.join(self.sysroot, name))
        for name, parts in lists.items():
            with open(os.path.join(self.suite, name + '.form'), 'w') as file:
                file.write('\n'.join(parts) + '\n' if parts else '')

    def compile_python(self):
        """Compiles the tests' Python modules if the guest has the same version: in the guest that takes longer than a
        boot."""
        if os.path.exists(os.path.join(GUEST_DIR, self.arch, 'sysroot', 'usr', 'bin', 'python%d.%d' % sys.version_info[:2])):
            compileall.compile_dir(os.path.join(self.suite, 'src', 'tests'), quiet=1, stripdir=os.path.join(self.suite, 'src'),
                                   prependdir=TOP_SRCDIR, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)

    def fetch_arm_libraries(self):
        """Copies the libraries that a dynamic 32-bit ARM program needs; suite.sh installs them."""
        libraries = os.path.join(GUEST_DIR, 'armhf', 'sysroot', 'usr', 'lib', TRIPLETS['armhf'])
        os.makedirs(os.path.join(self.suite, 'arm'))
        for name in ('ld-linux-armhf.so.3', 'libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'libgcc_s.so.1', 'libstdc++.so.6'):
            shutil.copy(os.path.join(libraries, name), os.path.join(self.suite, 'arm'))


class Run:
    """One boot of a guest: its lines are converted to results."""

    running = set()  # the emulators of all runs
    RESULT = re.compile(r'^(not )?ok \d+(?: - )?(.*?)(?: # SKIP (.*))?$')

    def __init__(self, tap, guest, build, units, options):
        self.tap, self.guest, self.options = tap, guest, options
        self.build, self.out, self.figures = build, tempfile.mkdtemp(prefix='functrace-guest-'), collections.defaultdict(list)
        wanted = [test for test in build.tests if not units or os.path.basename(test) in units]
        self.left_out = [os.path.basename(test) for test in wanted if os.path.basename(test) in NOT_THERE]
        self.command = [GUEST, guest.arch, 'run', '-s', '2', '-o', self.out] + guest.options + options + [
            build.suite, 'sh', 'suite.sh', guest.name + '.form', TOP_SRCDIR, build.folder] + [
                test for test in wanted if os.path.basename(test) not in NOT_THERE]
        self.last, self.ended, self.test, self.problem, self.heard = collections.deque(maxlen=30), False, 'its boot', False, 0
        self.remarks = []  # since the last result

    def remark(self, text):
        self.tap.comment('  %s: %s' % (self.guest.name, text))

    def line(self, text):
        result = self.RESULT.match(text)
        if text.startswith('== '):
            self.test, self.problem, self.remarks = text[3:], False, []
            self.ended = self.test == 'end'
            self.tap.comment('%s: %s, after %d s' % (self.guest.name, self.test, time.monotonic() - self.began))
        elif result:
            self.problem = bool(result.group(1)) and not result.group(3)
            before, self.remarks = self.remarks, []
            name = os.path.basename(self.test)
            words = result.group(2) if name in ('run.py', result.group(2)) else '%s: %s' % (name, result.group(2))
            self.tap.result(not result.group(1), '%s: %s' % (self.guest.name, words), result.group(3))
            for remark in before[-12:] if self.problem else ():
                self.remark(remark)
        elif text.startswith('figure '):
            _, name, value = text.split()
            self.figures[name].append(int(value))
        elif text.startswith('# '):
            # Some tests print details before the result.
            if self.problem:
                self.remark(text[2:])
            else:
                self.remarks.append(text[2:])
        self.last.append(text)

    def watch(self, child):
        """Ends a guest that has printed nothing for a long time."""
        while child.poll() is None:
            time.sleep(1)
            if time.monotonic() - self.heard > SILENCE:
                self.last.append('(nothing more for %d s: ended)' % SILENCE)
                self.kill(child)
                return

    @staticmethod
    def kill(child):
        try:
            os.killpg(child.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass

    def run(self):
        self.began = self.heard = time.monotonic()
        for name in self.left_out:
            self.tap.result(True, '%s: %s' % (self.guest.name, name), NOT_THERE[name])
        child = subprocess.Popen(self.command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 start_new_session=True)
        self.running.add(child)
        threading.Thread(target=self.watch, args=(child,), daemon=True).start()
        try:
            for line in child.stdout:
                self.heard = time.monotonic()
                self.line(line.decode(errors='replace').rstrip())
        finally:
            self.kill(child)
        status = child.wait()
        self.running.remove(child)
        self.tap.result(self.ended and not status, '%s: %s: all tests have run' % (self.guest.name, self.guest.about))
        if not self.ended or status:
            self.remark('status %d, in %s; the last lines of its console:' % (status, self.test))
            for line in self.last:
                self.remark(line)
        self.read_traces()
        for name, words in ('plain', 'without stacks'), ('stacks', 'with stacks'):
            if self.figures[name] and self.figures['floor']:
                self.tap.comment('%s: a traced pair of malloc and free, %s: %.2f of three bare stops' % (
                    self.guest.name, words, statistics.median(self.figures[name]) / statistics.median(self.figures['floor'])))
        shutil.rmtree(self.out, ignore_errors=True)
        self.tap.comment('%s: %d s' % (self.guest.name, time.monotonic() - self.began))

    def read_traces(self):
        """Compares functrace-postproc's output here for the traces of the guest, with the guest's files for --sysroot,
        with its output there."""
        folder = os.path.join(self.out, 'traces')
        for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
            if not name.endswith('.rtrace'):
                continue
            for ending, options in ('.txt', ['-r']), ('.leaks.txt', ['-l', '-c', '-r']):
                with open(os.path.join(folder, name.replace('.rtrace', ending)), 'rb') as file:
                    there = file.read()
                done = subprocess.run([POSTPROC, '--sysroot=' + self.build.sysroot] + options + [os.path.join(folder, name)],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
                # The guest's libraries have no debug symbols, so the same number of frames has no names.
                said = [line for line in done.stderr.splitlines() if b' frames have no names' not in line]
                same = done.returncode == 0 and done.stdout == there and not said
                same = same and (options != ['-r'] or b' in main() ' in there)
                self.tap.result(same, '%s: functrace-postproc %s of the trace of %s: the same here as in the guest' % (
                    self.guest.name, ' '.join(options), name[:-len('.rtrace')]))
                if not same:
                    differ = list(difflib.unified_diff(there.decode(errors='replace').split('\n'), done.stdout.decode(errors='replace').split('\n'),
                                                       'there', 'here', n=0, lineterm=''))
                    for line in differ[:12] + done.stderr.decode(errors='replace').split('\n'):
                        self.remark(line)


def read_form(name):
    with open(os.path.join(HERE, name + '.form')) as file:
        return [line.strip() for line in file if line.strip() and line[0] != '#']


def units_and_parts(lines):
    """The names of unit tests and the parts of names of scenarios in a form."""
    return ([line.split()[1] for line in lines if line.startswith('unit ')], [line for line in lines if not line.startswith('unit ')])


def run_one(tap, guest, build, forms, options):
    try:
        build.build_once({other.name: forms[other.name] for other in GUESTS if other.arch == guest.arch and other.name in forms})
        Run(tap, guest, build, forms[guest.name][0], options).run()
    except Broken as broken:
        tap.result(False, '%s: built' % guest.name)
        for line in str(broken).split('\n'):
            tap.comment('  ' + line)
    except Exception:
        tap.result(False, '%s: run' % guest.name)
        for line in traceback.format_exc().split('\n'):
            tap.comment('  ' + line)


def run_all(tap, guests, forms, builds, options):
    """Runs several guests at once. If this program is killed, the emulators are ended, too."""
    waiting = collections.deque(guests)

    def work():
        while True:
            try:
                guest = waiting.popleft()
            except IndexError:
                return
            run_one(tap, guest, builds[guest.arch], forms, options)

    workers = [threading.Thread(target=work, daemon=True) for _ in range(min(AT_ONCE, len(guests)))]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    except KeyboardInterrupt:
        for child in list(Run.running):
            Run.kill(child)
        raise


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--form', default=os.environ.get('GUEST_FORM', 'short'), choices=FORMS)
    parser.add_argument('--guests', help=', '.join(guest.name for guest in GUESTS))
    parser.add_argument('--steady', action='store_true')
    parser.add_argument('--count', action='store_true')
    parser.add_argument('parts', nargs='*')
    options = parser.parse_args()
    wanted = options.guests.split(',') if options.guests else FORMS[options.form]
    guests = [guest for guest in GUESTS if wanted is None or guest.name in wanted]
    tap, builds = Tap(), {}
    if os.uname().machine != 'x86_64':
        tap.result(True, 'guests', 'guests run on x86-64 only')
        guests = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for guest in guests:
            if guest.arch not in builds:
                builds[guest.arch] = Build(guest.arch, options.form)
                builds[guest.arch].get_tools()
    except Skip as skip:
        tap.result(True, 'guests', str(skip))
        guests = []
    machine = ['-t', str(LONG_LIMIT), '-m', LONG_MEMORY] if options.form == 'long' else ['-t', str(LIMIT)]
    machine += STEADY if options.steady else []
    given = [part for part in options.parts if part != '-']
    forms = {guest.name: units_and_parts(given if options.parts else read_form(guest.form or options.form)) for guest in guests}
    run_all(tap, guests, forms, builds, machine + (['-p'] if options.form != 'short' or options.parts else []))
    said = tap.end()
    if options.count:
        print(said)
    return 1 if tap.counts['failed'] or not tap.number else 0


if __name__ == '__main__':
    sys.exit(main())
