"""Reads functrace's text traces (version 1.4) strictly: an unknown line is an error."""

import gzip
import re

CALL = re.compile(r'^(\d+)\. (?:@([0-9a-f]+) )?(?:\[([\d:.]+)\] )?(.*)$')
ALLOC = re.compile(r'^(.*)\((\d+)\) = (0x[0-9a-f]+)$')
RELEASE = re.compile(r'^(.*)\((0x[0-9a-f]+)\)$')
FRAME = re.compile(r'^\t(0x[0-9a-f]+)(?: in (.*?))?(?: (?:from|at) (.*))?$')
END = re.compile(r'^\t0x0 \((cut|lost)\)$')
OBJECT = re.compile(r'^: (.+) => (0x[0-9a-f]+)-(0x[0-9a-f]+)$')
CONTEXT = re.compile(r'^@ ([0-9a-f]+) : (.+)$')
RESIDENT = re.compile(r'^## resident (\d+) (\d+)$')
THREAD = re.compile(r'^## thread (\d+)(?: (.*))?$')


def seconds_of(time):
    """Returns the seconds since midnight of a time in a text trace."""
    hours, minutes, seconds = time.split(':')
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def runs_backward(before, after):
    """Returns true if the second time is earlier than the first one, unless midnight is between them."""
    return 0 < seconds_of(before) - seconds_of(after) < 23 * 3600


class Event:
    """One allocation ('+') or release ('-')."""

    def __init__(self, index, kind, function, ident, size, tid, context=0):
        self.context = context  # a bit for each context
        self.index, self.kind, self.function = index, kind, function
        self.id, self.size, self.tid = ident, size, tid
        self.frames = []     # [(address, function or None)]
        self.end = None  # 'cut' or 'lost' if the stack has more frames
        self.freed_size = None  # of a release: the size of the block, None if it is unknown

    def __str__(self):
        if self.kind == '+':
            return '%s(%d) = %#x' % (self.function, self.size, self.id)
        return '%s(%#x)' % (self.function, self.id)

    def in_contexts(self, trace):
        """Returns the names of the event's contexts, sorted; '-' if it has none."""
        return ','.join(sorted(name for ident, name in trace.contexts.items() if ident & self.context)) or '-'

    def names(self):
        """Returns the functions of the stack, innermost first, without their parameter lists."""
        return [name.split('(')[0] if name else '?' for _, name in self.frames]


class Trace:
    def __init__(self, path, text):
        self.path, self.header, self.events = path, {}, []
        self.objects, self.notes, self.problems = [], [], []
        self.twice, self.live = [], []
        self.resident = []  # [(now, peak)] in bytes
        self.contexts = {}  # id: name
        self.time = None  # of the last call
        self.attachments = []  # [(name, path)]
        # kinds that are records of calls, and kinds with reference counts
        self.kinds, self.calls, self.counted = set(), set(), set()
        lines = text.split('\n')
        if not lines[0].startswith('version=1.4,'):
            self.problems.append('%s: the first line is no header: %r' % (path, lines[0][:80]))
            return
        for field in lines[0].split(','):
            key, _, value = field.partition('=')
            self.header[key] = value
        if text and not text.endswith('\n'):
            self.problems.append('%s: the last line is cut: %r' % (path, lines[-1][:80]))
        tid = None
        for number, line in enumerate(lines[1:], 2):
            tid = self.line(number, line, tid)
        self.pair()

    @property
    def pid(self):
        return int(self.header.get('pid', 0))

    def line(self, number, line, tid):
        thread = THREAD.match(line)
        if thread:
            return int(thread.group(1))
        call = CALL.match(line)
        if call:
            self.call(number, call, tid)
        elif line.startswith('\t0x'):
            frame, end = FRAME.match(line), END.match(line)
            if end and self.events:
                self.events[-1].end = end.group(1)
            elif frame and self.events:
                self.events[-1].frames.append((int(frame.group(1), 16), frame.group(2)))
            else:
                self.problems.append('%s:%d: not a frame: %r' % (self.path, number, line))
        elif line.startswith(': '):
            found = OBJECT.match(line)
            if found:
                self.objects.append((found.group(1), int(found.group(2), 16), int(found.group(3), 16)))
            else:
                self.problems.append('%s:%d: not a mapping: %r' % (self.path, number, line))
        elif CONTEXT.match(line):
            ident, name = CONTEXT.match(line).groups()
            self.contexts[int(ident, 16)] = name
        elif line.startswith('& '):
            self.attachments.append(tuple(line[2:].split(' : ', 1)))
        elif re.match(r'^<[0-9a-f]+> : ', line):
            self.resource(line)
        elif RESIDENT.match(line):
            self.resident.append(tuple(int(n) for n in RESIDENT.match(line).groups()))
        elif line.startswith('## '):
            self.notes.append(line[3:])
        elif line and not re.match(r'^(#|<[0-9a-f]+> : |\t\$)', line):
            self.problems.append('%s:%d: not understood: %r' % (self.path, number, line))
        return tid

    def resource(self, line):
        kind = '<%s>' % line.split(' ')[2]
        self.kinds.add(kind)
        self.calls |= {kind} if line.endswith(' [call]') else set()
        self.counted |= {kind} if line.endswith(' [refcount]') else set()

    def call(self, number, call, tid):
        index, what, context = int(call.group(1)), call.group(4), int(call.group(2) or '0', 16)
        if context & ~sum(self.contexts):
            self.problems.append('%s:%d: undeclared contexts: %x' % (self.path, number, context))
        if call.group(3) and self.time and runs_backward(self.time, call.group(3)):
            self.problems.append('%s:%d: times run backward: %s after %s' % (self.path, number, call.group(3), self.time))
        self.time = call.group(3)
        alloc, release = ALLOC.match(what), RELEASE.match(what)
        if index != len(self.events) + 1:
            self.problems.append('%s:%d: index %d, expected %d' % (self.path, number, index, len(self.events) + 1))
        if alloc:
            self.events.append(Event(index, '+', alloc.group(1), int(alloc.group(3), 16), int(alloc.group(2)), tid, context))
        elif release:
            self.events.append(Event(index, '-', release.group(1), int(release.group(2), 16), 0, tid, context))
        else:
            self.problems.append('%s:%d: neither allocation nor release: %r' % (self.path, number, what))

    def pair(self):
        """Finds the block of each release, the live blocks at the end, and blocks that were allocated twice."""
        live = {}
        self.twice = []
        for event in self.events:
            kind = event.function[event.function.rfind('<'):] if '<' in event.function and len(self.kinds) > 1 else ''
            key = (kind, event.id)
            if event.kind == '+' and kind not in self.calls:
                if key in live and kind not in self.counted:
                    self.twice.append((live[key], event))
                live[key] = event
            elif event.kind == '-':
                block = live.pop(key, None)
                event.freed_size = block.size if block else None
        self.live = list(live.values())


def read(path):
    with (gzip.open(path, 'rt', errors='surrogateescape') if path.endswith('.gz') else
          open(path, errors='surrogateescape')) as file:
        return Trace(path, file.read())
