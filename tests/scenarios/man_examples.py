"""Runs the EXAMPLES of the man pages as they are: each command must succeed and print something, but not too much. A
line that begins with "$ " between .EX and .EE is a command; the commands of one block run in one shell, in a folder of
their own."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SRCDIR = os.environ.get("TOP_SRCDIR", ".")
BUILDDIR = os.environ.get("TOP_BUILDDIR", ".")
# tests/post runs the examples of the other pages.
PAGES = ["man/functrace.1", "man/functrace-context.3", "man/functrace-modules.7",
         "man/functrace-scan.7"]


def plain(line):
    """Replaces roff escapes by the characters that are printed."""
    line = line.replace("\\-", "-").replace("\\(aq", "'").replace("\\(dq", '"')
    line = line.replace("\\\\", "\\").replace("\\e", "\\").replace("\\&", "")
    return re.sub(r"\\f[BIRP]", "", line)


def blocks(page):
    """Returns the blocks of commands in the section EXAMPLES."""
    inside = example = False
    commands = []
    for line in open(page, encoding="utf-8").read().splitlines():
        if line.startswith(".SH"):
            inside = line[3:].strip().strip('"') == "EXAMPLES"
        elif inside and line == ".EX":
            example, commands = True, []
        elif example and line == ".EE":
            example = False
            if commands:
                yield commands
        elif example and line.startswith("$ "):
            commands.append(plain(line[2:]))


def run(commands, env):
    folder = tempfile.mkdtemp(prefix="functrace-man-")
    try:
        for name in ("leak", "phases", "pool", "prefixed", "shapes"):
            program = os.path.join(BUILDDIR, "examples", name)
            if os.path.exists(program):
                shutil.copy(program, folder)
            description = os.path.join(SRCDIR, "examples", name + ".conf")
            if os.path.exists(description):
                shutil.copy(description, folder)
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", "\n".join(commands)],
                              cwd=folder, env=env, stdin=subprocess.DEVNULL, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    finally:
        shutil.rmtree(folder)


def reason_to_skip(commands, env):
    """Returns why the commands cannot run here, or None: the kernel's probes need rights that root has."""
    if "--probes=kernel" not in "\n".join(commands):
        return None
    trial = subprocess.run(["functrace", "-q", "--probes=kernel", "-o", "/dev/null", "true"], env=env, timeout=120,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"--probes=kernel is not possible: (.*)", trial.stdout)
    return found.group(1) if found else None


def shows_something(commands, text):
    """Returns true if the output is useful: a summary with events, and a few lines, but not pages."""
    if "-l " in commands and not re.search(r"^# [1-9]\d* [\w ]+\(s\) ", text, re.M):
        return False
    if "--scan" in commands:
        return bool(re.search(r"^ +still reachable: [1-9][\d,]* bytes", text, re.M)) and len(text.splitlines()) <= 150
    return not re.search(r": 0 events| 0 block", text) and 2 <= len(text.splitlines()) <= 150


def holds(commands, env):
    """Returns whether the commands succeed and show something useful, and what they print. An example gives a program
    in the background a time that is enough on an idle machine. On a busy one the program may have had no processor, or
    may have ended, when functrace came: then such an example is run again, for a minute."""
    end = time.monotonic() + 60
    while True:
        try:
            result = run(commands, env)
            text = result.stdout
            good = result.returncode in (0, 141) and shows_something("\n".join(commands), text)
        except subprocess.TimeoutExpired:
            good, text = False, "did not end in time"
        if good or time.monotonic() > end or not any(command.endswith("&") for command in commands):
            return good, text


def main():
    env = dict(os.environ, PATH=BUILDDIR + os.pathsep + os.environ["PATH"], LC_ALL="C")
    number = failed = 0
    for page in PAGES:
        found = 0
        for commands in blocks(os.path.join(SRCDIR, page)):
            number += 1
            found += 1
            reason = reason_to_skip(commands, env)
            if reason:
                print("ok %d - %s: %s # SKIP %s" % (number, page, commands[0], reason))
                continue
            good, text = holds(commands, env)
            print("%s %d - %s: %s" % ("ok" if good else "not ok", number, page, commands[0]))
            if not good:
                failed += 1
                print("\n".join("# " + line for line in text.splitlines()[-20:]))
        if not found:
            number += 1
            failed += 1
            print("not ok %d - %s has no examples" % (number, page))
    print("1..%d" % number)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
