"""The map of folders and layers (floors.txt), and the dependencies that go upward or in a circle."""

import collections
import os
import subprocess
import sys


class Map:
    """The folders and their layers; for a folder with sub-folders, the order of the sub-folders."""

    def __init__(self, lines):
        self.floors, self.inside = {}, {}
        for number, line in enumerate(filter(str.strip, (line.split('#')[0] for line in lines))):
            folder, is_inside, order = line.partition(':')
            if is_inside:
                self.inside[folder.strip()] = {name: step for step, names in enumerate(order.split('<'))
                                               for name in names.split()}
            else:
                self.floors.update(dict.fromkeys(line.split(), number))

    def room(self, path):
        """Returns the innermost folder of the map that contains the file, or None."""
        folder = os.path.dirname(path)
        while folder and folder not in self.floors:
            folder = os.path.dirname(folder)
        return folder or None

    def element(self, folder, path):
        """Returns the part of a folder to which the file belongs: a sub-folder, a file that the map names, or the rest
        of the folder."""
        name = path[len(folder) + 1:].split('/')[0]
        return name if '/' in path[len(folder) + 1:] or name in self.inside.get(folder, ()) else '.'

    def unplaced(self, path):
        """Returns the file's folder if the map has no place for it, else None."""
        folder = self.room(path)
        if not folder:
            return os.path.dirname(path)
        while True:
            name = self.element(folder, path)
            if name == '.' or folder + '/' + name == path:
                return None
            if name not in self.inside.get(folder, ()):
                return folder + '/' + name
            folder += '/' + name

    def missing(self, paths):
        """Yields the folders and files of the map to which none of the paths belongs."""
        inside = {folder + '/' + name for folder, names in self.inside.items() for name in names if name != '.'}
        for place in sorted({*self.floors, *self.inside, *inside}):
            if not any(path == place or path.startswith(place + '/') for path in paths):
                yield place

    def may_know(self, path, other):
        """Returns true if the first file may include or call the second."""
        room = self.room(path)
        if room != self.room(other):
            return self.floors.get(room, -1) > self.floors.get(self.room(other), -1)
        folder = room
        while True:
            mine, its = self.element(folder, path), self.element(folder, other)
            if mine == its and (mine == '.' or folder + '/' + mine == path):
                return True
            if mine != its:
                steps = self.inside.get(folder, {})
                both_files = os.path.dirname(path) == os.path.dirname(other)
                mine, its = steps.get(mine, 0), steps.get(its, 0)
                return mine > its or (mine == its and both_files)
            folder += '/' + mine


def objects(build, paths):
    """Returns {object file: its source}. automake puts each object into the folder of its source, some with a
    prefix."""
    for path in paths:
        folder, name = os.path.split(path)
        base = name[:-2] + '.o'
        place = os.path.join(build, folder)
        found = [o for o in (os.listdir(place) if os.path.isdir(place) else ())
                 if o == base or (o.endswith('-' + base) and o.startswith('lib'))]
        if found:
            yield os.path.join(place, sorted(found)[0]), path


def call_edges(tree, build):
    """Returns (caller's file, callee's file, symbol) of all calls: from nm of the objects, and from the sources of
    files that were not built."""
    paths = [path for path in tree.sources if path.endswith('.c')]
    table = dict(objects(build, paths))
    defined, wanted = {}, []
    command = [os.environ.get('NM', 'nm'), '-A', '-g', '-P', *table]
    out = table and subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in (out or '').splitlines():
        obj, name, kind = line.split()[:3]
        if kind == 'U':
            wanted.append((table[obj[:-1]], name))
        else:
            defined[name] = table[obj[:-1]]
    edges = [(path, defined[name], name) for path, name in wanted if defined.get(name, path) != path]
    for path in sorted(set(paths) - set(table.values())):
        edges += tree.use_edges(path)
    return edges


def upward(house, edges):
    return ['%s goes up to %s (%s)' % (source, target, why) for source, target, why in edges
            if not house.may_know(source, target)]


def circles(edges):
    """Returns the strongly connected groups of more than one file (Tarjan)."""
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
