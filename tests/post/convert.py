#!/usr/bin/env python3
"""functrace-postproc converts between formats: files beside a trace, messages about lost data, refused conversions.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import random
import struct
import subprocess
import sys
from xml.etree import ElementTree

import golden
from encode import Encoder
from run import main, run, text_of

TOP = os.environ.get("TOP_SRCDIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
SEVERAL = Encoder("1.4", 8, False).trace(golden.SEVERAL)

TABLE = """\
 event  type     index      allocation          size    life   count     bytes
------  ------  ------  ------------------  --------  ------  ------  --------
        reserve         0x0000555555559000    135168
     1  alloc        1  0x00005555555592A0       100               1       100
                        thread 1 in main at prog.c line 12
     2  alloc        2  0x0000555555559310       200               2       300
                        thread 2 in work at prog.c line 34
     3  alloc        3  0x00007F1234560010    131072               3    131372
                        thread 1 in main
     4  realloc      2  0x00005555555593E0      4000               3    135172
                        thread 2 in work at prog.c line 35
     5  free         1  0x00005555555592A0       100       4       2    135072
     6  free         3  0x00007F1234560010    131072       3       1      4000
                        thread 1 in main

memory allocation tracing statistics
------------------------------------
allocated: 4 (135372 bytes)
freed:     3 (131372 bytes)
unfreed:   1 (4000 bytes)
peak:      3 (135172 bytes)
reserved:  1 (135168 bytes)
internal:  0 (0 bytes)
total:     1 (135168 bytes)

smallest size: 100 bytes
largest size:  131072 bytes
average size:  33843 bytes
"""

HATF = """\
1 100 0x00005555555592A0
1 200 0x0000555555559310
1 131072 0x00007F1234560010
4 4000 0x0000555555559310 0x00005555555593E0
2 0x00005555555592A0
2 0x00007F1234560010
"""


def corpus(name):
    with open(os.path.join(TOP, "tests/fuzz/corpus/trace", name), "rb") as file:
        return file.read()


def the_mpatrol_table_is_the_table_that_mptrace_prints(_folder):
    done = run("--mpatrol-table", "-", data=corpus("64.mpatrol"), check=0)
    assert done.stdout.decode() == TABLE, done.stdout.decode()
    # The table can be made from every format. A text has no reserved area.
    text = text_of(corpus("64.mpatrol"))
    other = run("-q", "--mpatrol-table", "-", data=text, check=0).stdout.decode()
    wanted = TABLE.replace("        reserve         0x0000555555559000    135168\n", "")
    wanted = wanted.replace("1 (135168 bytes)", "0 (0 bytes)")
    assert other == wanted, other
    # Addresses of a 32-bit program have 8 digits.
    narrow = run("--mpatrol-table", "-", data=corpus("be32.mpatrol"), check=0).stdout.decode()
    assert "     1  alloc        1  0x5555555592A0       100               1       100\n" in narrow, narrow
    assert "\n------  ------  ------  ----------  --------  ------  ------  --------\n" in narrow


def the_hatf_file_is_the_file_that_mptrace_writes(folder):
    path = os.path.join(folder, "h")
    done = run("--hatf-file=" + path, "-", data=corpus("64.mpatrol"), check=0)
    with open(path, encoding="ascii") as file:
        head, lines = file.read().split("\n\n")
    assert done.stdout == b"" and lines == HATF and head.count("\n") == 4, (head, lines)
    assert run("--hatf-file=stdout", "-", data=corpus("64.mpatrol"), check=0).stdout.decode().endswith("\n\n" + HATF)


def the_program_of_sim_file_repeats_the_calls_of_the_trace(folder):
    """The generated program is linked with a malloc and a free that count calls and bytes. The counts must be those of
    the trace."""
    rng, live, packets, sizes = random.Random(11), [], list(golden.DECLARATIONS[:3]), []
    for i in range(6000):
        if live and rng.random() < 0.4:
            packets.append(("CALL", 1, 0, 0, 1, "free", 0, live.pop(rng.randrange(len(live)))))
        else:
            live.append(0x10000 + 16 * i)
            sizes.append(rng.randrange(1, 900))
            packets.append(("CALL", 1, 0, 0, 2, "malloc", sizes[-1], live[-1]))
    program, path = os.path.join(folder, "again"), os.path.join(folder, "again.c")
    trace = Encoder("1.4", 8, False).trace(packets + [("CALL", 1, 0, 0, 2, "malloc", 0, 0)])
    run("-q", "--sim-file=" + path, "-", data=trace, check=0)
    wrap = os.path.join(folder, "wrap.c")
    with open(wrap, "w", encoding="ascii") as file:
        file.write("#include <stdio.h>\n#include <stdlib.h>\nvoid *__real_malloc(size_t);\nvoid __real_free(void *);\n"
                   "static size_t total; static long count, live;\n"
                   "void *__wrap_malloc(size_t n) { total += n; count++; live++; return __real_malloc(n); }\n"
                   "void __wrap_free(void *p) { live--; __real_free(p); }\n"
                   "__attribute__((destructor)) static void end(void) { printf(\"%zu %ld %ld\\n\", total, count, live); }\n")
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run(compiler + ["-Wall", "-Wextra", "-Werror", "-O1", "-fno-builtin", "-Wl,--wrap=malloc,--wrap=free",
                               "-o", program, path, wrap], check=True)
    said = subprocess.run([program], capture_output=True, check=True, timeout=60).stdout.decode()
    assert said == f"{sum(sizes)} {len(sizes)} {len(live)}\n", said


def data_that_a_format_cannot_hold_is_reported_in_one_line(_folder):
    def lost(data, *arguments):
        done = run(*arguments, "-o", "/dev/null", "-", data=data, check=0)
        assert done.stderr.count(b"\n") == 1, done.stderr
        return done.stderr.decode().partition(" has no place for these, which were left out: ")[2].strip()
    said = lost(SEVERAL, "-f", "mpatrol")
    assert "calls of other resources than memory" in said and "1 description of the process" in said, said
    calls = Encoder("1.4", 8, False).trace(list(golden.DECLARATIONS[:3]) + [
        ("CALL", 1, 0, 5, 2, "malloc", 10, 0x10), ("BTRC", 0x400100, 0x400200), ("ARGS", ("size", "10")),
        ("CALL", 1, 2, 6, 2, "calloc", 10, 0), ("CALL", 1, 2, 6, 2, "calloc", 10, 0x20), ("CALL", 1, 0, 7, 1, "free", 0, 0x999)])
    said = lost(calls, "-f", "mpatrol")
    for words in ("1 failed allocation,", "1 release of a block that was not seen allocated,", "1 name of a function called,",
                  "2 times,", "1 stack beyond its first frame,", "1 argument,", "1 context of a call,"):
        assert words in said, (words, said)
    assert lost(corpus("64.mpatrol"), "-f", "rtrace") == "5 names of frames, 1 area of the heap"
    assert lost(corpus("64.mpatrol"), "-f", "text") == "1 area of the heap"
    for arguments in (["-f", "rtrace"], ["-f", "text"]):
        assert run(*arguments, "-o", "/dev/null", "-", data=SEVERAL, check=0).stderr == b""
    assert run("-f", "mpatrol", "-o", "/dev/null", "-", data=corpus("64.mpatrol"), check=0).stderr == b""


def an_mpatrol_trace_without_its_end_mark_is_read_with_a_warning(_folder):
    data = corpus("64.mpatrol")
    done = run("-", data=data[:-4], check=0)
    assert done.stdout == text_of(data)
    assert b"the trace has no end mark: the program that wrote it was killed, or still runs\n" in done.stderr, done.stderr
    done = run("-", data=data[:-6], check=1)
    assert b"the trace is cut off: it ends at byte 118 within an F record that begins at byte 114\n" in done.stderr


def input_format_accepts_only_a_trace_of_that_format(_folder):
    data = corpus("64.mpatrol")
    assert run("-q", "--input-format=mpatrol", "-", data=data, check=0).stdout == text_of(data)
    done = run("--input-format=mpatrol", "-", data=SEVERAL, check=1)
    assert b"this does not begin as an mpatrol trace" in done.stderr, done.stderr
    done = run("--input-format=rtrace", "-", data=data, check=1)
    assert b"this does not begin as an rtrace trace" in done.stderr, done.stderr
    assert run("-f", "mpatrol", "--compat", "-", data=data).returncode == 2


def calls_without_addresses_are_grouped_by_the_names_of_callers(_folder):
    """The trace has the name of one frame of each call, and no addresses."""
    done = run("-q", "-l", "-c", "-", data=corpus("64.mpatrol")[:-16] + b"MTRC", check=0).stdout.decode()
    assert "0x0 in work() at prog.c:35\n" in done and done.count("allocation summary") == 3, done
    stats = run("-q", "--stats", "-", data=corpus("64.mpatrol"), check=0).stdout.decode()
    assert "prog.c:12" in stats and "prog.c:34" in stats, stats


SAMPLE = """\
<PROLOGUE flags="0x4000" pid="0x60c0" seq="0" _12345678="305419896" version="256" info_len="16" entry_size="24" payload_offset="8"/>
<PROCINFO flags="0x5000" pid="0x60c0" seq="0" pid="0x060c" writeCount="1"/>
<TIMETYPE flags="0x7000" pid="0x60c0" seq="0" tdiv="1.000000" timetype="0x0020"/>
<TIMEINFO flags="0x6000" pid="0x60c0" seq="0" start_hires="0.000000" start="1111756865"/>
<FLOC flags="0x1010" pid="0x60c0" seq="1" filenum="2" writeCount="0" properties="0"/>
<INFO flags="0x00ff" pid="0x060c" seq="1" text="..\\..\\..\\libs\\st"/>
<INFO flags="0x00ff" pid="0x060c" seq="1" text="acktrack\\src\\fil"/>
<INFO flags="0x02ff" pid="0x060c" seq="1" text="esink.cpp"/>
<SLOC flags="0x1030" pid="0x60c0" seq="1" scopeIndex="1" style="3" linenum="98" writeCount="0" filenum="2"/>
<INFO flags="0x00ff" pid="0x060c" seq="1" text="file_sink_impl::"/>
<INFO flags="0x02ff" pid="0x060c" seq="1" text="open"/>
<HIT flags="0x0000" pid="0x60c0" seq="1" when="0.000640" scopeIndex="1" tid="0x04c8"/>
<SLOC flags="0x1030" pid="0x60c0" seq="2" scopeIndex="2" style="6" linenum="99" writeCount="0" filenum="2"/>
<INFO flags="0x02ff" pid="0x060c" seq="2" text="name"/>
<HIT flags="0x1000" pid="0x60c0" seq="2" when="0.000685" scopeIndex="2" tid="0x04c8"/>
<INFO flags="0x02ff" pid="0x060c" seq="2" text="bar"/>
"""


def expand_events_prints_each_entry_as_stacktrack_did_in_2005(_folder):
    data = corpus("2005.tlg")
    shown = run("--expand-events", "--compat=stacktrack-2005", "-", data=data, check=0).stdout.decode()
    assert shown == SAMPLE, shown
    plain = run("--expand-events", "-", data=data, check=0).stdout.decode()
    assert '<HIT flags="0x0100" pid="0x060c" seq="2" when="0.000685" scopeIndex="2" tid="0x04c8"/>\n' in plain, plain
    sound = run("--expand-events", "--well-formed", "-", data=data, check=0).stdout
    tree = ElementTree.fromstring(sound)
    assert tree.tag == "EVENTS" and len(tree) == 16 and tree[1].get("process") == "0x060c"
    described = ElementTree.fromstring(run("--show_format", check=0).stdout)
    assert [t.get("uname") for t in described.findall("TYPE")][:4] == ["HIT", "FLOC", "FPROPERTY", "SLOC"]
    # A terminal obeys these characters, and XML forbids most of them.
    odd = run("--expand-events", "-", data=data.replace(b"file_sink_impl::", b"a\x1b\x7fb\xc2\x9bc\xff\xc3\xa4<\t****"), check=0)
    assert 'text="a??b??c?\u00e4&lt;&#9;****"' in odd.stdout.decode(), odd
    done = run("--expand-events", "-", data=data[:-3], check=1)
    assert b"cut off within an entry that begins at byte 360" in done.stderr, done.stderr


def big_endian(data):
    """Returns a StackTrack trace with the other byte order."""
    out = b""
    for at in range(0, len(data), 24):
        flags, pid, sequence = struct.unpack_from("<HHI", data, at)
        kind = flags & 0xff
        form = {0: "qHH", 1: "hHh", 3: "HhhHh", 4: "IIBBB", 5: "HH", 6: "qq", 7: "qH"}.get(kind)
        payload = data[at + 8:at + 24]
        if form:
            payload = struct.pack(">" + form, *struct.unpack_from("<" + form, payload)).ljust(16, b"\0")
        out += struct.pack(">HHI", flags, pid, sequence) + payload
    return out


def a_stacktrack_trace_gives_the_same_text_in_both_byte_orders(_folder):
    data = corpus("2005.tlg")
    other = big_endian(data)
    assert text_of(other) == text_of(data)
    shown, swapped = (run("--expand-events", "-", data=d, check=0).stdout for d in (data, other))
    assert shown == swapped


def interleaved_texts_of_stacktrack_entries_are_put_together(_folder):
    """The texts of entries with two sequence numbers are interleaved."""
    data = corpus("2005.tlg")
    entries = [data[at:at + 24] for at in range(0, len(data), 24)]
    mixed = entries[:8] + [entries[12], entries[8], entries[13], entries[9], entries[10], entries[11]] + entries[14:]
    assert text_of(b"".join(mixed)) == text_of(data)


def a_stream_of_two_processes_is_written_to_two_files(folder):
    data = corpus("2005.tlg")
    other = b"".join(data[at:at + 2] + b"\x42\0" + data[at + 4:at + 24] for at in range(0, len(data), 24))
    both = b"".join(data[at:at + 24] + other[at:at + 24] for at in range(0, len(data), 24))
    done = run("-", data=both)
    assert done.returncode == 1 and b"give a folder with -o, or choose one process with --pid\n" in done.stderr, done
    run("-q", "-o", folder, "-", data=both, check=0)
    assert sorted(os.listdir(folder)) == ["1548-0.rtrace.txt", "66-0.rtrace.txt"], os.listdir(folder)
    with open(os.path.join(folder, "1548-0.rtrace.txt"), "rb") as file:
        assert file.read() == text_of(data)
    assert text_of(both, "--pid=66") == text_of(other)


TESTS = [expand_events_prints_each_entry_as_stacktrack_did_in_2005,
         a_stacktrack_trace_gives_the_same_text_in_both_byte_orders,
         interleaved_texts_of_stacktrack_entries_are_put_together, a_stream_of_two_processes_is_written_to_two_files,
         the_mpatrol_table_is_the_table_that_mptrace_prints, the_hatf_file_is_the_file_that_mptrace_writes,
         the_program_of_sim_file_repeats_the_calls_of_the_trace, data_that_a_format_cannot_hold_is_reported_in_one_line,
         an_mpatrol_trace_without_its_end_mark_is_read_with_a_warning, input_format_accepts_only_a_trace_of_that_format,
         calls_without_addresses_are_grouped_by_the_names_of_callers]

if __name__ == "__main__":
    sys.exit(main(TESTS))
