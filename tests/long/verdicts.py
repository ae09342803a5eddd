#!/usr/bin/env python3
"""Compares functrace --report with valgrind on popular programs: whether they have lost memory at their end, and how
much. Prints TAP; a program that is not installed is skipped."""

import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

from processes import probes_in_turn

FUNCTRACE = os.environ.get('FUNCTRACE', os.path.join(os.getcwd(), 'functrace'))
COMMANDS = [
    'ls -l /usr/bin', 'git --version', 'curl --version', "sqlite3 :memory: 'create table a(b); select * from a'",
    "perl -e 'my %h = map {$_ => 1} 1..1000; print scalar keys %h'", "bash -c 'for i in 1 2 3; do echo $i; done'",
    "dash -c 'echo a'", 'grep -r include /usr/include/stdio.h', 'sed -n 1,5p /etc/passwd', "awk '{print $1}' /etc/passwd",
    'sort /etc/passwd', 'gzip -c /etc/passwd', 'xz -c /etc/passwd', 'tar cf - /etc/passwd', 'find /etc -maxdepth 1',
    'ps aux', 'file /bin/ls', 'openssl version', 'make --version', 'bc -v', 'diff /etc/passwd /etc/group', 'tmux -V',
    "gdb -batch -ex 'print 1'", 'busybox ls /', 'readelf -h /bin/ls', 'objdump -f /bin/ls', 'gcc --version',
    'm4 --version', 'xmllint --version', 'less --version']


def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors='replace', stdin=subprocess.DEVNULL, timeout=600)


def number(text):
    return int(text.replace(',', ''))


def lost(tool, said):
    """(bytes, blocks) that are definitely lost; None if the report does not say."""
    if tool == 'valgrind':
        match = re.search(r'definitely lost: ([\d,]+) bytes in ([\d,]+) blocks', said)
        if not match and 'All heap blocks were freed' in said:
            return 0, 0
    else:
        match = re.search(r'([\d,]+) bytes in ([\d,]+) blocks? definitely lost', said)
    return (number(match[1]), number(match[2])) if match else None


def main():
    print('1..%d' % len(COMMANDS))
    failed = 0
    for index, text in enumerate(COMMANDS, 1):
        command = shlex.split(text)
        missing = [name for name in ('valgrind', command[0]) if not shutil.which(name)]
        if missing:
            print('ok %d - %s # SKIP %s is not installed' % (index, text, missing[0]))
            continue
        theirs = lost('valgrind', run(['valgrind', '--leak-check=full', *command]).stderr)
        ours = lost('functrace', run([FUNCTRACE, '--report', *probes_in_turn(index), *command]).stdout)
        # A program that never allocates has no report about memory, and valgrind reports none lost.
        good = (theirs or (0, 0))[1] == 0 if ours is None else theirs is not None and bool(theirs[1]) == bool(ours[1])
        failed += not good
        print('%s %d - %s: definitely lost in bytes, blocks: valgrind %s, functrace %s' % (
            'ok' if good else 'not ok', index, text, theirs, ours), flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
