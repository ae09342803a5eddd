#!/usr/bin/env python3
"""functrace-postproc reads traces that functrace wrote on other processors (foreign/). For each processor there is a
folder for --sysroot, with trace.rtrace and the traced program tmp/prog, which was built from foreign/prog.c. The output
is compared with expected.txt, except for frames of the C library. The library is not in the folder, and this machine
may or may not have its debug information.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import re
import subprocess
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "foreign")
POSTPROC = os.environ.get("FUNCTRACE_POSTPROC", "./functrace-postproc")
PROCESSORS = ("x86_64", "i386", "aarch64", "arm")
FRAME = re.compile(r"^\t0x([0-9a-f]+) ")


def output_of(name, *options):
    """Returns functrace-postproc's output for a trace, without the frames outside of the program."""
    folder = os.path.join(HERE, name)
    done = subprocess.run([POSTPROC, "--sysroot=" + folder, *options, os.path.join(folder, "trace.rtrace")], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, universal_newlines=True,
                          env=dict(os.environ, DEBUGINFOD_URLS=""))
    if done.returncode or done.stderr:
        return "status %d: %s" % (done.returncode, done.stderr)
    low, high = (int(x, 16) for x in re.search(r"^: /tmp/prog => 0x([0-9a-f]+)-0x([0-9a-f]+)$", done.stdout, re.M).groups())
    lines = []
    for line in done.stdout.split("\n"):
        frame = FRAME.match(line)
        if not frame or low <= int(frame.group(1), 16) < high:
            lines.append(line)
    return "\n".join(lines)


def main():
    failed = 0
    for number, name in enumerate(PROCESSORS, 1):
        found = output_of(name, "-r") + output_of(name, "-l", "-c", "-r")
        path = os.path.join(HERE, name, "expected.txt")
        if sys.argv[1:] == ["--write"]:
            with open(path, "w") as file:
                file.write(found)
        with open(path) as file:
            expected = file.read()
        print("%s %d - a trace of %s" % ("ok" if found == expected else "not ok", number, name))
        if found != expected:
            failed = 1
            for line in found.split("\n"):
                print("# " + line)
    print("1..%d" % len(PROCESSORS))
    return failed


if __name__ == "__main__":
    sys.exit(main())
