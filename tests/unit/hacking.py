#!/usr/bin/env python3
"""HACKING.md names files, functions, types, constants and options: all of them are in the tree. Prints TAP.

Names with NAME in them, and those of OTHERS, stand for others."""

import glob
import os
import re
import sys

TOP = os.environ.get('TOP_SRCDIR', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
FOLDERS = ('src', 'arch', 'modules', 'tests', 'bench', 'man', 'examples')
OTHERS = ('TYPE', 'clone', 'dry-run')  # a placeholder, a system call, another program's option
SUFFIXES = ('.c', '.h', '.py', '.mk', '.sh')

FILE = re.compile(r'(?<![\w./])(?:(?:%s)(?:/[\w.*-]+)*/?|[\w-]+\.(?:md|ac|am|txt|mk|py|sh|[ch]))(?![\w/])' % '|'.join(
    folder + r'(?=/)' for folder in FOLDERS))
FUNCTION = re.compile(r'\b([a-z_]\w*)\(\)')
TYPE = re.compile(r'\b(struct|enum) (\w+)')
CONSTANT = re.compile(r'\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b|\b_*SIG[A-Z]+\b')
OPTION = re.compile(r'(?<![\w-])--([a-z][a-z-]+)')
QUOTED = re.compile(r'`([^`\n]+)`')
WORD = re.compile(r'[A-Za-z_]\w{2,}')


class Tree:
    """The sources' text, and which files there are."""

    def __init__(self, top):
        self.top, self.files, texts, definitions = top, set(), [], []
        for folder in FOLDERS:
            for where, _, names in os.walk(os.path.join(top, folder)):
                for name in names:
                    self.files.add(name)
                    if name.endswith(SUFFIXES) and name != os.path.basename(__file__):
                        with open(os.path.join(where, name), errors='replace') as file:
                            texts.append(file.read())
                        # A definition or a prototype begins in the first column; calls do not.
                        definitions += re.findall(r'^ *def .*' if name.endswith('.py') else r'^(?:[A-Za-z_]|#define ).*',
                                                  texts[-1], re.M)
        for name in ('configure.ac', 'Makefile.am'):
            with open(os.path.join(top, name)) as file:
                texts.append(file.read())
        self.text = '\n'.join(texts)
        self.words = set(re.findall(r'\w+', self.text))
        self.functions = set(re.findall(r'\b(\w+)\(', '\n'.join(definitions)))
        self.types = set(re.findall(r'\b((?:struct|enum) \w+)\s*\{', self.text))

    def has_file(self, name):
        # Of a test's program the source is there.
        return bool(glob.glob(os.path.join(self.top, name)) or glob.glob(os.path.join(self.top, name + '.c'))) or \
            name in self.files

    def has_option(self, name):
        return '"%s"' % name in self.text or name.startswith('enable-') and '[%s]' % name[7:] in self.text or \
            "'--%s'" % name in self.text


def missing(tree, text):
    """What the text names and the tree does not have: (kind, name)."""
    return {(kind, name) for kind, name in not_found(tree, text) if name not in OTHERS}


def not_found(tree, text):
    text = re.sub(r'\S*NAME\S*', '', text)
    for name in FILE.findall(text):
        if not tree.has_file(name):
            yield 'file', name
    for name in FUNCTION.findall(text):
        if name not in tree.functions:
            yield 'function', name
    for kind, name in TYPE.findall(text):
        if '%s %s' % (kind, name) not in tree.types:
            yield 'type', '%s %s' % (kind, name)
    for name in CONSTANT.findall(text):
        if name not in tree.words:
            yield 'constant', name
    for name in OPTION.findall(text):
        if not tree.has_option(name):
            yield 'option', name
    for quoted in QUOTED.findall(text):
        for name in [] if FILE.search(quoted) or ' ' in quoted or quoted.startswith('-') else WORD.findall(quoted):
            if name not in tree.words:
                yield 'name', name


ROW = re.compile(r'^\|[^|]*\|[^|]*`(struct \w+)`, `([\w./-]+)`', re.M)


def misplaced(top, text):
    """The types of the table's rows that are not declared in the file beside them."""
    for kind, path in ROW.findall(text):
        with open(os.path.join(top, path)) as file:
            if not re.search(r'^%s \{' % kind, file.read(), re.M):
                yield kind, path


def check_rows(text):
    rows, wrong = len(ROW.findall(text)), list(misplaced(TOP, text))
    print('%s 4 the types of %d rows are declared in the files beside them' % ('ok' if rows > 10 and not wrong else
                                                                             'not ok', rows))
    for kind, path in wrong:
        print('# %s does not declare %s' % (path, kind))
    row = '| a part | `struct %s`, `src/ptrace/tracee.h` | `tasks.c` |\n'
    seen = list(misplaced(TOP, row % 'task' + row % 'stop'))
    print('%s 5 a type that is not there is found' % ('ok' if seen == [('struct stop', 'src/ptrace/tracee.h')] else
                                                       'not ok'))
    return rows <= 10 or wrong or len(seen) != 1


def main():
    tree = Tree(TOP)
    with open(os.path.join(TOP, 'HACKING.md')) as file:
        text = file.read()
    found = sorted(missing(tree, text))
    named = len(FILE.findall(text)) + len(FUNCTION.findall(text))
    print('1..5')
    print('%s 1 HACKING.md names nothing that is not there' % ('not ok' if found else 'ok'))
    for kind, name in found:
        print('# there is no %s %s' % (kind, name))
    # A test that looks at nothing passes, too.
    print('%s 2 it names files and functions, %d times' % ('ok' if named > 100 else 'not ok', named))
    wrong = '`src/no/such.c` in `act.c` and `no_such.c`; no_such() and act(); struct no_such, `struct task`; NO_SUCH and ' \
        'SIGTRAP; --no-such, --verify; `p->no_such` and `p->text`; src/tracer, `src/nowhere/`; `src/NAME.c`\n'
    wanted = {('file', 'src/no/such.c'), ('file', 'no_such.c'), ('file', 'src/nowhere/'), ('function', 'no_such'),
              ('type', 'struct no_such'), ('constant', 'NO_SUCH'), ('option', 'no-such'), ('name', 'no_such')}
    seen = missing(tree, wrong)
    print('%s 3 a name that is not there is found' % ('ok' if seen == wanted else 'not ok'))
    for kind, name in sorted(seen ^ wanted):
        print('# %s: %s %s' % ('not found' if (kind, name) in wanted else 'found', kind, name))
    return bool(check_rows(text) or found or named <= 100 or seen != wanted)


if __name__ == '__main__':
    sys.exit(main())
