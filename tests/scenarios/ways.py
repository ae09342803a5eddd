"""By which probes the functraces of a scenario see calls. With the default of --probes root gets the kernel's, where the
machine allows them. So that both ways are tested, half of the scenarios use breakpoints instead, and those that
breakpoints.form lists always do. With SCENARIO_PROBES=kernel or =breakpoints in the environment all others run in this
way; check-long does both."""

import os
import re
import threading
import zlib

FORCED = os.environ.get('SCENARIO_PROBES', '')
# functrace refuses --probes beside these, or shows something instead of tracing.
OTHERS = {'--repair', '--version', '-V', '--help', '-h', '-?', '--usage', '--list-options', '--list-processes'}
FORM = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'breakpoints.form')

_own = threading.local()  # a scenario runs in one thread


def lines_of(path):
    with open(path) as file:
        return [line.strip() for line in file if line.strip() and line[0] != '#']


def listed(form, names):
    """Returns those of the scenarios that a form lists, by name, or after "~ " by a regular expression; and lines that
    match none."""
    found, useless = set(), []
    for line in lines_of(form):
        matching = [name for name in names if name == line or line[:2] == '~ ' and re.fullmatch(line[2:], name)]
        found.update(matching)
        if not matching:
            useless.append(line)
    return found, useless


def choose(name, needs_breakpoints):
    """Chooses the way for the scenario that this thread runs next."""
    half = zlib.crc32(name.encode()) % 2 == 0
    _own.by_breakpoints = needs_breakpoints or (FORCED == 'breakpoints' if FORCED else half)


def with_probes(command, functrace):
    """Returns the command, with the option if it traces."""
    command = list(command)
    if not getattr(_own, 'by_breakpoints', False) or functrace not in command or OTHERS.intersection(command) or \
       command[0] == 'cp':
        return command
    # --scan alone traces nothing.
    if any(word.split('=')[0] == '--scan' for word in command) and '-e' not in command:
        return command
    at = command.index(functrace) + 1
    return command[:at] + ['--probes=breakpoints'] + command[at:]
