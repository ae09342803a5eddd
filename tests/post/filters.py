#!/usr/bin/env python3
"""Filters of allocations: each output of a filtered trace is the same as that of a trace with only the selected calls.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import json
import os
import re
import shlex
import sys

import golden
from encode import Encoder
from run import LONG, Skip, main, run

HEAD = """version=1.4,arch=x86_64,timestamp=2012-05-04 10:00:00 +0000,process=/bin/prog,pid=42,origin=test
<1> : memory (memory allocation in bytes)
<2> : fd (file descriptors)
"""
MAIN = ["0x90 main at /no/m.c:8", "0xa0 _start from /bin/prog"]
# By number, an allocation: (second, thread, function, size, id, stack); or a release: (second, thread, number of the
# allocation).
CALLS = {
    1: (0, 7, "malloc", 4096, 0x1000, ["0x10 first at /no/a.c:1"]),
    2: (1, 7, "malloc", 100, 0x2000, ["0x20 Cache::put(int) at /no/c.cc:5"]),
    3: (2, 8, "calloc", 60, 0x3000, ["0x30 read_it from /lib/libr.so.1", "0x20 Cache::put(int) at /no/c.cc:5"]),
    4: (3, 8, "malloc", 2048, 0x4000, ["0x30 read_it from /lib/libr.so.1"]),
    5: (4, 7, 3),
    6: (5, 7, "malloc", 100, 0x5000, ["0x20 Cache::put(int) at /no/c.cc:5"]),
    # The id is allocated again, with another stack and size.
    7: (6, 8, "malloc", 1500, 0x3000, ["0x40 late at /no/l.c:1"]),
    8: (7, 8, 4),
    9: (8, 8, 7),
    10: (9, 7, "malloc", 64, 0x6000, ["0x40 late at /no/l.c:1"]),
    11: (10, 7, "malloc", 4096, 0x7000, ["0x10 first at /no/a.c:1"]),
}


def is_release(number):
    return len(CALLS[number]) == 3


def trace_with(chosen):
    """A trace with only these calls."""
    lines, thread = [HEAD], None
    for number in sorted(chosen):
        second, tid = CALLS[number][:2]
        if tid != thread:
            lines.append(f"## thread {tid} worker{tid}\n")
            thread = tid
        stamp = f"{number}. [10:00:{second:02}.000000] "
        allocation = CALLS[CALLS[number][2]] if is_release(number) else CALLS[number]
        _, _, function, size, identity, stack = allocation
        if is_release(number):
            lines.append(f"{stamp}free<memory>(0x{identity:x})\n\t0x80 drop at /no/d.c:1\n\n")
        else:
            frames = "".join(f"\t{frame}\n" for frame in stack + MAIN)
            lines.append(f"{stamp}{function}<memory>({size}) = 0x{identity:x}\n{frames}\n")
    return "".join(lines).encode()


TRACE = trace_with(CALLS)
ENDS = ["--function=first"]  # selects the first and the last call, so that both traces have the same duration
# Filter options, and the allocations that they select.
CHOICES = [
    (["--size=4k"], {1, 11}),
    (["--size=1500-"], {1, 4, 7, 11}),
    (["--thread=7"], {1, 2, 6, 10, 11}),
    (["--thread=7,8", "--not-function=late"], {1, 2, 3, 4, 6, 11}),
    (["--thread=99,7", "--size=100-"], {1, 2, 6, 11}),
    (["--function=first", "--function=Cache::put"], {1, 2, 3, 6, 11}),
    (["--function=first", "--function=Cache::put(int)", "--not-function=calloc"], {1, 2, 6, 11}),
    (["--function=?irst", "--function=rea[c-e]_*", "--object=*"], {1, 3, 4, 11}),
    (["--function=*", "--not-function=Cache*"], {1, 4, 7, 10, 11}),
    (["--function=calloc", *ENDS], {1, 3, 11}),
    (["--object=prog", "--not-function=read_it"], {1, 2, 6, 7, 10, 11}),
    (["--time=0-10", "--size=60-4096"], {1, 2, 3, 4, 6, 7, 10, 11}),
]
OUTPUTS = [[], ["-r"], ["-c"], ["-l"], ["-l", "-c"], ["--stats"], ["--mpatrol-table"], ["--report"],
           ["--report=allocated", "--tree"], ["--report=peak"], ["--report=temporary"], ["--report=size"],
           ["--report=thread"], ["--report=object"], ["--html=out"]]
FORMATS = ["rtrace", "mpatrol", "stacktrack", "swap", "callgrind", "chrome", "collapsed", "dhat", "gperftools",
           "heaptrack", "json", "massif", "pprof", "rows", "speedscope", "xml"]


def with_releases(allocations):
    return {number for number in CALLS if (CALLS[number][2] if is_release(number) else number) in allocations}


def result(folder, options, data):
    """Returns the output of a run with these options, without the parts that name the filters. Returns None if this
    build does not support the format."""
    out = os.path.join(folder, "out")
    written = b""
    done = run("-q", *options, "-", data=data, cwd=folder, env=dict(os.environ, TZ="UTC"))
    if done.returncode and b"was built without" in done.stderr:
        return None
    assert done.returncode == 0, (options, done)
    if os.path.exists(out):
        with open(out, "rb") as file:
            written = file.read()
        os.remove(out)
    assert done.stdout or written, options
    # The report, the statistics and the page name the filters.
    return re.sub(rb"only        .*\n", b"", done.stdout) + re.sub(rb',"selection":"[^"]*"', b"", written)


def check_output(folder, options, choices):
    compared = 0
    for asked, allocations in choices:
        expected = result(folder, options, trace_with(with_releases(allocations)))
        found = result(folder, options + asked, TRACE)
        if expected is None and found is None:
            return 0
        assert found == expected, (options, asked, found.decode(errors="replace"), expected.decode(errors="replace"))
        compared += 1
    return compared


def choices_for(number):
    """Returns the choices to test with an output: all of them with CHECK_LONG, else three. The next output gets three
    other ones, so that each output and each choice is tested."""
    return CHOICES if LONG else [CHOICES[(number + 4 * i) % len(CHOICES)] for i in range(3)]


def every_output_of_a_filtered_trace_has_only_the_selected_calls(folder):
    for number, options in enumerate(OUTPUTS):
        choices = choices_for(number)
        assert check_output(folder, options, choices) == len(choices), options


def every_format_of_a_filtered_trace_has_only_the_selected_calls(folder):
    missing = [name for number, name in enumerate(FORMATS)
               if not check_output(folder, ["-f", name, "-o", "out"], choices_for(number))]
    if missing:
        raise Skip("this build does not write " + ", ".join(missing))


VIEWS = [["--report"], ["--report=alive", "--tree"], *(["--report=" + view] for view in (
    "peak", "allocated", "temporary", "size", "thread", "object")), ["--html=out"]]
# Filters of live blocks, and other options that select the same blocks.
ALIVE = [(["--older=5"], ["--time=-5", "--not-function=read_it"]), (["--between=1,9"], ["--time=1-9", "--thread=7"]),
         (["--older=1", "--between=5,10", "--function=late"], ["--size=64"])]


def filters_of_live_blocks_apply_to_every_output(folder):
    outputs = VIEWS + [["-f", name, "-o", "out"] for name in FORMATS if name not in ("rtrace", "mpatrol", "stacktrack", "swap")]
    for number, options in enumerate(outputs):
        for asked, same in ALIVE if LONG else [ALIVE[number % len(ALIVE)]]:
            found, expected = (result(folder, options + chosen, TRACE) for chosen in (asked, same))
            assert found == expected, (options, asked, found.decode(errors="replace"), expected.decode(errors="replace"))
    # Blocks from before the trace are older than any time in it, and were not allocated in it.
    before = TRACE.replace(b"1. [", b"## before <1> 0x90000 24\n## before <1> 0x1000 8\n1. [", 1)
    for options, alive in ((["--older=5"], "4,320 bytes in 4 blocks"), (["--between=1,9"], "264 bytes in 3 blocks")):
        text = run("--report", *options, "-", data=before, check=0).stdout.decode()
        assert f"            {alive} alive at the end\n" in text, text


def growth_counts_only_selected_blocks(folder):
    for name, allocations in (("old", {1}), ("whole", set(CALLS))):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(trace_with(with_releases(allocations)))
    report = run("--report", "--diff=old", "--function=first", "--size=4k", "whole", cwd=folder, check=0).stdout.decode()
    assert re.findall(r"^ *\d\. (.*)$", report, re.M) == [
        "+4,096 bytes, +1 block: 8,192 bytes in 2 blocks, before 4,096 bytes in 1 block"], report
    report = run("--report", "--diff=@9.5", "--thread=7", "-", data=TRACE, check=0).stdout.decode()
    assert re.findall(r"^ *\d\. (.*?):", report, re.M) == ["+4,096 bytes, +1 block"], report
    report = run("--report", "--diff=@0.5", "--min-count=2", "-", data=TRACE, check=0).stdout.decode()
    assert re.findall(r"^ *\d\. (.*?):", report, re.M) == ["+4,096 bytes, +1 block", "+200 bytes, +2 blocks"], report
    assert "     without 1 group that grew, of fewer than 2 allocations: +64 bytes, +1 block\n" in report, report


CHOSEN = b"""version=1.4,arch=x86_64,process=/bin/prog,pid=42,origin=test
<1> : memory (memory allocation in bytes)
<2> : fd (file descriptors)
@ 1 : Req
: /bin/prog => 0x1000-0x9000
1. @1 [10:00:01.000000] malloc<memory>(100) = 0x1000
\t0x1010 f at a.c:5

2. [10:00:02.000000] malloc<memory>(1000000) = 0x200000
\t0x2010 g at a.c:6

3. [10:00:03.000000] open<fd>(1) = 0x3
\t0x2020 g at a.c:7

"""


def outputs_and_suggested_commands_name_the_filters(folder):
    """The report, the statistics and the page name the filters, and the commands that the report suggests have them."""
    path, page, index = (os.path.join(folder, name) for name in ("the trace", "page", "an index"))
    for name, data in ((path, CHOSEN), (index, b"2\n")):
        with open(name, "wb") as file:
            file.write(data)
    for words in ("-C Req", "-C 0", "-R memory", "-R 1", "--pid=42", f"--include='{index}'", f"--exclude='{index}'",
                  "--call-address=prog:1000+100", "--size=1-200", "--function='f*'", "--not-function=f", "--time=0-1",
                  "-C Req --pid=42 --size=1-200", "--min-count=1", "--size=1-2000 --min-count=1"):
        options, of_groups = shlex.split(words), "--min-count" in words
        report = run("--report", *options, path, check=0).stdout.decode()
        assert f"\nonly        {words}\n" in report, (words, report)
        again = re.search(r"^next .*: functrace-postproc (--report=alive .*)$", report, re.M).group(1)
        assert again == f"--report=alive {words} '{path}'", again
        figures, same = (re.findall(r"^(?:memory|fd) .*\n.*", text, re.M)
                         for text in (report, run(*shlex.split(again), check=0).stdout.decode()))
        assert figures and figures == same, (words, figures, same)
        if not of_groups:
            assert f"\nonly             {words}\n" in run("--stats", *options, path, check=0).stdout.decode(), words
        run("--report", f"--html={page}", *options, path, check=0)
        with open(page, encoding="utf-8") as file:
            data = json.loads(re.search(r'id="data">(.*?)</script>', file.read(), re.S).group(1))
        wanted = words.replace("--min-count=1", "").strip()
        assert data.get("selection", "") == wanted and data["events"] <= 3, (words, data.get("selection"))
    # The suggested commands also have the options that say how to read the trace, and the suppressions.
    layout, suppressed = (os.path.join(folder, name) for name in ("a layout", "suppressed"))
    stacktrack = run("-f", "stacktrack", "-q", path, check=0).stdout
    for name, data in ((layout, run("--show-format", check=0).stdout), (suppressed, b"leak:g\n")):
        with open(name, "wb") as file:
            file.write(data)
    for words, data in (("--input-format=text", CHOSEN), (f"--raw-format='{layout}'", stacktrack),
                        ("--debug-path=/ --debuginfod", CHOSEN), ("--debuginfod --debug-path=''", CHOSEN),
                        (f"--suppressions={suppressed} --no-default-suppressions", CHOSEN)):
        with open(path, "wb") as file:
            file.write(data)
        report = run("--report", *shlex.split(words), "--size=1-2000", path, check=0).stdout.decode()
        commands = re.findall(r"^[n ].*: functrace-postproc (--report.*)$", report, re.M)
        assert [command.split(" ", 1)[0] for command in commands] == ["--report=alive", "--report"], report
        for command in commands:
            assert command.endswith(f" {words} --size=1-2000 '{path}'"), command
            run("-q", *shlex.split(command), check=0)
    with open(path, "wb") as file:
        file.write(CHOSEN)
    for text in (run("--report", path, check=0).stdout, run("--stats", path, check=0).stdout):
        assert b"only  " not in text and b"--report=alive 'only" not in text, text


def numbers(*options, data=TRACE, status=0):
    """The numbers of the calls in the output text."""
    text = run(*options, "-", data=data, check=status).stdout.decode()
    return [int(number) for number in re.findall(r"^(\d+)\. ", text, re.M)]


def times_of_filters_count_from_the_first_call_of_the_trace(_folder):
    assert numbers("--time=2-5") == [3, 4, 5, 6, 8]
    assert numbers("--time=2.5-") == [4, 6, 7, 8, 9, 10, 11]
    assert numbers("--time=-1") == [1, 2]
    assert numbers("--time=1-9", "--thread=7") == [2, 6, 10]
    assert numbers("-l", "--time=1-9") == [2, 6, 10]
    # The report's ages and its filters are counted up to the last call of the whole trace.
    report = run("--report", "--thread=7", "--time=1-9", "-", data=TRACE, check=0).stdout.decode()
    assert "on, 3 events within 10.0 s\nresident    unknown: the trace does not say how much memory was resident\nonly        --thread=7 --time=1-9\n" in report, report
    assert "by malloc, 5.000 s to 9.000 s old\n" in report and "by malloc, 1.000 s old\n" in report, report
    report = run("--report", "--thread=7", "--older=9", "--size=-100", "-", data=TRACE, check=0).stdout.decode()
    assert re.findall(r"^ *\d\. (.*?)  ", report, re.M) == ["100 bytes in 1 block"], report
    # Times continue after midnight; without times the unit is calls.
    late = TRACE.replace(b"[10:00:0", b"[23:59:5").replace(b"[10:00:10", b"[00:00:00")
    assert numbers("--time=9-", data=late) == [10, 11]
    timeless = re.sub(rb"\[10:00:..\.000000\] ", b"", TRACE)
    assert numbers("--time=2-5", data=timeless) == [3, 4, 5, 6, 8]
    assert numbers("-l", "--time=1-9", data=timeless) == [2, 6, 10]
    assert numbers("-l", "--older=5", data=timeless) == [1, 2, 6]


def in_a_trace_without_times_filtered_calls_keep_their_numbers(_folder):
    """The trace has three allocations, and ten calls of another resource after each. A call's time is its number."""
    lines, text = [HEAD], lambda *options, data: run(*options, "-", data=data, check=0).stdout.decode()
    for number in range(1, 34):
        lines.append(f"{number}. malloc<memory>(100) = 0x{number}000\n\t0x40 late at /no/l.c:1\n\n" if number % 11 == 1
                     else f"{number}. open<fd>(1) = 0x{number}\n\n")
    data = "".join(lines).encode()
    for options in ["-R", "memory"], ["-R", "memory", "--size=1-"], ["--size=100-"], ["--time=0-32", "-R", "memory"]:
        report = text("--report", *options, data=data)
        end = 22 if "-R" in options else 32
        assert ", after 22 calls\n" in report and f" by malloc, allocated {end} calls before the end\n" in report, (options, report)
        report = text("--report", "--diff=@2", *options, data=data)
        assert "+200 bytes, +2 blocks: 300 bytes in 3 blocks, before 100 bytes in 1 block" in report, (options, report)
    # The numbers are also kept if an earlier run left out the calls between them.
    some = run("-R", "memory", "-", data=data, check=0).stdout
    for options in [], ["--size=1-"]:
        assert ", after 22 calls\n" in text("--report", *options, data=some), (options, some)
        assert '"calls":22,' in text("-f", "json", *options, data=some)
    assert re.search(r"\n +1  below 100 ", text("--stats", "-R", "memory", data=data + b"34. free<memory>(0x1000)\n\n"))


def live_blocks_are_filtered_by_age_and_by_count(_folder):
    assert numbers("-l") == [1, 2, 6, 10, 11]
    assert numbers("-l", "--older=5") == [1, 2, 6]
    assert numbers("-l", "--older=5.1") == [1, 2]
    assert numbers("-l", "--older=0") == [1, 2, 6, 10, 11]
    assert numbers("-l", "--min-count=2") == [1, 2, 6, 11]
    assert numbers("-l", "--min-count=3") == []
    assert numbers("-l", "--min-count=2", "--older=1") == [2, 6]
    assert numbers("-l", "-c", "--min-count=2") == [2, 6, 1, 11]
    text = run("-l", "--min-count=2", "-", data=TRACE, check=0).stdout.decode()
    assert text.endswith("# 4 block(s) leaked with total size of 8392 bytes\n"
                         "# Resource - fd (file descriptors):\n# 0 descriptor(s) leaked\n"
                         "# 1 block(s) in stacks, compared by address, of fewer than 2 allocations with total size of 64 bytes: not shown\n"), text
    assert run("-l", "--min-count=3", "--error-exitcode=5", "-", data=TRACE).returncode == 0
    assert run("-l", "--min-count=2", "--error-exitcode=5", "-", data=TRACE).returncode == 5
    report = run("--report", "--min-count=2", "-", data=TRACE, check=0).stdout.decode()
    assert "without 1 group of fewer than 2 allocations: 64 bytes in 1 block\n" in report, report
    assert run("--report", "--min-count=3", "--error-exitcode=5", "-", data=TRACE).returncode == 0
    assert run("--report", "--min-count=2", "--error-exitcode=5", "-", data=TRACE).returncode == 5
    # For -l and for the report a group consists of the calls with the same function, kind of resource and stack.
    declared = b"version=1.4\n<1> : memory (blocks)\n<2> : fd (descriptors)\n"
    for stack in b"", b"\t0x1000\n":
        for function in b"open<fd>(0)", b"calloc<memory>(5)":
            mixed = declared + b"1. malloc<memory>(5) = 0x1\n" + stack + b"\n2. " + function + b" = 0x3\n" + stack + b"\n"
            for least, status in ((1, 5), (2, 0)):
                for how in "-l", "--report":
                    done = run(how, *PLAIN[how == "-l":], f"--min-count={least}", "--error-exitcode=5", "-", data=mixed)
                    assert done.returncode == status, (least, how, mixed, done)
            assert numbers("-l", "--min-count=1", data=mixed) == [1, 2] and numbers("-l", "--min-count=2", data=mixed) == []


def a_lost_block_is_left_out_with_its_allocation(_folder):
    def scanned(calls, lost):
        lines = "".join(f"## lost <1> 0x{CALLS[number][4]:x} definitely\n" for number in lost)
        return trace_with(calls) + b"## scan <1>\n" + lines.encode()

    whole = scanned(CALLS, [1, 2, 10])
    assert whole.endswith(run("-", data=whole, check=0).stdout[-60:])
    for options, chosen, lost in ((["--size=100-"], set(CALLS) - {3, 5, 10}, [1, 2]), (["--function=late"], {7, 9, 10}, [10]),
                                  (["-l", "--size=64"], {10}, [10]), (["-l", "--min-count=2"], {1, 2, 6, 11}, [1, 2]),
                                  (["-l", "-c", "--min-count=2"], {1, 2, 6, 11}, [1, 2]), (["-l", "--size=4k"], {1, 11}, [1])):
        # -l must list blocks of all classes.
        options = options + ["--show-leak-kinds=all"] if "-l" in options else options
        plain = [option for option in options if len(option) == 2 or "kinds" in option]
        expected = run(*plain, "-", data=scanned(chosen, lost), check=0).stdout
        if "--min-count=2" in options:
            expected += b"# 1 block(s) in stacks, compared by address, of fewer than 2 allocations with total size of 64 bytes: not shown\n"
        assert run(*options, "-", data=whole, check=0).stdout == expected, (options, expected.decode())
    report = run("--report", "--size=64-100", "-", data=whole, check=0).stdout.decode()
    assert re.findall(r"^ *\d\. (.*?)  ", report.split("still reachable, by stack")[0], re.M) == ["100 bytes in 1 block", "64 bytes in 1 block"], report


def the_object_filter_uses_the_object_mapped_at_the_time_of_the_call(_folder):
    """At one address first a library is mapped, then another one, then the first one again."""
    def library(path, identity):
        return [("MMAP", 0xF0000000, 0xF0001000, path), ("CALL", 0, 0, 1000, 2, "malloc", 9, identity),
                ("BTRC", 0xF0000100, 0x400123)]

    releases = [("CALL", 0, 0, 2000, 1, "free", 0, identity) for identity in (0x10, 0x20, 0x30)]
    packets = library("/lib/old.so", 0x10) + library("/lib/new.so", 0x20) + library("/lib/old.so", 0x30)
    for tail, options in ((releases, []), ([], ["-l"])):
        data = Encoder("1.4", 8, False).trace(golden.DECLARATIONS + packets + tail)
        for asked, chosen in (("old.so", [1, 3]), ("/lib/new.*", [2]), ("prog", [1, 2, 3])):
            expected = chosen + [3 + number for number in chosen if tail]
            assert numbers(*options, "--object=" + asked, data=data) == expected, (options, asked)
            assert numbers("-r", "-q", *options, "--object=" + asked, data=data) == expected, (options, asked)


SUPPRESSIONS = b"""{
   kept on purpose
   Memcheck:Leak
   fun:malloc
   fun:first
}
leak:late
"""
PLAIN = ["--no-default-suppressions"]


def suppressed_leaks_are_neither_listed_nor_counted(folder):
    for name, text in (("valgrind", SUPPRESSIONS.split(b"leak:")[0]), ("lsan", b"leak:late\nleak:Cache*\n")):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text)
    options = ["-l", "--error-exitcode=5", "-"]
    left = run("--suppressions=valgrind", *options, data=TRACE, cwd=folder, check=5).stdout.decode()
    assert re.findall(r"^(\d+)\. ", left, re.M) == ["2", "6", "10"], left
    assert left.endswith("# 3 block(s) leaked with total size of 264 bytes\n# Resource - fd (file descriptors):\n"
                         "# 0 descriptor(s) leaked\n# suppressed: 8,192 bytes in 2 blocks: kept on purpose (valgrind:3)\n"
                         ), left
    both = ["--suppressions=valgrind", "--suppressions=lsan"]
    none = run(*both, *options, data=TRACE, cwd=folder, check=0).stdout.decode()
    assert not re.findall(r"^\d+\. ", none, re.M), none
    assert none.splitlines()[-3:] == ["# suppressed: 8,192 bytes in 2 blocks: kept on purpose (valgrind:3)",
                                      "# suppressed: 64 bytes in 1 block: late (lsan:1)",
                                      "# suppressed: 200 bytes in 2 blocks: Cache* (lsan:2)"], none
    # Filters come before suppressions: a block that a filter leaves out is not counted as suppressed.
    some = run(*both, "--thread=7", "--size=64", *options, data=TRACE, cwd=folder, check=0).stdout.decode()
    assert re.findall("# suppressed: .*", some) == ["# suppressed: 64 bytes in 1 block: late (lsan:1)"], some
    assert run(*both, "-c", *options, data=TRACE, cwd=folder).returncode == 0
    report = run(*both, *PLAIN, "--report", "--error-exitcode=5", "-", data=TRACE, cwd=folder, check=0).stdout.decode()
    assert "     200 bytes in 2 blocks: Cache* (lsan:2)\n" in report, report
    with open(os.path.join(folder, "wrong"), "wb") as file:
        file.write(b"{\n")
    assert b"wrong" in run("--suppressions=wrong", *options, data=TRACE, cwd=folder, check=1).stderr


def filters_and_suppressions_use_whole_stacks_even_with_b(folder):
    """-b shortens only the shown stacks."""
    # The stacks of the calls 2, 6 and 12 are equal if -b1 shortens them.
    data = TRACE + b"12. [10:00:10.000000] malloc<memory>(30) = 0x8000\n\t0x20 Cache::put(int) at /no/c.cc:5\n\t0x70 more\n\n"
    for kept in ["--not-function=main"], ["--function=_start"], ["--object=prog", "--size=100-"]:
        for more in [], ["-l"]:
            chosen = numbers(*kept, *more, data=data)
            assert chosen and numbers(*kept, *more, "-b1", data=data) == chosen, (kept, more, chosen)
        sizes = run("--report=size", *kept, "-", data=data, check=0).stdout
        assert run("--report=size", *kept, "-b1", "-", data=data, check=0).stdout == sizes, (kept, sizes.decode())
    assert numbers("-l", "--function=more", "-b0", data=data) == [12]
    folded = run("-f", "collapsed", "--function=more", "-b1", "-", data=data, check=0).stdout.decode()
    assert folded == "Cache::put(int);malloc 30\n", folded
    with open(os.path.join(folder, "outer"), "wb") as file:
        file.write(b"{\n   outer\n   Memcheck:Leak\n   fun:malloc\n   ...\n   fun:_start\n}\n")
    said = run("--suppressions=outer", "-l", "-b1", "-", data=data, cwd=folder, check=0).stdout.decode()
    assert numbers("-l", "-b1", "--suppressions=" + os.path.join(folder, "outer"), data=data) == [12]
    assert "# suppressed: 8,456 bytes in 5 blocks: outer (outer:3)\n" in said, said
    # If suppressions match some blocks of a group, the group has the other blocks and their growth.
    report = run("--suppressions=outer", "--report", "-b1", "-", data=data, cwd=folder, check=0).stdout.decode()
    assert "\n  1. 30 bytes in 1 block  100.0 %" in report and "\n     8,456 bytes in 5 blocks: outer (outer:3)\n" in report, report
    assert "      grew by 30 bytes in the last 1.142 s, 1,577 a minute\n      Cache::put(int) at c.cc:5\n" in report, report
    report = run("--suppressions=outer", "--report=allocated", "-b1", "-", data=data, cwd=folder, check=0).stdout.decode()
    assert "230 bytes in 3 blocks" in report and report.count("Cache::put") == 1, report
    report = run("--suppressions=outer", "--report", "--diff=@0.5", "-b1", "-", data=data, cwd=folder, check=0).stdout.decode()
    assert re.findall(r"^ *\d\. (.*)$", report, re.M) == ["+30 bytes, +1 block: 30 bytes in 1 block, before none"], report


def a_filter_that_matches_nothing_is_an_error_that_names_it(_folder):
    for options, words in (
            (["--size=5-6"], "--size=5-6 matches nothing: no allocation has such a size"),
            (["--thread=9"], "--thread=9 matches nothing: no allocation was made by such a thread"),
            (["--thread=8", "--size=64"], "--thread=8 matches nothing: no allocation of that size was made by such a thread"),
            (["--time=11-"], "--time=11- matches nothing: the trace is 10.000 s long, and no allocation that the "
                             "other filters choose was made in that time"),
            (["--function=nope"], "--function=nope matches nothing: no allocation goes through such a function"),
            (["--object=*", "--object=nope"], "--object=nope matches nothing: no allocation goes through such an object")):
        done = run(*options, "-", data=TRACE, check=1)
        assert done.stderr.decode() == f"functrace-postproc: {words}\n", done
        done = run("--report", *options, "-", data=TRACE, check=1)
        assert words in done.stderr.decode(), done
    # It is no error if an excluded function does not exist, or if no live block matches.
    assert numbers("--not-function=nope") == sorted(CALLS)
    done = run("-l", "--function=nope", "--error-exitcode=5", "-", data=TRACE, check=0)
    assert b"warning: --function=nope matches nothing" in done.stderr, done


def only_excluding_filters_keep_releases_without_an_allocation(_folder):
    stray = TRACE + b"12. [10:00:10.000000] free<memory>(0x9999)\n\n"
    assert numbers("--not-function=late", data=stray)[-1] == 12
    for options in (["--function=*"], ["--size=0-"], ["--thread=7"], ["--time=0-"], ["--object=*"]):
        assert numbers(*options, data=stray)[-1] == 11, options


def wrong_values_and_combinations_of_filters_are_usage_errors(_folder):
    for options in (["--size="], ["--size=-"], ["--size=9-3"], ["--size=1x"], ["--size=99999999999999999999-"],
                    ["--thread="], ["--thread=7,"], ["--thread=0"], ["--thread=me"], ["--time=3-2"], ["--time=x"],
                    ["--time=-"], ["--time=3"], ["--function="], ["--min-count=2"], ["--min-count=0", "-l"],
                    ["--older=3"], ["--min-count=2", "--report=size"], ["--dump", "--size=3"],
                    ["--live", "--function=x"]):
        done = run(*options, "-", data=TRACE, check=2)
        assert done.stdout == b"" and b"functrace-postproc: " in done.stderr, options


TESTS = [every_output_of_a_filtered_trace_has_only_the_selected_calls, filters_of_live_blocks_apply_to_every_output,
         every_format_of_a_filtered_trace_has_only_the_selected_calls, growth_counts_only_selected_blocks,
         outputs_and_suggested_commands_name_the_filters, times_of_filters_count_from_the_first_call_of_the_trace,
         in_a_trace_without_times_filtered_calls_keep_their_numbers, live_blocks_are_filtered_by_age_and_by_count,
         the_object_filter_uses_the_object_mapped_at_the_time_of_the_call, a_lost_block_is_left_out_with_its_allocation,
         suppressed_leaks_are_neither_listed_nor_counted, filters_and_suppressions_use_whole_stacks_even_with_b,
         a_filter_that_matches_nothing_is_an_error_that_names_it,
         only_excluding_filters_keep_releases_without_an_allocation,
         wrong_values_and_combinations_of_filters_are_usage_errors]

if __name__ == "__main__":
    sys.exit(main(TESTS))
