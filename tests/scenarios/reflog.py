"""Compares a trace with the log that the reference logger (tests/targets/reflog.c) wrote in the same run."""

import collections
import os
import struct

import endings

Logged = collections.namedtuple('Logged', 'sequence id size kind function')

OPERATORS = {}
for _letter, _word in (('w', 'new'), ('a', 'new[]')):
    for _symbol, _tail in (('', ''), ('RKSt9nothrow_t', ', std::nothrow_t const&'),
                           ('St11align_val_t', ', std::align_val_t'),
                           ('St11align_val_tRKSt9nothrow_t', ', std::align_val_t, std::nothrow_t const&')):
        for _size, _type in ('m', 'unsigned long'), ('j', 'unsigned int'):
            OPERATORS['_Zn%s%s%s' % (_letter, _size, _symbol)] = 'operator %s(%s%s)' % (_word, _type, _tail)
        _gone = _word.replace('new', 'delete')
        OPERATORS['_Zd%sPv%s' % (_letter.replace('w', 'l'), _symbol)] = 'operator %s(void*%s)' % (_gone, _tail)
        if 'nothrow' not in _symbol:
            for _size, _type in ('m', 'unsigned long'), ('j', 'unsigned int'):
                OPERATORS['_Zd%sPv%s%s' % (_letter.replace('w', 'l'), _size, _symbol)] = \
                    'operator %s(void*, %s%s)' % (_gone, _type, _tail)


class Image:
    """The log of one program that a process executed: {tid: [Logged]}, and when the program began."""

    def __init__(self, pid):
        self.pid, self.began, self.program, self.threads = pid, None, None, {}

    def in_order(self):
        """Returns [(tid, Logged)] of all threads in the order of the events."""
        return sorted(((tid, event) for tid, events in self.threads.items() for event in events),
                      key=lambda item: item[1].sequence)


def read_thread(path):
    """Returns the time when the file was created, the program that created it, and its events."""
    with open(path, 'rb') as file:
        data = file.read()
    if len(data) < 64:
        return 0, '', []
    count, lost, began, program = struct.unpack_from('<QQQ40s', data, 0)
    if lost:
        raise ValueError('%s: the logger lost %d events' % (path, lost))
    events = []
    for i in range(count):
        sequence, ident, size, name = struct.unpack_from('<QQQ40s', data, 64 + i * 64)
        name = name.split(b'\0')[0].decode()
        # Traces have the addresses of blocks, without the tags of pointers.
        ident &= (1 << 56) - 1
        events.append(Logged(sequence, ident, size, name[0], OPERATORS.get(name[1:], name[1:])))
    return began, program.split(b'\0')[0].decode(errors='replace'), events


def read_images(folder):
    """Returns {pid: [Image]}, in the order in which a process executed the programs, without the logs of functrace,
    into which the logger may also be preloaded."""
    images = {}
    for name in os.listdir(folder):
        pid, tid, which = name.split('.')
        began, program, events = read_thread(os.path.join(folder, name))
        image = images.setdefault((int(pid), which), Image(int(pid)))
        image.threads[int(tid)] = events
        if not program:
            continue  # the thread was killed while it created its file
        image.program = program
        image.began = min(began, image.began or began)
    processes = {}
    for image in sorted((i for i in images.values() if i.program not in (None, 'functrace')), key=lambda i: i.began):
        processes.setdefault(image.pid, []).append(image)
    return processes


def read_folder(folder):
    """Returns {pid: {tid: [Logged]}} of processes that never exec."""
    return {pid: images[0].threads for pid, images in read_images(folder).items()}


def show(event):
    if event is None:
        return 'nothing more'
    if event.kind == '+':
        return '%s(%d) = %#x' % (event.function, event.size, event.id)
    return '%s(%#x)' % (event.function, event.id)


def same(traced, logged):
    return (traced.kind, traced.function, traced.id) == (logged.kind, logged.function, logged.id) and \
        (traced.kind == '-' or traced.size == logged.size)


def first_difference(tid, traced, logged, start, ends=None):
    """Returns the first difference as a sentence, or None. The first `start` events of the log are from before the
    trace."""
    for i in range(max(len(traced), len(logged) - start)):
        ours = traced[i] if i < len(traced) else None
        theirs = logged[start + i] if start + i < len(logged) else None
        if ours is not None and theirs is not None and same(ours, theirs):
            continue
        if theirs is None and all(e.kind == '-' and e.function == 'free' for e in traced[i:]):
            # At a thread's end glibc empties its cache by an internal call of free, under another name, which no
            # preloaded library can see.
            return None
        if ends and theirs is None and i + 1 == len(traced) and ends.allow_traced(tid, ours):
            return None
        if ends and ours is None and all(ends.allow_logged(tid, e) for e in logged[start + i:]):
            return None
        words = ['thread %d: its event %d differs: the trace has %s%s, the logger %s' % (
            tid, i + 1, show(ours), ' (record %d)' % ours.index if ours else '', show(theirs))]
        for k in range(max(0, i - 3), i + 4):
            words.append('   %s%3d  %-60s %s' % (
                '>' if k == i else ' ', k + 1, show(traced[k]) if k < len(traced) else '-',
                show(logged[start + k]) if start + k < len(logged) else '-'))
        return '\n'.join(words)
    return None


def few(problems):
    more = len(problems) - 3
    return problems[:3] + (['... and %d threads more differ' % more] if more > 0 else [])


def compare_launched(trace, threads):
    """Returns problems (none if trace and log agree), and the number of compared events."""
    by_tid = {}
    for event in trace.events:
        by_tid.setdefault(event.tid, []).append(event)
    ends = endings.Endings(by_tid, threads, trace.notes, trace.pid)
    problems, compared = [], 0
    for tid in sorted(set(by_tid) | set(threads)):
        traced, logged = by_tid.get(tid, []), threads.get(tid, [])
        difference = first_difference(tid, traced, logged, 0, ends)
        if difference:
            problems.append(difference)
        compared += len(logged)
    problems = few(problems) or ends.problems()
    if not compared:
        problems.append('the logger has no events: nothing was compared')
    return problems, compared


def window(traced, logged):
    """Returns the place in the log at which the trace of a thread begins: the place from which most events agree."""
    if not traced:
        return 0
    for start in range(len(logged)):
        if same(traced[0], logged[start]) and all(
                same(a, b) for a, b in zip(traced[:8], logged[start:start + 8])):
            return start
    return None


def compare_attached(trace, threads):
    """Does the same as compare_launched() for a trace of a part of the run: each thread's trace must be one contiguous
    part of the thread's log."""
    by_tid = {}
    for event in trace.events:
        by_tid.setdefault(event.tid, []).append(event)
    problems, compared = [], 0
    for tid, traced in sorted(by_tid.items()):
        logged = threads.get(tid, [])
        start = window(traced, logged)
        if start is None:
            problems.append('thread %d: %s (record %d) agrees with no place in the log' % (
                tid, show(traced[0]), traced[0].index))
            continue
        compared += len(traced)
        piece = logged[start:start + len(traced)]
        difference = first_difference(tid, traced, piece, 0)
        if difference:
            problems.append(difference)
    problems = few(problems)
    if not compared:
        problems.append('the trace has no events: nothing was compared')
    return problems, compared
