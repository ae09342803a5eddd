"""Compares the traces with the lines "expect" that a target prints (see targets/target.h)."""

import collections
import itertools
import re

LOW, HIGH = 30000, 39999
LINE = re.compile(r'^expect(-child|-at-least|-between)? ([+=-]|stack|record) (.*)$')


# Notes in a trace of a program that releases an unknown block, or a block twice.
ACCUSED = re.compile('which is not allocated|: a double release')


def records_of(trace):
    """Returns the records of all kinds except memory, in the form of targets/records.h: ids of a type are numbered in
    their order of appearance."""
    live, made, lines = {}, collections.Counter(), []
    for event in trace.events:
        function = event.function if len(trace.kinds) > 1 else event.function + min(trace.kinds)
        kind = function[function.rfind('<'):]
        if kind == '<memory>':
            continue
        key = (kind, event.id)
        if kind in trace.calls:
            lines.append('* ' + function)
        elif event.kind == '+':
            if key not in live:
                made[kind] += 1
                live[key] = [made[kind], 0]
            live[key][1] += 1
            lines.append('+ %s %d' % (function, live[key][0]))
        else:
            lines.append('- %s %d' % (function, live[key][0] if key in live else 0))
            if key in live:
                live[key][1] -= 1
                if not live[key][1] or kind not in trace.counted:
                    del live[key]
    return lines


def is_record(wanted, found):
    """Compares a record with an expectation; names separated by | are alternatives."""
    sign, names, rest = (wanted + ' ').split(' ', 2)
    names, _, kind = names.partition('<')
    return found + ' ' in ['%s %s<%s %s' % (sign, name, kind, rest) for name in names.split('|')]


def records_differ(wanted, found):
    for number, (one, other) in enumerate(itertools.zip_longest(wanted, found), 1):
        if one is None or other is None or not is_record(one, other):
            return ['record %d is %s, expected %s; before it: %s' % (number, other, one, found[max(0, number - 4):number - 1])]
    return []


class Oracle:
    def __init__(self, output):
        self.exact, self.least, self.between = {}, {}, {}
        self.child, self.stacks, self.records = {}, [], []
        for line in output.decode(errors='replace').split('\n'):
            found = LINE.match(line)
            if found:
                self.add(found.group(1) or '', found.group(2), found.group(3))

    def add(self, which, kind, rest):
        if kind == 'record':
            self.records.append(rest)
            return
        if kind == 'stack':
            size, names = rest.split(' ', 1)
            self.stacks.append((int(size), names.split()))
            return
        if which == '-between':
            low, high, size, function = rest.split(' ', 3)
            self.between[(kind, int(size), function)] = (int(low), int(high))
            return
        count, size = rest.split(' ', 2)[:2]
        function = rest.split(' ', 2)[2] if kind != '=' else ''
        table = {'': self.exact, '-child': self.child, '-at-least': self.least}[which]
        key = (kind, int(size), function)
        table[key] = table.get(key, 0) + int(count)

    def check(self, traces, follow=True, names=True):
        """Returns problems as sentences. `follow`: children were traced, too."""
        wanted = dict(self.exact)
        aliases = {(kind, size, name): (kind, size, names) for kind, size, names in self.exact
                   for name in names.split('|')}
        if follow:
            for key, count in self.child.items():
                wanted[key] = wanted.get(key, 0) + count
        found = collections.Counter()
        for trace in traces:
            for event in trace.events:
                size = event.size if event.kind == '+' else event.freed_size
                if size is not None:
                    key = (event.kind, size, event.function)
                    found[aliases.get(key, key)] += 1
            for event in trace.live:
                found[('=', event.size, '')] += 1
        problems = []
        for key, count in sorted(wanted.items()):
            if found[key] != count:
                problems.append('expected %d times, found %d: %s' % (count, found[key], describe(key)))
        for key, count in sorted(self.least.items()):
            if found[key] < count:
                problems.append('expected at least %d, found %d: %s' % (count, found[key], describe(key)))
        for key, (low, high) in sorted(self.between.items()):
            if not low <= found[key] <= high:
                problems.append('expected %d to %d, found %d: %s' % (low, high, found[key], describe(key)))
        known = set(wanted) | set(self.least) | set(self.between)
        inner = {(kind, size) for kind, size, _ in self.between}
        for key, count in sorted(found.items()):
            if key[0] == '+' and LOW <= key[1] <= HIGH and key not in known:
                problems.append('not expected, found %d: %s' % (count, describe(key)))
            if key[0] == '-' and LOW <= key[1] <= HIGH and key not in known and ('+', key[1]) not in inner:
                problems.append('not expected, found %d: %s' % (count, describe(key)))
        if names:
            problems += self.check_stacks(traces)
        if self.records:
            found = sorted((records_of(t) for t in traces), key=len)
            problems += records_differ(self.records, found[-1] if found else [])
        return problems

    def check_stacks(self, traces):
        problems = []
        for size, wanted in self.stacks:
            stacks = [e for t in traces for e in t.events if e.kind == '+' and e.size == size]
            if not stacks:
                problems.append('no allocation of %d bytes whose stack could be compared' % size)
            for event in stacks:
                if event.names()[:len(wanted)] != wanted:
                    problems.append('the stack of record %d (%s) begins with %s, expected %s' % (
                        event.index, event, ' '.join(event.names()[:len(wanted)]) or 'nothing', ' '.join(wanted)))
                    break
        return problems


def describe(key):
    kind, size, function = key
    return {'+': 'allocation of %d bytes by %s', '-': 'release of %d bytes by %s',
            '=': 'live block of %d bytes%s'}[kind] % (size, function)
