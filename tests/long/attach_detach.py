#!/usr/bin/env python3
"""Attaches, traces and detaches for LONG_SECONDS (an hour by default), on an allocator with 8 threads and signals, and
on a process that forks all the time: text, tasks and output must stay the same. Prints its figures each minute and at
the end."""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import builds
import kinds
from processes import Failure, Gate, Room, Tracer, may_attach, tasks_of, text_differences, text_of

SECONDS = float(os.environ.get('LONG_SECONDS', '3600'))


class Target:
    """One of the two long-running targets, and its counts."""

    def __init__(self, name, command):
        self.name, self.room, self.gate = name, Room(), Gate()
        self.child = self.room.start(command, self.gate.env, pass_fds=self.gate.fds)
        self.gate.started()
        self.gate.arrived(self.child)
        self.first, self.tasks = text_of(self.child.pid), set(tasks_of(self.child.pid))
        self.rounds = self.events = self.traces = 0

    def round(self):
        folder = self.room.path('round')
        tracer = Tracer(self.room, self.child.pid, output=folder)
        tracer.planted()
        time.sleep(0.1 + self.rounds % 7 * 0.05)
        problems = tracer.let_go()
        traces, more = kinds.read_traces(folder)
        problems += more
        problems += text_differences(self.first, text_of(self.child.pid))
        if self.tasks - set(tasks_of(self.child.pid)):
            problems.append('threads of the target have disappeared: %s' % (self.tasks - set(tasks_of(self.child.pid))))
        self.rounds += 1
        self.traces += len(traces)
        self.events += sum(len(t.events) for t in traces)
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        self.room.children.remove(tracer.child)
        return ['%s, round %d: %s' % (self.name, self.rounds, p) for p in problems]

    def end(self):
        self.gate.open()
        done = self.room.finish(self.child, 60)
        problems = [] if done.status == 0 else ['%s ended with status %d and said %r' % (
            self.name, done.status, (done.out + done.err)[-300:])]
        self.gate.close()
        return problems + self.room.close()

    def figures(self):
        return '%s: %d rounds, %d traces, %d events' % (self.name, self.rounds, self.traces, self.events)


def main():
    reason = may_attach()
    if reason:
        print('cannot attach here: ' + reason)
        return 77
    targets = [Target('8 threads, 500 signals a second', [builds.target('sigstorm', 'O2'), '8', '0', '500']),
               Target('forks', [builds.target('forkstorm', 'O2'), '4'])]
    end, told, problems = time.monotonic() + SECONDS, time.monotonic(), []
    try:
        while time.monotonic() < end and not problems:
            for target in targets:
                problems += target.round()
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print('; '.join(t.figures() for t in targets), flush=True)
    except Failure as failure:
        problems.append(str(failure))
    for target in targets:
        try:
            problems += target.end()
        except Failure as failure:
            problems += [str(failure)] + target.room.close()
        print(target.figures())
    return kinds.told(problems)


if __name__ == '__main__':
    sys.exit(main())
