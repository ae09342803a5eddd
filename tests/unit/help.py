#!/usr/bin/env python3
"""Checks that --help of both programs has two columns: names and descriptions. Prints TAP."""

import os
import re
import subprocess
import sys

COLUMN, WIDTH = 32, 79
NAMES = re.compile(r'(  -\w(?:, -\w)*(?:, --| )|      --|  -\w\b)')


def faults(text):
    """Returns the lines of options that are not in columns."""
    found = []
    in_options = False
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            in_options = False
        elif re.match(r' \w.*:$', line) or NAMES.match(line):
            in_options = True
        if not in_options or re.match(r' \w.*:$', line):
            continue
        names, gap, meaning = line[:COLUMN], line[COLUMN - 1:COLUMN], line[COLUMN:]
        is_long = NAMES.match(line) and gap != ' '  # only names, wider than their column
        if len(line) > WIDTH or (not is_long and (meaning[:1] in ('', ' ') or not (NAMES.match(names) or not names.strip()))) or \
                '   ' in line.strip()[:COLUMN].split('  ')[0]:
            found.append('%d: %s' % (number, line))
    return found


def main():
    number, failed = 0, False
    cases = [(os.environ[name], []) for name in ('FUNCTRACE', 'FUNCTRACE_POSTPROC')]
    for program, want in cases:
        number += 1
        environment = {key: value for key, value in os.environ.items() if key != 'ARGP_HELP_FMT'}
        text = subprocess.run([program, '--help'], env=environment, stdout=subprocess.PIPE, check=True).stdout.decode()
        found = faults(text)
        failed |= found != want
        print('%sok %d - %s --help is in columns' % ('' if found == want else 'not ', number, os.path.basename(program)))
        for line in found:
            print('# ' + line)
    broken = '  -e,                              --module=NAME, --track=NAME\nkinds of resources: memory\n'
    number += 1
    found = faults(broken)
    print('%sok %d - a broken entry is found' % ('' if len(found) == 2 else 'not ', number))
    print('1..%d' % number)
    return failed or len(found) != 2


if __name__ == '__main__':
    sys.exit(main())
