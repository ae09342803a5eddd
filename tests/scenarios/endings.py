"""Where a process ends while its threads are at work, a trace and a logger inside of the process need not end alike:

    A: free(p), stopped at its entry, in the trace | B: exit(), which ends A | A never comes to the logger's own code
    A: malloc() returns within the logger, which writes it | B: exit() | A never comes back to its caller: no event
    A: realloc() returns within the logger, which writes the release | B: exit() | the allocation is not written

So the last release of a thread may be missing in the log, and its last allocation in the trace (with the release of a
realloc). Only the last ones, and not those of all threads: one has ended the process, or executed another program,
unless a signal has killed it."""

import collections
import re

KILLED = re.compile(r'process \d+ was killed by signal')


class Endings:
    """`traced`, `logged`: {tid: [event]}, each thread's in its own order; `notes`: the trace's; `pid`: the first thread's
    number, which may have made no call (a forked child whose threads get the stacks of its parent's)."""

    def __init__(self, traced, logged, notes, pid=None):
        threads = len(set(traced) | set(logged) | ({pid} if pid else set()))
        self.most = threads if any(KILLED.match(note) for note in notes) else max(threads - 1, 0)
        self.unlogged = {id(events[-1]) for events in traced.values() if events and events[-1].kind == '-'}
        self.untraced = set()
        for events in logged.values():
            self.untraced |= {id(event) for event in tail(events)}
        self.cut = set()  # threads that end otherwise

    def allow_traced(self, tid, event):
        """Whether it may be in the trace alone."""
        if id(event) not in self.unlogged:
            return False
        self.cut.add(tid)
        return True

    def allow_logged(self, tid, event):
        """Whether it may be in the log alone."""
        if id(event) not in self.untraced:
            return False
        self.cut.add(tid)
        return True

    def problems(self):
        if len(self.cut) <= self.most:
            return []
        return ['%d threads end otherwise in the trace and in the log, where %d can be cut off by the end of the process' % (
            len(self.cut), self.most)]


def tail(events):
    """The last allocation of a thread, with the release that a realloc is as well, or that release alone."""
    if not events:
        return []
    if events[-1].kind != '+':
        return events[-1:] if events[-1].function.startswith('realloc') else []
    pair = events[-2:]
    if len(pair) == 2 and pair[0].kind == '-' and pair[0].function == pair[1].function:
        return pair
    return events[-1:]


# ---- What is allowed ----

Event = collections.namedtuple('Event', 'kind function id')


def cases(_room):
    """A release, an allocation and a realloc that are cut off; and what is none of that."""
    got, gone = [Event('+', 'malloc', 1)], [Event('-', 'free', 1)]
    moved = [Event('-', 'realloc', 1), Event('+', 'realloc', 2)]
    end = ['process 7 was killed by signal 9 (Killed)']
    problems = []
    for what, traced, logged, notes, expected in (
            ('a release of one of two', {1: got + gone, 2: got}, {1: got, 2: got}, [], True),
            ('releases of both', {1: got + gone, 2: got + gone}, {1: got, 2: got}, [], False),
            ('releases of both, killed', {1: got + gone, 2: got + gone}, {1: got, 2: got}, end, True),
            ('of a process with one thread', {1: got + gone}, {1: got}, [], False),
            ('not the last', {1: got + gone + got, 2: got}, {1: got + got, 2: got}, [], False),
            ('two of a thread', {1: got + gone + gone, 2: got}, {1: got, 2: got}, [], False),
            ('an allocation that is traced', {1: got + got, 2: got}, {1: got, 2: got}, [], False),
            ('an allocation that is logged', {1: got, 2: got}, {1: got + got, 2: got}, [], True),
            ('a realloc that is logged', {1: got, 2: got}, {1: got + moved, 2: got}, [], True),
            ('the release of a realloc that is logged', {1: got, 2: got}, {1: got + moved[:1], 2: got}, [], True),
            ('two that are logged', {1: got, 2: got}, {1: got + got + got, 2: got}, [], False),
            ('a release that is logged', {1: got, 2: got}, {1: got + gone, 2: got}, [], False)):
        # Each event is an object of its own.
        traced = {tid: [Event(*e) for e in events] for tid, events in traced.items()}
        logged = {tid: [Event(*e) for e in events] for tid, events in logged.items()}
        endings = Endings(traced, logged, notes)
        allowed = all(all(endings.allow_traced(tid, e) for e in without(traced[tid], logged[tid])) and
                      all(endings.allow_logged(tid, e) for e in without(logged[tid], traced[tid])) for tid in traced)
        if (allowed and not endings.problems()) != expected:
            problems.append('%s: allowed %s' % (what, not expected))
    return problems, ''


def without(events, others):
    """What is behind those that both have."""
    same = 0
    while same < min(len(events), len(others)) and events[same] == others[same]:
        same += 1
    return events[same:]
