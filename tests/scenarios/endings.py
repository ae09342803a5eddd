"""If a process ends while its threads are at work, the trace may have events that the log of a preloaded logger lacks,
and the reverse:

    A: free(p), stopped at its entry, in the trace | B: exit(), which ends A | A never reaches the logger's code
    A: malloc() returns to the logger, which logs it | B: exit() | A never returns to its caller: no event
    A: realloc() returns to the logger, which logs the release | B: exit() | the allocation is not logged

So the log may lack the last release of a thread, and the trace its last allocation (with the release of a realloc).
Only last events may be missing, and not in all threads: the thread that calls exit() or execve() has all of its
events. If a signal has killed the process, the last events of all threads may be missing."""

import collections
import re

KILLED = re.compile(r'process \d+ was killed by signal')


class Endings:
    """`traced` and `logged` are {tid: [event]}, each thread in its own order; `notes` are those of the trace; `pid` is
    the number of the first thread, which may have made no call (the threads of a forked child get the stacks of its
    parent's threads)."""

    def __init__(self, traced, logged, notes, pid=None):
        threads = len(set(traced) | set(logged) | ({pid} if pid else set()))
        self.most = threads if any(KILLED.match(note) for note in notes) else max(threads - 1, 0)
        self.unlogged = {id(events[-1]) for events in traced.values() if events and events[-1].kind == '-'}
        self.untraced = set()
        for events in logged.values():
            self.untraced |= {id(event) for event in tail(events)}
        self.cut = set()  # threads whose last events differ

    def allow_traced(self, tid, event):
        """Returns true if the event may be in the trace only."""
        if id(event) not in self.unlogged:
            return False
        self.cut.add(tid)
        return True

    def allow_logged(self, tid, event):
        """Returns true if the event may be in the log only."""
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
    """The last allocation of a thread, with the release that a realloc also is, or only that release."""
    if not events:
        return []
    if events[-1].kind != '+':
        return events[-1:] if events[-1].function.startswith('realloc') else []
    pair = events[-2:]
    if len(pair) == 2 and pair[0].kind == '-' and pair[0].function == pair[1].function:
        return pair
    return events[-1:]


# ---- Which differences are allowed ----

Event = collections.namedtuple('Event', 'kind function id')


def cases(_room):
    """A release, an allocation and a realloc that the end of the process cuts off; and events that it cannot cut
    off."""
    got, gone = [Event('+', 'malloc', 1)], [Event('-', 'free', 1)]
    moved = [Event('-', 'realloc', 1), Event('+', 'realloc', 2)]
    end = ['process 7 was killed by signal 9 (Killed)']
    problems = []
    for what, traced, logged, notes, expected in (
            ('a release of one of two threads in the trace only', {1: got + gone, 2: got}, {1: got, 2: got}, [], True),
            ('releases of both threads in the trace only', {1: got + gone, 2: got + gone}, {1: got, 2: got}, [], False),
            ('releases of both threads in the trace only, killed',
             {1: got + gone, 2: got + gone}, {1: got, 2: got}, end, True),
            ('a release in the trace only, one thread', {1: got + gone}, {1: got}, [], False),
            ('a release in the trace only that is not the last event',
             {1: got + gone + got, 2: got}, {1: got + got, 2: got}, [], False),
            ('two releases of a thread in the trace only', {1: got + gone + gone, 2: got}, {1: got, 2: got}, [], False),
            ('an allocation in the trace only', {1: got + got, 2: got}, {1: got, 2: got}, [], False),
            ('an allocation in the log only', {1: got, 2: got}, {1: got + got, 2: got}, [], True),
            ('a realloc in the log only', {1: got, 2: got}, {1: got + moved, 2: got}, [], True),
            ('the release of a realloc in the log only', {1: got, 2: got}, {1: got + moved[:1], 2: got}, [], True),
            ('two allocations in the log only', {1: got, 2: got}, {1: got + got + got, 2: got}, [], False),
            ('a release in the log only', {1: got, 2: got}, {1: got + gone, 2: got}, [], False)):
        # Each event must be an object of its own.
        traced = {tid: [Event(*e) for e in events] for tid, events in traced.items()}
        logged = {tid: [Event(*e) for e in events] for tid, events in logged.items()}
        endings = Endings(traced, logged, notes)
        allowed = all(all(endings.allow_traced(tid, e) for e in without(traced[tid], logged[tid])) and
                      all(endings.allow_logged(tid, e) for e in without(logged[tid], traced[tid])) for tid in traced)
        if (allowed and not endings.problems()) != expected:
            problems.append('%s: allowed %s' % (what, not expected))
    return problems, ''


def without(events, others):
    """The rest of a list after the events that both lists have."""
    same = 0
    while same < min(len(events), len(others)) and events[same] == others[same]:
        same += 1
    return events[same:]
