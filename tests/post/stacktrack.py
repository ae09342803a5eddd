#!/usr/bin/env python3
"""StackTrack's write cycles, read by a decoder of its own.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import struct
import sys

import golden
from encode import Encoder
from run import main, run, text_of

HIT, FLOC, FPROPERTY, SLOC, PROLOGUE, PROCINFO, TIMEINFO, TIMETYPE, INFO = 0, 1, 2, 3, 4, 5, 6, 7, 0xff
MEMBERS = {HIT: "qHH", FLOC: "hHh", FPROPERTY: "hHh", SLOC: "HhhHh", PROLOGUE: "IIBBB", PROCINFO: "HH", TIMEINFO: "qq",
           TIMETYPE: "qH"}
# Which of them is the write cycle's number.
CYCLE = {FLOC: 1, FPROPERTY: 1, SLOC: 3, PROCINFO: 1}


class Entry:
    """An entry with its text."""

    def __init__(self, kind, sequence, members):
        self.kind, self.sequence, self.members, self.text, self.size = kind, sequence, members, "", 1


def decode(data):
    order = "<" if data[8:12] == b"\x78\x56\x34\x12" else ">"
    entries = []
    assert len(data) % 24 == 0, len(data)
    for at in range(0, len(data), 24):
        flags, _pid, sequence = struct.unpack_from(order + "HHI", data, at)
        if flags & 0xff == INFO:
            assert entries[-1].sequence == sequence
            entries[-1].text += data[at + 8:at + 24].rstrip(b"\0").decode()
            entries[-1].size += 1
        else:
            entries.append(Entry(flags & 0xff, sequence, struct.unpack_from(order + MEMBERS[flags & 0xff], data, at + 8)))
    return entries


def cycles_of(data):
    """Lists of entries, each from a prologue on, and where in the data each begins."""
    cycles, starts, at = [], [], 0
    for entry in decode(data):
        if entry.kind == PROLOGUE:
            cycles.append([])
            starts.append(at)
        cycles[-1].append(entry)
        at += 24 * entry.size
    assert at == len(data), (at, len(data))
    return cycles, starts


def made(big_endian):
    """Libraries that come and go, threads, functions, stacks, arguments, notes."""
    packets = golden.DECLARATIONS + [("BLID", 0xF7000000, "0123abcd")]
    for i in range(40):
        if i % 8 == 1:
            packets.append(("MMAP", 0x500000, 0x501000, f"/lib/plugin{i}.so"))
            packets.append(("BLID", 0x500000, f"{i:040x}"))
        if i % 5 == 2:
            packets.append(("THRD", 4242 + i, f"worker {i}"))
        packets.append(("CALL", 0, i & 3, 3661000 + i, 2, ("malloc", "calloc", "operator new(unsigned long)")[i % 3],
                        100 + i, 0x602000 + 256 * i))
        packets.append(("BTRC",) + tuple(0x400100 + 16 * j for j in range(i % 4 + 1)))
        if i % 7 == 3:
            packets.append(("ARGS", ("size", str(100 + i))))
            packets.append(("NOTE", f"received signal {i}"))
    return Encoder("1.4", 8, big_endian, golden.ARCH[8, big_endian]).trace(packets)


def check_cycle(number, cycle, size, is_last):
    kinds = [entry.kind for entry in cycle[:4]]
    assert kinds == [PROLOGUE, PROCINFO, TIMETYPE, TIMEINFO], kinds
    wrong = [entry.kind for entry in cycle if entry.kind in CYCLE and entry.members[CYCLE[entry.kind]] != number]
    assert not wrong, (number, wrong)
    scopes = {}
    for entry in cycle:
        if entry.kind == SLOC:
            assert entry.members[0] not in scopes, (number, entry.text)
            scopes[entry.members[0]] = entry.text
        assert entry.kind != HIT or entry.members[1] in scopes, (number, entry.text)
    # What begins the cycle is of sequence 0, and of the first also the record of the process; then come records.
    begin = [entry for entry in cycle if entry.sequence == 0 or (number == 0 and entry.sequence == 1)]
    assert begin == cycle[:len(begin)]
    records = cycle[len(begin):]
    last = [entry.size for entry in records if entry.sequence == records[-1].sequence]
    total = sum(entry.size for entry in records)
    assert total - sum(last) < size and (is_last or total >= size), (number, total, last)
    return begin, scopes


def words(entry, scopes):
    return f"{scopes[entry.members[1]]} {entry.text}" if entry.kind == HIT else entry.text


def each_cycle_has_all_context(_folder):
    for big in (False, True):
        trace = made(big)
        plain = run("-q", "-f", "stacktrack", "-", data=trace, check=0).stdout
        assert len(cycles_of(plain)[0]) == 1
        for size in (1, 20, 64, 1000):
            data = run("-q", "-f", "stacktrack", f"--cycle-size={size}", "-", data=trace, check=0).stdout
            cycles = cycles_of(data)[0]
            # Of one entry: each of the 72 records behind the process's begins one, but for the first.
            assert size > 1 or len(cycles) == 72, len(cycles)
            for number, cycle in enumerate(cycles):
                begin, scopes = check_cycle(number, cycle, size, number == len(cycles) - 1)
                if cycle[len(begin)].sequence < 10:
                    continue  # not all is declared
                said = [words(e, scopes) for e in begin if e.kind in (HIT, FLOC, FPROPERTY)]
                declared = [w for w in said if w.split()[0] in ("process", "module", "context", "resource")]
                assert [w.split()[0] for w in declared] == ["process"] + ["module"] * 2 + ["context"] * 2 + ["resource"]
                # Of the libraries that came after one another in one place, the last.
                assert sum("plugin" in w for w in said) <= 1, said
                assert said.index("/lib/libc.so.6") + 2 == said.index("build-id from=0xf7000000 hex=0123abcd"), said
            # The same records, each once.
            assert [(e.sequence, e.text) for e in sum(cycles, []) if e.sequence and e.kind in (HIT, FLOC, FPROPERTY)] == \
                [(e.sequence, e.text) for e in decode(plain) if e.sequence and e.kind in (HIT, FLOC, FPROPERTY)]
            assert text_of(data) == text_of(trace), size


def the_newest_of_a_place_is_posted(_folder):
    data = run("-q", "-f", "stacktrack", "--cycle-size=64", "-", data=made(False), check=0).stdout
    cycles = cycles_of(data)[0]
    plugins = [[e.text for e in cycle if e.kind == FLOC and e.sequence == 0 and "plugin" in e.text] for cycle in cycles]
    assert plugins == [[], ["/lib/plugin1.so"], ["/lib/plugin1.so"], ["/lib/plugin9.so"], ["/lib/plugin17.so"], ["/lib/plugin17.so"],
                       ["/lib/plugin25.so"], ["/lib/plugin33.so"]], plugins
    ids = [[e.text for e in cycle if e.sequence == 0 and e.text.startswith("from=0x500000 hex=")] for cycle in cycles]
    assert ids[1:] == [[f"from=0x500000 hex={int(p[0][11:-3]):040x}"] for p in plugins[1:]], ids
    thread = ""
    for cycle in cycles:
        assert [e.text for e in cycle if e.sequence == 0 and e.text.startswith("tid=")] == [thread] * bool(thread)
        thread = ([thread] + [e.text for e in cycle if e.text.startswith("tid=")])[-1]
    assert thread == "tid=4279 name=worker\\04037", thread


def calls_of(text):
    """Its calls with their stacks, without numbers."""
    lines = [line for line in text.decode().splitlines() if line and line[0] not in "<@#:v"]
    return [line.split(". ", 1)[1] if line[0] != "\t" else line for line in lines]


def the_tail_of_a_trace_is_enough(_folder):
    for big in (False, True):
        trace = made(big)
        data = run("-q", "-f", "stacktrack", "--cycle-size=64", "-", data=trace, check=0).stdout
        cycles, starts = cycles_of(data)
        whole = calls_of(text_of(trace))
        for number, start in enumerate(starts[1:], 1):
            tail = text_of(data[start:])
            assert tail.splitlines()[0] == text_of(trace).splitlines()[0], tail.splitlines()[0]
            calls = calls_of(tail)
            wanted = sum(1 for cycle in cycles[number:] for e in cycle if e.text.startswith("alloc="))
            assert sum(line[0] != "\t" for line in calls) == wanted
            assert calls == whole[len(whole) - len(calls):], number
            # Cut anywhere before: the first prologue is looked for if the format is said.
            cut = data[starts[number - 1] + 1:]
            done = run("--input-format=stacktrack", "-", data=cut, check=0)
            assert done.stdout == tail, number
            said = "warning: standard input: it is read from its first prologue, at byte %d\n" % (len(cut) - len(data) + start)
            assert said in done.stderr.decode(), (said, done.stderr)
            assert run("-", data=cut).returncode == 1
    done = run("--input-format=stacktrack", "-", data=trace, check=1)
    assert b"no StackTrack trace begins here" in done.stderr, done.stderr


def cycles_are_stacktracks_only(_folder):
    for arguments in (["--cycle-size=10"], ["-f", "swap", "--cycle-size=10"], ["-f", "stacktrack", "--cycle-size=0"],
                      ["-f", "stacktrack", "--cycle-size=x"]):
        done = run(*arguments, "-", data=made(False))
        assert done.returncode == 2 and b"--cycle-size" in done.stderr and not done.stdout, done


TESTS = [each_cycle_has_all_context, the_newest_of_a_place_is_posted, the_tail_of_a_trace_is_enough,
         cycles_are_stacktracks_only]

if __name__ == "__main__":
    sys.exit(main(TESTS))
