"""Compares a trace with the reference logger's log of the same run (tests/targets/reflog.c): each address must have the
same allocations and releases, in the same order, by the same threads; nothing more, nothing less."""

import collections
import re

import endings
import oracle

SAME_ADDRESS = {'memalign': 'aligned_alloc'}  # two names of one function in some versions of glibc


def is_operator(function):
    return function.startswith('operator ')


def is_aligned(function):
    """Returns true if the function allocates by aligned_alloc, which rounds the size up."""
    return 'align_val_t' in function or function in ('aligned_alloc', 'memalign')


class Names:
    """Says which names of the log and of the trace may be one function. own_operators: operator new and delete are in
    the program itself, so that the logger sees only the functions that they call, while functrace sees the operators,
    too. rounds: probes in the kernel may have recorded aligned operators new, with rounded sizes."""

    def __init__(self, own_operators, rounds=False):
        self.own_operators, self.rounds = own_operators, rounds

    def is_rounded(self, function):
        return self.own_operators and is_aligned(function) or self.rounds and 'align_val_t' in function

    def agree(self, traced, logged):
        if SAME_ADDRESS.get(traced.function, traced.function) == SAME_ADDRESS.get(logged.function, logged.function):
            return traced.kind == '-' or traced.size == logged.size
        if not self.own_operators or not is_operator(traced.function):
            return False
        size = (traced.size + 63) // 64 * 64 if is_aligned(traced.function) else traced.size
        return traced.kind == '-' or size == logged.size


def show(kind, tid, function, size, ident):
    what = '%s(%d) = %#x' % (function, size, ident) if kind == '+' else '%s(%#x)' % (function, ident)
    return '%s by thread %d' % (what, tid)


def show_traced(event):
    return 'record %d: %s' % (event.index, show(event.kind, event.tid, event.function, event.size, event.id))


def show_logged(item):
    tid, event = item
    return 'log %d: %s' % (event.sequence, show(event.kind, tid, event.function, event.size, event.id))


def by_address(events, of):
    found = collections.defaultdict(list)
    for event in events:
        found[of(event)].append(event)
    return found


def same(traced, item, names):
    tid, logged = item
    return (traced.kind, traced.tid) == (logged.kind, tid) and names.agree(traced, logged)


def around(events, at, shown, count=4):
    return ['      %s %s' % ('>' if i == at else ' ', shown(events[i]))
            for i in range(max(0, at - count), min(len(events), at + count + 1))]


def without_cache(traced, logged, allows):
    """Removes the releases by which glibc empties a thread's cache at the thread's end: glibc calls an internal free
    under another name, which no library and no wrapper can see. In the trace they are releases of unknown blocks."""
    if not allows or len(traced) <= len(logged):
        return traced
    kept, live = [], False
    expected = iter(logged + [None] * len(traced))
    item = next(expected)
    for event in traced:
        if event.kind == '-' and event.function == 'free' and not live and (item is None or item[1].kind == '+'):
            continue
        live = event.kind == '+'
        kept.append(event)
        item = next(expected)
    return kept


def threads_of(items):
    """Returns {tid: [Logged]}; the two events of a realloc are next to each other."""
    threads = collections.defaultdict(list)
    for tid, event in items:
        threads[tid].append(event)
    return threads


def agree(ours, theirs, names, ends):
    """Returns true if trace and log have the same events of a block, except for events that the end of the process has
    cut off."""
    count = min(len(ours), len(theirs))
    return all(same(a, b, names) for a, b in zip(ours, theirs)) and \
        all(ends.allow_traced(event.tid, event) for event in ours[count:]) and \
        all(ends.allow_logged(tid, event) for tid, event in theirs[count:])


def compare(trace, items, names, allows_cache):
    """Returns problems. `items`: the log as [(tid, Logged)] in the order of all threads."""
    traced, logged = by_address(trace.events, lambda e: e.id), by_address(items, lambda i: i[1].id)
    ends = endings.Endings(by_address(trace.events, lambda e: e.tid), threads_of(items), trace.notes, trace.pid)
    problems = []
    wrong = 0
    for ident in sorted(set(traced) | set(logged), key=lambda i: traced[i][0].index if i in traced else 1 << 60):
        theirs = logged.get(ident, [])
        ours = without_cache(traced.get(ident, []), theirs, allows_cache)
        if agree(ours, theirs, names, ends):
            continue
        wrong += 1
        if len(problems) < 3:
            problems.append(difference(trace, items, ident, ours, theirs, names))
    if wrong > len(problems):
        problems.append('... and %d addresses more differ' % (wrong - len(problems)))
    return problems or ends.problems()


def difference(trace, items, ident, ours, theirs, names):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if not same(a, b, names)), min(len(ours), len(theirs)))
    words = ['block %#x, its event %d: the trace has %s, the log %s' % (
        ident, at + 1, show_traced(ours[at]) if at < len(ours) else 'nothing more',
        show_logged(theirs[at]) if at < len(theirs) else 'nothing more')]
    words += ['    the trace there:'] + around(trace.events, ours[at].index - 1, show_traced) if at < len(ours) else []
    words += ['    the log there:'] + around(items, items.index(theirs[at]), show_logged) if at < len(theirs) else []
    return '\n'.join(words)


FAMILIES = (('operator new[]', 'new[]'), ('operator delete[]', 'new[]'), ('operator', 'new'))


def family(function):
    for start, name in FAMILIES:
        if function.startswith(start):
            return name
    return 'malloc'


def makers(traces):
    """Returns {address: families that have allocated blocks there}, in all processes, because a child may release its
    parent's blocks."""
    made = collections.defaultdict(set)
    for trace in traces:
        for event in trace.events:
            if event.kind == '+':
                made[event.id].add(family(event.function))
    return made


def check_mismatches(trace, inherited):
    """Each release by another family must be noted, and nothing else may be. For a block that the process has not
    allocated itself, `inherited` has the families that may have allocated it."""
    made, sure, possible = {}, collections.Counter(), collections.Counter()
    for event in trace.events:
        own = family(event.function)
        if event.kind == '+':
            made[event.id] = own
        elif event.id in made:
            sure[event.id] += made.pop(event.id) != own
        else:
            possible[event.id] += bool(inherited.get(event.id, set()) - {own})
    noted = collections.Counter(int(re.search(r'releases (0x[0-9a-f]+)', note).group(1), 16)
                                for note in trace.notes if note.startswith('mismatch'))
    if sum(noted.values()) >= 100:
        return []  # functrace reports no more than 100
    wrong = [i for i in set(noted) | set(sure) if not sure[i] <= noted[i] <= sure[i] + possible[i]]
    return ['block %#x: %d notes of a release by another family, expected %d' % (i, noted[i], sure[i]) for i in sorted(wrong)[:2]]


def check_stacks(trace, wants_releases):
    """Each event must have a stack, and all its frames must be in the code of an object: a generated program has no
    other code."""
    ranges = [(low, high) for _, low, high in trace.objects]
    problems = []
    for event in trace.events:
        is_wanted = event.kind == '+' or wants_releases
        if not event.frames and is_wanted:
            problems.append('no stack: %s' % show_traced(event))
        bad = [address for address, _ in event.frames if address and not any(low <= address <= high for low, high in ranges)]
        if bad:
            problems.append('a frame %#x is in no code: %s' % (bad[0], show_traced(event)))
    return problems[:2] + (['... and %d stacks more' % (len(problems) - 2)] if len(problems) > 2 else [])


def check_notes(trace, attached, inherited):
    """Compares the errors of the program that functrace reports. `inherited`: see makers()."""
    problems = []
    foreign = [note for note in trace.notes if oracle.ACCUSED.search(note)]
    if foreign and not attached:
        problems.append('%d notes such as: %s' % (len(foreign), foreign[0]))
    if not attached:
        problems += check_mismatches(trace, inherited)
    for old, new in trace.twice[:2]:
        problems.append('allocated twice: %s, and %s' % (show_traced(old), show_traced(new)))
    return problems


def is_own(size):
    """Returns true if generated programs request blocks of this size, see generate/runtime.h."""
    return size is not None and size % 128 == 53


def shape(threads, names):
    """Returns the part of a process's events that must be the same in every run: each thread's events of the program's
    blocks, without addresses. `threads`: lists of (kind, function, id, size) in order of time, of all threads."""
    sizes, lists = {}, collections.defaultdict(list)
    for tid, kind, function, ident, size in threads:
        if kind == '+':
            sizes[ident] = None if names.is_rounded(function) else size
            size = sizes[ident]
        else:
            size = sizes.pop(ident, None)
        if is_own(size):
            name = re.sub(r'\(.*', '', SAME_ADDRESS.get(function, function))
            lists[tid].append((kind, ('new' if kind == '+' else 'delete') if names.own_operators and (
                is_operator(name) or name in ('malloc', 'free')) else name, size))
    return tuple(sorted(tuple(events) for events in lists.values()))


def shape_of_trace(trace, names):
    return shape([(e.tid, e.kind, e.function, e.id, e.size) for e in trace.events], names)


def shape_of_log(image, names):
    return shape([(tid, e.kind, e.function, e.id, e.size) for tid, e in image.in_order()], names)


def compare_shapes(traced, logged):
    """Returns problems. Both arguments are the shapes of all processes. The end or exec of a process cuts off a thread
    that was not joined, at another place in each run: then one list must be the beginning of the other."""
    traced, logged = collections.Counter(traced), collections.Counter(logged)
    more, less = sorted((traced - logged).elements()), sorted((logged - traced).elements())
    more, less = [s for s in more if s], [s for s in less if s]
    if not more and not less:
        return []
    if len(more) != len(less):
        return ['%d processes whose events differ from the log, which has %d others' % (len(more), len(less))]
    problems = []
    for ours, theirs in zip(more, less):
        ours, theirs = collections.Counter(ours), collections.Counter(theirs)
        for a, b in zip(sorted((ours - theirs).elements()), sorted((theirs - ours).elements())):
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            if at == min(len(a), len(b)):
                continue
            problems.append('without the logger: event %d of a thread: the trace has %s, the log %s\n      trace: %s\n      log:   %s' % (
                at + 1, a[at] if at < len(a) else 'nothing more', b[at] if at < len(b) else 'nothing more',
                a[max(0, at - 4):at + 5], b[max(0, at - 4):at + 5]))
        if sum(ours.values()) != sum(theirs.values()):
            problems.append('without the logger: %d threads with events, the log has %d' % (sum(ours.values()), sum(theirs.values())))
    return problems[:3]
