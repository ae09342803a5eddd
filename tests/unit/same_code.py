#!/usr/bin/env python3
"""Compares the code of two builds: same_code.py BEFORE AFTER [TABLE...]

BEFORE and AFTER are build folders of two commits, built with the same compiler and options. Each function of each
object must have the same instructions and relocations in both, and each object the same strings, whatever the names of
files and functions. A line of a TABLE is "OLD NEW", two names of functions or variables; # begins a comment. Prints the
differences and ends with status 1 if there are any. Without arguments it tests that a difference is found."""

import collections
import os
import re
import subprocess
import sys

FUNCTION = re.compile(r'^[0-9a-f]+ <(.+)>:$')
OWN = re.compile(r'\b[0-9a-f]+ <([^>]+)>')


def read_tables(paths):
    """Returns a dictionary of the tables: the old name of each new name."""
    names = {}
    for path in paths:
        with open(path) as file:
            for line in file:
                words = line.split('#')[0].split()
                if len(words) >= 2:
                    names[words[1]] = words[0]
    return names


def objects(build):
    """Yields the object files of installed libraries and programs, without those of tests."""
    for folder, _, names in os.walk(build):
        top = os.path.relpath(folder, build).split(os.sep)[0]
        if top in ('src', 'arch', 'modules', 'context'):
            for name in sorted(names):
                if name.endswith('.o'):
                    yield os.path.join(folder, name)


def old_names(text, names):
    # Suffixes of the compiler (.constprop.0, .part.0, .cold) are kept.
    return re.sub(r'[A-Za-z_]\w*', lambda found: names.get(found.group(0), found.group(0)), text)


def functions(listing, names):
    """Yields (name, instructions) of each function of a disassembly with relocations."""
    name, body = None, []
    for line in listing.splitlines():
        found = FUNCTION.match(line)
        if found:
            if name:
                yield name, '\n'.join(body)
            name, body = old_names(found.group(1), names), []
        elif name and ':\t' in line:
            # The addresses of instructions, and of jumps within the function, are not compared.
            body.append(old_names(OWN.sub(r'<\1>', line.split(':\t', 1)[1].strip()), names))
    if name:
        yield name, '\n'.join(body)


def read(build, names):
    """Returns two counters: of (function, instructions), and of strings."""
    paths = list(objects(build))
    listing = subprocess.run(['objdump', '-dr', '--no-show-raw-insn'] + paths, stdout=subprocess.PIPE, check=True, text=True)
    text = subprocess.run(['readelf', '-W', '-p', '.rodata.str1.1', '-p', '.rodata.str1.8'] + paths, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors='replace').stdout
    return (collections.Counter(functions(listing.stdout, names)),
            collections.Counter(re.findall(r'^  \[ *[0-9a-f]+\]  (.*)$', text, re.M)))


def differences(before, after):
    for name in sorted({name for name, _ in (before[0] - after[0]) + (after[0] - before[0])}):
        yield 'the code of %s differs' % name
    for text in sorted((before[1] - after[1]) + (after[1] - before[1])):
        yield 'the string "%s" is in one build only' % text


def self_test():
    one = '0000 <a>:\n   0:\tnop\n   1:\tjmp    0 <a>\n\n0010 <b>:\n  10:\tcall   15 <b+0x5>\n\t\t\t11: R_X86_64_PLT32\ta-0x4\n'
    listings = [one, one.replace('<a>', '<c>').replace('\ta-', '\tc-'), one.replace('nop', 'ret')]
    seen = [(collections.Counter(functions(text, {'c': 'a'})), collections.Counter(words)) for text, words in zip(
        listings, (['x'], ['x'], ['y']))]
    wanted = ['the code of a differs', 'the string "x" is in one build only', 'the string "y" is in one build only']
    return list(differences(seen[0], seen[1])) == [] and list(differences(seen[0], seen[2])) == wanted


def main():
    if len(sys.argv) == 1 or sys.argv[1] == '--self-test':
        print('1..1\n%s 1 - a difference of code is found' % ('ok' if self_test() else 'not ok'))
        return 0
    if len(sys.argv) == 2:
        sys.exit(__doc__)
    names = read_tables(sys.argv[3:])
    before, after = read(sys.argv[1], {}), read(sys.argv[2], names)
    found = list(differences(before, after))
    print('\n'.join(found + ['%d functions and %d strings, %d differ' % (
        sum(before[0].values()), sum(before[1].values()), len(found))]))
    return bool(found) or not before[0]


if __name__ == '__main__':
    sys.exit(main())
