#!/usr/bin/env python3
"""functrace-postproc -f NAME writes formats of other tools: the figures that these tools read must be those of --stats.

The programs are $FUNCTRACE and $FUNCTRACE_POSTPROC. Prints TAP.
"""

import collections
import gzip
import html
import json
import os
import re
import resource
import shutil
import subprocess
import sys

import golden
from encode import Encoder
from report import TRACE
from run import PROGRAM, Skip, main, run

HOSTILE = [b'a"b\\', b"</script>", b"a;b", b"\xff\xfe(", b"(anonymous namespace)::f", b"fn=(1) x", b"n0: 1 0x0: x"]
HOSTILE_TEXTS = ['a"b\\', "</script>", "a;b", "(anonymous namespace)::f", "\ufffd\ufffd("]
HEAD = b"""version=1.4,arch=x86_64,timestamp=2012-05-04 10:00:00 +0000,process=/bin/prog,pid=42,origin=test
<1> : memory (memory allocation in bytes)
"""
# f calls g, which calls f again, which allocates. Then main calls f, which allocates.
RECURSION = HEAD + b"""1. [10:00:01.000000] malloc<memory>(100) = 0x1000
\t0x10 f at /no/a.c:5
\t0x20 g at /no/a.c:6
\t0x30 f at /no/a.c:7
\t0x40 main at /no/a.c:8

2. [10:00:02.000000] malloc<memory>(7) = 0x2000
\t0x10 f at /no/a.c:5
\t0x40 main at /no/a.c:8

"""

# The trace has an inlined frame, a block whose release was not traced, a call without a stack, frames without names,
# an object that replaces another one, a size of more than 32 bits, and a release of a block from before the trace.
HISTORY = HEAD + b"""<2> : fd (file descriptors)
: /lib/a.so => 0x1000-0x2000
1. [10:00:01.000000] malloc<memory>(100) = 0x1000
\t0x1100
\t0x20 in_g at /no/a.c:6 (inlined)
\t0x20 g at /no/a.c:16
\t0x40 main at /no/a.c:8

2. [10:00:01.009000] malloc<memory>(100) = 0x1000
\t0x1100
\t0x20 in_g at /no/a.c:6 (inlined)
\t0x20 g at /no/a.c:16
\t0x40 main at /no/a.c:8

3. [10:00:02.000000] calloc<memory>(7) = 0x2000

4. [10:00:02.000000] open<fd>(1) = 0x3
\t0x13 open_it at /no/f.c:9

5. [10:00:02.500000] free<memory>(0x9999)
: /lib/b.so => 0x1000-0x2000
6. [10:00:03.000000] malloc<memory>(100) = 0x3000
\t0x1100
\t0x40 main at /no/a.c:8

7. [10:00:04.000000] free<memory>(0x3000)
8. [10:00:04.000000] malloc<memory>(8589934592) = 0x4000
\t0x40 main at /no/a.c:8

9. [10:00:04.005000] free<memory>(0x2000)
"""
HISTORY_OF_HEAPTRACK = """v 10400 3
X /bin/prog
s 4 main
s 7 /no/a.c
i 3f 0 1 2 8
t 1 0
s 4 in_g
s 1 g
i 1f 0 3 2 6 4 2 10
t 2 1
s 9 /lib/a.so
i 10ff 5
t 3 2
a 64 3
+ 0
- 0
+ 0
c 3e8
s 6 calloc
i 0 0 6
t 4 0
a 7 4
+ 1
c 5dc
c 7d0
i 3f 0 1 2 8
t 5 0
s 9 /lib/b.so
i 10ff 7
t 6 5
a 64 6
+ 2
c bb8
- 2
a 200000000 5
+ 3
- 1
c bbd
"""


def export(name, *options, data):
    return run("-f", name, *options, "-", data=data, check=0).stdout


def tool(name, *arguments, says=None):
    """Returns the output of a tool, which must print no errors, or only lines that begin with these words."""
    if not shutil.which(name):
        raise Skip(f"{name} is not installed")
    done = subprocess.run([name, *arguments], capture_output=True, timeout=120, check=False)
    complaints = [line for line in done.stderr.splitlines() if not says or not line.startswith(says)]
    assert done.returncode == 0 and not complaints, (name, done.stderr)
    return done.stdout.decode(errors="replace")


def collapsed(lines):
    """Returns the figure of each stack. The figures of a stack that is on several lines are added."""
    stacks = collections.Counter()
    for line in lines:
        stack, figure = line.rsplit(" ", 1)
        stacks[stack] += int(figure)
    return stacks


def heaptrack_stacks(folder, trace, cost):
    """Returns heaptrack_print's figures of each stack."""
    path = os.path.join(folder, "stacks")
    tool("heaptrack_print", "--disable-builtin-suppressions", "-F", path, "--flamegraph-cost-type", cost, trace)
    with open(path, encoding="utf-8", errors="replace") as file:
        return collapsed(file)


def fields(data):
    """A protobuf message as {number: values}: integers, and the bytes of fields with a length."""
    found, at = collections.defaultdict(list), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            at += 1
            value |= (data[at - 1] & 127) << shift
            shift += 7
            if data[at - 1] < 128:
                return value

    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            assert at + value <= len(data)
            value, at = data[at:at + value], at + value
        else:
            assert key & 7 == 0, key
        found[key >> 3].append(value)
    return found


def varints(data):
    """The numbers of a packed field."""
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    return numbers


def pprof_of(path):
    done = run("-f", "pprof", path)
    if done.returncode == 1 and b"was built without" in done.stderr:
        assert b"libprotobuf-c-dev" in done.stderr, done
        raise Skip("this build has no protobuf-c")
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


def pprof_samples(data):
    """Returns the profile's fields, its strings, and (locations, values) of each sample; a location is the address and
    name, file and line of each function there."""
    profile = fields(gzip.decompress(data))
    texts = [text.decode() for text in profile[6]]
    assert texts[0] == ""
    functions = {f[1][0]: (texts[f[2][0]], texts[(f[4] or [0])[0]]) for f in map(fields, profile[5])}
    locations = {}
    for location in map(fields, profile[4]):
        lines = [functions[line[1][0]] + ((line[2] or [0])[0],) for line in map(fields, location[4])]
        locations[location[1][0]] = ((location[3] or [0])[0], *lines)
    samples = [([locations[i] for i in varints(sample[1][0])], varints(sample[2][0]))
               for sample in map(fields, profile[2])]
    return profile, texts, samples


def go_top(path, index):
    """Returns the sum of one figure, as pprof prints it, and each function's own part."""
    unit = "bytes" if "space" in index else "count"
    shown = tool("go", "tool", "pprof", "-top", f"-unit={unit}", "-nodefraction=0", "-nodecount=0",
                 f"-sample_index={index}", path)
    total = re.search(r"^Showing nodes accounting for .* of (\d+)B? total$", shown, re.M)
    flat = re.findall(r"^ *(\d+)B? +[\d.]+% +[\d.]+% +\d+B? +[\d.]+%  (.*)$", shown, re.M)
    assert total, shown
    return int(total.group(1)), {name: int(figure) for figure, name in flat}


def write(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, "wb") as out:
        out.write(content)
    return path


def hostile_trace():
    lines = [HEAD]
    for i, name in enumerate(HOSTILE):
        lines.append(b"%d. [10:00:0%d.000000] malloc<memory>(100) = 0x%d000\n\t0x%d0 %s at /no/%s.c:5\n\n" %
                     (i + 1, i + 1, i + 1, i + 1, name, name))
    return b"".join(lines)


def real_trace(folder):
    """A trace of a real program, and the live blocks, live bytes, peak bytes and allocations of --stats."""
    trace = os.path.join(folder, "t.rtrace")
    subprocess.run([os.environ["FUNCTRACE"], "-q", "-o", trace, "perl", "-e", "my @x = map { 'y' x $_ } 1..300"],
                   check=True, timeout=120)
    stats = run("--stats", trace, check=0).stdout.decode()
    live = re.search(r"live at the end *(\d+) *bytes *(\d+)", stats).groups()
    peak = re.search(r"peak bytes *(\d+)", stats).group(1)
    calls = re.search(r"allocations *(\d+)", stats).group(1)
    return trace, int(live[0]), int(live[1]), int(peak), int(calls)


def the_speedscope_file_has_stacks_and_weights(_folder):
    seen = json.loads(export("speedscope", data=TRACE))
    assert seen["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    names = [frame["name"] for frame in seen["shared"]["frames"]]
    memory, fd = seen["profiles"]
    stacks = {";".join(names[i] for i in sample): weight for sample, weight in zip(memory["samples"], memory["weights"])}
    base = "_start;__libc_start_main;main;outer;middle;alloc_"
    assert stacks == {base + "a;malloc": 140, base + "b;malloc": 60}, stacks
    assert (memory["type"], memory["unit"], memory["startValue"], memory["endValue"]) == ("sampled", "bytes", 0, 200)
    assert (fd["name"], fd["weights"]) == ("fd: live", [1])
    counted = json.loads(export("speedscope", "--weight=count", data=TRACE))["profiles"][0]
    assert (counted["unit"], counted["weights"]) == ("none", [2, 1, 1]), counted


def the_chrome_file_has_counters_of_live_bytes_and_blocks(_folder):
    events = json.loads(export("chrome", data=TRACE))["traceEvents"]
    assert events[0] == {"ph": "M", "pid": 42, "tid": 0, "ts": 0, "name": "process_name", "args": {"name": "/bin/prog"}}
    figures = [(event["ts"], event["args"]["bytes"]) for event in events if event["name"] == "memory: live bytes"]
    assert figures == sorted(figures, key=lambda figure: figure[0])
    assert (3e6, 1200) in figures and figures[-1] == (5e6, 200), figures
    assert max(figure for _, figure in figures) == 1200
    blocks = [event["args"]["blocks"] for event in events if event["name"] == "memory: live blocks"]
    assert blocks[-1] == 3, blocks


def ms_print_reads_the_massif_file(folder):
    text = export("massif", data=TRACE)
    shown = tool("ms_print", write(folder, "m", text))
    assert "Number of snapshots:" in shown and "(peak)" in shown
    peak = text.decode().split("heap_tree=peak\n")[1].split("#")[0]
    assert "mem_heap_B=1200\n" in text.decode()
    assert peak.splitlines() == [
        "n3: 1200 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.",
        " n1: 1000 0x11: std::vector<int, std::allocator<int> >::push (in /lib/libv.so)", "  n0: 1000 0x3F: main (m.c:8)",
        " n1: 140 0xF: alloc_a (a.c:5)", "  n1: 140 0x1F: middle (m.c:6)", "   n1: 140 0x2F: outer (m.c:7)",
        "    n1: 140 0x3F: main (m.c:8)", "     n1: 140 0x4F: __libc_start_main (s.c:1)", "      n0: 140 0x5F: _start",
        " n1: 60 0x10: alloc_b (b.c:5)", "  n1: 60 0x1F: middle (m.c:6)", "   n1: 60 0x2F: outer (m.c:7)",
        "    n1: 60 0x3F: main (m.c:8)", "     n1: 60 0x4F: __libc_start_main (s.c:1)", "      n0: 60 0x5F: _start"], peak


# Two blocks whose sizes together exceed 64 bits, in a trace that is as long as a trace without times can be.
LONGEST = HEAD + b"""1. malloc<memory>(%d) = 0x1000
\t0x10 f at /no/a.c:5

%d. malloc<memory>(%d) = 0x2000
\t0x20 g at /no/a.c:6

""" % (1 << 63, (1 << 64) - 1, 1 << 63)


def exports_of_the_longest_trace_end_and_limit_sums_to_64_bits(folder):
    most, path = str((1 << 64) - 1), write(folder, "longest", LONGEST)
    out = os.path.join(folder, "out")
    # With --size= the numbers of the calls are the times. If a loop does not end, the limit of the file's size ends it.
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    run("-f", "massif", "--size=1-", "-o", out, path, check=0, preexec_fn=limit)
    with open(out, encoding="ascii") as file:
        text = file.read()
    assert re.findall(r"snapshot=(\d+)", text) == [str(i) for i in range(66)], text
    assert re.findall(r"mem_heap_B=(\d+)", text)[-2:] == [most, most], text
    assert text.endswith(f"n2: {most} (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
                         f" n0: {1 << 63} 0xF: f (a.c:5)\n n0: {1 << 63} 0x1F: g (a.c:6)\n"), text
    below = HEAD + b"1. malloc(%d) = 0x1000\n\t0x10 f\n\t0x20 g\n\n2. malloc(%d) = 0x2000\n\t0x10 f\n\t0x30 h\n" % (
        1 << 63, 1 << 63)
    assert f" n2: {most} 0xF: f\n".encode() in export("massif", data=below)
    assert json.loads(export("speedscope", data=LONGEST))["profiles"][0]["endValue"] == int(most)


def the_callgrind_file_counts_recursive_calls_once(folder):
    shown = tool("callgrind_annotate", "--inclusive=yes", "--threshold=100", write(folder, "c", export("callgrind", data=RECURSION)))
    figures = {name: tuple(int(n.replace(",", "")) for n in (size, blocks)) for size, blocks, name in re.findall(
        r"^ *([\d,]+) (?:\([^)]*\))? *([\d,]+) (?:\([^)]*\))? *\S*:([\w']+)", shown, re.M)}
    assert figures == {"main": (107, 2), "f": (107, 2), "f'2": (100, 1), "g": (100, 1), "malloc": (107, 2)}, (figures, shown)


def the_heaptrack_file_has_all_calls_in_order(_folder):
    assert export("heaptrack", data=HISTORY).decode() == HISTORY_OF_HEAPTRACK
    attached = Encoder("1.4", 8, False).trace(golden.DECLARATIONS)
    assert export("heaptrack", data=attached).startswith(b"v 10400 3\nX ")


def heaptrack_print_reads_the_heaptrack_file(folder):
    trace = write(folder, "h", export("heaptrack", data=HISTORY))
    assert heaptrack_stacks(folder, trace, "leaked") == {
        "main (a.c);in_g (a.c);g (a.c);0x10ff;": 100, "main (a.c);": 1 << 33, "calloc;": 0, "main (a.c);0x10ff;": 0}
    assert sum(heaptrack_stacks(folder, trace, "allocations").values()) == 5
    shown = tool("heaptrack_print", "--print-leaks=1", trace)
    assert ("100B leaked over 2 calls from:\n    in_g\n      at /no/a.c:6\n      in ??\n    g\n      at /no/a.c:16\n"
            "    main\n") in shown, shown
    assert "Debuggee command was: /bin/prog\n" in shown and "total runtime: 3.01s.\n" in shown, shown


RESIDENT = HEAD + b"""1. [10:00:01.000000] malloc<memory>(100) = 0x1000
\t0x10 main at /no/a.c:5

## resident 40960000 81920000
2. [10:00:03.000000] malloc<memory>(60) = 0x2000
\t0x10 main at /no/a.c:5

## resident 20480000 90112000
"""


def heaptrack_massif_and_json_files_have_the_resident_memory(folder):
    trace = export("heaptrack", data=RESIDENT)
    lines = [line for line in trace.split(b"\n") if line[:1] in b"IR"]
    lines = [line for line in lines if line]
    assert lines == [b"I 400 0", b"R %x" % 80000, b"R %x" % 40000, b"R %x" % 88000, b"R %x" % 20000], lines
    shown = tool("heaptrack_print", write(folder, "r", trace))
    assert "peak RSS (including heaptrack overhead): 90.11M\n" in shown, shown
    assert b"desc: functrace" in export("massif", data=RESIDENT)
    assert re.search(rb"^desc: functrace \S+, peak RSS 90112000 B$", export("massif", data=RESIDENT), re.M)
    process = json.loads(export("json", data=RESIDENT).split(b"\n")[0])
    assert (process["resident"], process["resident_peak"]) == (20480000, 90112000), process


def without_measurements_the_resident_memory_is_unknown(folder):
    assert not re.search(rb"^[IR] ", export("heaptrack", data=HISTORY), re.M)
    assert re.search(rb"^desc: functrace \S+, peak RSS unknown$", export("massif", data=HISTORY), re.M)
    process = json.loads(export("json", data=HISTORY).split(b"\n")[0])
    assert process["resident"] is None and process["resident_peak"] is None, process


def heaptrack_files_of_several_traces_need_a_folder(folder):
    one, other = write(folder, "1.txt", HISTORY), write(folder, "2.txt", TRACE)
    done = run("-f", "heaptrack", one, other, check=2)
    assert b"folder" in done.stderr and not done.stdout, done
    both = b"".join(export("stacktrack", data=data) for data in (HISTORY, TRACE.replace(b"pid=42", b"pid=43")))
    done = run("-f", "heaptrack", "-", data=both, check=1)
    assert b"give a folder with -o, or choose one process with --pid" in done.stderr, done
    out = os.path.join(folder, "out")
    os.mkdir(out)
    run("-q", "-f", "heaptrack", "-o", out, one, other, check=0)
    assert sorted(os.listdir(out)) == ["42-0.heaptrack", "42-1.heaptrack"]
    with open(os.path.join(out, "42-0.heaptrack"), encoding="ascii") as file:
        assert file.read() == HISTORY_OF_HEAPTRACK
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "-f", "heaptrack", one], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and b"incomplete" in done.stderr, done
    # Texts of all lengths around the sizes of stdio's buffers: some write fails last, when the export ends.
    for count in (100, 1500, 3000, 6000):
        more = write(folder, "3.txt", HISTORY + b"".join(
            b"%d. [10:00:09.%06d] malloc<memory>(%d) = 0x%x\n\t0x%x\n\n" % (100 + i, i, i + 1, 4096 * (i + 9), 0x9000 + i)
            for i in range(count)))
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "-q", "-f", "heaptrack", more], stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 1 and b"incomplete" in done.stderr, (count, done)


def the_pprof_file_has_stacks_and_figures(folder):
    profile, texts, samples = pprof_samples(pprof_of(write(folder, "1.txt", HISTORY)))
    figures = [(texts[figure[1][0]], texts[figure[2][0]]) for figure in map(fields, profile[1])]
    assert figures == [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
                       ("inuse_space", "bytes")], figures
    assert texts[profile[14][0]] == "inuse_space" and profile[12] == [1]
    assert profile[9] == [1336125600 * 10**9] and profile[10] == [3005 * 10**6], profile
    main_line, named = ("main", "/no/a.c", 8), [(0x1f, ("in_g", "/no/a.c", 6), ("g", "/no/a.c", 16))]
    assert samples == [
        ([(0x10ff, ("[a.so+0xff]", "", 0)), *named, (0x3f, main_line)], [2, 200, 1, 100]),
        ([(0, ("calloc", "", 0))], [1, 7, 0, 0]),
        ([(0x10ff, ("[b.so+0xff]", "", 0)), (0x3f, main_line)], [1, 100, 0, 0]),
        ([(0x3f, main_line)], [1, 1 << 33, 1, 1 << 33])], samples
    mappings = [((m[2] or [0])[0], (m[3] or [0])[0], texts[m[5][0]]) for m in map(fields, profile[3])]
    assert mappings == [(0, 0, "/bin/prog"), (0x1000, 0x2000, "/lib/a.so"), (0x1000, 0x2000, "/lib/b.so")], mappings
    # The entries of equal stacks of several processes are merged.
    both = [write(folder, f"{i}.txt", TRACE.replace(b"pid=42", b"pid=4%d" % i)) for i in range(2)]
    done = run("-f", "pprof", *both, check=0).stdout
    assert [values for _, values in pprof_samples(done)[2]] == [[4, 280, 4, 280], [2, 120, 2, 120], [2, 2000, 0, 0]]


def the_pprof_file_has_hostile_names_as_valid_utf8(folder):
    texts = pprof_samples(pprof_of(write(folder, "t.txt", hostile_trace())))[1]
    assert set(HOSTILE_TEXTS) <= set(texts), texts


def go_tool_pprof_reads_the_pprof_file(folder):
    path = write(folder, "p.pb.gz", pprof_of(write(folder, "1.txt", TRACE)))
    assert go_top(path, "inuse_space") == (200, {"alloc_a": 140, "alloc_b": 60, "middle": 0, "outer": 0, "main": 0,
                                                 "__libc_start_main": 0, "_start": 0})
    assert go_top(path, "alloc_objects")[0] == 4
    trace, blocks, size, _, calls = real_trace(folder)
    path = write(folder, "p.pb.gz", pprof_of(trace))
    for index, figure in (("inuse_space", size), ("inuse_objects", blocks), ("alloc_objects", calls)):
        total, flat = go_top(path, index)
        assert total == figure == sum(flat.values()), (index, total, figure)


def google_pprof_reads_the_gperftools_file(folder):
    """Names are without arguments, which google-pprof removes; the traced program need not exist."""
    path = write(folder, "g", export("gperftools", data=HISTORY))
    assert export("gperftools", data=HISTORY).decode() == """--- symbol
binary=/bin/prog
0x1 [calloc]
0x2 [a.so+0xff]
0x4 g--in_g
0x6 main
0x8 [b.so+0xff]
---
heap profile: 2: 8589934692 [5: 8589934899] @ heapprofile
1: 100 [2: 200] @ 0x2 0x4 0x6
0: 0 [1: 7] @ 0x1
0: 0 [1: 100] @ 0x8 0x6
1: 8589934592 [1: 8589934592] @ 0x6
"""
    assert google_stacks(path, "alloc_objects") == {"main;g;in_g[inline];[a.so+0xff]": 2, "[calloc]": 1,
                                                    "main;[b.so+0xff]": 1, "main": 1}
    trace, blocks, size, _, calls = real_trace(folder)
    path = write(folder, "g", run("-f", "gperftools", trace, check=0).stdout)
    for figure, wanted in (("inuse_objects", blocks), ("inuse_space", size), ("alloc_objects", calls)):
        assert sum(google_stacks(path, figure).values()) == wanted, figure
    shown = tool("google-pprof", "--text", "--alloc_objects", path, says=b"Using local file")
    assert f"Total: {calls} objects\n" in shown, shown
    path = write(folder, "g", export("gperftools", data=hostile_trace()))
    assert sum(google_stacks(path, "inuse_space").values()) == 700


def google_stacks(path, figure):
    return collapsed(tool("google-pprof", "--collapsed", "--" + figure, path, says=b"Using local file").splitlines())


def flamegraph_pl_draws_the_collapsed_stacks(folder):
    names = ("flamegraph.pl", "/usr/share/perl5/Devel/NYTProf/flamegraph.pl")
    found = next(filter(shutil.which, names), None)
    if not found:
        raise Skip("flamegraph.pl is not installed")

    def boxes(*options, data):
        drawn = tool(found, "--countname", "bytes", write(folder, "c", export("collapsed", *options, data=data)))
        return sorted((int(figure.replace(",", "")), html.unescape(name))
                      for name, figure in re.findall(r"<title>(.*) \(([\d,]+) bytes, [\d.]+%\)</title>", drawn))

    assert boxes("--weight=allocated", data=RECURSION) == [
        (7, "malloc(memory)"), (100, "f"), (100, "g"), (100, "malloc(memory)"), (107, "all"), (107, "f"), (107, "main")]
    drawn = boxes(data=hostile_trace())
    assert (700, "all") in drawn and [name for _, name in drawn].count("malloc(memory)") == 7, drawn
    trace, _, size, peak, _ = real_trace(folder)
    with open(trace, "rb") as file:
        data = file.read()
    assert (size, "all") in boxes(data=data) and (peak, "all") in boxes("--weight=peak", data=data)


def the_dhat_file_has_stacks_and_figures(folder):
    seen = json.loads(export("dhat", data=HISTORY))
    head = {name: value for name, value in seen.items() if name not in ("pps", "ftbl")}
    assert head == {"dhatFileVersion": 2, "mode": "heap", "verb": "Allocated", "bklt": True, "bkacc": False, "tu": "\xb5s",
                    "Mtu": "s", "tuth": 500, "cmd": "/bin/prog", "pid": 42, "te": 3005000, "tg": 3000000}, head
    stacks = [[seen["ftbl"][i] for i in point.pop("fs")] for point in seen["pps"]]
    main_text, named = "0x3F: main (a.c:8)", ["0x1F: in_g (a.c:6)", "0x1F: g (a.c:16)"]
    assert stacks == [["malloc", "0x10FF: ??? (in /lib/a.so)", *named, main_text], ["calloc", "(no stack was taken)"],
                      ["malloc", "0x10FF: ??? (in /lib/b.so)", main_text], ["malloc", main_text]], stacks
    names = ("tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk")
    big = 1 << 33
    # The release of the first block was not traced.
    assert [tuple(point[name] for name in names) for point in seen["pps"]] == [
        (200, 2, 2996000, 100, 1, 100, 1, 100, 1), (7, 1, 2005000, 7, 1, 7, 1, 0, 0),
        (100, 1, 1000000, 100, 1, 0, 0, 0, 0), (big, 1, 5000, big, 1, big, 1, big, 1)], seen["pps"]
    # The viewer refuses a file in which a stack is repeated. These stacks differ only in the reason for their end.
    call = b"%d. malloc(1) = 0x%d0\n\t0x10 f\n%s\n"
    data = HEAD + b"".join(call % (i, i, end) for i, end in enumerate((b"", b"\t0x0 (cut)\n", b"\t0x0 (lost)\n"), 1))
    seen = json.loads(export("dhat", data=data))
    assert (seen["tu"], seen["te"], seen["tg"]) == ("calls", 2, 2), seen
    assert [[seen["ftbl"][i] for i in point["fs"][2:]] for point in seen["pps"]] == [
        [], ["(more frames were not taken)"], ["(the stack could not be followed further)"]], seen


def exports_show_the_unknown_address_of_a_frame_as_0(_folder):
    """A frame at address 0 has no call instruction before it."""
    data = HEAD + b"1. [10:00:01.000000] malloc<memory>(100) = 0x1000\n\t0x0 f at /no/a.c:5\n\t0x40 main at /no/a.c:8\n"
    assert re.findall(r"<ip>(\w+)<", export("xml", data=data).decode()) == ["0x0", "0x0", "0x3F"]
    assert [line.split()[1] for line in export("heaptrack", data=data).decode().splitlines()
            if line.startswith("i ")] == ["3f", "0"]
    assert re.findall(r" (0x\w+): (\w+)", export("massif", data=data).decode())[-2:] == [("0x0", "f"), ("0x3F", "main")]
    assert json.loads(export("dhat", data=data))["ftbl"][2:] == ["0x0: f (a.c:5)", "0x3F: main (a.c:8)"]


def exports_and_views_do_not_count_copies_as_allocations(_folder):
    one, two = (b"%d. [10:00:0%d.000000] malloc(%d) = 0x1000\n\t0x40 main at /no/a.c:8\n\n" % (i, i, size)
                for i, size in ((1, 100), (4, 50)))
    free = b"3. [10:00:03.000000] free(0x1000)\n\n"
    copy = b"2. [10:00:02.000000] memcpy(5000) = 0x1000\n\t$0 = #kind=copy\n\t0x50 copy_it at /no/b.c:9\n\n"
    plain, whole = HEAD + b"## thread 5 t\n" + one + free + two, HEAD + b"## thread 5 t\n" + one + copy + free + two
    for options in ((name, "--weight=allocated") for name in ("callgrind", "collapsed", "speedscope")):
        assert export(*options, data=whole) == export(*options, data=plain), options
    for name in "gperftools", "dhat", "massif":
        assert export(name, data=whole) == export(name, data=plain), name
    kinds = [[line for line in export("json", data=data).splitlines() if b'"process"' not in line] for data in (whole, plain)]
    assert kinds[0] == kinds[1], kinds
    for view in "allocated", "size", "object", "thread":
        texts = [run("--report=" + view, "-", data=data, check=0).stdout.replace(b"4 events", b"3 events") for data in (whole, plain)]
        assert texts[0] == texts[1], texts
    assert re.search(rb"\n  calls +1   bytes +5000\n", run("--stats", "-", data=whole, check=0).stdout)
    # If a resource has only such calls, its views show the calls.
    asked = whole.replace(b"in bytes)", b"in bytes) [call]")
    assert b"copy_it;memcpy 5000\n" in export("collapsed", "--weight=allocated", data=asked)


def hostile_names_do_not_break_exports(folder):
    data = hostile_trace()
    names = [frame["name"] for frame in json.loads(export("speedscope", data=data))["shared"]["frames"]]
    assert set(HOSTILE_TEXTS) <= set(names), names
    json.loads(export("chrome", data=data))
    tool("ms_print", write(folder, "m", export("massif", data=data)))
    stacks = heaptrack_stacks(folder, write(folder, "h", export("heaptrack", data=data)), "leaked")
    assert sum(stacks.values()) == 700 and len(stacks) == 7, stacks
    shown = tool("callgrind_annotate", write(folder, "c", export("callgrind", data=data)))
    assert re.search(r"^ *700 \(100\.0%\) +7 \(100\.0%\)  PROGRAM TOTALS", shown, re.M), shown


def exports_have_the_figures_of_stats(folder):
    trace, blocks, size, peak, calls = real_trace(folder)
    get = lambda name, *options: run("-f", name, *options, trace, check=0).stdout
    profile = json.loads(get("speedscope"))["profiles"][0]
    assert sum(profile["weights"]) == profile["endValue"] == size
    assert sum(json.loads(get("speedscope", "--weight=peak"))["profiles"][0]["weights"]) == peak
    events = [e["args"] for e in json.loads(get("chrome"))["traceEvents"] if e["name"].startswith("memory: live")]
    assert max(e.get("bytes", 0) for e in events) == peak
    assert [e["bytes"] for e in events if "bytes" in e][-1] == size
    assert [e["blocks"] for e in events if "blocks" in e][-1] == blocks
    heap = [int(n) for n in re.findall(rb"mem_heap_B=(\d+)", get("massif"))]
    assert (max(heap), heap[-1]) == (peak, size), heap
    tool("ms_print", write(folder, "m", get("massif")))
    history = write(folder, "h", get("heaptrack"))
    assert [sum(heaptrack_stacks(folder, history, cost).values()) for cost in ("allocations", "leaked", "peak")] == [
        calls, size, peak]
    shown = tool("callgrind_annotate", write(folder, "c", get("callgrind")))
    assert re.search(rf"^ *{size:,} \(100\.0%\) +{blocks:,} \(100\.0%\)  PROGRAM TOTALS", shown, re.M), shown


TESTS = [the_speedscope_file_has_stacks_and_weights, the_chrome_file_has_counters_of_live_bytes_and_blocks,
         ms_print_reads_the_massif_file, exports_of_the_longest_trace_end_and_limit_sums_to_64_bits,
         the_callgrind_file_counts_recursive_calls_once, the_heaptrack_file_has_all_calls_in_order,
         heaptrack_print_reads_the_heaptrack_file, heaptrack_massif_and_json_files_have_the_resident_memory,
         without_measurements_the_resident_memory_is_unknown, heaptrack_files_of_several_traces_need_a_folder,
         the_pprof_file_has_stacks_and_figures, the_pprof_file_has_hostile_names_as_valid_utf8,
         go_tool_pprof_reads_the_pprof_file, google_pprof_reads_the_gperftools_file,
         flamegraph_pl_draws_the_collapsed_stacks, the_dhat_file_has_stacks_and_figures,
         exports_show_the_unknown_address_of_a_frame_as_0, exports_and_views_do_not_count_copies_as_allocations,
         hostile_names_do_not_break_exports, exports_have_the_figures_of_stats]

if __name__ == "__main__":
    sys.exit(main(TESTS))
