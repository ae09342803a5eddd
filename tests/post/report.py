#!/usr/bin/env python3
"""functrace-postproc --report and files for other tools: complete outputs for small traces, and real runs compared with
--stats.

The programs are $FUNCTRACE and $FUNCTRACE_POSTPROC. Prints TAP.
"""

import gzip
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

from run import PROGRAM, main, run

HEAD = """version=1.4,arch=x86_64,timestamp=2012-05-04 10:00:00 +0000,process=/bin/prog,pid=%d,origin=test
<1> : memory (memory allocation in bytes)
<2> : fd (file descriptors)
"""
# Two leaks by one function, one by another with a long common outer part of the stack, a temporary block, a descriptor.
CALLS = """## thread 7 worker
1. [10:00:01.000000] malloc<memory>(100) = 0x1000
\t0x10 alloc_a at /no/a.c:5
\t0x20 middle at /no/m.c:6
\t0x30 outer at /no/m.c:7
\t0x40 main at /no/m.c:8
\t0x50 __libc_start_main at /no/s.c:1
\t0x60 _start

2. [10:00:02.000000] malloc<memory>(60) = 0x2000
\t0x11 alloc_b at /no/b.c:5
\t0x20 middle at /no/m.c:6
\t0x30 outer at /no/m.c:7
\t0x40 main at /no/m.c:8
\t0x50 __libc_start_main at /no/s.c:1
\t0x60 _start

3. [10:00:03.000000] malloc<memory>(40) = 0x3000
\t0x10 alloc_a at /no/a.c:5
\t0x20 middle at /no/m.c:6
\t0x30 outer at /no/m.c:7
\t0x40 main at /no/m.c:8
\t0x50 __libc_start_main at /no/s.c:1
\t0x60 _start

4. [10:00:04.000000] realloc<memory>(1000) = 0x4000
\t0x12 std::vector<int, std::allocator<int> >::push from /lib/libv.so
\t0x40 main at /no/m.c:8

5. [10:00:05.000000] free<memory>(0x4000)
6. [10:00:06.000000] open<fd>(1) = 0x3
\t0x13 open_it at /no/f.c:9
\t0x40 main at /no/m.c:8

7. [10:00:06.000000] free<memory>(0x9999)
"""
TRACE = (HEAD % 42 + CALLS).encode()

TOP = """program     /bin/prog, process 42
traced      from 2012-05-04 10:00:00 UTC on, 7 events within 5.000 s
resident    unknown: the trace does not say how much memory was resident
not seen    1 allocation(s) of released resources: they are older than the trace
memory      1,200 bytes in 4 blocks allocated, 2 released
            200 bytes in 3 blocks alive at the end
            1,200 bytes in 4 blocks at the peak, after 3.000 s
            1,000 bytes in 1 block temporary: 25.0 % of the blocks
fd          1 descriptor allocated, 0 released
            1 descriptor alive at the end
            1 descriptor at the peak, after 5.000 s
"""

LEAKS = """
memory: alive at the end, by stack

  1. 140 bytes in 2 blocks   70.0 %  ##############
      by malloc, 3.000 s to 5.000 s old
      alloc_a at a.c:5
      middle at m.c:6
      outer at m.c:7
      main at m.c:8

  2. 60 bytes in 1 block   30.0 %  ######
      by malloc, 4.000 s old
      alloc_b at b.c:5
      ... and 3 frames as above, from middle on

fd: alive at the end, by stack

  1. 1 descriptor  100.0 %  ####################
      by open, 0 s old
      grew by 1 descriptor in the last 571 ms
      open_it at f.c:9
      main at m.c:8
"""


def report_of(data, *options, status=0, view="leaks"):
    return run("--report=" + view, *options, "-", data=data, check=status, env=dict(os.environ, TZ="UTC")).stdout.decode()


def the_report_shows_the_live_resources(_folder):
    text = report_of(TRACE)
    assert text == TOP + LEAKS, text
    assert run("--report=leaks", "-", data=TRACE, check=0, env=dict(os.environ, TZ="UTC")).stdout.decode() == text


def body(text):
    assert text.startswith(TOP), text
    return text[len(TOP):]


def memory_of(text):
    return body(text).split("\nfd: ")[0]


def each_view_of_the_report_has_its_figures(_folder):
    def view(name, *options):
        return memory_of(run("--report=" + name, *options, "-", data=TRACE, check=0,
                             env=dict(os.environ, TZ="UTC")).stdout.decode())

    assert re.findall(r"^ *\d\. (.*?)  ", view("peak"), re.M) == [
        "1,000 bytes in 1 block", "140 bytes in 2 blocks", "60 bytes in 1 block"], view("peak")
    assert view("temporary") == """
memory: temporary, by stack: released before the next allocation

  1. 1,000 bytes in 1 block  100.0 %  ####################
      by realloc
      std::vector<int>::push from libv.so
      main at m.c:8
""", view("temporary")
    assert "alive for 1.000 s on average" in view("allocated")
    assert "and 2 more groups with 200 bytes in 3 blocks (--top=3 shows all)" in view("allocated", "--top=1")
    assert re.findall(r"^ +(\d+) +([\d,]+) +(\d+) +(\d+) +#* +(.*)$", view("size"), re.M) == [
        ("2", "100", "2", "100", "32 to 63"), ("1", "100", "1", "100", "64 to 127"),
        ("1", "1,000", "0", "0", "512 to 1,023")], view("size")
    assert "3,000" not in view("thread") and re.search(r"  4 +1,200 +3 +200  #+  7 worker\n", view("thread"))
    assert view("object").splitlines()[-1].split() == ["1", "1,000", "0", "0", "/lib/libv.so"], view("object")


def the_call_tree_is_shown_downwards_or_upwards(_folder):
    assert memory_of(report_of(TRACE, "--tree")) == """
memory: alive at the end, by stack

  share             bytes  calls, from the start of the program
  100.0 %             200  main at m.c:8
  100.0 %             200  outer at m.c:7
  100.0 %             200  middle at m.c:6
   70.0 %             140    alloc_a at a.c:5
   70.0 %             140    malloc
   30.0 %              60    alloc_b at b.c:5
   30.0 %              60    malloc
""", report_of(TRACE, "--tree")
    assert memory_of(report_of(TRACE, "--tree=up")).splitlines()[3:6] == [
        "  share             bytes  callers of the allocating functions",
        "  100.0 %             200  malloc",
        "   70.0 %             140    alloc_a at a.c:5"], report_of(TRACE, "--tree=up")


def a_tree_node_shows_a_line_only_if_all_its_calls_share_it(_folder):
    """Frames of one function are one node. The node has a file and a line only if all its frames have the same."""
    calls = (("malloc", 1, "a.c:5", "m.c:7"), ("malloc", 99, "a.c:50", "m.c:8"), ("calloc", 100, "b.h:5", "m.c:8"))
    data = (HEAD % 42 + "".join(f"{i}. {name}<memory>({size}) = 0x{i}000\n\t0x{i}0 f at /no/{place}\n\t0x{i}1 g at /no/g.c:1"
                                f"{' (inlined)' if i == 1 else ''}\n\t0x{i}{1 if i == 1 else 2} main at /no/{caller}\n\n"
                                for i, (name, size, place, caller) in enumerate(calls, 1))).encode()

    def tree(*options, data=data):
        text = report_of(data, *options).split("bytes  c")[1].split("\n\nfd")[0]
        return [line.split(None, 3)[2:] for line in text.splitlines()[1:]]

    assert tree("--tree") == [["200", "main at m.c"], ["200", "g at g.c:1"], ["200", "f"], ["100", "malloc"], ["100", "calloc"]], tree("--tree")
    assert tree("--tree=up") == [["100", "malloc"], ["100", "f at a.c"], ["100", "g at g.c:1"], ["100", "main at m.c"],
                                 ["100", "calloc"], ["100", "f at b.h:5"], ["100", "g at g.c:1"], ["100", "main at m.c:8"]], tree("--tree=up")
    only = data.split(b"2. malloc")[0]
    assert tree("--tree", data=only)[:2] == [["1", "main at m.c:7"], ["1", "g at g.c:1 (inlined)"]], tree("--tree", data=only)


def between_and_older_select_live_blocks_by_time(_folder):
    def heads(*options):
        text = report_of(TRACE, *options)
        assert f"\nonly        {' '.join(options)}\n" in text, text
        return re.findall(r"^ *\d\. (\d+) bytes", text.split("\nfd: ")[0], re.M)

    assert heads("--between=0.5,1.5") == ["60"]
    assert heads("--between=0,1") == ["100", "60"]
    assert heads("--older=4") == ["100", "60"]
    assert heads("--older=4.5") == ["100"]
    assert heads("--older=100") == []
    assert "memory: alive at the end, by stack\n     Nothing.\n" in report_of(TRACE, "--older=100")


def the_view_by_thread_says_if_a_trace_names_no_threads(_folder):
    calls = CALLS + "8. [10:00:07.000000] step<app>(5) = 0x1\n\n## thread 8\n9. [10:00:08.000000] step<app>(6) = 0x1\n\n"
    head = HEAD % 42 + "<4> : app (calls of functions) [call]\n<8> : fp (file pointers)\n"
    unknown = "  The trace does not say which thread made the calls.\n"
    text = report_of((head + calls).encode(), "--report=thread")
    assert unknown not in text, text
    rows = [re.findall(r"^ +(\d+) .* (\d+(?: \w+)?)$", part, re.M) for part in text.split(": by thread\n")[1:]]
    assert rows == [[("4", "7 worker")], [("1", "7 worker")], [("1", "8"), ("1", "7 worker")], []], (rows, text)
    # The table also has rows for blocks from before the trace, and for blocks from before its first thread.
    early = "## before <1> 0x9000 30\n## before <1> 0x9100 40\n\n1. [10:00:00.000000] malloc<memory>(5) = 0x9200\n\n"
    text = report_of((HEAD % 42 + early + CALLS).encode(), "--report=thread").split("\nfd: ")[0]
    rows = re.findall(r"^ +(\d+) +([\d,]+) +(\d+) +(\d+) +#* +(.*)$", text, re.M)
    assert rows == [("4", "1,200", "3", "200", "7 worker"), ("2", "70", "2", "70", "[before the trace]"),
                    ("1", "5", "1", "5", "(unknown)")], text
    # If the trace names no thread, the threads of all calls are unknown. The last resource has no calls.
    text = report_of((head + re.sub(r"## thread.*\n", "", calls)).encode(), "--report=thread")
    assert [unknown in part for part in text.split(": by thread\n")[1:]] == [True, True, True, False], text


def the_report_shows_growth_since_a_moment_or_an_older_trace(folder):
    """The growth is that since a moment, then that since another trace."""
    text = report_of(TRACE, "--diff=@1").split("\nfd: ")[0]
    assert "\ncompared to the state after 1.000 s\n" in text, text
    assert "  1. +40 bytes, +1 block: 140 bytes in 2 blocks, before 100 bytes in 1 block\n" in text, text
    assert "alloc_b" not in text, text
    old = os.path.join(folder, "old")
    with open(old, "wb") as file:
        file.write((HEAD % 41 + CALLS.split("3. [")[0]).encode())
    text = report_of(TRACE, "--diff=" + old)
    assert "compared to /bin/prog, process 41\n" in text and "+40 bytes, +1 block" in text, text
    # Notes of the older trace are marked, and do not displace notes of the new one.
    with open(old, "ab") as file:
        file.write("".join(f"## old {i}\n" for i in "abcdefg").encode())
    notes = report_of(TRACE + b"## new\n## old a\n", "--diff=" + old)
    assert re.findall(r"^note +(.*)\n|^ +(and .* notes? .*);", notes, re.M) == [
        ("new", ""), ("old a", ""), *((f"of the older trace: old {i}", "") for i in "abcde"),
        ("", "and 2 more notes of the older trace")], notes
    assert "+1 descriptor: 1 descriptor, before none" in text, text
    assert "No group has grown." in report_of((HEAD % 42).encode() + CALLS.split("2. [")[0].encode(),
                                                         "--diff=" + old)


def diff_shows_growth_in_every_view_and_export(folder):
    """Since second 1 of the trace alloc_a has 40 bytes more, and alloc_b has as much as before. The block of push is
    new and was released."""
    def heads(view):
        text = report_of(TRACE, "--diff=@1", view=view).split("\nfd: ")[0]
        return re.findall(r"^ *\d\. (.*)$", text, re.M)

    alive = ["+40 bytes, +1 block: 140 bytes in 2 blocks, before 100 bytes in 1 block"]
    assert heads("leaks") == heads("alive") == alive, heads("alive")
    pushed = "+1,000 bytes, +1 block: 1,000 bytes in 1 block, before none"
    assert heads("peak") == heads("allocated") == [pushed] + alive, heads("peak")
    assert heads("temporary") == [pushed], heads("temporary")
    for view, label, figures in (("size", "32 to 63", ("+1", "+40", "2", "100")), ("thread", "7 worker", ("+1", "+40", "3", "200")),
                                 ("object", "(unknown)", ("+1", "+40", "3", "200"))):
        text = report_of(TRACE, "--diff=@1", view=view).split("\nfd: ")[0]
        assert figures in [tuple(line.replace("#", "").split()[:4]) for line in text.splitlines() if line.endswith(label)], text
    tree = report_of(TRACE, "--diff=@1", "--tree").split("\nfd: ")[0]
    assert "  100.0 %              40  alloc_a at a.c:5\n" in tree and "alloc_b" not in tree, tree

    def export(name, *more):
        return run("-f", name, "--diff=@1", *more, "-", data=TRACE, check=0).stdout.decode()

    a, b = (f"_start;__libc_start_main;main;outer;middle;alloc_{x};malloc" for x in "ab")
    assert export("collapsed").splitlines()[:2] == [a + " 100 140", b + " 60 60"], export("collapsed")
    assert f"{a} 1 2" in export("collapsed", "--weight=count"), export("collapsed", "--weight=count")
    assert json.loads(export("speedscope"))["profiles"][0]["weights"] == [40], export("speedscope")
    assert "\nsummary: 40 1\n" in export("callgrind") and "\nsummary: 1040 2\n" in export("callgrind", "--weight=allocated")
    assert "\nheap profile: 1: 40 [2: 1040] @ heapprofile\n" in export("gperftools"), export("gperftools")
    lines = [json.loads(line) for line in export("json").splitlines()]
    assert [line["old"]["live"] for line in lines if line["type"] == "group"] == [
        {"bytes": 100, "count": 1}, {"bytes": 60, "count": 1}, {"bytes": 0, "count": 0}, {"bytes": 0, "count": 0}], lines


def growth_that_options_leave_out_is_summed_up(folder):
    """The lines about groups that are left out of a list show their growth, not the sum of all their blocks."""
    old, suppressed = os.path.join(folder, "old"), os.path.join(folder, "suppressed")
    with open(suppressed, "w", encoding="utf-8") as file:
        file.write("leak:alloc_\nleak:open_it\n")

    def lines(data, *options, view="leaks"):
        text = report_of(data, *options, view=view)
        assert not re.search(r"^ *\d\. ", text, re.M), text
        return re.findall(r"^     (without .*|growth .*)$", text, re.M)

    for options in (["--diff=@1"], ["--diff=@1", "--tree"]):
        for view in "leaks", "alive":
            assert lines(TRACE, "--suppressions=" + suppressed, *options, view=view) == [
                "without growth that suppressions match: +40 bytes, +1 block",
                "without growth that suppressions match: +1 descriptor"], (options, view)
            assert lines(TRACE, "--min-count=3", *options, view=view) == [
                "without 1 group that grew, of fewer than 3 allocations: +40 bytes, +1 block",
                "without 1 group that grew, of fewer than 3 allocations: +1 descriptor"], (options, view)
    # alloc_a has more bytes in fewer blocks, and alloc_b is new: together they have as many blocks as before.
    of_a, of_b, more_of_a = re.split(r"(?m)^(?=[23]\. )", CALLS.split("4. [")[0])
    with open(old, "wb") as file:
        file.write((HEAD % 41 + of_a + more_of_a).encode())
    for calls, groups, growth in ((of_a, "1 group", "+10 bytes, -1 block"), (of_a + of_b, "2 groups", "+70 bytes, +0 blocks")):
        data = (HEAD % 42 + calls.replace("(100)", "(150)")).encode()
        for option, words in (("--suppressions=" + suppressed, "growth that suppressions match"),
                              ("--min-count=2", groups + " that grew, of fewer than 2 allocations")):
            assert lines(data, "--diff=" + old, option) == [f"without {words}: {growth}"], (option, growth)


def blocks_from_before_only_one_of_two_traces_are_not_growth(folder):
    """Of two traces that began at different times, only one has a baseline."""
    old = os.path.join(folder, "old")
    plain = (HEAD % 41 + CALLS.split("2. [")[0]).encode()
    baseline = (HEAD % 42 + "## before <1> 0x90000 24\n" + CALLS.split("2. [")[0]).encode()
    for older, newer, said in ((plain, baseline, True), (baseline, plain, False), (baseline, baseline, False)):
        with open(old, "wb") as file:
            file.write(older)
        text = report_of(newer, "--diff=" + old).split("\nfd: ")[0]
        assert "     No group has grown.\n" in text, text
        assert ("     24 bytes in 1 block from before the trace began: not counted as growth, because the older trace does not have these\n" in text) == said, text
        # The tables agree with the list: no row has more than before.
        for view, rows in (("size", {" 16 to 31", " 64 to 127"}), ("object", {"[before the trace]", "(unknown)"})):
            table = report_of(newer, "--diff=" + old, view=view).split("\nfd: ")[0].split("grew by")[1].splitlines()[1:]
            table = [line for line in table if line.endswith(tuple(rows))]
            assert table and not [line for line in table if "+" in line], (view, table)
            assert [line.split()[2:4] for line in table if line.endswith(("16 to 31", "trace]"))] == [
                ["1", "24"] if newer == baseline else ["0", "0"]][:older == baseline or newer == baseline], (view, table)
    # Both have a baseline, and the newer one has more blocks.
    more = baseline.replace(b"## before <1> 0x90000 24\n", b"## before <1> 0x90000 24\n## before <1> 0x91000 16\n")
    text = report_of(more, "--diff=" + old)
    assert "  1. +16 bytes, +1 block: 40 bytes in 2 blocks, before 24 bytes in 1 block\n" in text, text


def with_diff_the_newer_trace_names_files_and_programs(folder):
    """The older trace is read first, but only the new one gives names to files and programs."""
    old, out = os.path.join(folder, "old"), os.path.join(folder, "out")
    new = (HEAD % 777 + "## resident 4096 8192\n" + CALLS).replace("/bin/prog", "/bin/NEWPROG").encode()
    os.mkdir(out)
    with open(old, "wb") as file:
        file.write((HEAD % 42 + CALLS.split("3. [")[0]).encode())
    for options in (["--report"], ["-f", "gperftools"], ["-f", "json"]):
        run("-q", *options, "--diff=" + old, "-o", out, "-", data=new, check=0)
    run("-q", "--report", "--html=" + out, "--diff=" + old, "-o", out, "-", data=new, check=0)
    assert sorted(os.listdir(out)) == ["777-0.heap", "777-0.html", "777-0.json", "777-0.report.txt", "777-1.report.txt"], out
    assert b"binary=/bin/NEWPROG\n" in run("-f", "gperftools", "--diff=" + old, "-", data=new, check=0).stdout
    done = run("-f", "pprof", "--diff=" + old, "-", data=new)
    if done.returncode == 0:
        profile = gzip.decompress(done.stdout)
        assert b"/bin/NEWPROG" in profile and b"/bin/prog" not in profile, profile
    # The new trace has one process, so it has one peak and one line of resident memory.
    text = report_of(new, "--diff=" + old)
    assert "1,200 bytes in 4 blocks at the peak, after 3.000 s\n" in text, text
    with open(os.path.join(out, "777-0.html"), encoding="utf-8") as file:
        page = file.read()
    assert '"peak_since":3000000000' in page and '"most":[' in page and '"resident":[' in page


ONE_LINE = """
1. [10:00:01.000000] malloc<memory>(24) = 0x1000
\t0x10 main at /no/m.c:8

2. [10:00:02.000000] calloc<memory>(200) = 0x2000
\t0x10 main at /no/m.c:8

3. [10:00:03.000000] malloc<memory>(24) = 0x3000
\t0x10 main at /no/m.c:8

4. [10:00:04.000000] free<memory>(0x1000)
5. [10:00:05.000000] free<memory>(0x3000)
"""


def allocation_functions_that_one_line_calls_have_separate_groups(folder):
    """The line calls malloc first, then calloc, whose block stays live."""
    data = (HEAD % 42 + ONE_LINE).encode()
    text = report_of(data, "--gen-suppressions")
    assert re.findall(r"^ *\d\. (.*?)  .*\n +by (\w+)", text, re.M) == [("200 bytes in 1 block", "calloc")], text
    path = os.path.join(folder, "s")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.search(r"^\{.*^\}", text, re.M | re.S).group(0) + "\n")
    with open(path, encoding="utf-8") as file:
        assert "   fun:calloc\n   fun:main\n" in file.read()
    for entry, left in ((path, 0), (None, 1)):
        if not entry:
            entry = os.path.join(folder, "other")
            with open(entry, "w", encoding="utf-8") as file:
                file.write("{\n n\n Memcheck:Leak\n fun:malloc\n}\n")
        text = report_of(data, "--suppressions=" + entry)
        assert len(re.findall(r"^ *\d\. ", text, re.M)) == left, (entry, text)
    groups = [json.loads(line) for line in run("-f", "json", "-", data=data, check=0).stdout.splitlines()]
    assert [(g["function"], g["allocated"], g["live"]["bytes"]) for g in groups if g["type"] == "group"] == [
        ("malloc", {"bytes": 48, "count": 2}, 0), ("calloc", {"bytes": 200, "count": 1}, 200)], groups
    stacks = run("-f", "collapsed", "--weight=allocated", "-", data=data, check=0).stdout.decode().splitlines()
    assert stacks == ["main;malloc 48", "main;calloc 200"], stacks


def growing_cache_trace():
    """A trace without lost blocks: a table that is allocated at the start, a bounded cache, and a cache that grows."""
    calls, number = [], 0

    def call(text, *frames):
        nonlocal number
        number += 1
        calls.append(f"{number}. [10:{number // 60:02}:{number % 60:02}.000000] {text}\n" +
                     "".join(f"\t0x{100 + i:x} {frame} at /no/m.c:{i}\n" for i, frame in enumerate(frames)) + "\n")

    call("malloc<memory>(50000) = 0x900000", "table", "main")
    for i in range(200):
        call(f"malloc<memory>(100) = 0x{0x1000 + 256 * i:x}", "grows", "main")
        call(f"malloc<memory>(1000) = 0x{0x100000 + 4096 * i:x}", "turns", "main")
        if i >= 5:
            call(f"free<memory>(0x{0x100000 + 4096 * (i - 5):x})")
    return (HEAD % 42 + "".join(calls) + "## scan <1>\n").encode()


def a_growing_group_is_listed_first_with_its_growth(folder):
    trace = os.path.join(folder, "t")
    with open(trace, "wb") as file:
        file.write(growing_cache_trace())
    text = run("--report", trace, check=0).stdout.decode()
    assert "\nmemory: lost, by stack\n     Nothing is lost.\n" in text, text
    section = text.split("\nmemory: still reachable, by stack")[1].split("\nfd: ")[0]
    # The growing cache comes first, although the table is larger; the bounded cache has no growth.
    assert re.findall(r"^ *\d\. ([\d,]+ bytes in [\d,]+ blocks?)  .*\n +by malloc, .*\n((?: +grew by .*\n)?) +(\w+)", section, re.M) == [
        ("20,000 bytes in 200 blocks", "      grew by 2,100 bytes in the last 62.4 s, 2,018 a minute\n", "grows"),
        ("50,000 bytes in 1 block", "", "table"), ("5,000 bytes in 5 blocks", "", "turns")], section
    # The command that the report recommends shows the same.
    since = re.search(r"^next  .*\n.*: (functrace-postproc --report --diff=@([\d.]+) (.*))$", text, re.M)
    assert since.group(3) == trace, text
    grown = run(*since.group(1).split()[1:], check=0).stdout.decode()
    assert re.findall(r"^ *\d\. \+([\d,]+) bytes", grown, re.M)[0] in ("2,100", "2,200"), grown
    # A command that runs the program again has no moment of this run, because the other run may end earlier.
    other = run("--report", "--again=./cache", trace, check=0).stdout.decode()
    assert other.split("\nnext")[1:] == ["        all live resources: functrace --report=alive ./cache\n"], other
    alive = run("--report=alive", trace, check=0).stdout.decode()
    assert re.findall(r"^ *\d\. ([\d,]+)", alive, re.M) == ["20,000", "50,000", "5,000"], alive


def the_suggested_why_command_names_the_newest_block(_folder):
    """Two addresses on one line are one stack. The command has its last block, whichever address allocated it."""
    head = (HEAD % 42).replace("process=", "attached=yes,process=")
    for second, third in (0x11, 0x10), (0x10, 0x11):
        calls = "".join(f"{i}. [10:00:0{i}.000000] malloc<memory>({i}) = 0x{i}000\n\t0x{frame:x} f at /no/a.c:5\n\n"
                        for i, frame in ((1, 0x10), (2, second), (3, third)))
        for options in [], ["-b", "1"]:
            text = report_of((head + calls).encode(), *options)
            assert " --scan -t 42 --why=0x3000\n" in text and "  1. 6 bytes in 3 blocks  100.0 %" in text, text


def a_block_whose_release_was_not_traced_has_no_lifetime(_folder):
    """The id 0x1000 is allocated again without a traced release, so only the second block's lifetime is known."""
    calls = "".join(f"{i}. [10:00:0{i}.000000] {call}<memory>({size}) = 0x{ident:x}\n\t0x10 f at /no/a.c:5\n\n"
                    for i, call, size, ident in ((1, "malloc", 1, 0x1000), (2, "malloc", 1, 0x1000), (3, "malloc", 1, 0x2000),
                                                 (4, "calloc", 1, 0x3000), (5, "calloc", 1, 0x3000)))
    text = report_of((HEAD % 42 + calls + "6. [10:00:06.000000] free<memory>(0x1000)\n").encode(), view="allocated")
    assert re.findall(r"^ +by (.*)$", text.split("\nfd: ")[0], re.M) == ["malloc, alive for 4.000 s on average", "calloc"], text


def the_report_shows_a_process_name_that_is_not_the_file_name(_folder):
    """A program that was started by a link to its file has another name; the kernel truncates names to 15 bytes."""
    long = TRACE.replace(b"/bin/prog", b"/bin/a-long-name-of-a-program")
    for trace, name, line in ((TRACE, "redis-server", "/bin/prog (redis-server)"), (TRACE, "prog", "/bin/prog"),
                              (TRACE, r"a\033b", "/bin/prog (a?b)"),
                              (long, "a-long-name-of-", "/bin/a-long-name-of-a-program")):
        text = report_of(trace.replace(b"\n1. [", f"\n## thread 42 {name}\n1. [".encode(), 1))
        assert text.startswith(f"program     {line}, process 42\n"), text
    text = report_of(TRACE.replace(b"\n1. [", b"\n## thread 43 worker\n1. [", 1))
    assert text.startswith("program     /bin/prog, process 42\n"), text


def abnormal_ends_of_processes_are_all_shown_at_the_top(folder):
    notes = "".join(f"## open of /nope/{i} failed\n" for i in range(8))
    end = "## process 42 was killed by signal 11 (Segmentation fault)\n"
    text = report_of((HEAD % 42 + CALLS + notes + end).encode())
    assert text.startswith("program     /bin/prog, process 42\nended       killed by signal 11 (Segmentation fault)\n"), text
    assert re.findall(r"^note +(.*)\n", text, re.M) == [f"open of /nope/{i} failed" for i in range(5)], text
    assert "\n            and 3 more notes; to see them: functrace-postproc TRACE\n" in text, text
    forked = [os.path.join(folder, "forked%d" % pid) for pid in range(300, 328)]
    for pid, path in zip(range(300, 328), forked):
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD % pid + CALLS + f"## process {pid} was forked by 7\n## unmapped 1\n## unmapped 2\n" +
                       "## of one alone\n" * (pid == 310))
    text = run("--report", *forked, check=0).stdout.decode()
    assert re.findall(r"^note +(.*)\n", text, re.M) == [
        "process 300 was forked by 7 (the same or similar in 28 processes: 300, 301, 302, ...)",
        "unmapped 1 (the same or similar in 28 processes: 300, 301, 302, ...)",
        "unmapped 2 (the same or similar in 28 processes: 300, 301, 302, ...)", "of one alone"], text
    assert " more note" not in text, text
    paths = []
    for pid in range(100, 130):
        paths.append(os.path.join(folder, str(pid)))
        how = "was killed by signal 9 (Killed)" if pid == 129 else f"has exited with status {pid % 2}"
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(HEAD % pid + CALLS + f"## process {pid} {how}\n## process 1{pid} was killed by signal 6 (Aborted)\n")
    text = run("--report", *paths, check=0).stdout.decode()
    assert re.findall(r"^ended +process (\d+).* (?:signal|status) (\d+)", text, re.M) == [
        (str(1000 + pid), "6") for pid in range(100, 129)] + [("129", "9"), ("1129", "6")] + [
        (str(pid), "1") for pid in range(101, 129, 2)], text
    # A normal end is not mentioned.
    assert "ended" not in report_of((HEAD % 42 + CALLS + "## process 42 has exited with status 0\n").encode())
    lines = [json.loads(line) for line in run("-f", "json", paths[29], check=0).stdout.splitlines()]
    assert lines[0]["end"] == "killed by signal 9 (Killed)", lines[0]


DESCRIPTORS = """
1. [10:00:01.000000] open<fd>(%d) = 0x3
\t0x10 one at /no/m.c:8

2. [10:00:02.000000] open<fd>(%d) = 0x4
\t0x11 two at /no/m.c:9

3. [10:00:03.000000] close<fd>(0x3)
"""


def resources_without_sizes_have_a_peak_of_their_number(_folder):
    """The peak is the greatest number of resources, whatever sizes the calls have."""
    for sizes in ((0, 0), (9, 1)):
        data = (HEAD % 42 + DESCRIPTORS % sizes).encode()
        text = report_of(data, view="peak")
        assert "            2 descriptors at the peak, after 1.000 s\n" in text, text
        assert re.findall(r"^ *\d\. (.*?)  ", text, re.M) == ["1 descriptor", "1 descriptor"], text
        lines = [json.loads(line) for line in run("-f", "json", "-", data=data, check=0).stdout.splitlines()]
        assert [line["peak"]["count"] for line in lines if line.get("name") == "fd"] == [2], lines
        assert [line["peak"]["count"] for line in lines if line["type"] == "group"] == [1, 1], lines
        chrome = json.loads(run("-f", "chrome", "-", data=data, check=0).stdout)
        assert {"blocks": 2} in [event["args"] for event in chrome["traceEvents"]], chrome


def times_are_shown_in_utc_whatever_the_time_zone(_folder):
    """Times are in UTC, whatever the user's time zone is, and the outputs name the zone."""
    outputs = {}
    for zone in ("UTC", "Asia/Tokyo", "EST5"):
        outputs[zone] = [run(option, "-", data=TRACE, check=0, env=dict(os.environ, TZ=zone)).stdout.decode()
                         for option in ("--report", "--stats")]
    assert outputs["UTC"] == outputs["Asia/Tokyo"] == outputs["EST5"], outputs
    report, stats = outputs["UTC"]
    assert "\ntraced      from 2012-05-04 10:00:00 UTC on, " in report, report
    assert "7 events from 10:00:01.000 to 10:00:06.000 UTC, 5.000 s\n" in stats, stats
    assert "at event 4, 10:00:04.000 UTC\n" in stats, stats


def several_traces_give_one_report(folder):
    paths = []
    for pid in 42, 43:
        paths.append(os.path.join(folder, str(pid)))
        with open(paths[-1], "wb") as file:
            file.write((HEAD % pid + CALLS).encode())
    text = run("--report", *paths, check=0).stdout.decode()
    assert "process 42\n" in text and "process 43\n" in text and "14 events" in text, text
    assert "280 bytes in 4 blocks   70.0 %" in text and "at the peaks of the processes, added up" in text, text
    text = run("-f", "collapsed", *paths, check=0).stdout.decode()
    assert sorted(text.splitlines())[0] == "_start;__libc_start_main;main;outer;middle;alloc_a;malloc 280", text


def error_exitcode_is_the_status_if_the_report_has_leaks(_folder):
    assert run("--report", "--error-exitcode=9", "-", data=TRACE).returncode == 9
    assert run("--report", "--error-exitcode=9", "--older=100", "-", data=TRACE).returncode == 0
    assert run("--report", "-", data=TRACE).returncode == 0


def the_report_gives_no_duration_if_all_events_have_one_time(_folder):
    """The time between events is not the time for which the program was traced."""
    head = (HEAD % 42).encode()
    for calls, words in ((b"", b"0 events"), (b"1. [10:00:01.000000] malloc<memory>(100) = 0x1000\n", b"1 event"),
                         (b"1. [10:00:01.000000] malloc<memory>(1) = 0x1000\n2. [10:00:01.000000] free<memory>(0x1000)\n",
                          b"2 events"),
                         (b"1. [10:00:01.000000] malloc<memory>(1) = 0x1000\n2. [10:00:01.000200] free<memory>(0x1000)\n",
                          b"2 events within 200 us")):
        text = report_of(head + calls).encode()
        assert b"\ntraced      from 2012-05-04 10:00:00 UTC on, " + words + b"\n" in text, text
        assert (b" 0 bytes in 0 blocks at the peak\n" in text) == (not calls), text


def wrong_options_of_the_report_are_usage_errors(folder):
    for options in (["--report=x"], ["--top=0", "--report"], ["--top=3"], ["--tree"], ["--report", "--tree=x"],
                    ["--report=size", "--tree"], ["--report", "--between=3,2"], ["--report", "--between=3"],
                    ["--report", "--older=x"], ["--older=1"], ["--stats", "--between=0,1"], ["--diff=@1"], ["--report", "-l"],
                    *(["-f", name, "--diff=@1"] for name in ("chrome", "dhat", "heaptrack", "massif", "xml")),
                    ["--report", "-f", "text"], ["--report", "-f", "collapsed"], ["-f", "text", "--weight=live"],
                    ["-f", "collapsed", "--weight=x"], ["--report", "--diff=@x"], ["--report=size", "--top=3"],
                    *([*options, "--suppressions=/nonexistent"] for options in (
                        [], ["--stats"], ["-f", "collapsed"], ["-f", "collapsed", "--weight=lost"], ["--html=/dev/null"], ["-c"])),
                    ["--stats", "--no-default-suppressions"], ["--report=alive", "--gen-suppressions"],
                    ["--report=size", "--gen-suppressions"], ["--report", "--diff=@1", "--gen-suppressions"]):
        done = run(*options, "-", data=TRACE)
        assert done.returncode == 2 and not done.stdout and b"functrace-postproc: " in done.stderr, options
    path = os.path.join(folder, "t")
    with open(path, "wb") as file:
        file.write(TRACE)
    done = run("--report", "-o", path, path)
    assert done.returncode == 2 and b"is an input too" in done.stderr, done
    with open(path, "rb") as file:
        assert file.read() == TRACE
    done = run("--report", "--diff=/no/such/file", path)
    assert done.returncode == 1 and b"cannot open /no/such/file" in done.stderr, done


def collapsed_stacks_have_the_figure_that_weight_selects(_folder):
    def stacks(*options):
        return dict(line.rsplit(" ", 1) for line in run("-f", "collapsed", *options, "-", data=TRACE, check=0)
                    .stdout.decode().splitlines())

    a, b = (f"_start;__libc_start_main;main;outer;middle;alloc_{x};malloc" for x in "ab")
    vector, opened = "main;std::vector<int, std::allocator<int> >::push;realloc", "main;open_it;open"
    assert stacks() == {a: "140", b: "60", opened: "1"}
    assert stacks("--weight=allocated") == {a: "140", b: "60", vector: "1000", opened: "1"}
    assert stacks("--weight=peak") == {a: "140", b: "60", vector: "1000", opened: "1"}
    assert stacks("--weight=count") == {a: "2", b: "1", vector: "1", opened: "1"}


SUPPRESSIONS = [
    ("leak:alloc_a", "60"), ("leak:^alloc_a$", "60"), ("leak:^lloc_a", "140 60"), ("leak:a*c_b", "140"),
    ("leak:/no/b.c", "140"), ("leak:nothing", "140 60"), ("leak:al[l]oc", "140 60"),
    ("race:x\nleak:middle", ""), ("# a comment\n\nleak:main", ""),
    ("{\n n\n Memcheck:Leak\n fun:malloc\n fun:alloc_a\n}", "60"),
    ("{\n n\n Memcheck:Leak\n match-leak-kinds: definite\n fun:*alloc\n fun:alloc_?\n fun:middle\n}", ""),
    ("{\n n\n Memcheck:Leak\n fun:alloc_a\n}", "140 60"),
    ("{\n n\n Memcheck:Leak\n ...\n fun:main\n}", ""),
    ("{\n n\n Memcheck:Leak\n ...\n fun:alloc_b\n ...\n fun:outer\n fun:main\n}", "140"),
    ("{\n n\n Memcheck:Leak\n ...\n fun:main\n fun:outer\n}", "140 60"),
    ("{\n n\n Memcheck:Leak\n fun:*\n src:/no/a.c:5\n}", "60"),
    ("{\n n\n Memcheck:Leak\n fun:*\n src:*/b.c\n}", "140"),
    # valgrind's rule: the file name without folders, alone or with the line.
    ("{\n n\n Memcheck:Leak\n fun:*\n src:b.c\n}", "140"), ("{\n n\n Memcheck:Leak\n fun:*\n src:a.c:5\n}", "60"),
    ("{\n n\n Memcheck:Leak\n fun:*\n src:?.c:5\n}", ""), ("{\n n\n Memcheck:Leak\n fun:*\n src:a.c:6\n}", "140 60"),
    ("{\n n\n Memcheck:Leak\n fun:*\n src:no/a.c\n}", "140 60"), ("{\n n\n Memcheck:Leak\n fun:*\n src:a.\n}", "140 60"),
    ("{\n n\n Memcheck:Cond\n fun:main\n}\n{\n n\n Memcheck,Other:Leak\n fun:malloc\n fun:alloc_a\n}", "60"),
]


def the_report_leaves_out_suppressed_stacks(folder):
    path = os.path.join(folder, "s")
    for text, left in SUPPRESSIONS:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        shown = memory_of(report_of(TRACE, "--suppressions=" + path))
        assert " ".join(re.findall(r"^ *\d\. (\d+) bytes", shown, re.M)) == left, (text, shown)
        if not left:
            assert shown.endswith("\n\n     without leaks that suppressions match: 200 bytes in 3 blocks\n"), shown
    with open(path, "w", encoding="utf-8") as file:
        file.write("\nleak:alloc_\nleak:open_it\n")
    text = report_of(TRACE, "--suppressions=" + path, "--error-exitcode=9")
    assert f"\nsuppressed\n     200 bytes in 3 blocks: alloc_ ({path}:2)\n     1 byte in 1 block: open_it ({path}:3)\n" \
        in text, text


def an_error_in_a_suppression_file_is_reported_with_its_line(folder):
    path = os.path.join(folder, "s")
    for text, line, what in (("nonsense", 1, "there should be {"), ("{\nn\nMemcheck:Leak\nfun:x\n", 5, "ends before }"),
                             ("{\nn\nMemcheck:Leak\nfoo:x\n}", 4, "there should be fun:NAME"),
                             ("{\nn\nMemcheck:Leak\n}", 4, "the entry has no frames"), ("{\n}", 2, "a name"),
                             ("{\nn\nOther:X\n", 4, "ends before }")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = run("--report", "--suppressions=" + path, "-", data=TRACE)
        assert done.returncode == 1 and not done.stdout, (text, done)
        assert f"{path}, line {line}: ".encode() in done.stderr and what.encode() in done.stderr, (text, done.stderr)
    done = run("--report", "--suppressions=/no/such", "-", data=TRACE)
    assert done.returncode == 1 and b"cannot read the suppressions in /no/such" in done.stderr, done


def generated_suppressions_suppress_the_reported_leaks(folder):
    text = report_of(TRACE.replace(b"alloc_a", b"a::*(int [5])::~x[]"), "--gen-suppressions")
    entries = text[text.index("\n{") + 1:]
    assert "   fun:a::\\*(int \\[5])::~x[]\n" in entries, entries
    path = os.path.join(folder, "s")
    with open(path, "w", encoding="utf-8") as file:
        file.write(entries)
    text = report_of(TRACE.replace(b"alloc_a", b"a::*(int [5])::~x[]"), "--suppressions=" + path, "--error-exitcode=9")
    assert "     without leaks that suppressions match: 200 bytes in 3 blocks\n" in text and "Nothing." not in text, text
    assert "140 bytes in 2 blocks: <a name for it>" in text, text
    # Stacks that differ only in a line number have one entry.
    twice = TRACE.replace(b"\t0x10 alloc_a at /no/a.c:5\n", b"\t0x1f alloc_a at /no/a.c:9\n", 1)
    text = report_of(twice, "--gen-suppressions")
    assert text.count("  1. ") == 2 and "  3. " in text, text
    assert text.split("\n\n")[-1].count("   fun:alloc_a\n") == 1 and text.count("{\n") == 3, text


HELLO = {
    "gcc": """#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) { puts(argv[0]); if (argc > 1) *(volatile char *)malloc(7) = 1; return 0; }
""",
    "g++": """#include <cstdio>
#include <cstdlib>
#include <iostream>
int main(int argc, char **argv) { puts(argv[0]); std::cout << 1 << std::endl; if (argc > 1) *(volatile char *)malloc(7) = 1; }
""",
}


def memory_that_the_libraries_keep_is_suppressed_by_default(folder):
    """A program that only prints passes a leak check of CI."""
    functrace = [os.environ["FUNCTRACE"], "-q", "--report", "--error-exitcode=9", "--scan=off"]
    for compiler, source in HELLO.items():
        program = os.path.join(folder, compiler)
        subprocess.run([compiler, "-g", "-x", "c++" if compiler == "g++" else "c", "-", "-o", program],
                       input=source.encode(), check=True)
        done = subprocess.run(functrace + [program], capture_output=True, timeout=120)
        assert done.returncode == 0 and b"\nsuppressed\n" in done.stdout, done
        done = subprocess.run(functrace + [program, "leak"], capture_output=True, timeout=120)
        assert done.returncode == 9 and b"7 bytes in 1 block  100.0 %" in done.stdout, done
        done = subprocess.run(functrace + ["--no-default-suppressions", program], capture_output=True, timeout=120)
        assert done.returncode == 9, done


def the_xml_export_has_the_form_of_valgrinds_xml(folder):
    """An XML parser reads the output. Figures and frames are those of the report, hostile names are plain text."""
    path = os.path.join(folder, "s")
    with open(path, "w", encoding="utf-8") as file:
        file.write("leak:alloc_b\n")
    data = TRACE.replace(b"alloc_a", b"a<b>&\"]]>\xff\xc3\xa9")
    text = run("-f", "xml", "--suppressions=" + path, "-", data=data, check=0).stdout
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag == "valgrindoutput" and root.findtext("protocolversion") == "4"
    assert root.findtext("protocoltool") == root.findtext("tool") == "memcheck" and root.findtext("pid") == "42"
    errors = root.findall("error")
    assert [(e.findtext("kind"), e.findtext("xwhat/leakedbytes"), e.findtext("xwhat/leakedblocks"))
            for e in errors] == [("Leak_PossiblyLost", "140", "2"), ("Leak_PossiblyLost", "1", "1")], text
    assert errors[0].findtext("xwhat/text") == "140 bytes in 2 blocks are alive at the end in loss record 1 of 2"
    frames = errors[0].findall("stack/frame")
    assert [f.findtext("fn") for f in frames] == [
        "malloc", "a<b>&\"]]>\ufffd\u00e9", "middle", "outer", "main", "__libc_start_main", "_start"], text
    assert [frames[1].findtext(n) for n in ("ip", "dir", "file", "line")] == ["0xF", "/no", "a.c", "5"], text
    assert [(p.findtext("count"), p.findtext("name")) for p in root.findall("suppcounts/pair")] == [("1", "alloc_b")]
    if shutil.which("xmllint"):
        subprocess.run(["xmllint", "--noout", "-"], input=text, check=True)


def the_json_export_has_the_figures(_folder):
    data = TRACE.replace(b"alloc_a", b"a\"\\\xff\xc3\xa9")
    lines = [json.loads(line) for line in run("-f", "json", "-", data=data, check=0).stdout.decode().splitlines()]
    assert [line["type"] for line in lines] == ["process", "resource", "resource"] + 4 * ["group"], lines
    assert lines[0]["pid"] == 42 and lines[0]["events"] == 7 and lines[0]["duration_ns"] == 5 * 10 ** 9
    memory, group = lines[1], lines[3]
    assert memory["live"] == {"bytes": 200, "count": 3} and memory["peak"] == {"bytes": 1200, "count": 4}, memory
    assert memory["releases"] == 2 and memory["unknown_releases"] == 1, memory
    assert group["function"] == "malloc" and group["live"] == {"bytes": 140, "count": 2}, group
    assert group["oldest"] == 0 and group["newest"] == 2 * 10 ** 9 and group["end"] == "whole", group
    assert group["frames"][0] == {"address": "0x10", "function": "a\"\\\ufffd\u00e9", "object": None, "file": "/no/a.c",
                                  "line": 5}, group


CHOSEN = """version=1.4
@ 1 : Request
1. @1 malloc(8) = 0x10
\t0x10 inner at a.c:1

2. malloc(16) = 0x20
\t0x11 other at a.c:2

3. free(0x10)
4. @1 free(0x20)
5. @1 malloc(32) = 0x10
\t0x12 kept at a.c:3

6. @1 free(0x30)
"""


def a_context_filter_selects_releases_with_their_allocations(_folder):
    """If a release were selected by its own context, blocks that are released outside of the context would seem live,
    and releases of other blocks inside the context would be shown."""
    text = report_of(CHOSEN.encode(), "-C", "Request")
    assert "40 bytes in 2 blocks allocated, 2 released" in text and "32 bytes in 1 block alive at the end" in text, text
    assert "inner" not in text and "kept at a.c:3" in text, text
    stats = run("--stats", "-C", "1", "-", data=CHOSEN.encode(), check=0).stdout.decode()
    assert re.search(r"releases +2 +of resources not seen allocated 1$", stats, re.M), stats
    assert re.search(r"live at the end +1 +bytes +32$", stats, re.M), stats
    shown = run("-C", "1", "-", data=CHOSEN.encode(), check=0).stdout.decode()
    assert re.findall(r"^(\d)\. ", shown, re.M) == ["1", "4", "5", "6"], shown


def hostile_names_are_escaped_in_every_output(_folder):
    """No control character, no mark of text direction, and no invalid UTF-8 is written to a terminal."""
    data = TRACE.replace(b"alloc_a", "al;loc é\x9b31m\u202e\"</script>".encode() + b"\xff\x9b")
    report = run("--report", "-", data=data, check=0).stdout
    assert '      al;loc é??31m???"</script>?? at a.c:5\n'.encode() in report, report
    stats = run("--stats", "-", data=data, check=0).stdout
    text = run("-f", "text", "-", data=data, check=0).stdout
    assert 'al;loc é\\302\\23331m\\342\\200\\256"</script>\\377\\233'.encode() in text, text
    collapsed = run("-f", "collapsed", "-", data=data, check=0).stdout
    line = '_start;__libc_start_main;main;outer;middle;al:loc é\\302\\23331m\\342\\200\\256"</script>\\377\\233;malloc 140'
    assert collapsed.splitlines()[0] == line.encode(), collapsed
    for shown in (report, stats, text, collapsed):
        assert not set(shown.decode()) & set("\x9b\u202e\x1b"), shown


def on_a_terminal_the_report_is_coloured_and_fits_the_width(folder):
    path = os.path.join(folder, "t")
    with open(path, "wb") as file:
        file.write(TRACE.replace(b"alloc_a", b"alloc_" + b"long" * 40))

    def shown(**more):
        master, slave = pty.openpty()
        with subprocess.Popen(["stty", "cols", "60"], stdin=slave) as stty:
            stty.wait()
        environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
        child = subprocess.Popen([PROGRAM, "--report", path], stdout=slave, stdin=subprocess.DEVNULL,
                                 env=dict(environment, TERM="xterm", **more))
        os.close(slave)
        out = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            out += piece
        assert child.wait(60) == 0
        os.close(master)
        return out.decode().replace("\r", "")

    coloured, plain = shown(), shown(NO_COLOR="1")
    assert "\x1b[" in coloured and "\x1b" not in plain
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain
    # Recommended commands are not shortened, because users copy them.
    assert max(len(line) for line in plain.splitlines() if ": functrace-postproc " not in line) == 60, plain
    assert re.search(r"alloc_long[long]*\.\.\.[long]*long at a.c:5$", plain, re.M), plain


def the_report_has_the_figures_of_stats(folder):
    """The program is a real one. Its live and peak figures and the sums of all groups are compared."""
    trace = os.path.join(folder, "t.rtrace")
    subprocess.run([os.environ["FUNCTRACE"], "-q", "-o", trace, "perl", "-e", "my @x = map { 'y' x $_ } 1..300"],
                   check=True, timeout=120)
    stats = run("--stats", trace, check=0).stdout.decode()
    text = run("--report", "--no-default-suppressions", "--top=100000", trace, check=0).stdout.decode().replace(",", "")
    live = re.search(r"live at the end *(\d+) *bytes *(\d+)", stats).groups()
    peak = re.search(r"peak bytes *(\d+)", stats).group(1)
    assert f"{live[1]} bytes in {live[0]} blocks alive at the end" in text, (live, text[:500])
    assert re.search(rf"(?<!\d){peak} bytes in", text), (peak, text[:500])
    groups = [(int(b), int(n)) for b, n in re.findall(r"^ *\d+\. (\d+) bytes? in (\d+) blocks?  ", text, re.M)]
    assert (sum(n for _, n in groups), sum(b for b, _ in groups)) == tuple(map(int, live)), live
    weights = [int(line.rsplit(" ", 1)[1]) for line in run("-f", "collapsed", trace, check=0).stdout.decode().splitlines()]
    assert sum(weights) == int(live[1])


def a_release_with_a_time_before_its_allocation_gives_a_life_of_0(folder):
    """At midnight the time goes back, too, but the block has lived into the next day."""
    calls = """1. [%s] malloc<memory>(100) = 0x1000

2. [%s] free<memory>(0x1000)
"""
    for born, freed, lived in (("10:00:01.000000", "10:00:00.970000", "0  "), ("10:00:01.000000", "10:00:01.970000", "below 1 s"),
                               ("23:59:59.500000", "00:00:00.000000", "below 1 s")):
        text = run("--stats", "-", data=(HEAD % 42 + calls % (born, freed)).encode(), check=0).stdout.decode()
        assert re.search(r"released  after\n +1  %s" % lived, text), (born, freed, text)


def lines_that_look_like_damaged_records_are_shown_unchanged(folder):
    """Such lines are also reported, and no figure counts them."""
    data = (HEAD % 42 + CALLS + "12. december\n& more coming\n").encode()
    done = run("-", data=data, check=1)
    assert b"\n12. december\n& more coming\n" in done.stdout, done.stdout[-300:]
    assert (b"functrace-postproc: standard input is damaged in 2 places; these records are not counted in any figure; "
            b"damaged lines are shown as they are\n") in done.stderr, done.stderr


TESTS = [the_report_shows_a_process_name_that_is_not_the_file_name,
         a_release_with_a_time_before_its_allocation_gives_a_life_of_0,
         lines_that_look_like_damaged_records_are_shown_unchanged, the_report_shows_the_live_resources,
         diff_shows_growth_in_every_view_and_export, each_view_of_the_report_has_its_figures,
         the_call_tree_is_shown_downwards_or_upwards, a_tree_node_shows_a_line_only_if_all_its_calls_share_it,
         between_and_older_select_live_blocks_by_time, the_view_by_thread_says_if_a_trace_names_no_threads,
         the_report_shows_growth_since_a_moment_or_an_older_trace, growth_that_options_leave_out_is_summed_up,
         blocks_from_before_only_one_of_two_traces_are_not_growth, with_diff_the_newer_trace_names_files_and_programs,
         a_growing_group_is_listed_first_with_its_growth, the_suggested_why_command_names_the_newest_block,
         a_block_whose_release_was_not_traced_has_no_lifetime, abnormal_ends_of_processes_are_all_shown_at_the_top,
         allocation_functions_that_one_line_calls_have_separate_groups,
         resources_without_sizes_have_a_peak_of_their_number, times_are_shown_in_utc_whatever_the_time_zone,
         several_traces_give_one_report, error_exitcode_is_the_status_if_the_report_has_leaks,
         the_report_gives_no_duration_if_all_events_have_one_time, wrong_options_of_the_report_are_usage_errors,
         collapsed_stacks_have_the_figure_that_weight_selects, the_report_leaves_out_suppressed_stacks,
         an_error_in_a_suppression_file_is_reported_with_its_line, generated_suppressions_suppress_the_reported_leaks,
         the_xml_export_has_the_form_of_valgrinds_xml, the_json_export_has_the_figures,
         a_context_filter_selects_releases_with_their_allocations,
         memory_that_the_libraries_keep_is_suppressed_by_default, hostile_names_are_escaped_in_every_output,
         on_a_terminal_the_report_is_coloured_and_fits_the_width, the_report_has_the_figures_of_stats]

if __name__ == "__main__":
    sys.exit(main(TESTS))
