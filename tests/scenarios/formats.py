"""Tests traces that are written in other programs' formats while a program runs, and traces of real programs that are
converted to these formats."""

import collections
import os
import re
import signal
import sys

import builds
import kinds
import programs
import trace_text
from lifecycle import Held, need_attach
from outputs import equal, summary
from processes import FUNCTRACE, POSTPROC, wait_for

# The end of a trace, in whatever way the program ended.
ENDS = {'mpatrol': b'MTRC', 'stacktrack': b''}


def as_text(room, path, folder):
    """Reads a trace of any format."""
    os.makedirs(room.path(folder), exist_ok=True)
    text = room.path(folder, os.path.basename(path) + '.txt')
    done = room.run([POSTPROC, '-q', '-f', 'text', '-o', text, path])
    trace = trace_text.read(text)
    if done.status or done.err:
        trace.problems.append('functrace-postproc %s: status %d, %r' % (path, done.status, done.err[-300:]))
    return trace


def own_sizes(trace):
    """Returns how often the target's own blocks were allocated and released, and how many are left. A fork's child
    inherits blocks of its parent that are not in its trace."""
    found = collections.Counter()
    for event in trace.events:
        size = event.size if event.kind == '+' else event.freed_size
        if size is not None and 30000 <= size < 40000:
            found[event.kind, size] += 1
    found.update(('=', event.size) for event in trace.live if 30000 <= event.size < 40000)
    return found


def traced(room, form, command, options=()):
    """Runs a command with traces of that format; returns (the command's result, its traces, problems)."""
    os.makedirs(room.path(form))
    done = room.run([FUNCTRACE, '-f', form, *options, '-o', room.path(form)] + command)
    paths = [room.path(form, name) for name in sorted(os.listdir(room.path(form)))]
    problems = []
    for path in paths:
        with open(path, 'rb') as file:
            data = file.read()
        if not data.endswith(ENDS.get(form, b'')):
            problems.append('%s lacks the end of its format: %r' % (path, data[-8:]))
    return done, [as_text(room, path, form + '-text') for path in paths], problems


def same_as_rtrace(form, target, *arguments, options=()):
    def run(room):
        command = [builds.target(target, 'O2')] + list(arguments)
        first, own, problems = traced(room, 'rtrace', command)
        second, other, more = traced(room, form, command, options)
        problems += more + [p for t in own + other for p in t.problems]
        problems += equal('status', second.status, first.status) + equal('traces', len(other), len(own))
        wanted, found = (sum(map(own_sizes, traces), collections.Counter()) for traces in (own, other))
        for key in sorted(set(wanted) | set(found)):
            problems += equal('%s of %d bytes' % key, found[key], wanted[key])
        if not wanted:
            problems.append('there is nothing to compare')
        return problems, '%d calls in %d traces' % (sum(wanted.values()), len(own))
    return run


def ends_whole(form):
    """A trace has the end of its format although the program was killed, or functrace detached from it."""
    def run(room):
        done, traces, problems = traced(room, form, ['sh', '-c', 'kill -9 $$'])
        problems += equal('status', done.status in (137, -9), True) + equal('traces', len(traces), 1)
        need_attach()
        with Held(room, [builds.target('churn', 'O2'), '2']) as held:
            tracer = room.start([FUNCTRACE, '-f', form, '-o', 'attached', '-t', str(held.child.pid)])
            wait_for('a trace', lambda: os.path.exists(room.path('attached')) and
                     os.stat(room.path('attached')).st_size > 20)
            tracer.send_signal(signal.SIGINT)
            done = room.finish(tracer)
            held.gate.open()
            room.finish(held.child)
        with open(room.path('attached'), 'rb') as file:
            problems += equal('end', file.read().endswith(ENDS.get(form, b'')), True)
        problems += as_text(room, room.path('attached'), 'text').problems
        return problems + equal('status', done.status, 0), ''
    return run


LIVE = re.compile(r'([\d,]+) events?.*?(?:; ([\d,]+) blocks? with ([\d,]+) bytes (?:are|is) live|; nothing is live)')


def converted(form, make):
    """A real program's trace is converted: it has as many calls and live bytes as functrace has counted."""
    def run(room):
        done = room.run([FUNCTRACE, '-o', 'T'] + make(room), {'PYTHONHASHSEED': '1'})
        said = LIVE.search(done.err.decode(errors='replace'))
        if not said or not summary(done):
            return ['functrace said: %r' % done.err[-300:]], ''
        events, blocks, size = (int((said.group(i) or '0').replace(',', '')) for i in (1, 2, 3))
        result = room.run([POSTPROC, '-f', form, '-o', 'X', 'T'])
        trace = as_text(room, room.path('X'), 'text')
        problems = trace.problems + equal('status', result.status, 0) + equal('events', len(trace.events), events)
        problems += equal('live blocks', len(trace.live), blocks)
        problems += equal('live bytes', sum(e.size for e in trace.live), size)
        back = room.run([POSTPROC, '-f', 'rtrace', '-o', 'back', 'X'])
        again = as_text(room, room.path('back'), 'text')
        problems += again.problems + equal('status', back.status, 0)
        problems += equal('the events after converting back',
                          [str(e) for e in again.events] == [str(e) for e in trace.events], True)
        return problems, '%d events, %d bytes live' % (events, size)
    return run


def python(_room):
    return [os.path.realpath(sys.executable), '-c', 'print(sum(len(str(i)) for i in range(2000)))']


def sqlite(_room):
    return [kinds.need('sqlite3'), ':memory:', programs.SQL]


def loses_its_viewer(room):
    """The process that the user started is killed: the trace gets its proper end nevertheless, and the program runs
    on."""
    with Held(room, [builds.target('churn', 'O2'), '2']) as held:
        need_attach()
        tracer = room.start([FUNCTRACE, '-f', 'mpatrol', '-o', 'X', '-t', str(held.child.pid)])
        wait_for('the trace to have data',
                 lambda: os.path.exists(room.path('X')) and os.stat(room.path('X')).st_size > 20)
        tracer.kill()
        tracer.wait()
        wait_for('the end of the trace', lambda: open(room.path('X'), 'rb').read().endswith(b'MTRC'))
        held.gate.open()
        ended = room.finish(held.child)
    problems = as_text(room, room.path('X'), 'text').problems
    return problems + equal('status', ended.status, 0), ''


def cases():
    for form in ENDS:
        yield 'threads: the same events by -f ' + form, same_as_rtrace(form, 'threads', '4', '100')
        yield 'forks: the same events by -f ' + form, same_as_rtrace(form, 'forks', 'tree')
        yield 'execs: the same events by -f ' + form, same_as_rtrace(form, 'images', 'exec')
        yield 'a killed program\'s trace has its end by -f ' + form, ends_whole(form)
        yield 'python3 to ' + form, converted(form, python)
        yield 'sqlite3 to ' + form, converted(form, sqlite)


BUILDS = [('images', 'O2'), ('threads', 'O2'), ('forks', 'O2')]
CASES = list(cases()) + [
    ('threads: the same events by -f stacktrack in cycles', same_as_rtrace('stacktrack', 'threads', '4', '100',
                                                             options=['--cycle-size=100'])),
    ('the visible process is killed: the trace has its end by -f mpatrol', loses_its_viewer)]
