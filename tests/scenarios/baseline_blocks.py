"""The baseline of a process that functrace attaches to: the trace has exactly the blocks that existed before, and
records their releases."""

import json
import os
import re
import signal
import subprocess
import sys

import builds
from lifecycle import Held, need_attach
from processes import FUNCTRACE, PATIENCE, POSTPROC, Tracer, rounds, text_differences, text_of, wait_for
from rounds import LONG
from scans import untagged

BUILDS = [('older', 'O2'), ('older', 'static'), ('older', 'stripped'), ('older', 'musl'), ('older', 'm32'), ('busyheap', 'O2')]
SAID = re.compile(r'process \d+ was stopped for [\d.]+ ms: it has ([\d,]+) blocks with ([\d,]+) bytes from before the trace')
SUMMARY = re.compile(r'([\d,]+) blocks? with ([\d,]+) bytes? (?:are|is) live(?: beside ([\d,]+) blocks? with ([\d,]+) bytes? '
                     r'from before the trace)?;')
UNKNOWN = re.compile(r'([\d,]+) releases? of (?:a block|blocks) from before functrace attached')
BEFORE = re.compile(r'^## before <1> (0x[0-9a-f]+) (\d+)$', re.M)
LINE = re.compile(r'^(?:## before <1> (?P<before>0x[0-9a-f]+) (?P<size>\d+)|\d+\. (?:\[[\d:.]+\] )?[^\n]*'
                  r'(?:\((?P<asked>\d+)\) = (?P<new>0x[0-9a-f]+)|\((?P<gone>0x[0-9a-f]+)\)))$', re.M)


def number(text):
    return int(text.replace(',', '')) if text else 0


class Seen:
    """Reads a trace in text: the blocks that are live at its end."""

    def __init__(self, text):
        self.before, self.live, self.unknown, self.reused = {}, {}, [], []
        for line in LINE.finditer(text):
            if line['before']:
                address = int(line['before'], 16)
                if address in self.before or address in self.live:
                    self.reused.append(address)
                self.before[address] = int(line['size'])
                self.live[address] = ('before', int(line['size']))
            elif line['new']:
                address = int(line['new'], 16)
                if self.live.get(address, ('before',))[0] != 'before':
                    self.reused.append(address)
                self.live[address] = ('call', int(line['asked']))
            elif self.live.pop(int(line['gone'], 16), None) is None:
                self.unknown.append(int(line['gone'], 16))


def lines_of(out, word):
    """Returns {address: size} from the target's lines."""
    return {untagged(int(words[1], 16)): int(words[2]) if len(words) > 2 else 0
            for words in (line.split() for line in out.decode().split('\n')) if words and words[0] == word}


def differing(name, one, other):
    extra, missing = set(one) - set(other), set(other) - set(one)
    return ['%s: %d too many, %d missing: %s' % (name, len(extra), len(missing), [hex(x) for x in sorted(extra | missing)[:9]])] \
        if extra or missing else []


def compare(seen, out, is_busy):
    """Returns the differences between a trace and the target's own list of its blocks."""
    old, live = lines_of(out, 'old'), lines_of(out, 'live')
    own = {address: what for address, what in seen.live.items() if 30000 <= what[1] < 40100}
    problems = differing('alive at the end', own, live)
    problems += ['%#x has %d bytes, not %d' % (address, seen.before.get(address, 0), size) for address, size in old.items()
                 if not is_busy and seen.before.get(address) != size][:5]
    problems += ['%#x has %d bytes, not %d' % (address, what[1], live[address]) for address, what in own.items()
                 if address in live and (what[1] > live[address] if what[0] == 'call' else what[1] != live[address])][:5]
    if seen.reused:
        problems.append('%d blocks were allocated twice' % len(seen.reused))
    return problems


def trace_of(room, pid):
    path = room.path('traces/%d-0.rtrace.txt' % pid)
    with open(path) as trace:
        return trace.read()


def older(room, variant='O2', count=300, threads=0, fork=0, options=(), runs=1, env=None):
    """A target lists its blocks before and after the trace; address and size of each block in the trace must be the
    same."""
    need_attach()
    problems, unknown = [], 0
    for run in range(runs):
        with Held(room, [builds.target('older', variant), str(count), str(threads), str(fork)], env) as held:
            pid = held.child.pid
            found = None
            if not threads:
                found = json.loads(room.run([FUNCTRACE, '--scan=json', '-t', str(pid)]).out)
            tracer = Tracer(room, pid, ['-e', 'memory', *options])
            tracer.planted()
            done, more = held.work_and_end(tracer)
        err, trace = tracer.err.decode(), trace_of(room, pid)
        seen, said, summary = Seen(trace), SAID.search(err), SUMMARY.search(err)
        if done.status or not said or not summary:
            return problems + more + ['status %d: %s%s' % (done.status, done.err.decode(), err)], ''
        more += compare(seen, done.out, threads)
        blocks = [len(seen.before), sum(seen.before.values())]
        if [number(word) for word in said.groups()] != blocks:
            more.append('functrace says %s, and the trace has %s' % (said.group(0), blocks))
        if found and blocks != [sum(found[name][unit] for name in ('definitely_lost', 'indirectly_lost', 'possibly_lost',
                                                                   'still_reachable')) for unit in ('blocks', 'bytes')]:
            more.append('a scan finds other blocks than the baseline: %s' % blocks)
        live = [what for what in seen.live.values() if what[0] == 'call']
        left = [what for what in seen.live.values() if what[0] == 'before']
        wanted = [len(live), sum(size for _, size in live), len(left), sum(size for _, size in left)]
        if [number(word) for word in summary.groups()] != wanted:
            more.append('the summary says %s, and the trace %s' % (summary.group(0), wanted))
        # When the target has planted its blocks, a call may be in flight which returns its block only after the pause.
        # If threads were inside malloc in the first copy, they may release blocks before the next copy.
        released = UNKNOWN.search(err)
        if len(seen.unknown) != (number(released.group(1)) if released else 0) or len(seen.unknown) > 51 * threads:
            more.append('releases of unknown blocks: %s %s' % (seen.unknown[:5], err))
        unknown += len(seen.unknown)
        problems += ['run %d: %s' % (run, problem) for problem in more]
    return problems, '%d releases of unknown blocks' % unknown if threads else ''


def left_out(room):
    """--no-baseline: releases of older blocks are unknown, and no thread is stopped for a copy."""
    need_attach()
    with Held(room, [builds.target('older', 'O2'), '300']) as held:
        tracer = Tracer(room, held.child.pid, ['-e', 'memory', '--no-baseline'])
        tracer.planted()
        done, problems = held.work_and_end(tracer)
    err, seen = tracer.err.decode(), Seen(trace_of(room, held.child.pid))
    if done.status or seen.before or 'was stopped for' in err:
        problems.append('status %d: %s' % (done.status, err))
    if differing('unknown', seen.unknown, lines_of(done.out, 'released')):
        problems += differing('unknown', seen.unknown, lines_of(done.out, 'released'))
    if '200 releases of blocks from before functrace attached' not in err:
        problems.append(err)
    return problems, ''


CASES = [
    ('baseline: blocks from before the attach', older),
    ('baseline: blocks from before the attach, static', lambda room: older(room, 'static')),
    ('baseline: blocks from before the attach, stripped', lambda room: older(room, 'stripped')),
    ('baseline: blocks from before the attach, musl', lambda room: older(room, 'musl')),
    ('baseline: blocks from before the attach, 32 bits', lambda room: older(room, 'm32')),
    ('baseline: blocks from before the attach, a fork', lambda room: older(room, fork=1)),
    ('baseline: blocks from before the attach, 8 busy threads', lambda room: older(room, threads=8, runs=rounds(13))),
    ('baseline: blocks from before the attach, one busy thread', lambda room: older(room, threads=1, runs=5 if LONG else 1)),
    ('baseline: blocks from before the attach, --no-baseline', left_out),
]
