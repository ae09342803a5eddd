"""Makes random traces, and computes the figures of each, block by block with plain lists. The model is independent of
functrace-postproc: a trace is a list of calls, a filter selects some of them, and a figure is a sum over the blocks
that were live at some time."""

HEAD = "version=1.4,arch=x86_64,timestamp=2012-05-04 10:00:00 +0000,process=/bin/prog,pid=%d,origin=test"
SECOND = 10 ** 9
# name, description, flag, whether sizes are meaningful
KINDS = [("memory", "memory allocation in bytes", "", True), ("fd", "file descriptors", "", False),
         ("gobject", "GObject instance", " [refcount]", True), ("memtransfer", "memory transfer", " [call]", True)]
ALLOCATORS = {"memory": ["malloc", "calloc", "operator new(unsigned long)"], "fd": ["open", "dup"],
              "gobject": ["g_object_new"], "memtransfer": ["memcpy", "strcpy"]}
PLACES = [f"f{i} at /no/s{i % 3}.c:{i}" for i in range(6)] + [f"g{i} from /lib/lib{i % 2}.so" for i in range(3)]
LOST = ("definitely", "indirectly", "possibly")
BEFORE = "[before the trace]"


class Call:
    def __init__(self, what, kind, number, since, thread, function, size, ident, stack):
        self.what, self.kind, self.number, self.since, self.thread = what, kind, number, since, thread
        self.function, self.size, self.id, self.stack = function, size, ident, stack


class Trace:
    """A trace: its calls; `before`: {kind: {id: size}}, the baseline; `lost`: {kind: {id: class}}, or None without a
    scan."""

    def __init__(self, rng, pid=42):
        self.pid, self.has_times = pid, rng.random() < 0.8
        self.kinds = [KINDS[0]] + [kind for kind in KINDS[1:] if rng.random() < 0.5]
        self.calls, self.before, self.lost = [], {}, {}
        stacks = [tuple(rng.choice(PLACES) for _ in range(rng.randint(0, 4))) + ("main at /no/m.c:1",)
                  for _ in range(rng.randint(1, 7))] + [None]
        threads = [(7, "main"), (8, "worker"), (9, "")][:rng.randint(1, 3)]
        step = rng.choice([1000, 10 ** 6, 20 * 10 ** 6, SECOND, 30 * SECOND])
        if rng.random() < 0.3:
            self.before = {"memory": {0x900000 + 64 * i: rng.randint(1, 300) for i in range(rng.randint(1, 5))}}
        since = 0
        for number in range(1, rng.choice([3, 20, 60, 200]) + 1):
            kind = rng.choice(self.kinds)[0]
            since += (rng.randint(0, 3) * step if self.has_times else 1) if number > 1 else 0
            what = "other" if kind == "memtransfer" else "alloc" if rng.random() < 0.6 else "free"
            places = list(self.before.get(kind, ())) if rng.random() < 0.1 else []
            ident = rng.choice(places or [rng.randint(3, 9), 0x1000 + 64 * rng.randint(0, 30)])
            self.calls.append(Call(what, kind, number, since, rng.choice(threads),
                                   rng.choice(ALLOCATORS[kind]) if what != "free" else "free", 0 if what == "free" else
                                   rng.choice([0, 1, 8, 24, 100, 4096, 70000]), ident, rng.choice(stacks)))
        for kind, _, flag, _ in self.kinds:
            if flag != " [call]" and rng.random() < 0.5:
                live = Model(self).live_ids(kind)
                self.lost[kind] = {ident: rng.choice(LOST) for ident in live if rng.random() < 0.5}
        self.notes = [f"open of /nope/{i} failed" for i in range(rng.choice([0, 0, 3, 9, 130]))]
        self.end = rng.choice([None, "has exited with status 0", "has exited with status 3",
                               "was killed by signal 11 (Segmentation fault)"])

    def text(self):
        lines, thread, one = [HEAD % self.pid], None, len(self.kinds) == 1
        lines += [f"<{i}> : {kind} ({desc}){flag}" for i, (kind, desc, flag, _) in enumerate(self.kinds, 1)]
        number_of = {kind[0]: i for i, kind in enumerate(self.kinds, 1)}
        for kind, blocks in self.before.items():
            lines += [f"## before <{number_of[kind]}> 0x{ident:x} {size}" for ident, size in blocks.items()]
        for call in self.calls:
            if call.thread != thread:
                thread = call.thread
                lines.append(f"## thread {thread[0]} {thread[1]}".rstrip())
            s = 36000 * SECOND + call.since
            stamp = (f"[{s // 3600 // SECOND:02}:{s // 60 // SECOND % 60:02}:{s // SECOND % 60:02}.{s // 1000 % 10 ** 6:06}] "
                     if self.has_times else "")
            name = call.function + ("" if one else f"<{call.kind}>")
            lines.append(f"{call.number}. {stamp}{name}" + (
                f"(0x{call.id:x})" if call.what == "free" else f"({call.size}) = 0x{call.id:x}"))
            if call.stack is not None and call.what != "free":
                lines += [f"\t0x{0x100 + 16 * i:x} {frame}" for i, frame in enumerate(call.stack)]
            lines.append("")
        for kind, blocks in self.lost.items():
            lines.append(f"## scan <{number_of[kind]}>")
            lines += [f"## lost <{number_of[kind]}> 0x{ident:x} {word}" for ident, word in blocks.items()]
        lines += [f"## {note}" for note in self.notes]
        if self.end:
            lines.append(f"## process {self.pid} {self.end}")
        return "\n".join(lines) + "\n"


class Block:
    def __init__(self, call, index, since, size, is_before=False):
        self.kind, self.id, self.size, self.is_before = call.kind, call.id, size, is_before
        self.function, self.stack, self.thread = call.function, call.stack, call.thread
        self.index, self.since, self.number = index, since, call.number
        self.gone = self.gone_index = None  # when the block was released, and the index of the call that released it
        self.released = self.temporary = False
        self.references, self.lost, self.taken_back = 1, None, False

    def key(self):
        return self.kind, self.function, self.stack


class Model:
    """The figures of the selected calls of a trace. keep(call) says whether an allocation (or another call) is
    selected, alive(block) whether a block that is live at the end is."""

    def __init__(self, trace, keep=None, alive=None):
        self.trace = trace
        everything = self.replay(trace.calls, None)
        self.end = trace.calls[-1].since
        if alive:
            self.blocks = [block for block in everything if block.gone is None and (not keep or keep(block)) and alive(block)]
            order = {block.number: i for i, block in enumerate(sorted((b for b in self.blocks if not b.is_before),
                                                                      key=lambda b: b.number), 1)}
            for block in self.blocks:
                block.index = order.get(block.number, 0)
                block.temporary = False
            self.others, self.unknown, self.reused, self.releases, self.events = [], {}, {}, {}, len(order)
        elif keep:
            chosen = {block.number for block in everything if not block.is_before and keep(block)}
            chosen |= {call.number for call in trace.calls if call.what == "other" and keep(call)}
            released = {number for block in everything if (keep(block) if block.is_before else block.number in chosen)
                        for number in block.calls}
            calls = [call for call in trace.calls if call.number in chosen | released]
            self.blocks = self.replay(calls, keep)
            # A verdict of a scan concerns the block that was live then, selected or not.
            lost = {(block.kind, block.id, block.number): block.lost for block in everything if block.gone is None}
            for block in self.blocks:
                block.lost = lost.get((block.kind, block.id, block.number))
        else:
            self.blocks = everything

    def replay(self, calls, keep):
        live, newest, blocks = {}, {}, []
        self.others, self.unknown, self.reused, self.releases, self.events = [], {}, {}, {}, len(calls)
        for kind, baseline in self.trace.before.items():
            for ident, size in baseline.items():
                block = Block(Call("alloc", kind, 0, 0, None, BEFORE, size, ident, None), 0, 0, size, True)
                block.calls = []
                if not keep or keep(block):
                    live[kind, ident] = block
                    blocks.append(block)
        counted = {kind for kind, _, flag, _ in self.trace.kinds if flag == " [refcount]"}
        for index, call in enumerate(calls, 1):
            key = call.kind, call.id
            old = live.get(key)
            if call.what == "other":
                self.others.append(call)
            elif call.what == "free":
                self.releases[call.kind] = self.releases.get(call.kind, 0) + 1
                if not old:
                    self.unknown[call.kind] = self.unknown.get(call.kind, 0) + 1
                    continue
                old.calls.append(call.number)
                old.references -= 1
                if not old.references:
                    old.gone, old.gone_index, old.released = call.since, index, True
                    old.temporary = newest.get(call.kind) is old
                    del live[key]
            elif old and not old.is_before and call.kind in counted:
                old.references += 1
                old.calls.append(call.number)
            else:
                if old and old.is_before:
                    # The call had not returned when the baseline was taken: the block is live until now, and was not
                    # allocated before.
                    old.gone, old.gone_index, old.taken_back = call.since, index, True
                elif old:
                    self.reused[call.kind] = self.reused.get(call.kind, 0) + 1
                    old.gone, old.gone_index = call.since, index
                    if newest.get(call.kind) is old:
                        newest.pop(call.kind)
                block = live[key] = Block(call, index, call.since, call.size)
                block.calls = []
                blocks.append(block)
                newest[call.kind] = block
        for kind, lost in self.trace.lost.items():
            for ident, word in lost.items():
                if (kind, ident) in live:
                    live[kind, ident].lost = word
        return blocks

    def live_ids(self, kind):
        return [block.id for block in self.blocks if block.kind == kind and block.gone is None]

    # ---- Figures ----

    def of(self, kind):
        return [block for block in self.blocks if block.kind == kind]

    def alive_at(self, blocks, since):
        """Returns the blocks that were live before the calls of that time. Blocks from before the trace are live from
        its beginning."""
        return [b for b in blocks if (b.since < since) and (b.gone is None or b.gone >= since)]

    def peak(self, kind, sized):
        """Returns the live blocks at the peak, and the time of the peak."""
        best, best_at, members = None, 0, []
        has_sizes = False
        steps = sorted([(b.index, 1, b.since, b) for b in self.of(kind)] +
                       [(b.gone_index, 0, b.gone, b) for b in self.of(kind) if b.gone is not None], key=lambda s: s[:2])
        live = []
        for _, is_birth, since, block in steps:
            if not is_birth:
                live.remove(block)
                continue
            live.append(block)
            size, count = sum(b.size for b in live), len(live)
            has_sizes = sized and (has_sizes or (best or (0, 0))[1] > 0 or size > 0)
            if best is None or (size > best[1] if has_sizes else count > best[0]):
                best, best_at, members = (count, size), since, list(live)
        return members, best_at


def born(blocks):
    return [block for block in blocks if not block.taken_back]


def tally(blocks):
    return len(blocks), sum(block.size for block in blocks)
