#!/usr/bin/env python3
"""Damaged text: damage that a reader can detect is reported, with the line's number and status 1.

usage: damage.py [FLIPS [SEED]]

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import random
import re
import subprocess
import sys
import time

from run import COMPAT, LONG, OWN, PROGRAM, SEVERAL, main, run, text_of

FLIPS = int(sys.argv[1]) if len(sys.argv) > 1 else 3000 if LONG else 60
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 20231114

# The role of each byte of a trace's text, as this test reads the format: N a digit of a number, F free text (names,
# paths, values, comments), S anything else, which separates records and their parts. A flip that turns a digit into
# another digit gives another valid trace, which no reader can detect. A flip within a name gives another name, which
# may change the noun of a total. All other flips must be reported, or must not change the totals.
CALL = re.compile(r"(?P<n1>\d+)\. (?:@(?P<n2>[0-9a-f]+) )?(?:\[(?P<n3>\d\d):(?P<n4>\d\d):(?P<n5>\d\d)\.(?P<n6>\d+)\] )?"
                  r"(?P<f1>[^<]*?)(?:<[^<>]*>)?\((?:-?(?P<n7>\d+)\) = )?0x(?P<n8>[0-9a-f]+)\)?")
RECORDS = [
    CALL,
    re.compile(r"\t0x(?P<n1>[0-9a-f]+)(?: (?P<f1>.*))?"),
    re.compile(r"\t\$(?P<f1>.*?) = (?P<f2>.*)"),
    re.compile(r": (?P<f1>.*) => 0x(?P<n1>[0-9a-f]+)-0x(?P<n2>[0-9a-f]+)"),
    re.compile(r"@ (?P<n1>[0-9a-f]+) : (?P<f1>.*)"),
    re.compile(r"<(?P<n1>[0-9a-f]+)> : (?P<f1>.*?) \((?P<f2>.*)\)(?: \[\w+\])?"),
    re.compile(r"& (?P<f1>.*) : (?P<f2>.*)"),
    re.compile(r"## tracing module: \[(?P<n1>[0-9a-f]+)\] (?P<f1>.*) \((?P<n2>\d+)\.(?P<n3>\d+)\)"),
    re.compile(r"##   \D*?(?:0x)?(?P<n1>[0-9a-f]+)"),
    re.compile(r"#(?P<f1>.*)"),
]
HEXADECIMAL = "0123456789abcdefABCDEF"
FIELDS = {"version": "N", "pid": "N", "backtrace depth": "N", "filter": "S", "timestamps": "S"}


def roles(text):
    """Returns the role of each byte, as a letter."""
    out = []
    for number, line in enumerate(text.split("\n")):
        have = ["S"] * len(line) + ["S"]
        if number == 0:
            for field in re.finditer(r"([a-z ]+)=([^,]*)", line):
                have[field.start(2):field.end(2)] = FIELDS.get(field[1].strip(), "F") * len(field[2])
        else:
            found = next((match for match in (record.fullmatch(line) for record in RECORDS) if match), None)
            assert found or not line, line
            for name, value in (found.groupdict() if found else {}).items():
                if value is not None:
                    have[found.start(name):found.end(name)] = name[0].upper() * len(value)
        out += have
    out.pop()
    assert len(out) == len(text)
    return out


def is_another_digit(role, old, new):
    """Returns true if one digit of a number was changed to another digit, which no reader can detect."""
    return role == "N" and old in HEXADECIMAL and new in HEXADECIMAL


def figures(lines):
    """The number of leaks of each resource; whether sizes are printed depends on the type's name."""
    return [line.split(b" with ")[0] for line in lines if b"leaked" in line]


def totals(output):
    """The lines of -l about each resource. The noun, which is the type of the resource, is replaced."""
    return re.findall(rb"^# .*$", re.sub(rb"^(# \d+) [\w-]+\(s\)", rb"\1 block(s)", output, flags=re.M), re.M)


def traces():
    for data in (OWN, SEVERAL, COMPAT):
        text = text_of(data)
        for options in ([], ["-c"], ["-l"]):
            yield text_of(text, *options)
    # C++ names, and releases without a stack, which only a blank line separates from the next record.
    yield ("version=1.4,arch=x86_64,process=/bin/a,pid=7,filter=resolve,origin=functrace 0.1\n"
           "<1> : memory (memory allocation in bytes)\n: /bin/a => 0x400000-0x500000\n## thread 7 a\n"
           + "".join(f"{i}. [01:02:03.{i:06}] operator new(unsigned long)({i * 8}) = 0x{i * 4096:x}\n"
                     f"\t0x400123 in std::vector<int, std::allocator<int> >::operator*=(int) at JJ.cc:10 (inlined)\n"
                     f"\t0x400123 in main() at JJ.cc:3\n\t0x400{i:03x}\n\n{i + 1}. free(0x{(i - 1) * 4096:x})\n\n"
                     for i in range(1, 40, 2))).encode()


def a_single_flipped_bit_is_reported_or_harmless(_folder):
    rng = random.Random(SEED)
    sources = [(trace, totals(run("-l", "-", data=trace, check=0).stdout), roles(trace.decode())) for trace in traces()]
    count = {"told": 0, "harmless": 0, "another name": 0, "another number": 0}
    structure = 0
    for _ in range(FLIPS):
        trace, sound, role = rng.choice(sources)
        at, bit = rng.randrange(len(trace)), rng.randrange(8)
        damaged = bytearray(trace)
        damaged[at] ^= 1 << bit
        done = run("-l", "-", data=bytes(damaged))
        where = (f"byte {at} of {trace.count(10, 0, at) + 1}: {trace[at:at + 1]!r} to {bytes(damaged[at:at + 1])!r}, "
                 f"role {role[at]}, {damaged[max(0, at - 40):at + 40]!r}")
        structure += role[at] == "S"
        assert done.returncode in (0, 1), (where, done)
        if done.returncode:
            count["told"] += 1
            assert re.search(rb"line \d+|at byte \d+|no trace", done.stderr), (where, done.stderr)
        elif totals(done.stdout) == sound:
            count["harmless"] += 1
            assert not done.stderr, (where, done.stderr)
        elif role[at] == "F" and figures(totals(done.stdout)) == figures(sound):
            count["another name"] += 1
        else:
            count["another number"] += 1
            assert is_another_digit(role[at], chr(trace[at]), chr(damaged[at])), (where, totals(done.stdout), sound)
    print(f"# of {FLIPS} flips, {structure} of them in what is neither number nor name: "
          + ", ".join(f"{value} {key}" for key, value in count.items()))


# Damaged records, each with a word of the message about it.
LINES = [
    ("12/ malloc(10) = 0x10", "call"), ("12. malloc(10 = 0x10", "call"), ("12. mal(loc(10) = 0x10", "call"),
    ("#2. malloc(10) = 0x10", "call"), ("2. [0:0:x] malloc(10) = 0x10", "time"), ("*3. free(0x10)", "call"),
    ("3. free(0x10)*4. free(0x20)", "call"), ("3. free<nothing>(0x10)", "type"), ("\tpx400123", "frame"),
    (")0x400123", "frame"), ("\t0x400123", "belongs to no call"), ("\t$1 = a", "belongs to no call"),
    (": /lib/x = 0x1-0x2", "object"), ("; /lib/x => 0x1-0x2", "object"), ("<3> : fd (a", "resource"),
    ("|3> : fd (a)", "resource"), ("<3> : fd (a) [refcounu]", "flag"), ("@ 1! name", "context"), ("& a path", "attachment"),
    ("## tracing module: [1] memory 1.2", "module"), ("##   heap bottom 0x1", "heap"), ("%## thread 7", "note"),
    ("!# paused", "note"), ("#' process 1 has exited with status 0", "note"),
    ("\t$0 = #jind=copy", "belongs to no call"), ("proces,pid=1", "header"), ("a\x01b", "another line"), ("# 3 blocksJ12. malloc(10) = 0x10", "another line"),
]
COMMENTS = ["Process/Thread 684 (/home/user/tiny) was created", "684 has exited with code 0", "100%", "", "#12", "#: x",
            "a tab\there", "## anything (0x10)", "see: this", "x - y", "(none)", "99 bottles (of beer)"]
HEAD = ("version=1.4,arch=x86_64,pid=1\n<1> : memory (m)\n<2> : fd (d)\n## thread 1\n"
        "1. malloc<memory>(8) = 0x100\n\t0x1\n\n")


def a_damaged_line_is_reported_with_its_number(_folder):
    for line, what in LINES:
        done = run("-l", "-", data=(HEAD + line + "\n\nthe end\n").encode(), check=1)
        first, last = done.stderr.decode().splitlines()
        assert first.startswith("functrace-postproc: warning: standard input: line 8 ") and what in first, (line, first)
        assert "damaged in 1 place;" in last, last
        # All undamaged records are shown.
        assert b"malloc<memory>(8) = 0x100\n\t0x1\n" in done.stdout and b"\nthe end\n" in done.stdout, done.stdout
        assert len(run("-l", "-q", "-", data=(HEAD + line + "\n").encode(), check=1).stderr.splitlines()) == 1
        # The line is reported within a group of calls that share a stack, too.
        before = "" if "#j" in line else "foo\n"
        shared = HEAD + "1. malloc<fd>(1) = 0x10\nfoo\n2. malloc<fd>(1) = 0x10\n" + before + line + "\n3. malloc<fd>(1) = 0x20\n\t0x1\n\n"
        if what != "belongs to no call" or "#" in line:
            assert b"line %d " % (11 + bool(before)) in run("-", data=shared.encode(), check=1).stderr, line
    for line in COMMENTS:
        done = run("-", data=(HEAD + line + "\n").encode(), check=0)
        assert done.stdout.decode() == HEAD + line + "\n" and not done.stderr, done


def the_first_ten_damaged_lines_are_named_and_all_are_counted(_folder):
    done = run("-", data=(HEAD + "12/ malloc<fd>(10) = 0x10\n\t0x1\n\t0x2\n\n" * 25).encode(), check=1)
    lines = done.stderr.decode().splitlines()
    # There is no message about the frames of a call that could not be read.
    assert [re.search(r"line (\d+)", line)[1] for line in lines[:-1]] == [str(8 + 4 * i) for i in range(10)], lines
    assert "damaged in 25 places, of which the first ten are named above" in lines[-1], lines


def a_damaged_header_is_reported(_folder):
    for header in ("version=1.4,arch=x86_64,pid=1,filter=leaks|compresr", "version=1.4,filtes=compress", "version=1.4,pid=x",
                   "version=1.4,filter", "version=2.0, filter-compress, ", "version=1.x", "version=1.4,timestamps=nn",
                   "version=1.4,backtrace depth=1O", "version=1.4,origin=a*<1> : memory (m)"):
        done = run("-", data=(header + "\n1. malloc(1) = 0x1\n\n").encode(), check=1)
        assert b"line 1 " in done.stderr and b"malloc(1)" in done.stdout, (header, done)
    for version in ("0.4", "3.0"):
        done = run("-", data=f"version={version},pid=1\n1. malloc(1) = 0x1\n\n".encode(), check=1)
        assert b"version" in done.stderr and not done.stdout, done
    # sp-rtrace does not escape a comma in a name.
    done = run("-", data=b"version=2.0, process=/bin/a, b, pid=7, \n1. malloc(1) = 0x1\n\n", check=0)
    assert not done.stderr, done


def a_second_trace_in_the_same_input_is_an_error(folder):
    for data in (OWN, SEVERAL, COMPAT):
        text = text_of(data)
        for first, second in ((text, text), (text[:-1], text), (text[:text.rindex(b"\n\n") + 1], text), (data, data)):
            done = run("-l", "-", data=first + second, check=1)
            if first.endswith(b"\n"):
                # Otherwise the last line of the first trace also contains the first line of the second one.
                assert totals(done.stdout) == totals(run("-l", "-", data=first).stdout), done.stdout
        path = os.path.join(folder, "both")
        with open(path, "wb") as file:
            file.write(text + text)
        done = run("-l", path, check=1)
        command = re.search(rb"\(csplit FILE (\d+)\)", done.stderr)
        assert command and int(command[1]) == text.count(b"\n") + 1, done.stderr
        subprocess.run(["csplit", "-s", path, command[1]], cwd=folder, check=True, timeout=60)
        for part in ("xx00", "xx01"):
            with open(os.path.join(folder, part), "rb") as file:
                assert file.read() == text, part


def a_text_whose_lines_end_with_cr_lf_is_read(_folder):
    for number, trace in enumerate(traces()):
        some = lambda choices: choices if LONG else choices[number % len(choices):][:1]  # pylint: disable=cell-var-from-loop
        dos = trace.replace(b"\n", b"\r\n")
        for options in some([[], ["-l"], ["-c"]]):
            wanted, done = (run(*options, "-", data=data, check=0) for data in (trace, dos))
            assert (done.stdout, done.stderr) == (wanted.stdout, b""), (options, done)
        # The input comes in pieces, so that a piece ends within a line end.
        wanted = run("-l", "--follow", "-", data=trace, check=0).stdout
        for size in some([1, 2, 3, 5, 7]):
            process = subprocess.Popen([PROGRAM, "-l", "--follow", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            for at in range(0, len(dos), size):
                process.stdin.write(dos[at:at + size])
                process.stdin.flush()
            assert process.communicate(timeout=60) == (wanted, b"") and process.returncode == 0, size
        # The part that is read first, to recognise the format, ends within a line end.
        process = subprocess.Popen([PROGRAM, "-l", "--follow", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(dos[:dos.index(b"\r") + 1])
        process.stdin.flush()
        time.sleep(0.3)
        assert process.communicate(dos[dos.index(b"\r") + 1:], timeout=60) == (wanted, b""), trace[:99]


if __name__ == "__main__":
    sys.exit(main([a_single_flipped_bit_is_reported_or_harmless, a_damaged_line_is_reported_with_its_number,
                   the_first_ten_damaged_lines_are_named_and_all_are_counted, a_damaged_header_is_reported,
                   a_second_trace_in_the_same_input_is_an_error, a_text_whose_lines_end_with_cr_lf_is_read]))
