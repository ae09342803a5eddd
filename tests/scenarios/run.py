#!/usr/bin/env python3
"""Runs the table of scenarios and prints TAP; writes matrix.txt, a table of the scenarios that ran or were skipped.

usage: run.py [-j N] [-v] [--form=FILE] [--build] [--times] [PART ...]

-j N runs N scenarios at a time; the default is one more than there are processors, because scenarios mostly wait.

Runs the scenarios whose name contains one of the parts; a form is a file of such parts, one a line. Without parts it
runs the scenarios of `make check`: all except the combinations of builds and modes that table.share() leaves out, and
the cases that long.form names. With CHECK_LONG in the environment, as `make check-long` sets it, it runs all scenarios
with all their rounds. With --build it builds the programs of the scenarios, and runs nothing. With --times it runs one
scenario after the other, and prints at the end the seconds of CPU time that the whole machine used during each, and the
seconds of elapsed time.
"""

import argparse
import concurrent.futures
import inspect
import os
import re
import sys
import threading
import time
import traceback

if 'TOP_SRCDIR' not in os.environ:
    sys.exit('run.py: TOP_SRCDIR is not set: run the export command that HACKING.md has under "Test"')

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import aliases
import allocators
import attached
import attachments
import baseline
import baseline_blocks
import builds
import chosen
import classes
import compressed
import contexts
import core_roots
import damaged
import deaths
import described
import descriptors
import engine_kill
import endings_traced
import errnos
import errors
import formats
import forking
import heap_classes
import hostile_cores
import known
import kernel_probes
import kinds_logged
import layouts
import lifecycle
import live
import watching
import made
import named_files
import made_calls
import made_heaps
import outputs
import placement
import probe_helper
import programs
import repair
import resident
import resource_programs
import resources
import rounds
import lost
import scan_answers
import scan_roots
import scanned
import scans
import several
import shared_memory
import slow_files
import special
import stalls
import stacks
import steady
import swap
import table
import tagged
import unreturned
import uprobes
import virtual_bases
import ways
import words
from processes import Failure, Room


class Tap:
    def __init__(self):
        self.lock, self.count, self.failed = threading.Lock(), 0, 0

    def comment(self, text):
        with self.lock:
            print('# ' + text, flush=True)

    def result(self, name, problems, remark='', skip=None):
        with self.lock:
            self.count += 1
            self.failed += bool(problems) and not skip
            if skip:
                print('ok %d - %s # SKIP %s' % (self.count, name, skip))
            else:
                # The reason is also in a list of the failed tests, because that may be the only output that is saved.
                if problems:
                    lines = problems[0].strip().split('\n')
                    remark = lines[-1 if lines[0].startswith('Traceback') else 0][:200].replace('#', '')
                print('%s %d - %s%s' % ('not ok' if problems else 'ok', self.count, name,
                                        ' (%s)' % remark if remark else ''))
            for problem in problems:
                for line in problem.split('\n'):
                    print('#   ' + line)
            sys.stdout.flush()


class Case:
    """A scenario that is a function of a Room and returns (problems, remark)."""

    def __init__(self, group, name, function, module):
        self.label, self.function, self.module = '%s: %s' % (group, name), function, module

    def run(self, variant, mode):
        room = Room()
        try:
            problems, remark = self.function(room)
        except Failure as failure:
            problems, remark = [str(failure)], ''
        finally:
            left = room.close()
        return problems + left, remark

    def build(self, _variant):
        """Builds the programs that the scenario's module names, in its text or in BUILDS."""
        for kind, arguments in BUILD.findall(inspect.getsource(self.module)):
            attempt(getattr(builds, kind), *[word.strip('\' ') for word in arguments.split(',') if word])
        for arguments in getattr(self.module, 'BUILDS', ()):
            attempt(builds.target, *arguments)


def attempt(build_one, *arguments):
    """Builds one program; if that is not possible, the scenario reports the reason when it runs."""
    try:
        build_one(*arguments)
    except (builds.Skip, RuntimeError):
        pass


BUILD = re.compile(r"\bbuilds\.(target|library|logger|kinds_logger|go)\(((?:'[\w-]+'(?:, )?)*)\)")
MODULES = [
    ('programs', programs),
    ('programs', attached),
    ('layouts', layouts),
    ('lifecycle', lifecycle),
    ('special', special),
    ('special', endings_traced),
    ('deaths', deaths),
    ('stalls', stalls),
    ('engine', engine_kill),
    ('repair', repair),
    ('forking', forking),
    ('errors', errors),
    ('outputs', outputs),
    ('formats', formats),
    ('compressed', compressed),
    ('placement', placement),
    ('named files', named_files),
    ('slow files', slow_files),
    ('words', words),
    ('described', described),
    ('cost', steady),
    ('kernel probes', kernel_probes),
    ('kernel probes', probe_helper),
    ('stacks', stacks),
    ('aliases', aliases),
    ('classes', classes),
    ('chosen', chosen),
    ('chosen', unreturned),
    ('contexts', contexts),
    ('attachments', attachments),
    ('live', live),
    ('watch', watching),
    ('lost', lost),
    ('baseline', baseline_blocks),
    ('baseline', baseline),
    ('scans', scans),
    ('scans', hostile_cores),
    ('scans', damaged),
    ('scans', scan_answers),
    ('scans', shared_memory),
    ('scans', scan_roots),
    ('scans', core_roots),
    ('scans', scanned),
    ('scans', tagged),
    ('allocators', allocators),
    ('descriptors', descriptors),
    ('kinds', resources),
    ('kinds', resource_programs),
    ('kinds', kinds_logged),
    ('kinds', several),
    ('arguments', known),
    ('arguments', virtual_bases),
    ('errno', errnos),
    ('made', made),
    ('made_calls', made_calls),
    ('made_heaps', heap_classes),
    ('made_heaps', made_heaps),
    ('formats', swap),
    ('resident', resident),
]
CASES = [Case(group, name, function, module) for group, module in MODULES for name, function in module.CASES]
LONG_FORM = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'long.form')
ROWS = ['%s [%s] %s' % (row.label, variant, mode) for row in table.SCENARIOS for variant in row.variants for mode in row.modes]


def listed(form):
    """Returns the names of the scenarios that a form lists."""
    found, useless = ways.listed(form, [case.label for case in CASES] + ROWS)
    # Some cases exist only on x86-64.
    if useless and builds.processor() == 'x86_64':
        sys.exit('%s names a scenario that is not there: %s' % (os.path.basename(form), useless[0]))
    return found


LEFT_OUT = listed(LONG_FORM)
BY_BREAKPOINTS = listed(ways.FORM)
WATCH = uprobes.Watch()


def is_wanted(name, parts, is_chosen=True):
    """Returns whether a case, or a build and form of a row, runs. is_chosen: table.share() has chosen it."""
    if parts:
        return any(part in name for part in parts)
    return rounds.LONG or is_chosen and name not in LEFT_OUT


def jobs(parts):
    shares = table.share()
    for case in CASES:
        if is_wanted(case.label, parts):
            yield case.label, case, '', ''
    for scenario in table.SCENARIOS:
        for variant in scenario.variants:
            for mode in scenario.modes if scenario.fits(variant) else ():
                name = '%s [%s] %s' % (scenario.label, variant, mode)
                if is_wanted(name, parts, (variant, mode) in shares[scenario]):
                    yield name, scenario, variant, mode


def build(job):
    _, scenario, variant, _ = job
    attempt(scenario.build, variant)


def cpu_seconds():
    """Returns the CPU time that all processes of the machine have used. The rusage of this process's children lacks
    functrace's engine, which is not a descendant that they wait for."""
    with open('/proc/stat') as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf('SC_CLK_TCK')


def run_timed(times, tap, cells, job, verbose):
    cpu, start = cpu_seconds(), time.monotonic()
    run_one(tap, cells, job, verbose)
    times.append((cpu_seconds() - cpu, time.monotonic() - start, job[0]))


def run_one(tap, cells, job, verbose):
    name, scenario, variant, mode = job
    start = time.monotonic()
    key = (scenario.label, variant, mode)
    ways.choose(name, name in BY_BREAKPOINTS)
    try:
        problems, remark = scenario.run(variant, mode)
        for _ in range(3):
            if not problems or not WATCH.since(start):
                break
            # Another program's uprobes may have caused the failure: the scenario is repeated when they are gone. A
            # failure without uprobes counts at once.
            tap.comment('%s: run again, uprobes of another program were in the C library; it had found: %s' % (
                name, problems[0].split('\n')[0]))
            WATCH.wait_until_gone(60)
            start = time.monotonic()
            problems, remark = scenario.run(variant, mode)
        if verbose:
            remark += ', %.1f s' % (time.monotonic() - start)
        tap.result(name, problems, remark)
        cells[key] = 'FAIL' if problems else 'ok'
    except builds.Skip as skip:
        tap.result(name, [], skip=str(skip))
        cells[key] = str(skip)
    except Exception:
        tap.result(name, [traceback.format_exc()])
        cells[key] = 'FAIL'


MARKS = {'launch': 'L', 'attach': 'A', 'nofollow': 'F', 'binary': 'B', 'compat': 'C', 'swap': 'S'}


def matrix(cells):
    """Returns the table: a row for each target, a column for each build; L launched, A attached, F not followed; a
    small letter is skipped, with its reason below; ! has failed."""
    labels, variants, skipped = [], [], {}
    cases = {key[0]: state for key, state in cells.items() if not key[1]}
    for label, variant, _ in cells:
        if label in cases:
            continue
        if label not in labels:
            labels.append(label)
        if variant not in variants:
            variants.append(variant)
    labels.sort(key=[s.label for s in table.SCENARIOS].index)
    variants.sort(key=list(builds.VARIANTS).index)
    width = max([len(label) for label in labels] + [6])
    lines = ['Scenarios: L launched, A attached to, F children not followed, B binary trace, C the same for sp-rtrace, S SWAP;'
             ' ! failed; small letters: skipped, see below', '', ' '.join(['target'.ljust(width)] + variants)]
    for label in labels:
        row = [label.ljust(width)]
        for variant in variants:
            text = ''
            for mode, mark in MARKS.items():
                state = cells.get((label, variant, mode))
                if state is None:
                    continue
                text += mark if state == 'ok' else mark + '!' if state == 'FAIL' else mark.lower()
                if state not in ('ok', 'FAIL'):
                    skipped.setdefault(state, []).append('%s [%s] %s' % (label, variant, mode))
            row.append((text or '.').ljust(len(variant)))
        lines.append(' '.join(row).rstrip())
    lines.append('')
    for label, state in cases.items():
        lines.append('%-7s %s' % (state if state in ('ok', 'FAIL') else 'skipped', label))
        if state not in ('ok', 'FAIL'):
            skipped.setdefault(state, []).append(label)
    ran = sum(1 for state in cells.values() if state in ('ok', 'FAIL'))
    failed = sum(1 for state in cells.values() if state == 'FAIL')
    lines.append('')
    for reason, names in sorted(skipped.items()):
        lines.append('skipped, %d: %s: %s' % (len(names), reason, ', '.join(names[:3]) + ', ...' * (len(names) > 3)))
    return lines + ['%d scenarios ran, %d failed, %d were skipped' % (
        ran, failed, len(cells) - ran)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-j', type=int, default=len(os.sched_getaffinity(0)) + 1)
    parser.add_argument('-v', action='store_true')
    parser.add_argument('parts', nargs='*')
    parser.add_argument('--build', action='store_true')
    parser.add_argument('--form')
    parser.add_argument('--times', action='store_true')
    options = parser.parse_args()
    tap, cells, times = Tap(), {}, []
    if options.form:
        options.parts += ways.lines_of(options.form)
    if options.build:
        with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
            list(pool.map(build, jobs(options.parts)))
        return 0
    if options.times:
        for job in jobs(options.parts):
            run_timed(times, tap, cells, job, options.v)
    else:
        with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
            for future in [pool.submit(run_one, tap, cells, job, options.v) for job in jobs(options.parts)]:
                future.result()
    print('1..%d' % tap.count)
    for row in sorted(times, reverse=True):
        print('# %.2f s of CPU, %.2f s: %s' % row)
    lines = matrix(cells)
    if not options.parts and not rounds.LONG:
        lines.insert(-1, '%d more cases and combinations of builds and forms are for make check-long' % (
            sum(1 for _ in jobs([''])) - tap.count))
    for line in lines:
        print('# ' + line)
    if not options.parts and not rounds.LONG:
        folder = os.path.join(builds.TOP_BUILDDIR, 'tests', 'scenarios')
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, 'matrix.txt'), 'w') as file:
            file.write('\n'.join(lines) + '\n')
    return 1 if tap.failed else 0


if __name__ == '__main__':
    sys.exit(main())
