#!/usr/bin/env python3
"""LeakSanitizer, valgrind and functrace find the same leaks in small programs (tests/post/alike); then one of the leaks
is suppressed in each tool.

The programs are $FUNCTRACE and $FUNCTRACE_POSTPROC; $CC builds the programs that leak. Prints TAP.
"""

import collections
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from run import Skip, main, run

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "alike")
CC = os.environ.get("CC", "cc").split()
STATUS = 23
BUILT = tempfile.TemporaryDirectory(prefix="functrace-alike-")
# The leaks of each program: bytes, blocks, and the program's own functions in the stack, innermost first.
LEAKS = {
    "lost": {(304, 3, "grab work main"), (20, 1, "name main")},
    "list": {(80, 5, "node_new build main"), (165, 5, "node_new build main"),
             (112, 7, "node_new build known_cache main"), (231, 7, "node_new build known_cache main")},
    "grown": {(20480, 1, "grow main"), (777, 1, "align main"), (60, 1, "replace main"), (61, 1, "replace main"),
              (100, 2, "replace known_cache main")},
    "threads": {(385, 10, "fetch lose"), (5, 1, "fetch known_cache")},
}
KNOWN = "known_cache"
LSAN = f"leak:{KNOWN}\n"
VALGRIND = f"{{\n   known\n   Memcheck:Leak\n   ...\n   fun:{KNOWN}\n}}\n"


def expected(name, suppressed):
    return {leak for leak in LEAKS[name] if not suppressed or KNOWN not in leak[2].split()}


def merged(name, leaks):
    """Returns {(bytes, blocks, path)} of [(bytes, blocks, where, [function])]. Leaks at one place are merged."""
    own = {function for leak in LEAKS[name] for function in leak[2].split()}
    sums = collections.defaultdict(lambda: [0, 0])
    for size, count, where, functions in leaks:
        path = " ".join(function for function in functions if function in own)
        sums[where, path][0] += size
        sums[where, path][1] += count
    return {(size, count, path) for (_, path), (size, count) in sums.items()}


@functools.lru_cache(maxsize=None)
def build(name, *options):
    """Returns the path of the program, which is built once for all tests."""
    program = os.path.join(BUILT.name, name + "".join(options))
    done = subprocess.run([*CC, "-g", "-O0", "-pthread", *options, os.path.join(SOURCES, name + ".c"), "-o", program],
                          capture_output=True, timeout=120, check=False)
    if done.returncode and options:
        raise Skip(f"{CC[0]} builds nothing with {' '.join(options)}: {done.stderr.decode().strip()[-200:]!r}")
    assert done.returncode == 0, done.stderr.decode()
    return program


def start(folder, *command, **environment):
    return subprocess.run(command, cwd=folder, env=dict(os.environ, **environment), capture_output=True, timeout=300,
                          check=False)


def lsan(folder, name, suppressed):
    """Returns the leaks and the exit status. The addresses of a leak distinguish calls on one line."""
    program = build(name, "-fsanitize=leak")
    options = f"exitcode={STATUS}:print_suppressions=0:fast_unwind_on_malloc=0" + (":suppressions=lsan.supp" if suppressed else "")
    done = start(folder, program, LSAN_OPTIONS=options)
    text = done.stderr.decode()
    if "fatal error" in text or "does not work under ptrace" in text:
        raise Skip("LeakSanitizer does not work here: " + text.strip().splitlines()[0])
    leaks = []
    for part in re.split(r"\n(?=Direct|Indirect)", text)[1:]:
        size, count = re.match(r"\w+ leak of (\d+) byte\(s\) in (\d+) object\(s\)", part).groups()
        frames = re.findall(r"^    #\d+ (0x\w+) in (\S+) ", part, re.M)
        leaks.append((int(size), int(count), tuple(address for address, _ in frames), [function for _, function in frames]))
    return leaks, done.returncode


def valgrind(folder, name, suppressed):
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed; install the package valgrind")
    out = os.path.join(folder, name + ".xml")
    done = start(folder, "valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite,indirect",
                 "--errors-for-leak-kinds=definite,indirect", f"--error-exitcode={STATUS}", "--xml=yes",
                 f"--xml-file={out}", *(["--suppressions=valgrind.supp"] if suppressed else []),
                 build(name))
    assert not done.stderr, done
    leaks = []
    for error in xml.etree.ElementTree.parse(out).getroot().iter("error"):
        what = error.find("xwhat")
        # valgrind adds indirectly lost blocks to the block that points to them, and lists them separately, too.
        direct = re.match(r"[\d,]+ \(([\d,]+) direct", what.find("text").text)
        size = int((direct.group(1) if direct else what.find("leakedbytes").text).replace(",", ""))
        frames = error.find("stack").findall("frame")
        leaks.append((size, int(what.find("leakedblocks").text), tuple(frame.find("ip").text for frame in frames),
                      [frame.findtext("fn", "?") for frame in frames]))
    return leaks, done.returncode


@functools.lru_cache(maxsize=None)
def trace(name):
    out = os.path.join(BUILT.name, name + ".rtrace")
    subprocess.run([os.environ["FUNCTRACE"], "-q", "-o", out, build(name)], check=True, timeout=120)
    return out


def functrace(folder, name, suppressed, file="valgrind.supp"):
    options = [f"--suppressions={os.path.join(folder, file)}"] if suppressed else []
    lines = run("-f", "json", *options, trace(name), check=0).stdout.decode().splitlines()
    leaks = []
    for line in map(json.loads, lines):
        if line.get("type") == "group" and line["leaked"]["count"]:
            leaks.append((line["leaked"]["bytes"], line["leaked"]["count"],
                          tuple(frame["address"] for frame in line["frames"]),
                          [frame.get("function") for frame in line["frames"]]))
    done = run("-l", f"--error-exitcode={STATUS}", *options, trace(name))
    return leaks, done.returncode


def functrace_with_lsan_suppressions(folder, name, suppressed):
    return functrace(folder, name, suppressed, "lsan.supp")


def test(tool, suppressed):
    def check(folder):
        for file, text in (("lsan.supp", LSAN), ("valgrind.supp", VALGRIND)):
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(text)
        for name in LEAKS:
            leaks, status = tool(folder, name, suppressed)
            wanted = expected(name, suppressed)
            assert merged(name, leaks) == wanted, (name, merged(name, leaks), leaks)
            assert status == (STATUS if wanted else 0), (name, status)

    check.__name__ = f"{tool.__name__} finds the same leaks{', one of them suppressed' if suppressed else ''}"
    return check


TESTS = [test(tool, suppressed) for tool in (lsan, valgrind, functrace, functrace_with_lsan_suppressions)
         for suppressed in (False, True) if suppressed or tool is not functrace_with_lsan_suppressions]

if __name__ == "__main__":
    sys.exit(main(TESTS))
