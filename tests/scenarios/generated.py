#!/usr/bin/env python3
"""Traces generated programs (tests/generate) together with the reference logger: trace and log must have the same
events.

usage: generated.py [-j N] [-v] [--first SEED] [--count N] [--without N,N...] [--reduce]

Prints TAP. A failing program and its files are kept in tests/failures/SEED of the build folder; its report begins with
the command that repeats it. With --reduce statements are left out as long as the program still fails.
"""

import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'generate')]

import builds
import kinds
import program
import reflog
import strict
import trace_text
import uprobes
from processes import Failure, Gate, Room, Tracer, may_attach, probes_in_turn
from rounds import LONG

# Eight programs have each compiler, build, option and way of tracing.
FIRST, COUNT = (1, 16) if LONG else (9, 8)
FAILURES = os.path.join(builds.TOP_BUILDDIR, 'tests', 'failures')
OPTIONS = ([], ['--unwinder=libunwind'], ['-b', '0'], [], ['-b', '64'], ['-A'], [], ['-A', '-b', '64'])
MARK = 4000 * 128 + 53  # runtime.h
WATCH = uprobes.Watch()


class Case:
    """A generated program. It is built, run untraced, and launched by functrace. Some programs are also attached to, or
    traced without the logger."""

    def __init__(self, seed, without=()):
        self.seed, self.program = seed, program.Program(seed, without)
        self.options = OPTIONS[seed % len(OPTIONS)] + probes_in_turn(seed + seed // len(OPTIONS))
        self.is_attached = seed % 4 == 1
        self.is_bare = seed % 2 == 0
        self.names = strict.Names(self.program.build != 'dynamic' or self.program.replaces,
                                  '--probes=auto' in self.options)
        self.events = 0

    def describe(self):
        p = self.program
        words = [p.language, p.compiler, p.build] + p.flags + self.options
        return ' '.join(words + (['attached'] if self.is_attached else []) + (['bare'] if self.is_bare else []))

    # ---- Building ----

    def compiler(self):
        p = self.program
        if p.compiler == 'clang':
            command = ['clang++', '-fsized-deallocation'] if p.cxx else ['clang']
        else:
            command = builds.CXX if p.cxx else builds.CC
        if not shutil.which(command[0]):
            raise builds.Skip('%s is not installed' % command[0])
        if p.cxx:
            command = command + ['-std=gnu++20' if p.has_coroutines else '-std=gnu++17']
        return command + ['-g', '-w', '-pthread', '-I', os.path.dirname(program.__file__), '-I', builds.SOURCES]

    def compile(self, room, command):
        done = room.run(command, timeout=300)
        if done.status:
            raise Failure('does not compile: %s' % done.err.decode(errors='replace')[:3000])

    def build(self, room):
        p, suffix = self.program, '.cpp' if self.program.cxx else '.c'
        with open(room.path('program' + suffix), 'w') as file:
            file.write(p.source)
        flags = p.flags[:]
        if p.library:
            with open(room.path('library' + suffix), 'w') as file:
                file.write(p.library)
            flags += ['-DLIBRARY="library.so"', '-Wl,-rpath,$ORIGIN']
            self.compile(room, self.compiler() + p.flags + ['-fPIC', '-shared', room.path('library' + suffix), '-o', room.path('library.so')])
        if p.build != 'dynamic':
            flags.append('-' + p.build)
        self.compile(room, self.compiler() + flags + ['-c', room.path('program' + suffix), '-o', room.path('program.o')])
        link = self.compiler() + flags + [room.path('program.o'), '-ldl']
        if p.build != 'static' or self.is_bare:
            self.compile(room, link + ['-o', room.path('program')])
        if p.build == 'static':
            self.compile(room, link + [builds.static_logger(), '-Wl,-z,muldefs', '-o', room.path('logged')])

    def run_with(self, room, name):
        """Returns the command, and an environment with which the program writes its log into the folder of that
        name."""
        env = {'REFLOG': room.path(name)}
        os.makedirs(env['REFLOG'])
        if self.program.build == 'static':
            return [room.path('logged')], env
        return [room.path('program')], dict(env, LD_PRELOAD=builds.logger())

    # ---- Comparing ----

    def check(self, room, folder, log, plain, traced, window=None, end=None):
        """Returns the differences. If `window` is a process id, only the calls between the marks were traced in the
        first program of that process; `end` is the time when functrace detached."""
        problems = self.check_run(plain, traced)
        images = {pid: [i for i in some if end is None or i.began < end]
                  for pid, some in reflog.read_images(room.path(log)).items()}
        traces = self.read_traces(room.path(folder), problems)
        made = strict.makers(t for some in traces.values() for t in some)
        for pid in sorted(set(images) | set(traces)):
            ours = [t for t in traces.get(pid, []) if t.events]
            theirs = [i.in_order() for i in images.get(pid, [])]
            if window and pid == window:
                theirs[0] = between_marks(theirs[0])
                theirs = theirs[:1]
            if len(ours) != len(theirs):
                problems.append('process %d: %d traces with events, %d programs in the log' % (pid, len(ours), len(theirs)))
                continue
            for trace, items in zip(ours, theirs):
                self.events += len(items)
                found = strict.compare(trace, items, self.names, window is not None)
                found += strict.check_notes(trace, window is not None, made) + self.check_stacks(trace)
                problems += ['process %d: %s' % (pid, p) for p in found]
        return problems

    def check_stacks(self, trace):
        return [] if '0' in self.options else strict.check_stacks(trace, '-A' in self.options)

    def check_run(self, plain, traced):
        problems = kinds.compare_runs(plain, traced)
        said = traced.err.decode(errors='replace')
        for bad in ('not traced: ', 'by stopping all threads', 'were not seen allocated', 'double release', 'differ from their original bytes'):
            if bad in said:
                problems.append('functrace said: ' + [x for x in said.split('\n') if bad in x][0])
        return problems

    def read_traces(self, folder, problems):
        """Returns {pid: [Trace]}, in the order in which a process executed its programs."""
        traces = {}
        for path in sorted(glob.glob(os.path.join(folder, '*')), key=lambda p: int(re.search(r'-(\d+)\.', p).group(1))):
            trace = trace_text.read(path)
            problems += trace.problems
            traces.setdefault(trace.pid, []).append(trace)
        return traces

    # ---- Running ----

    def launch(self, room, plain):
        command, env = self.run_with(room, 'log')
        os.makedirs(room.path('traces'))
        traced = room.run(kinds.functrace(room.path('traces'), *self.options) + command, env)
        return ['launched: ' + p for p in self.check(room, 'traces', 'log', plain, traced)]

    def attach(self, room, plain):
        if may_attach():
            return []
        command, env = self.run_with(room, 'log-attached')
        gate = Gate()
        try:
            child = room.start(command, dict(env, **gate.env), pass_fds=gate.fds)
            gate.started()
            if not gate.arrived(child):
                raise Failure('the program ended before its gate')
            tracer = Tracer(room, child.pid, self.options + ['--verify'], output=room.path('traces-attached'))
            tracer.planted()
            gate.open()
            if not gate.arrived(child):
                raise Failure('the program ended before its second gate')
            problems, end = tracer.let_go(), time.monotonic_ns()
            if b'its text is as it was' not in tracer.err:
                problems.append('--verify says: %s' % tracer.err.decode(errors='replace')[-400:])
            gate.open()
            traced = room.finish(child)
            traced.err += tracer.err
        finally:
            gate.close()
        problems += self.check(room, 'traces-attached', 'log-attached', plain, traced, child.pid, end)
        return ['attached: ' + p for p in problems]

    def bare(self, room, plain):
        """Traces a run without the logger, whose functions enclose the traced ones, and compares the trace with the log
        of the untraced run."""
        os.makedirs(room.path('traces-bare'))
        traced = room.run(kinds.functrace(room.path('traces-bare'), *self.options) + [room.path('program')])
        problems = self.check_run(plain, traced)
        traces = [t for ts in self.read_traces(room.path('traces-bare'), problems).values() for t in ts]
        made = strict.makers(traces)
        for trace in traces:
            problems += strict.check_notes(trace, False, made) + self.check_stacks(trace)
        images = [i for some in reflog.read_images(room.path('log-untraced')).values() for i in some]
        problems += strict.compare_shapes([strict.shape_of_trace(t, self.names) for t in traces],
                                          [strict.shape_of_log(i, self.names) for i in images])
        return ['bare: ' + p for p in problems]

    def run(self, room):
        self.build(room)
        command, env = self.run_with(room, 'log-untraced')
        plain = room.run(command, env)
        problems = self.launch(room, plain)
        if self.is_attached:
            problems += self.attach(room, plain)
        if self.is_bare:
            problems += self.bare(room, plain)
        return problems


def between_marks(items):
    marks = [i for i, (_, e) in enumerate(items) if e.kind == '+' and e.size == MARK]
    return items[marks[0]:marks[1] + 2]


def command_of(seed, without):
    return 'FUNCTRACE=%s TOP_BUILDDIR=%s %s --first %d --count 1%s' % (
        kinds.FUNCTRACE, builds.TOP_BUILDDIR, os.path.abspath(__file__), seed,
        ' --without ' + ','.join(map(str, sorted(without))) if without else '')


def keep(room, case, problems, without):
    """Keeps the files of a failing program."""
    folder = os.path.join(FAILURES, str(case.seed))
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(room.folder, folder)
    with open(os.path.join(folder, 'report.txt'), 'w') as file:
        file.write('\n'.join([command_of(case.seed, without), case.describe(), ''] + problems) + '\n')
    return folder


def once(seed, without=(), keeps=True):
    """Returns the problems, the case, and the folder that was kept."""
    case, room, folder = Case(seed, without), Room(), None
    try:
        problems = case.run(room)
    except Failure as failure:
        problems = [str(failure)]
    try:
        if problems and keeps:
            folder = keep(room, case, problems, without)
    finally:
        problems += room.close()
    return problems, case, folder


def is_steady(folder):
    """Returns true if a kept program ends in the same way, without a crash, each time that it runs untraced."""
    path, ends = os.path.join(folder, 'program'), set()
    for _ in range(8 if os.path.exists(path) else 0):
        try:
            done = subprocess.run([path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  timeout=60, cwd=folder)
            ends.add((done.returncode, done.stdout))
        except subprocess.TimeoutExpired:
            ends.add((None, b''))
    return len(ends) <= 1 and all(status is not None and status >= 0 for status, _ in ends)


def test(seed, without=()):
    """Returns (problems, case, folder), or the reason why the test was skipped."""
    try:
        for _ in range(3):
            start = time.monotonic()
            problems, case, folder = once(seed, without)
            if not problems or not WATCH.since(start):
                break
            WATCH.wait_until_gone(60)
        if problems and folder and not is_steady(folder):
            return 'a program that crashes, or ends otherwise from run to run, untraced: ' + folder
        return problems, case, folder
    except builds.Skip as skip:
        return str(skip)
    except Exception:
        return [traceback.format_exc()], None, None


def reduce(seed, without):
    """Leaves out statements, at first many at once, as long as the test still fails."""
    without, count = set(without), program.Program(seed).count
    size = max(count // 4, 1)
    while size:
        for start in range(1, count + 1, size):
            more = set(range(start, min(start + size, count + 1))) - without
            if more and once(seed, without | more, keeps=False)[0]:
                without |= more
        size //= 2
    return without


def report(number, seed, result, without, verbose):
    if isinstance(result, str):
        print('ok %d - seed %d # SKIP %s' % (number, seed, result), flush=True)
        return False
    problems, case, folder = result
    print('%s %d - seed %d%s' % ('not ok' if problems else 'ok', number, seed, ' (%s, %d events)' % (
        case.describe(), case.events) if case and (problems or verbose) else ''))
    if problems:
        print('#   again: %s' % command_of(seed, without))
        print('#   kept in %s' % folder)
    for line in '\n'.join(problems).split('\n') if problems else ():
        print('#   ' + line)
    sys.stdout.flush()
    return bool(problems)


def run(first, count, jobs=2, without=(), verbose=False):
    """Prints TAP and returns the number of failed programs."""
    builds.logger()
    builds.static_logger()
    seeds, failed = range(first, first + count), []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for number, (seed, result) in enumerate(zip(seeds, pool.map(lambda s: test(s, without), seeds)), 1):
            if report(number, seed, result, without, verbose):
                failed.append(seed)
    print('1..%d' % count)
    if failed:
        print('# %d of %d programs failed, of these seeds: %s' % (len(failed), count, ' '.join(map(str, failed))))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-j', type=int, default=2)
    parser.add_argument('-v', action='store_true')
    parser.add_argument('--first', type=int, default=FIRST)
    parser.add_argument('--count', type=int, default=COUNT)
    parser.add_argument('--without', default='')
    parser.add_argument('--reduce', action='store_true')
    options = parser.parse_args()
    without = {int(n) for n in options.without.split(',') if n}
    failed = run(options.first, options.count, options.j, without, options.v)
    if failed and options.reduce:
        for seed in failed:
            smaller = reduce(seed, without)
            run(seed, 1, without=smaller)
            print('# %d of %d statements are left' % (program.Program(seed).count - len(smaller), program.Program(seed).count))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
