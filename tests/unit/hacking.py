#!/usr/bin/env python3
"""Checks that the files, functions, types, constants and options that HACKING.md, CONTRIBUTING.md and the texts in doc/
name exist in the tree, or in an example of the same text. Prints TAP.

An example is a fenced block (with a path, if it is a whole file), or a file that `cp` creates. Names that contain NAME,
and those in OTHERS, are not checked."""

import glob
import os
import re
import sys

TOP = os.environ.get('TOP_SRCDIR', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
FOLDERS = ('src', 'arch', 'modules', 'tests', 'bench', 'man', 'examples', 'doc', 'completion', 'context')
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


FENCED = re.compile(r'^```(?:\S+ ?(\S*))?\n(.*?)^```$', re.M | re.S)
COPIED = re.compile(r'^ +cp \S+ (\S+)$', re.M)


class Examples:
    """The definitions in the examples of a text, and the text without the examples."""

    def __init__(self, text):
        blocks = FENCED.findall(text)
        self.code = '\n'.join(code for _, code in blocks)
        self.words = set(re.findall(r'\w+', self.code))
        made = [path for path, _ in blocks if path] + COPIED.findall(text)
        self.files = set(made) | {os.path.basename(path) for path in made}
        self.folders = {os.path.dirname(path) for path in made}
        self.rest = FENCED.sub('', text)


class Tree:
    """The text of the sources, and the existing files."""

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
        # The program of a test exists if its source does.
        return bool(glob.glob(os.path.join(self.top, name)) or glob.glob(os.path.join(self.top, name + '.c'))) or \
            name in self.files

    def has_option(self, name):
        return '"%s"' % name in self.text or name.startswith('enable-') and '[%s]' % name[7:] in self.text or \
            "'--%s'" % name in self.text


def missing(tree, text):
    """Returns (kind, name) of each thing that the text names and that is neither in the tree nor in an example."""
    examples = Examples(text)
    found = {(kind, name) for kind, name in not_found(tree, examples.rest) if name not in OTHERS}
    return {(kind, name) for kind, name in found
            if not (name in examples.files | examples.folders if kind == 'file' else name.split()[-1] in examples.words)}


def already_there(text):
    """Returns the files of the examples that exist in the tree, because a reader who copies the example would overwrite
    them."""
    return sorted(path for path in Examples(text).files if '/' in path and os.path.exists(os.path.join(TOP, path)))


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
    """Yields the types in the table's rows that are not declared in the file of their row."""
    for kind, path in ROW.findall(text):
        with open(os.path.join(top, path)) as file:
            if not re.search(r'^%s \{' % kind, file.read(), re.M):
                yield kind, path


class Tap:
    def __init__(self):
        self.count, self.failed = 0, False

    def result(self, good, name, problems=()):
        self.count += 1
        self.failed |= not good
        print('%s %d %s' % ('ok' if good else 'not ok', self.count, name))
        for problem in () if good else problems:
            print('# ' + problem)


def check_documents(tap, tree, texts):
    for name, text in texts.items():
        found, there = sorted(missing(tree, text)), already_there(text)
        tap.result(not found and not there, 'all that %s names exists' % name,
                   ['there is no %s %s' % one for one in found] + ['its example has %s, which already exists' % path for path in there])
    # A test that reads no text would pass, too.
    named = {name: len(FILE.findall(text)) + len(FUNCTION.findall(text)) for name, text in texts.items()}
    tap.result(sum(named.values()) > 500 and named['doc/INTERNALS.md'] > 100, 'the texts name files and functions, %d times' %
               sum(named.values()))


def check_rows(tap, text):
    rows, wrong = len(ROW.findall(text)), list(misplaced(TOP, text))
    tap.result(rows > 10 and not wrong, 'the types of %d rows are declared in the files beside them' % rows,
               ['%s does not declare %s' % (path, kind) for kind, path in wrong])


def self_test(tap, tree):
    wrong = '`src/no/such.c` in `ledger.c` and `no_such.c`; no_such() and ledger_init(); struct no_such, `struct task`; NO_SUCH and ' \
        'SIGTRAP; --no-such, --verify; `p->no_such` and `p->text`; src/tracer, `src/nowhere/`; `src/NAME.c`; `doc/NO.md`\n'
    wanted = {('file', 'src/no/such.c'), ('file', 'no_such.c'), ('file', 'src/nowhere/'), ('file', 'doc/NO.md'),
              ('function', 'no_such'), ('type', 'struct no_such'), ('constant', 'NO_SUCH'), ('option', 'no-such'),
              ('name', 'no_such')}
    seen = missing(tree, wrong)
    tap.result(seen == wanted, 'a name that does not exist is found',
               ['%s: %s %s' % ('not found' if one in wanted else 'found', *one) for one in sorted(seen ^ wanted)])
    example = '`src/toy.c` and `toy.c` have toy(), struct toy_part; `arch/copy.c`; --toy; `src/other.c`\n\n' \
        '```c src/toy.c\nint toy(void); struct toy_part; "toy"\n```\n\n    cp arch/arch.c arch/copy.c\n'
    seen = missing(tree, example)
    tap.result(seen == {('file',
                         'src/other.c')}, 'names that an example defines exist, and no others', map(str, sorted(seen)))
    seen = already_there('```c src/toy.c\n```\n```c arch/arch.c\n```\n')
    tap.result(seen == ['arch/arch.c'], 'an example that overwrites a file is found', seen)
    row = '| a part | `struct %s`, `src/ptrace/tracee.h` | `tasks.c` |\n'
    seen = list(misplaced(TOP, row % 'task' + row % 'stop'))
    tap.result(seen == [('struct stop',
                         'src/ptrace/tracee.h')], 'a type that is not declared in its file is found', map(str, seen))


def main():
    tree, tap, texts = Tree(TOP), Tap(), {}
    names = ['HACKING.md', 'CONTRIBUTING.md'] + sorted('doc/' + name for name in os.listdir(os.path.join(TOP, 'doc'))
                                                       if name.endswith('.md'))
    for name in names:
        with open(os.path.join(TOP, name)) as file:
            texts[name] = file.read()
    print('1..%d' % (len(names) + 6))
    check_documents(tap, tree, texts)
    check_rows(tap, texts['doc/INTERNALS.md'])
    self_test(tap, tree)
    return tap.failed


if __name__ == '__main__':
    sys.exit(main())
