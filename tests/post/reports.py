#!/usr/bin/env python3
"""Compares every figure of every view, of the page and of every export of random traces with the model of
tests/generate/report_figures.py.

usage: reports.py [TRACES [SEED]]

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import json
import os
import random
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "generate"))

from exports import pprof_samples
from report_figures import BEFORE, LOST, SECOND, Model, Trace, born, tally
from run import run

ANY = ["--no-default-suppressions", "-q"]


class Differs(Exception):
    pass


def same(what, found, expected):
    if found != expected:
        raise Differs(f"{what}: has {found!r}, not {expected!r}")


# ---- Options ----

def choose_size(rng):
    low, high = rng.choice([(0, 24), (24, 4096), (100, 10 ** 6)])
    return [f"--size={low}-{high}"], lambda b: low <= b.size <= high


def choose_function(rng):
    word = rng.choice(["f1", "f2", "g0", "malloc"])
    return ["--function=" + word], lambda b: word in (b.function, *(place.split()[0] for place in b.stack or ()))


def choose(rng, trace):
    """Returns options, a model of the blocks that they select (None if they select nothing), and the moment of --diff
    or None."""
    end, dice = trace.calls[-1].since, rng.random()
    unit = SECOND if trace.has_times else 1
    if dice < 0.25:
        return [], Model(trace), None
    if dice < 0.5:
        mark = rng.choice(trace.calls).since
        return [f"--diff=@{mark / unit:.9f}"], Model(trace), mark
    # A second allocation of a counted id is one more reference. A filter that matches it selects the first allocation.
    if any(kind[2] == " [refcount]" for kind in trace.kinds) and dice < 0.8:
        return [], Model(trace), None
    if dice < 0.58:
        (options, has_size), (more, has_function) = choose_size(rng), choose_function(rng)
        options, keep = options + more, lambda b: has_size(b) and has_function(b)
        if rng.random() < 0.5:
            age = rng.randint(0, end)
            return options + [f"--older={age / unit:.9f}"], Model(
                trace, keep, lambda b: b.is_before or end - b.since >= age), None
    elif dice < 0.68:
        options, keep = choose_size(rng)
    elif dice < 0.8:
        options, keep = choose_function(rng)
    else:
        age, keep = rng.randint(0, end), None
        options = [f"--older={age / unit:.9f}"]
        return options, Model(trace, None, lambda b: b.is_before or end - b.since >= age), None
    model = Model(trace, keep)
    return options, model if model.blocks or model.others else None, None


# ---- The figures of the trace, in the form of the outputs ----

class Expected:
    def __init__(self, model, kind, sized, mark):
        self.model, self.kind, self.sized, self.mark = model, kind, sized, mark
        self.blocks = model.of(kind)
        self.others = [call for call in model.others if call.kind == kind]
        self.live = [b for b in self.blocks if b.gone is None]
        self.at_peak, self.peak_since = model.peak(kind, sized)
        self.scanned = kind in model.trace.lost
        self.groups = {}
        for block in self.blocks:
            self.groups.setdefault((block.function, block.stack), []).append(block)
        for call in self.others:
            self.groups.setdefault((call.function, call.stack), [])

    def figures(self, blocks):
        """Returns the figures allocated, live, temporary, and at the peak."""
        chosen = set(map(id, blocks))
        return (tally(born(blocks)), tally([b for b in blocks if b.gone is None]), tally([b for b in blocks if b.temporary]),
                tally([b for b in self.at_peak if id(b) in chosen]))

    def leaked(self, blocks):
        live = [b for b in blocks if b.gone is None]
        return [b for b in live if (b.lost in LOST[:2] if self.scanned else not b.is_before)]

    def old(self, blocks):
        """The blocks that were live after the calls up to the mark."""
        return [b for b in blocks if b.since <= self.mark and (b.gone is None or b.gone > self.mark)]

    def earlier(self):
        last, width = self.model.end, 1
        while last // width >= 64:
            width *= 2
        return (last - last // 10) // width * width

    def grown(self, blocks):
        since = self.earlier()
        main = 1 if self.sized else 0
        live = [b for b in blocks if b.gone is None]
        # A block from before the trace is live since the first call, but not before it.
        before = self.model.alive_at(blocks, since) if since < self.model.end else live
        return max(0, tally(live)[main] - tally(before)[main])


def number(text):
    return int(text.replace(",", ""))


def heads_of(report, kind):
    """The groups of each section: {title: [(bytes or None, blocks, function, growth or 0)]}."""
    found = {}
    for title, body in re.findall(rf"^{kind}: (.*)\n((?:(?!^\S).*\n)*)", report, re.M):
        rows = []
        for sizes, count, rest in re.findall(
                r"^ *\d+\. (?:([\d,]+) bytes? in )?([\d,]+) [^\d\n]*?  +[\d.]+ %.*\n((?:.+\n)*)", body, re.M):
            by = re.match(r" +(?:by )?(.*?)(?:, .*)?\n", rest).group(1)
            grew = re.search(r"^ +grew by ([\d,]+)", rest, re.M)
            rows.append((number(sizes) if sizes else None, number(count),
                         BEFORE if by.startswith("from before") else by, number(grew.group(1)) if grew else 0))
        found[title.split(",")[0].split(":")[0]] = sorted(rows, key=str)
    return found


def rows_of(expected, choose_blocks, counted=None):
    """counted: the blocks of a group whose growth is shown; None if none is shown."""
    rows = []
    for (function, _), blocks in expected.groups.items():
        count, size = tally(choose_blocks(blocks))
        if count:
            rows.append((size if expected.sized else None, count, function, expected.grown(counted(blocks)) if counted else 0))
    return sorted(rows, key=str)


def check_reports(path, options, every, is_compared):
    def report(view):
        return run("--report=" + view, *(["--top=1000000"] if view != "size" else []), *ANY, *options, path, check=0).stdout.decode()

    views = {view: report(view) for view in ("leaks", "alive", "peak", "allocated", "temporary")}
    for expected in every:
        kind, text = expected.kind, views["leaks"]
        if expected.others or kind == "memtransfer":
            continue
        line = re.search(rf"^{kind} +(?:([\d,]+) bytes? in )?([\d,]+) .* allocated, ([\d,]+) released\n(?: {{14}}.*\n)?"
                         r" +(?:([\d,]+) bytes? in )?([\d,]+) .* alive at the end", text, re.M)
        count, size = tally(born(expected.blocks))
        alive = tally(expected.live)
        same(f"{kind}: totals", [number(n) if n else None for n in line.groups()],
             [size if expected.sized else None, count, expected.model.releases.get(kind, 0),
              alive[1] if expected.sized else None, alive[0]])
        if is_compared:
            check_growth(views, expected)
            continue
        sections = heads_of(text, kind)
        alive_of = lambda blocks: [b for b in blocks if b.gone is None]
        # The growth of lost blocks counts only lost blocks. That of other blocks also counts blocks released later.
        if expected.scanned:
            possibly = lambda blocks: [b for b in alive_of(blocks) if b.lost == "possibly"]
            not_lost = lambda blocks: [b for b in blocks if not b.lost]
            same(f"{kind}: lost", sections["lost"], rows_of(expected, expected.leaked, expected.leaked))
            same(f"{kind}: possibly lost", sections.get("possibly lost", []), rows_of(expected, possibly, possibly))
            same(f"{kind}: reachable", sections.get("still reachable", []), rows_of(
                expected, lambda blocks: alive_of(not_lost(blocks)), not_lost))
        else:
            same(f"{kind}: leaks", sections["alive at the end"], rows_of(
                expected, expected.leaked, lambda blocks: [b for b in blocks if not b.is_before]))
        same(f"{kind}: alive", heads_of(views["alive"], kind)["alive at the end"], rows_of(expected, alive_of, lambda blocks: blocks))
        peak = set(map(id, expected.at_peak))
        same(f"{kind}: peak", heads_of(views["peak"], kind)["alive at the peak"],
             rows_of(expected, lambda blocks: [b for b in blocks if id(b) in peak]))
        same(f"{kind}: allocated", heads_of(views["allocated"], kind)["allocated"], rows_of(expected, born))
        same(f"{kind}: temporary", heads_of(views["temporary"], kind)["temporary"],
             rows_of(expected, lambda blocks: [b for b in blocks if b.temporary]))
    if not is_compared:
        check_tables(report, every)
        for direction in ("down", "up"):
            check_trees(direction, path, options, every)


def check_growth(views, expected):
    main = 1 if expected.sized else 0
    for view in ("leaks", "alive"):
        text = re.search(rf"^{expected.kind}: growth, by stack\n((?:(?!^\S).*\n)*)", views[view], re.M).group(1)
        found = sorted((number(n[1] if n[1] else n[0]), number(n[2])) for n in re.findall(
            r"^ *\d+\. \+([\d,]+)[^:]*: (?:([\d,]+) bytes? in )?([\d,]+)", text, re.M))
        rows = []
        for blocks in expected.groups.values():
            live, old = tally([b for b in blocks if b.gone is None]), tally(expected.old(blocks))
            if live[main] > old[main]:
                rows.append((live[1] if expected.sized else live[0] - old[0], live[0]))
        same(f"{expected.kind}: grown ({view})", found, sorted(rows))


def check_tables(report, every):
    tables = {name: report(name) for name in ("size", "thread", "object")}

    def table(name, kind):
        body = re.search(rf"^{kind}: by {name}\n((?:(?!^\S).*\n)*)", tables[name], re.M).group(1)
        return sorted(tuple(map(number, line)) for line in re.findall(
            r"^ +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+) ", body, re.M))

    for expected in every:
        if expected.others or expected.kind == "memtransfer" or not expected.sized:
            continue
        sizes, threads, objects = {}, {}, {}
        for (function, stack), blocks in expected.groups.items():
            if blocks:
                objects.setdefault(function if function == BEFORE else object_of(stack), []).extend(blocks)
        same(f"{expected.kind}: by object", table("object", expected.kind),
             sorted(tally(born(blocks)) + tally([b for b in blocks if b.gone is None]) for blocks in objects.values()))
        for block in born(expected.blocks):
            sizes.setdefault(block.size.bit_length(), []).append(block)
            threads.setdefault(block.thread or (BEFORE if block.is_before else None), []).append(block)
        figures = lambda blocks: tally(blocks) + tally([b for b in blocks if b.gone is None])
        same(f"{expected.kind}: by size", table("size", expected.kind),
             sorted(figures(blocks) for blocks in sizes.values()))
        if any(block.thread for block in born(expected.blocks)):
            same(f"{expected.kind}: by thread", table("thread", expected.kind),
                 sorted(figures(blocks) for blocks in threads.values()))


def object_of(stack):
    """The object of the innermost frame that has one."""
    return next((place.split(" from ")[1] for place in stack or () if " from " in place), None)


def tree_of(expected, chosen, direction):
    """Returns the total, and (figure, name) of each node that is shown: the first child of each parent, and those with
    at least a hundredth of the total."""
    nodes, children, total = {}, {}, 0
    for (function, stack), blocks in expected.groups.items():
        count, size = tally(chosen(blocks))
        figure = size if expected.sized else count
        frames = [("frame", place.split()[0], place.split(" from ")[-1] if " from " in place else "") for place in stack or ()]
        way = [*frames[::-1], ("function", function)] if direction == "down" else [("function", function), *frames]
        for i in range(len(way) if count else 0):
            node = tuple(way[:i + 1])
            if node not in nodes:
                children.setdefault(node[:-1], []).append(node)
            nodes[node] = nodes.get(node, 0) + figure
        total += figure
    shown, left = [], [()]
    while left:
        below = sorted(children.get(left.pop(), ()), key=lambda node: -nodes[node])
        left += [node for i, node in enumerate(below) if not i or nodes[node] >= total // 100]
        shown += [(nodes[node], node[-1][1]) for i, node in enumerate(below) if not i or nodes[node] >= total // 100]
    return total, shown


def check_trees(direction, path, options, every):
    for view, chosen in (("alive", lambda blocks: [b for b in blocks if b.gone is None]), ("allocated", born)):
        text = run(f"--report={view}", "--tree=" + direction, "--top=1000000", *ANY, *options, path, check=0).stdout.decode()
        for expected in every:
            if expected.others or expected.kind == "memtransfer":
                continue
            body = re.search(rf"^{expected.kind}: (?:all|alive at).*\n((?:(?!^\S).*\n)*)", text, re.M).group(1)
            found = [(number(figure), re.sub(r" (?:at|from) .*", "", name)) for figure, name in re.findall(
                r"^ +(?:[\d.]+ %|-)? +([\d,]+)  +(.*)$", body, re.M) if not re.match(r"\(\d+ more\)", name)]
            total, shown = tree_of(expected, chosen, direction)
            # If several small nodes have the same figure, any of them may be the first.
            named = lambda nodes: sorted((figure, name if figure >= total // 100 and figure else "") for figure, name in nodes)
            same(f"{expected.kind}: tree {direction}, {view}", named(found), named(shown))


def check_other(path, trace, other, folder):
    """--diff=FILE: the live blocks of each stack in this trace and in the older one."""
    older = os.path.join(folder, "older")
    with open(older, "w", encoding="utf-8") as file:
        file.write(other.text())
    wanted, found = {}, {}
    for i, which in enumerate((trace, other)):
        for block in Model(which).blocks:
            # Blocks from before a trace have no stack in it.
            if block.gone is None and not block.is_before:
                pair = wanted.setdefault((block.kind, block.function, block.stack), [(0, 0), (0, 0)])
                pair[i] = (pair[i][0] + 1, pair[i][1] + block.size)
    frame = lambda f: f"{f['function']} at {f['file']}:{f['line']}" if f["file"] else f"{f['function']} from {f['object']}"
    pair = lambda figure: (figure["count"], figure["bytes"])
    for line in map(json.loads, run("-f", "json", "--diff=" + older, *ANY, path, check=0).stdout.splitlines()):
        if line["type"] != "group" or line.get("before"):
            continue
        figures = [pair(line["live"]), pair(line["old"]["live"])]
        if any(figures[0] + figures[1]):
            found[line["resource"], line["function"], tuple(map(frame, line["frames"])) if "frames" in line else None] = figures
    same("--diff=FILE", found, wanted)


def check_json(path, options, every, mark):
    lines = [json.loads(line) for line in run("-f", "json", *ANY, *options, path, check=0).stdout.splitlines()]
    pair = lambda figure: (figure["count"], figure["bytes"])
    frame = lambda f: f"{f['function']} at {f['file']}:{f['line']}" if f["file"] else f"{f['function']} from {f['object']}"
    for expected in every:
        groups = {}
        for line in lines:
            # Blocks that seem to be from before the trace may turn out to be those of calls that had not yet returned.
            # If that is so for all of them, their group has no allocations and is skipped.
            if line["type"] == "group" and line["resource"] == expected.kind and line["allocated"]["count"]:
                stack = tuple(map(frame, line["frames"])) if "frames" in line else None
                key = line["function"], stack
                if key in groups:
                    raise Differs(f"json: {key} twice")
                groups[key] = line
        same(f"json: {expected.kind}: groups", set(groups), {key for key, blocks in expected.groups.items() if born(blocks) or not blocks})
        resource = next(line for line in lines if line["type"] == "resource" and line["name"] == expected.kind)
        if expected.kind == "memtransfer":
            same("json: calls", pair(resource["allocated"]), tally(expected.others))
            continue
        for name, figure in zip(("allocated", "live", "temporary", "peak"), expected.figures(expected.blocks)):
            same(f"json: {expected.kind}: {name}", pair(resource[name]), figure)
        same(f"json: {expected.kind}: leaked", pair(resource["leaked"]), tally(expected.leaked(expected.blocks)))
        for key, blocks in expected.groups.items():
            if not born(blocks):
                continue
            for name, figure in zip(("allocated", "live", "temporary", "peak"), expected.figures(blocks)):
                same(f"json: {expected.kind}: {key}: {name}", pair(groups[key][name]), figure)
            same(f"json: {key}: leaked", pair(groups[key]["leaked"]), tally(expected.leaked(blocks)))
            for word in LOST if expected.scanned else ():
                same(f"json: {key}: {word}", pair(groups[key]["lost"][word]),
                     tally([b for b in blocks if b.gone is None and b.lost == word]))
            births = [b.since for b in blocks if b.gone is None]
            same(f"json: {key}: births", (groups[key].get("oldest"), groups[key].get("newest")),
                 (min(births), max(births)) if births else (None, None))
            if mark is not None:
                same(f"json: {key}: before", pair(groups[key]["old"]["live"]), tally(expected.old(blocks)))


def check_page(path, options, every, mark, folder):
    out = os.path.join(folder, "page.html")
    run("--html=" + out, "-q", *options, path, check=0)
    with open(out, encoding="utf-8") as file:
        data = json.loads(re.search(r'id="data">(.*?)</script>', file.read(), re.S).group(1))
    trace, end = every[0].model.trace, every[0].model.end
    same("page: end", data["end"], end)
    same("page: ends", data["ends"], [trace.end.split(" ", 1)[1]] if trace.end and "status 0" not in trace.end else [])
    same("page: notes", (len(data["notes"]) + data["notes_left_out"]), len(trace.notes))
    for expected, kind in zip(every, data["kinds"]):
        same("page: kind", kind["type"], expected.kind)
        if expected.kind == "memtransfer":
            same("page: calls", tuple(kind["allocated"]), tally(expected.others))
            continue
        for name, figure in zip(("allocated", "live", "temporary", "peak"), expected.figures(expected.blocks)):
            same(f"page: {expected.kind}: {name}", tuple(kind[name]), figure)
        # The peak may be that of blocks from before the trace, before all calls.
        same(f"page: {expected.kind}: peak at", kind["peak_since"], expected.peak_since)
        width = data["span_width"]
        same("page: width", width, max(1, 1 << max(0, (end // 1024).bit_length())))
        for i, pair in enumerate(zip(kind["blocks"], kind["bytes"])):
            at = [b for b in expected.blocks if b.since < (i + 1) * width and (b.gone is None or b.gone >= (i + 1) * width)]
            same(f"page: {expected.kind}: alive at {i}", pair, tally(at))
        lives = {}
        for block in expected.blocks:
            if block.released and not block.is_before:
                age = (block.gone - block.since) // 1000 if trace.has_times else block.calls[-1] - block.number
                lives[min(13, len(str(age)) if age else 0)] = lives.get(min(13, len(str(age)) if age else 0), 0) + 1
        same(f"page: {expected.kind}: lives", dict(zip(kind["lives"][::2], kind["lives"][1::2])), lives)
        sizes = {}
        for block in born(expected.blocks):
            sizes.setdefault(block.size.bit_length(), []).append(block)
        same(f"page: {expected.kind}: sizes", list(zip(*[iter(kind["sizes"])] * 3)),
             [(i, *tally(blocks)) for i, blocks in sorted(sizes.items())])
        same(f"page: {expected.kind}: rows", sorted(
            (data["names"][row[1]], *row[4:12], *moments(row[17], data["moment_count"]), *(row[19:21] if mark is not None else ()))
            for row in kind["rows"]), sorted(page_row(expected, key, data) for key, blocks in expected.groups.items()
                    if born(blocks) or (mark is not None and expected.old(blocks))))


def moments(entries, count):
    values, at = [], iter(zip(*[iter(entries)] * 3))
    entry, last = next(at, None), (0, 0)
    for moment in range(count):
        if entry and entry[0] == moment:
            last, entry = entry[1:], next(at, None)
        values += last
    return values


def page_row(expected, key, data):
    blocks = expected.groups[key]
    figures = expected.figures(blocks)
    at = [figure for i in range(data["moment_count"])
          for figure in tally(expected.model.alive_at(blocks, i * data["moment_width"]))]
    old = tally(expected.old(blocks)) if expected.mark is not None else ()
    return (key[0], *figures[0], *figures[1], *figures[3], *figures[2], *at, *old)


def check_exports(path, options, every, mark, folder):
    def export(name, *more, binary=False):
        done = run("-f", name, "-q", *options, *more, path, check=0).stdout
        return done if binary else done.decode()

    def stacked(which):
        sums = {}
        for expected in every:
            for (function, stack), blocks in expected.groups.items():
                weight = which(expected, blocks)
                if weight:
                    key = ";".join([place.split()[0] for place in (stack or ())[::-1]] + [function])
                    sums[key] = sums.get(key, 0) + weight
        return sums

    def lines(text):
        sums = {}
        for line in text.splitlines():
            stack, figure = line.rsplit(" ", 1)
            sums[stack] = sums.get(stack, 0) + int(figure)
        return sums

    memory = next(e for e in every if e.kind == "memory")
    allocated, live, _, peak = memory.figures(memory.blocks)
    if mark is None:
        for i, weight in enumerate(("allocated", "live", "", "peak")):
            if weight:
                found = lines(export("collapsed", "--weight=" + weight))
                wanted = stacked(lambda e, blocks, i=i: e.figures(blocks)[i][1])
                if weight == "allocated":
                    for expected in every:
                        for call in expected.others:
                            key = ";".join([p.split()[0] for p in (call.stack or ())[::-1]] + [call.function])
                            wanted[key] = wanted.get(key, 0) + call.size
                    wanted = {key: figure for key, figure in wanted.items() if figure}
                same("collapsed: " + weight, found, wanted)
        dhat = json.loads(export("dhat"))
        same("dhat", tuple(sum(point[name] for point in dhat["pps"]) for name in (
            "tbk", "tb", "ebk", "eb", "gbk", "gb")), (*allocated, *live, *peak))
        massif = re.findall(r"^mem_heap_B=(\d+)$", export("massif"), re.M)
        same("massif: end, peak", (int(massif[-1]), max(map(int, massif))), (live[1], peak[1]))
        same("heaptrack", heaptrack(export("heaptrack")), (*tally(memory.blocks), *live))
        chrome = [e["args"] for e in json.loads(export("chrome"))["traceEvents"] if e["name"] == "memory: live bytes"]
        if memory.blocks:
            same("chrome: end, peak", (chrome[-1]["bytes"], max(a["bytes"] for a in chrome)), (live[1], peak[1]))
        leaked = [tally(e.leaked(blocks)) for e in every for blocks in e.groups.values()]
        xml = export("xml")
        same("xml", sorted(zip(map(int, re.findall(r"<leakedblocks>(\d+)", xml)), map(int, re.findall(r"<leakedbytes>(\d+)", xml)))),
             sorted(figure for figure in leaked if figure[0]))
        total = allocated, live
    else:
        grow = lambda now, old: tuple(max(0, a - b) for a, b in zip(now, old))
        early = lambda blocks: [b for b in blocks if b.since <= mark and not (b.taken_back and b.gone <= mark)]
        pairs = [(grow(tally(born(b)), tally(early(b))), grow(memory.figures(b)[1], tally(memory.old(b)))) for b in memory.groups.values()]
        total = tuple(tuple(map(sum, zip(*(pair[i] for pair in pairs)))) or (0, 0) for i in range(2))
        found = sorted(tuple(map(int, line.rsplit(" ", 2)[1:])) for line in export("collapsed").splitlines())
        same("collapsed: two figures", found, sorted(
            figures for e in every for figures in ((tally(e.old(b))[1], e.figures(b)[1][1]) for b in e.groups.values())
            if any(figures)))
    for i, weight in enumerate(("allocated", "live")):
        summary = re.search(r"^summary: (\d+) (\d+)$", export("callgrind", "--weight=" + weight), re.M).groups()
        same("callgrind: " + weight, tuple(map(int, summary)), total[i][::-1])
        scope = [p for p in json.loads(export("speedscope", "--weight=" + weight))["profiles"] if p["name"].startswith("memory:")]
        same("speedscope: " + weight, sum(scope[0]["weights"]), total[i][1])
    heap = re.search(r"^heap profile: (\d+): (\d+) \[(\d+): (\d+)\]", export("gperftools"), re.M).groups()
    same("gperftools", tuple(map(int, heap)), total[1] + total[0])
    if mark is None:
        samples = pprof_samples(export("pprof", binary=True))[2]
        same("pprof", tuple(map(sum, zip(*(values for _, values in samples)))) or (0,) * 4, total[0] + total[1])


def heaptrack(text):
    infos, born, live = [], [0, 0], [0, 0]
    for line in text.splitlines():
        words = line.split()
        if words[0] == "a":
            infos.append(int(words[1], 16))
        elif words[0] in "+-":
            size, step = infos[int(words[1], 16)], 1 if words[0] == "+" else -1
            live = [live[0] + step, live[1] + step * size]
            born = [born[0] + 1, born[1] + size] if step > 0 else born
    return (*born, *live)


def check_trace(seed, folder):
    """Returns the first figure that differs, or None."""
    rng = random.Random(seed)
    trace = Trace(rng)
    path = os.path.join(folder, "t")
    with open(path, "w", encoding="utf-8") as file:
        file.write(trace.text())
    for _ in range(2):
        options, model, mark = choose(rng, trace)
        if not model:
            continue
        every = [Expected(model, kind, sized, mark) for kind, _, _, sized in trace.kinds]
        try:
            check_json(path, options, every, mark)
            check_reports(path, options, every, mark is not None)
            check_page(path, options, every, mark, folder)
            check_exports(path, options, every, mark, folder)
            check_other(path, trace, Trace(random.Random(seed + 500000), 41), folder)
        except Differs as difference:
            return f"trace {seed} ({len(trace.calls)} calls) {' '.join(options)}: {difference}"
    return None


def run_traces(count, first):
    differing = 0
    with tempfile.TemporaryDirectory(prefix="functrace-reports-") as folder:
        for seed in range(first, first + count):
            problem = check_trace(seed, folder)
            if problem:
                differing += 1
                print("# " + problem[:1000])
            if differing == 5:
                break
    print(f"{'not ok' if differing else 'ok'} 1 - {count} random traces: {differing} with differing figures\n1..1")
    return bool(differing)


def main():
    return run_traces(int(sys.argv[1]) if len(sys.argv) > 1 else 4, int(sys.argv[2]) if len(sys.argv) > 2 else 1)


if __name__ == "__main__":
    sys.exit(main())
