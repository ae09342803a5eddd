#!/usr/bin/env python3
"""The house keeps its floors: reads the includes of all files and, from the objects that were built, who calls whom.

Nothing runs up, nothing runs in a circle, only ptrace/ calls ptrace for the target, no file has grown too long. What is
allowed stands in floors.txt. With --self-test the rules are tried on edges that break them."""

import collections
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
BUILD = os.environ.get('TOP_BUILDDIR', os.getcwd())
FILE_LINES = 500
HEADER_LINES = 150
CONTRACTS = ('src/trace/event.h', 'arch/arch.h', 'modules/module.h')  # what a port, a module, a format is written by
# The guardian holds the tracer itself by ptrace, and sets tasks right when that is dead.
PTRACE_ROOMS = ('src/ptrace',)
PTRACE_FILES = ('src/engine/guardian.c', 'src/engine/rescue.c')
PROCESSOR = re.compile(r'#\s*(?:if|ifdef|ifndef|elif)\b.*\b__(?:x86_64|i386|aarch64|arm)__')


def read_floors(path):
    """Room -> number of its floor."""
    floors = {}
    with open(path) as file:
        lines = [line.split('#')[0].split() for line in file]
    for number, rooms in enumerate(filter(None, lines)):
        for room in rooms:
            floors[room] = number
    return floors


def sources(floors):
    for room in floors:
        for name in sorted(os.listdir(os.path.join(TOP, room))):
            if name.endswith(('.c', '.h')):
                yield room + '/' + name


def include_edges(files):
    """(file, header) for each header of the project."""
    known = set(files)
    for path in files:
        with open(os.path.join(TOP, path)) as file:
            for name in re.findall(r'^#include "([^"]+)"', file.read(), re.M):
                for candidate in ('src/' + name, name):
                    if candidate in known:
                        yield path, candidate


def objects(files):
    """Object file -> its source: automake puts each beside where the source would be, some with a prefix."""
    for path in files:
        if not path.endswith('.c'):
            continue
        folder, name = os.path.split(path)
        base = name[:-2] + '.o'
        place = os.path.join(BUILD, folder)
        found = [o for o in (os.listdir(place) if os.path.isdir(place) else ())
                 if o == base or (o.endswith('-' + base) and o.startswith('lib'))]
        if found:
            yield os.path.join(place, sorted(found)[0]), path


def call_edges(files):
    """(caller's file, callee's file, symbol), and the files that were not built."""
    table = dict(objects(files))
    defined, wanted = {}, []
    out = subprocess.run(['nm', '-A', '-g', '-P', *table], stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in out.splitlines():
        obj, name, kind = line.split()[:3]
        if kind == 'U':
            wanted.append((table[obj[:-1]], name))
        else:
            defined[name] = table[obj[:-1]]
    edges = [(path, defined[name], name) for path, name in wanted if name in defined and defined[name] != path]
    missing = [path for path in files if path.endswith('.c') and path not in table.values()]
    return edges, missing


def room_of(path):
    return os.path.dirname(path)


def upward(floors, edges):
    for source, target, why in edges:
        low, high = floors[room_of(source)], floors[room_of(target)]
        if room_of(source) != room_of(target) and high >= low:
            yield '%s goes up to %s (%s)' % (source, target, why)


def circles(edges):
    """Strongly connected groups of more than one file (Tarjan)."""
    graph = collections.defaultdict(set)
    for source, target, _ in edges:
        graph[source].add(target)
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for target in sorted(graph[node]):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in on_stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
                on_stack.discard(group[-1])
            if len(group) > 1:
                found.append(sorted(group))

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    for group in found:
        inside = sorted({'%s -> %s' % (s, t) for s, t, _ in edges if s in group and t in group})
        yield 'a circle: ' + ', '.join(inside)


def without_comments(text):
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def contents(files):
    for path in files:
        with open(os.path.join(TOP, path)) as file:
            text = file.read()
        lines = text.count('\n')
        if lines > FILE_LINES:
            yield '%s has %d lines; no file has more than %d' % (path, lines, FILE_LINES)
        elif path.endswith('.h') and lines > HEADER_LINES and path not in CONTRACTS:
            yield '%s has %d lines; no header but the contracts has more than %d' % (path, lines, HEADER_LINES)
        code = without_comments(text)
        if re.search(r'\bptrace\(', code) and room_of(path) not in PTRACE_ROOMS and path not in PTRACE_FILES:
            yield '%s calls ptrace(); that is for %s' % (path, ', '.join(PTRACE_ROOMS))
        if PROCESSOR.search(code) and room_of(path) != 'arch':
            yield '%s asks for a processor; that is for arch/' % path


class Tap:
    def __init__(self, planned):
        self.count = self.failed = 0
        print('1..%d' % planned)

    def result(self, name, problems):
        self.count += 1
        self.failed += bool(problems)
        print('%s %d %s' % ('not ok' if problems else 'ok', self.count, name))
        for problem in problems:
            print('# ' + problem)


def self_test(tap):
    floors = {'a': 0, 'b': 1, 'c': 1}
    ups = list(upward(floors, [('b/x.c', 'a/y.h', 'down'), ('a/y.c', 'b/x.h', 'up'), ('b/x.c', 'c/z.h', 'aside'),
                               ('b/x.c', 'b/w.h', 'within')]))
    tap.result('an edge that runs up or aside is found',
               [] if len(ups) == 2 and 'a/y.c' in ups[0] and 'c/z.h' in ups[1] else ups)
    rings = list(circles([('a/1.c', 'a/2.c', 'f'), ('a/2.c', 'a/3.c', 'g'), ('a/3.c', 'a/1.c', 'h'),
                          ('a/3.c', 'a/4.c', 'i')]))
    tap.result('a circle is found',
               [] if rings == ['a circle: a/1.c -> a/2.c, a/2.c -> a/3.c, a/3.c -> a/1.c'] else rings)


def main():
    floors = read_floors(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'floors.txt'))
    files = list(sources(floors))
    tap = Tap(6)
    rooms = {os.path.relpath(folder, TOP) for base in ('src', 'arch', 'modules')
             for folder, _, names in os.walk(os.path.join(TOP, base)) if any(n.endswith('.c') for n in names)}
    calls, missing = call_edges(files)
    tap.result('every room has a floor, and every file was built',
               ['%s has no floor in floors.txt' % room for room in sorted(rooms - set(floors))] +
               ['%s was not built: who it calls is not known' % path for path in missing])
    edges = [(source, target, 'include') for source, target in include_edges(files)] + calls
    tap.result('nothing runs up', sorted(set(upward(floors, edges))))
    tap.result('nothing runs in a circle', sorted(circles(edges)))
    tap.result('files keep to their rooms, and short', sorted(contents(files)))
    self_test(tap)
    return tap.failed != 0


if __name__ == '__main__':
    sys.exit(main())
