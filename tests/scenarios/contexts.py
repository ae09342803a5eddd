"""Contexts: the program's own, by the context library, and functions that are contexts from outside."""

import collections
import os
import re

import builds
import trace_text
from kinds import Scenario
from outputs import equal
from processes import FUNCTRACE, POSTPROC, Failure, Gate, Tracer, may_attach
from words import compiled, has_line, said

FUNCTIONS = ('outer;middle;jump?ng;left_by_jump;interrupted@contexts;deepest;red;blue;green',)
CONTEXT_BUILDS = ('O0', 'O2', 'O2-noframe', 'no-pie', 'static', 'static-pie', 'no-plt', 'z-now', 'cet', 'clang', 'no-slots', 'musl',
                  'musl-static', 'branch-protection', 'arm', 'thumb', 'arm-O0')


def expected_contexts(output):
    """{(kind, size): how often in which contexts}, as the target says."""
    expected = collections.defaultdict(collections.Counter)
    for kind, size, names in re.findall(r'^context ([+-]) (\d+) (.*)$', output.decode(), re.M):
        expected[(kind, int(size))][names] += 1
    return expected


def found_contexts(traces):
    found = collections.defaultdict(collections.Counter)
    for trace in traces:
        for event in trace.events:
            size = event.size if event.kind == '+' else event.freed_size
            if size and 37000 <= size < 38000:
                found[(event.kind, size)][event.in_contexts(trace)] += 1
    return found


def contexts_differ(expected, traces):
    found, problems = found_contexts(traces), []
    for key in sorted(set(expected) | set(found)):
        problems += equal('contexts of %s %d' % key, dict(found[key]), dict(expected[key]))
    return problems


class Contexts(Scenario):
    """Every event is in the contexts that the target says."""

    def judge(self, room, variant, plain, traced, *args, **fields):
        problems, remark = super().judge(room, variant, plain, traced, *args, **fields)
        traces = [trace_text.read(room.path('traces', name)) for name in sorted(os.listdir(room.path('traces')))]
        return problems + contexts_differ(expected_contexts(plain.out), traces), remark


def scenario(target, args=(), functions=FUNCTIONS, options=(), **fields):
    for names in functions:
        options += ('--context-function=' + names,)
    return Contexts(target, args, options=options, **fields)


SCENARIOS = [
    scenario('contexts', files=2, variants=CONTEXT_BUILDS),
    scenario('contexts', files=2, variants=('O2', 'static'), modes=('binary', 'compat'), label='contexts/file'),
    scenario('contexts', files=2, variants=('O2',), options=('-b', '0'), names=False, label='contexts without stacks'),
    scenario('contexts', ('{library:contexts_library}',), files=2, variants=('O2',), label='contexts/library'),
    scenario('contexts_many', functions=(), variants=('O2', 'static', 'musl')),
    scenario('contexts_many', ('exec',), functions=(), files=2, variants=('O2',), modes=('launch',), label='contexts_many exec'),
    scenario('contexts_throwing', ('{library:contexts_library}',),
             ('outside;thrower(int);plain', 'rethrower;translator'), variants=('O0', 'O2', 'no-pie')),
]
CASES = []
