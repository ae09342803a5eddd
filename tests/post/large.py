#!/usr/bin/env python3
"""Memory use and order of output for large traces.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import random
import re
import subprocess
import sys

import golden
from encode import Encoder
from run import LONG, PROGRAM, main, run, text_of


# Runs a program, and writes its peak memory in KiB to the descriptor with the given number. The peak that the kernel
# reports includes the memory of the process that starts the program, so that process must be small.
MEASURE = """import os, sys
_, status, usage = os.wait4(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)
assert status == 0
os.write(int(sys.argv[1]), b"%d" % usage.ru_maxrss)"""


def peak(parts, arguments, out=subprocess.DEVNULL):
    """Returns the peak memory of the program in KiB while it reads the parts, which may come from a generator."""
    said, says = os.pipe()
    process = subprocess.Popen([sys.executable, "-S", "-E", "-c", MEASURE, str(says), PROGRAM, *arguments, "-"],
                               stdin=subprocess.PIPE, stdout=out, pass_fds=[says])
    os.close(says)
    for part in parts:
        process.stdin.write(part)
    process.stdin.close()
    assert process.wait() == 0
    with open(said, "rb") as file:
        return int(file.read())


def memory_use_does_not_grow_with_the_number_of_events(_folder):
    encoder = Encoder("1.4", 8, False)
    start = encoder.trace(golden.DECLARATIONS)
    stacks = [encoder.packet(("BTRC",) + tuple(0x400000 + 16 * stack + frame for frame in range(10)))
              for stack in range(500)]
    calls = [encoder.packet(("CALL", 0, 0, 1, 2, "malloc", 24, 0x600000 + 16 * i)) + stacks[i % 500]
             for i in range(1000)]
    releases = [encoder.packet(("CALL", 0, 0, 1, 1, "free", 0, 0x600000 + 16 * i)) for i in range(1000)]
    block = b"".join(calls) + b"".join(releases)

    for options in (("-l", "-c"), ("-f", "heaptrack")):
        small, large = (peak([start] + count * [block], options) for count in (1, 200 if LONG else 50))
        assert large < small + 1024, (options, small, large)


def many_notes_keep_their_places_in_bounded_memory(_folder):
    """The notes come after a block that is live to the end, whose call -l must print first."""
    head = b"version=1.4,arch=x86_64,process=/bin/p,pid=1\n<1> : memory (m)\n1. malloc(7) = 0x10\n\t0x100\n\n"
    last = b"2. malloc(8) = 0x20\n\t0x200\n\n"
    long_note = b"## long " + b"x" * 400000 + b"\n"

    def lines(first, count):
        return b"".join(b"## note %d\nremark %d\n" % (i, i) for i in range(first, first + count))

    for arguments in (["-l"], ["-l", "-c"], ["-c", "--compat=sp-rtrace"]):
        small = peak([head, lines(0, 100), last], arguments)
        large = peak((head if i < 0 else lines(20000 * i, 20000) if i < 20 else last for i in range(-1, 21)), arguments)
        assert large < small + 4096, (arguments, small, large)
    # The notes are printed in their order, each before the call that followed it, whether they were stored in memory
    # or in the temporary file.
    text = head + lines(0, 30000) + long_note + lines(30000, 9) + last + lines(30009, 3)
    have = text_of(text, "-l")
    numbers = [int(number) for number in re.findall(rb"^(?:## note|remark) (\d+)$", have, re.M)]
    assert numbers == [i for i in range(30012) for _ in range(2)], numbers[:20]
    assert have.index(b"malloc(7)") < have.index(b"note 0\n") < have.index(long_note) < have.index(b"note 30000\n")
    assert have.index(b"note 30008\n") < have.index(b"malloc(8)") < have.index(b"note 30009\n")
    # If the temporary file cannot be created, the notes stay in memory.
    environment = dict(os.environ, TMPDIR="/nonexistent")
    done = subprocess.run([PROGRAM, "-l", "-"], input=text, stdout=subprocess.PIPE, env=environment, check=True)
    assert done.stdout == have


def scan_results_wait_for_their_output_in_bounded_memory(_folder):
    """The results are printed after the calls, and -c prints the calls at the end."""
    head = b"version=1.4,arch=x86_64,process=/bin/p,pid=1\n<1> : memory (m)\n1. malloc(7) = 0x10\n\t0x100\n\n## scan <1>\n"
    lost = b"## lost <1> 0x10 definitely\n" * 1000
    for arguments in (["-c"], ["-c", "--compat=sp-rtrace"], ["--compat=sp-rtrace"]):
        small, large = (peak([head] + count * [lost], arguments) for count in (1, 600))
        assert large < small + 4096, (arguments, small, large)
    assert text_of(head + 30 * lost, "-c").count(b"## lost <1> 0x10 definitely\n") == 30000


def groups_that_exceed_the_memory_limit_are_read_in_order(folder):
    """Groups that do not fit into memory are read, too, and their order is restored."""
    head = b"version=1.4,arch=x86_64,process=/bin/p,pid=1,filter=compress\n<1> : memory (m)\n"

    def group(first, count, stack):
        calls = b"".join(b"%d. malloc(1) = 0x%x\n" % (i, i * 16) for i in range(first, first + count))
        return calls + b"# allocation summary\n" + stack + b"\n"

    out = os.path.join(folder, "out")

    def peak_to_file(parts, *arguments):
        with open(out, "wb") as file:
            return peak(parts, arguments, file)

    # One group has 24 MB (with CHECK_LONG 72), more than the reader may keep in memory; two groups have the same stack.
    count, other, more = (2400000, 1000000, 30 * 1024) if LONG else (800000, 300000, 18 * 1024)
    steps = [group(4000000, 1000, b"\t0x100\n"), b"1. malloc(1) = 0x10\n\t$1 = last\n", group(2, count, b"\t0x200 in f()\n"),
             group(5000000, other, b""), group(3500000, 1000, b"\t0x100\n")]
    assert len(steps[2]) > 28 * count, len(steps[2])
    small = peak_to_file([head, group(1, 200000, b"\t0x100\n")], "-c")
    large = peak_to_file([head] + steps, "-c")
    assert large < small + more, (small, large)
    with open(out, "rb") as file:
        text = file.read()
    assert re.findall(rb"# .*: (\d+) block\(s\) with total size (\d+)\n(.*)\n", text) == [
        (b"2000", b"2000", b"\t0x100"), (b"%d" % other, b"%d" % other, b""), (b"%d" % (count + 1), b"%d" % (count + 1), b"\t0x200 in f()")], text[:400]
    assert peak_to_file([text], "-c") < small + more
    with open(out, "rb") as file:
        assert file.read() == text

    # Sorted runs are merged: calls in any order come out in the right order.
    calls = [(i, (0x100, 0x200, 0x300)[i % 3]) for i in range(1, 150001)]
    wanted = b"".join(b"%d. malloc(1) = 0x%x\n\t0x%x\n\n" % (i, i * 16, stack) for i, stack in calls)
    random.Random(3).shuffle(calls)
    orders = calls, sorted(calls, reverse=True), sorted(calls), sorted(calls, key=lambda call: call[1])
    for ordered in orders if LONG else orders[:2]:
        text = head + b"".join(b"%d. malloc(1) = 0x%x\n\t0x%x\n\n" % (i, i * 16, stack) for i, stack in ordered)
        have = text_of(text)
        assert have[have.index(b"1. malloc"):] == wanted
    # Damage in a long group: only the calls before it lose their stack.
    done = run("-", data=head + steps[0][:-100] + b"\0")
    assert done.returncode == 1 and done.stdout.count(b" malloc(1) = ") > 900
    done = run("-", data=head + steps[3][:1 << 20])
    assert done.returncode == 1 and done.stdout.count(b" malloc(1) = ") == steps[3][:1 << 20].count(b"\n")


TESTS = [memory_use_does_not_grow_with_the_number_of_events, many_notes_keep_their_places_in_bounded_memory,
         scan_results_wait_for_their_output_in_bounded_memory, groups_that_exceed_the_memory_limit_are_read_in_order]


if __name__ == "__main__":
    sys.exit(main(TESTS))
