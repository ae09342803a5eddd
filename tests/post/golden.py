#!/usr/bin/env python3
"""Encoded binary traces of every dialect, word size and byte order must give exactly the text in golden/.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import subprocess
import sys

from encode import Encoder

HERE = os.path.dirname(os.path.abspath(__file__))
ARCH = {(4, False): "i686", (4, True): "ppc", (8, False): "x86_64", (8, True): "ppc64"}

# 32-bit addresses, so that all word sizes give the same text.
DECLARATIONS = [
    ("PINF", 4242, 1700000000, 123456, 10, "/bin/prog"),
    ("MINF", 0, 1, 0, "main"),
    ("MINF", 1, 1, 2, "memory"),
    ("CTXR", 1, "1st context"),
    ("CTXR", 2, "2nd context"),
    ("RESR", 1, 0, "memory", "memory allocation in bytes"),
    ("MMAP", 0x400000, 0x401000, "/bin/prog"),
    ("MMAP", 0xF7000000, 0xF7100000, "/lib/libc.so.6"),
]
FIGURES = (0x11000, 1, 2, 3, 4, 5, 6, 7, 8, 9)

# A trace in the form that sp-rtrace writes. OCFG is skipped. The last object is declared after calls.
COMPAT = DECLARATIONS[:1] + [("RAW", "OCFG", b"\0" * 8)] + DECLARATIONS[1:7] + [
    ("CALL", 1, 0, 3661001, 2, "malloc", 100, 0x602010),
    ("BTRC", 0x400123, 0xF7000456),
    ("CALL", 1, 1, 3661002, 2, "calloc", 24, 0x602090),
    ("ARGS", ("nmemb", "2"), ("size", "12"), ("", "a b")),
    ("BTRC", 0x400123, 0xF7000456),
    ("CALL", 1, 3, 3661003, 1, "free", 0, 0x602010),
    ("BTRC",),
    ("CALL", 1, 2, 0, 2, "operator new(unsigned long)", 0x80000001, 0x602F00),
    ("BTRC", 0x400999),
    DECLARATIONS[7],
    ("HINF", 0x602000, 0x623000) + FIGURES,
    ("FILE", "pagemap", "4242-pagemap-0"),
]

# A trace in the form that functrace writes; XTRA is an unknown packet of a later version.
OWN = DECLARATIONS[:1] + [("MINF", 0, 0, 1, "functrace")] + DECLARATIONS[2:] + [
    ("BLID", 0xF7000000, "0123456789abcdef0123456789abcdef01234567"),
    ("THRD", 4242, "prog"),
    ("CALL", 0, 0, 3661001, 2, "malloc", 100, 0x602010),
    ("BTRC", 0x400123, 0xF7000456),
    ("XTRA", b"from the future!"),
    ("THRD", 4243, "a worker"),
    ("CALL", 0, 1, 3661002, 2, "calloc", 24, 0x602090),
    ("BTRC", 0x400123, 0xF7000456, 0),
    ("ARGS", ("nmemb", "2"), ("size", "12"), ("", "a b")),
    ("NOTE", "received signal 10"),
    ("NOTE", "paused"),  # a remark that marks the end of a trace
    ("CALL", 0, 3, 3661003, 1, "free", 0, 0x602010),
    ("CALL", 0, 2, 0, 2, "operator new(unsigned long)", 0x80000001, 0x602F00),
    ("BTRC", 0x400999),
    ("CALL", 0, 0, 1, 2, "mmap", 0xFFFFFFFF, 0x10000000),
    ("ARGS", ("#size", "8589934592"), ("name", '"\\t%s"')),
    ("CALL", 0, 0, 3661003, 3, "memcpy", 7, 0x602F00),
    ("BTRC",),
    ("FILE", "pagemap", "4242-pagemap-0"),
    ("HINF", 0x602000, 0x623000) + FIGURES,
]
OWN = [("RAW", p[0], p[1]) if p[0] == "XTRA" else p for p in OWN]

# Four resources: two plain ones, one with counted references, one of calls. Some options have their own golden texts.
SEVERAL = [
    ("PINF", 7, 1700000000, 0, 4, "/usr/bin/a, b"),
    ("RESR", 1, 0, "fd", "file descriptor"),
    ("RESR", 2, 1, "object", "GObject instance"),
    ("RESR", 3, 2, "transfer", "bytes copied"),
    ("RESR", 4, 0, "fp", "file pointer"),
    ("MMAP", 0x400000, 0x401000, "/bin/prog"),
    ("CALL", 1, 0, 1000, 2, "open", 1, 3),
    ("BTRC", 0x400101, 0x400201, 0x400301),
    ("ARGS", ("path", '"/etc/passwd"'), ("flags", "0")),
    ("CALL", 2, 0, 1000, 2, "g_object_new", 40, 0x602000),
    ("BTRC", 0x400102, 0x400201),
    ("CALL", 2, 0, 1001, 2, "g_object_ref", 40, 0x602000),
    ("BTRC", 0x400103, 0x400201),
    ("CALL", 3, 0, 1002, 3, "memcpy", 5000, 0x603000),
    ("BTRC", 0x400104),
    ("CALL", 1, 0, 1003, 2, "open", 1, 4),
    ("BTRC", 0x400101, 0x400202, 0x400301),
    ("CALL", 1, 0, 1004, 1, "fdopen", 0, 4),
    ("CALL", 4, 0, 1004, 2, "fdopen", 1, 0x604000),
    ("BTRC", 0x400105),
    ("CALL", 2, 0, 3001, 1, "g_object_unref", 0, 0x602000),
    ("CALL", 1, 0, 3002, 2, "dup", 1, 5),
    ("BTRC", 0x400101, 0x400201, 0x400301),
    ("CALL", 4, 0, 3003, 1, "fclose", 0, 0x609999),
    ("CALL", 2, 0, 3004, 2, "g_object_new", 48, 0x605000),
    ("BTRC", 0x400102, 0x400201),
    ("CALL", 2, 0, 93004, 1, "g_object_unref", 0, 0x605000),
]

CASES = [(f"compat-{size * 8}-{'be' if big else 'le'}", COMPAT, "2.0", size, big, [], "compat.txt", "")
         for size in (4, 8) for big in (False, True)]
CASES += [(f"old-{size * 8}-{'be' if big else 'le'}", COMPAT, "1.3", size, big, [], "compat.txt", "")
          for size in (4, 8) for big in (False, True)]
SKIPPED = "functrace-postproc: warning: standard input: 1 packets were skipped: their types are unknown, or they are out of place\n"
CASES += [(f"own-{size * 8}-{'be' if big else 'le'}", OWN, "1.4", size, big, [], "own.txt", SKIPPED)
          for size in (4, 8) for big in (False, True)]
CASES += [
    ("own-leaks", OWN, "1.4", 8, False, ["-l"], "own-leaks.txt", SKIPPED),
    ("own-leaks-groups", OWN, "1.4", 8, False, ["-l", "-c"], "own-leaks-groups.txt", SKIPPED),
    ("own-as-compat", OWN, "1.4", 8, False, ["--compat", "-q"], "own-as-compat.txt", ""),
    ("several", SEVERAL, "1.4", 8, False, [], "several.txt", ""),
    ("several-leaks", SEVERAL, "1.4", 8, False, ["-l"], "several-leaks.txt", ""),
    ("several-groups", SEVERAL, "1.4", 8, False, ["-c", "-b1", "-s", "count"], "several-groups.txt", ""),
    ("several-fp", SEVERAL, "1.4", 8, False, ["-R", "8", "-l"], "several-fp.txt", ""),
    ("several-stats", SEVERAL, "1.4", 8, False, ["--stats"], "several-stats.txt", ""),
]


def check(case):
    name, packets, dialect, size, big, options, golden, errors = case
    encoder = Encoder(dialect, size, big, ARCH[size, big])
    done = subprocess.run([os.environ["FUNCTRACE_POSTPROC"]] + options, input=encoder.trace(packets),
                          capture_output=True, timeout=60, env=dict(os.environ, TZ="UTC"))
    with open(os.path.join(HERE, "golden", golden), encoding="utf-8") as file:
        wanted = file.read().replace("@ARCH@", encoder.arch.decode())
    have = done.stdout.decode()
    if done.returncode == 0 and have == wanted and done.stderr.decode() == errors:
        return True
    print(f"# {name}: status {done.returncode}, messages {done.stderr.decode()!r}")
    for at, (line, want) in enumerate(zip(have.split("\n") + ["(end)"], wanted.split("\n") + ["(end)"]), 1):
        if line != want:
            print(f"#   line {at}: has  {line!r}\n#   line {at}: want {want!r}")
            break
    return False


def main():
    if sys.argv[1:2] == ["--write"]:  # writes the binary trace of a case
        case = next(c for c in CASES if c[0] == sys.argv[2])
        sys.stdout.buffer.write(Encoder(*case[2:5], ARCH[case[3], case[4]]).trace(case[1]))
        return 0
    failed = 0
    for number, case in enumerate(CASES, 1):
        good = check(case)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - golden {case[0]}")
    print(f"1..{len(CASES)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
