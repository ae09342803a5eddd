#!/usr/bin/env python3
"""An independent model of the post-processor's filters, leaks, groups and totals.

usage: model.py [TRACES [SEED]]

Makes random traces, computes with plain lists and dictionaries the output of each set of options, and compares the
program's whole output with it. The traces are read as text and as binary. By default TRACES is 3000 with
CHECK_LONG, else 300. The same SEED gives the same traces. The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import random
import subprocess
import sys
import tempfile

from encode import Encoder
from run import rounds

ALLOC, RELEASE, COPY = 2, 1, 3
OBJECTS = [  # the addresses at which objects are mapped, each with the paths that are mapped there in turn
    (0x400000, 0x500000, ["/bin/prog", "/bin/prog.new"]),
    (0x7F0000000000, 0x7F0000100000, ["/lib/liba.so", "/lib/libb.so", "/lib/libc.so"]),
    (0x7F0000200000, 0x7F0000300000, ["/lib/libd.so"]),
]
FUNCTIONS = {ALLOC: ["malloc", "operator new(unsigned long)", "open"], RELEASE: ["free", "close"]}


class Call:
    kind = "call"

    def __init__(self, index, resource, kind, function, ident, size, context, ms, frames, args):
        self.index, self.resource, self.call = index, resource, kind
        self.function, self.id, self.size = function, ident, size
        self.context, self.ms, self.frames, self.args = context, ms, frames, args


def make_trace(rng):
    """Returns (resources, contexts, items); an item is a Call, ("object", from, to, path) or ("note", text)."""
    resources = [("memory", "memory allocation in bytes", 0)]
    if rng.random() < 0.6:
        resources = [(f"kind{i}", f"the kind {i}", rng.choice([0, 0, 1, 2]))
                     for i in range(1, rng.randint(2, 5))]
    contexts = [(1, "first context"), (2, "second"), (8, "c %s %n")][:rng.randint(0, 3)]
    now = {where: 0 for where in range(len(OBJECTS))}
    items = [("object", start, end, paths[0]) for start, end, paths in OBJECTS]
    addresses = [start + rng.randrange(1, end - start) for start, end, _ in OBJECTS
                 for _ in range(2)] + [0x10]
    stacks = [tuple(rng.choice(addresses) for _ in range(rng.randint(0, 5)))
              for _ in range(rng.randint(1, 8))]
    has_times, index, ms = rng.random() < 0.7, 0, rng.randrange(1, 80000000)
    for _ in range(rng.choice([0, 1, 5, 30, 30, 200])):
        dice = rng.random()
        if dice < 0.03:
            items.append(("note", f"something happened after {index} 100%s"))
            continue
        if dice < 0.05:
            where = rng.randrange(len(OBJECTS))
            start, end, paths = OBJECTS[where]
            now[where] = (now[where] + rng.randint(0, 1)) % len(paths)
            items.append(("object", start, end, paths[now[where]]))
            continue
        index += 1
        ms += rng.randint(0, 5)
        which = rng.randint(1, len(resources))
        kind = COPY if resources[which - 1][2] & 2 else rng.choice([ALLOC, ALLOC, RELEASE])
        items.append(Call(
            index, which, kind, rng.choice(FUNCTIONS.get(kind, ["memcpy"])),
            rng.choice([rng.randint(1, 12), 0x602000 + 16 * rng.randint(0, 20)]),
            0 if kind == RELEASE else rng.choice([0, 1, 24, 24, 4096, 0x80000001]),
            rng.choice([0, 0] + [c[0] for c in contexts] + [3]) if contexts else 0,
            ms if has_times else None,
            stacks[rng.randrange(len(stacks))] if kind != RELEASE or rng.random() < 0.2 else (),
            [] if rng.random() < 0.8 else [("nmemb", "3"), ("path", '"/a b"')][:rng.randint(1, 2)]))
    return resources, contexts, items


# The effect of the options.

def find_leaks(resources, items):
    """Returns the printed items in their order, and the number of releases that were not traced. An object at an
    address that no other object had is printed at once, unless another object waits. All other items that are not calls
    wait until no earlier call is live."""
    live, waiting, printed, mapped, unseen = {}, [], [], {}, 0
    for item in items:
        if not isinstance(item, Call):
            overtakes = item[0] == "object" and mapped.setdefault(item[1], item[3]) == item[3]
            if overtakes and not any(not isinstance(i, Call) and i[0] == "object" for i in waiting):
                printed.append(item)
                continue
            if item[0] == "object":
                mapped[item[1]] = item[3]
            waiting.append(item)
        elif not resources[item.resource - 1][2] & 2 and item.call != COPY:
            key = item.resource, item.id
            counted = resources[item.resource - 1][2] & 1
            if item.call == ALLOC:
                if counted and key in live:
                    live[key][1] += 1
                else:
                    if key in live:  # the release was not traced
                        unseen += 1
                        waiting.remove(live[key][0])
                    live[key] = [item, 1]
                    waiting.append(item)
            elif key in live:
                live[key][1] -= 1
                if not counted or live[key][1] == 0:
                    waiting.remove(live.pop(key)[0])
        while waiting and not isinstance(waiting[0], Call):
            printed.append(waiting.pop(0))
    return printed + waiting, unseen


def object_at(mapped, address):
    for start, (end, path) in mapped.items():
        if start < address <= end:
            return start, end, path
    return None


def groups(items, order):
    mapped, found, others = {}, {}, []
    for item in items:
        if isinstance(item, Call):
            key = item.frames, tuple(object_at(mapped, frame) for frame in item.frames)
            found.setdefault(key, []).append(item)
            continue
        others.append(item)
        if item[0] == "object":
            mapped[item[1]] = item[2], item[3]
    ranked = list(found.items())  # already by first call, and sorting is stable
    if order in ("size-asc", None):
        ranked.sort(key=lambda g: sum(c.size for c in g[1]))
    elif order == "size":
        ranked.sort(key=lambda g: -sum(c.size for c in g[1]))
    elif order == "count":
        ranked.sort(key=lambda g: -len(g[1]))
    else:
        ranked.sort(key=lambda g: len(g[1]))
    return others, ranked, mapped


# The printed form (protocol 1.4, as documented).

def amount(resources, idents, calls, words):
    """A number of the resource's units, and their size if they have sizes; blocks if there are several resources."""
    known = {ident: (kind, flags) for ident, (kind, _, flags) in resources}
    if len(known) == 1:
        known[0] = min(known.values())
    kind, flags = known.get(min(idents), (None, 0)) if len(idents) == 1 else (None, 0)
    noun = "call" if flags & 2 else "block" if kind in (None, "memory") else kind
    size = sum(call.size for call in calls)
    before = words.split(" with ")[0]
    return f"{len(calls)} {noun}(s)" + (words % size if kind in (None, "memory") or size else before)


def call_lines(call, resources, names, options):
    text = f"{call.index}. "
    if call.context:
        text += f"@{call.context:x} "
    if call.ms is not None:
        s = call.ms // 1000
        text += f"[{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}.{call.ms % 1000:03}000] "
    text += call.function
    if len(resources) > 1:
        text += f"<{names[call.resource]}>"
    text += f"(0x{call.id:x})" if call.call == RELEASE else f"({call.size}) = 0x{call.id:x}"
    lines = [text]
    if not options.get("-a"):
        lines += [f"\t${i} = {name}={value}" for i, (name, value) in enumerate(call.args, 1)]
    return lines


def frame_lines(call):
    return [f"\t0x{frame:x}" for frame in call.frames] + [""]


def item_line(item):
    if item[0] == "object":
        return f": {item[3]} => 0x{item[1]:x}-0x{item[2]:x}"
    return f"## {item[1]}"


def expected(trace, options):
    """Returns all lines after the header."""
    resources, contexts, items = trace
    items = [Call(**{"kind" if k == "call" else k if k != "id" else "ident": v
                     for k, v in vars(item).items()}) if isinstance(item, Call) else item
             for item in items]
    chosen = list(enumerate(resources, 1))
    if "-R" in options:
        mask = int(options["-R"], 16)
        chosen = [(i, r) for i, r in chosen if mask >> (i - 1) & 1]
        items = [i for i in items if not isinstance(i, Call) or mask >> (i.resource - 1) & 1]
    names = {i: r[0] for i, r in chosen}
    if "-l" in options:
        items, unseen = find_leaks(resources, items)
    if "--call-address" in options:
        obj, _, span = options["--call-address"].rpartition(":")
        start, size = (int(x, 16) for x in span.split("+"))
        mapped, kept = {}, []
        for item in items:
            if not isinstance(item, Call):
                if item[0] == "object":
                    mapped[item[1]] = item[2], item[3]
                kept.append(item)
                continue
            low = [(at + start if start < at else start) for at, (_, path) in mapped.items()
                   if obj in path]
            if any(at <= frame < at + size for at in low for frame in item.frames):
                kept.append(item)
        items = kept
    for option, keep in (("--include", True), ("--exclude", False)):
        if option in options:
            items = [i for i in items if not isinstance(i, Call)
                     or (i.index in options[option]) == keep]
    if "-C" in options:
        mask = int(options["-C"], 16)
        contexts = [c for c in contexts if c[0] & mask]
        items = [i for i in items if not isinstance(i, Call)
                 or (i.context & mask if mask else not i.context)]
    # Filters see whole stacks.
    if "-b" in options:
        for item in items:
            if isinstance(item, Call):
                item.frames = item.frames[:int(options["-b"])]
    lines = []
    for number, (_, (kind, desc, flags)) in enumerate(chosen, 1):
        ident = number if len(chosen) == 1 else chosen[number - 1][0]
        flag = {0: "", 1: " [refcount]", 2: " [call]"}[flags]
        lines.append(f"<{ident:x}> : {kind} ({desc}){flag}")
    # With -R the resources are printed when it is known how many remain.
    lines[0 if "-R" in options else len(lines):0] = [f"@ {ident:x} : {name}" for ident, name in contexts]
    if "-c" in options:
        others, ranked, mapped = groups(items, options.get("-s"))
        lines += [item_line(item) for item in others]
        for (frames, objects), calls in ranked:
            for frame, there in zip(frames, objects):
                if there and object_at(mapped, frame) != there:
                    mapped[there[0]] = there[1], there[2]
                    lines.append(item_line(("object",) + there))
            for call in calls:
                lines += call_lines(call, chosen, names, options)
            of = {c.resource for c in calls}
            lines.append(f"# allocation summary: {amount(chosen, of, calls, ' with total size %d')}")
            lines += frame_lines(calls[0])
    else:
        for item in items:
            if isinstance(item, Call):
                lines += call_lines(item, chosen, names, options) + frame_lines(item)
            else:
                lines.append(item_line(item))
    if "-l" in options:
        for ident, (kind, desc, flags) in chosen:
            if flags & 2:
                continue
            left = [i for i in items if isinstance(i, Call) and i.resource == ident]
            lines += [f"# Resource - {kind} ({desc}):",
                      f"# {amount(chosen, {ident}, left, ' leaked with total size of %d bytes')}"]
        if unseen:
            lines.append(f"# {unseen} id(s) were allocated again before a release was seen")
    return lines


def matches_nothing(trace, options):
    """Returns true if a filter matches nothing in the whole trace, whether or not calls leak; or if all filters
    together select no call."""
    resources, contexts, items = trace
    kinds = int(options.get("-R", "ffff"), 16)
    if not any(kinds >> (i - 1) & 1 for i, _ in enumerate(resources, 1)):
        return True
    calls = [item for item in items if isinstance(item, Call) and kinds >> (item.resource - 1) & 1]
    chosen, empty_context = [{call.index for call in calls}], False
    if "-C" in options:
        mask = int(options["-C"], 16)
        chosen.append({call.index for call in calls if (call.context & mask if mask else not call.context)})
        empty_context = not chosen[-1]
        if mask and empty_context and not any(context[0] & mask for context in contexts):
            return True
    if "--include" in options:
        chosen.append(chosen[0] & options["--include"])
        if not chosen[-1]:
            return True
    if "--exclude" in options:
        if options["--exclude"] and not chosen[0] & options["--exclude"]:
            return True
        chosen.append(chosen[0] - options["--exclude"])
    if "--call-address" in options:
        chosen.append(chosen[0] & set(through_address(trace, options)))
        if not chosen[-1]:
            return True
    # A context without calls is printed unchanged.
    return bool(calls) and not empty_context and not set.intersection(*chosen)


def through_address(trace, options):
    """Returns the numbers of the calls with a frame in the range."""
    obj, _, span = options["--call-address"].rpartition(":")
    start, size = (int(x, 16) for x in span.split("+"))
    mapped, found = {}, []
    for item in trace[2]:
        if not isinstance(item, Call):
            if item[0] == "object":
                mapped[item[1]] = item[2], item[3]
            continue
        low = [(at + start if start < at else start) for at, (_, path) in mapped.items() if obj in path]
        if any(at <= frame < at + size for at in low for frame in item.frames):
            found.append(item.index)
    return found


def header(options, no_times):
    filters = [word for option, word in (("-l", "leaks"), ("-c", "compress")) if option in options]
    depth = min(10, int(options.get("-b", 10)))
    return ("version=1.4,arch=x86_64,timestamp=2023-11-14 22:13:20 +0000,process=/bin/prog,pid=4242"
            + (",filter=" + "|".join(filters) if filters else "") + f",backtrace depth={depth}"
            + ",origin=model 0.1.0" + (",timestamps=no" if no_times else ""))


def as_text(trace, no_times):
    return "\n".join([header({}, no_times)] + expected(trace, {})) + "\n"


def as_binary(trace, encoder):
    resources, contexts, items = trace
    packets = [("PINF", 4242, 1700000000, 0, 10, "/bin/prog")]
    packets += [("RESR", i, flags, kind, desc) for i, (kind, desc, flags) in enumerate(resources, 1)]
    packets += [("CTXR", ident, name) for ident, name in contexts]
    for item in items:
        if isinstance(item, Call):
            packets.append(("CALL", item.resource if len(resources) > 1 else 0, item.context,
                            item.ms or 0, item.call, item.function, item.size, item.id))
            if item.frames:
                packets.append(("BTRC",) + item.frames)
            if item.args:
                packets.append(("ARGS",) + tuple(item.args))
        elif item[0] == "object":
            packets.append(("MMAP",) + item[1:])
        else:
            packets.append(("NOTE", item[1]))
    return encoder.trace(packets)


def choose_options(rng, trace, folder):
    options = {}
    for option, chance, values in (
            ("-l", 0.5, [True]), ("-c", 0.5, [True]), ("-a", 0.1, [True]),
            ("-b", 0.3, ["0", "1", "2", "9"]), ("-C", 0.2, ["0", "1", "0x3", "a"]),
            ("-R", 0.2, ["1", "2", "3", "0xE"]),
            ("--call-address", 0.15, ["prog:400000+80000", "lib:0+80000", "libb:80000+80000"])):
        if rng.random() < chance:
            options[option] = rng.choice(values)
    if "-c" in options and rng.random() < 0.6:
        options["-s"] = rng.choice(["size", "size-asc", "count", "count-asc"])
    arguments = []
    for option, value in options.items():
        arguments.append(option if value is True else
                         f"{option}={value}" if option.startswith("--") else option + value)
    for option in ("--include", "--exclude"):
        if rng.random() < 0.15:
            options[option] = {i for i in range(220) if rng.random() < 0.5}
            path = os.path.join(folder, option[2:])
            with open(path, "w", encoding="ascii") as out:
                out.writelines(f"{i}\n" for i in options[option])
            arguments.append(f"{option}={path}")
    return options, arguments


def run(program, arguments, data):
    done = subprocess.run([program] + arguments, input=data, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def main():
    program = os.environ["FUNCTRACE_POSTPROC"]
    count = int(sys.argv[1]) if len(sys.argv) > 1 else rounds(3000)
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20231114
    failed = 0
    with tempfile.TemporaryDirectory(prefix="functrace-model-") as folder:
        for number in range(count):
            rng = random.Random(seed * 1000003 + number)
            trace = make_trace(rng)
            no_times = all(i.ms is None for i in trace[2] if isinstance(i, Call))
            options, arguments = choose_options(rng, trace, folder)
            binary = rng.random() < 0.5
            compressed = not binary and rng.random() < 0.3
            if compressed:  # the trace of an earlier run: the order of the calls must be restored
                data = run(program, ["-c", "-s", rng.choice(["size", "count-asc"]), "-"],
                           as_text(trace, no_times).encode())[1].encode()
            elif binary:
                data = as_binary(trace, Encoder("1.4", 8, rng.random() < 0.3))
            else:
                data = as_text(trace, no_times).encode()
            status, out, errors = run(program, arguments + ["-"], data)
            lines = out.split("\n")
            wanted = [header(options, no_times)] + expected(trace, options) + [""]
            if binary:  # the golden files test the header of a binary trace
                lines, wanted = lines[1:], wanted[1:]
            if compressed:  # such a trace has the objects and notes at other places
                lines, wanted = ([line for line in text if not line.startswith((": ", "## "))]
                                 for text in (lines, wanted))
            nothing = matches_nothing(trace, options)
            if status == nothing and lines == wanted and bool(errors) == nothing:
                continue
            failed += 1
            print(f"# trace {number} of seed {seed}, {'binary' if binary else 'compressed' if compressed else 'text'}, "
                  f"{' '.join(arguments)}: status {status} {errors.strip()}")
            for at, (have, want) in enumerate(zip(lines + ["(end)"], wanted + ["(end)"]), 1):
                if have != want:
                    print(f"#   line {at}: has  {have!r}\n#   line {at}: want {want!r}")
                    break
            if failed == 5:
                break
    print(f"{'not ok' if failed else 'ok'} 1 - {count} random traces are as the model says\n1..1")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
