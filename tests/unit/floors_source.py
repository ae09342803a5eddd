"""Reads C sources for floors.py: includes, definitions, declarations, and which names a file uses.

The reader goes by the layout that format.py proves: definitions and declarations begin in the first column, the body
of a function begins with a brace there."""

import collections
import functools
import os
import re

GENERATED = ('.pb-c.c', '.pb-c.h')  # by protoc-c; in the tree if it is built there
SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
ATTRIBUTE = re.compile(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)\s*')
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.)*', re.M | re.S)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
TAG = re.compile(r'\b(?:struct|union|enum)\s+(\w+)\s*\{')
FUNCTION = re.compile(r'^([A-Za-z_][\w \t*]*(?:\n[A-Za-z_*][\w \t*]*)??[ \t*\n])(\w+)\(', re.M)
AFTER = re.compile(r'\s*(?:[A-Z_]+(?:\([^()]*\))?\s*)*([{;])')  # the parameters: macros of attributes, body or end
# "struct x name = {", "int name;", "extern const int one[], two[];"
VARIABLE = re.compile(r'^(?!static\b|typedef\b|return\b)([A-Za-z_][\w \t*]*[ \t*])'
                      r'(\w+(?:\[[^]\n]*\])*(?:,\s+\w+(?:\[[^]\n]*\])*)*)\s*(?:=|;)', re.M)
IDENTIFIER = re.compile(r'\b[A-Za-z_]\w*')
# The names of members and tags, which can be those of functions too.
OTHER_NAME = re.compile(r'(?:->|(?<!\.)\.|\b(?:struct|union|enum)\b)\s*[A-Za-z_]\w*')


def blank(match):
    text = match[0]
    return '""' if text[0] == '"' else '0' if text[0] == "'" else ' ' + '\n' * text.count('\n')


def closing(text, at):
    """Where the bracket that opens at `at` is closed."""
    depth = 0
    for match in re.compile(r'[(){}[\]]').finditer(text, at):
        depth += 1 if match[0] in '({[' else -1
        if not depth:
            return match.start()
    return len(text)


def parts(text):
    """The text divided at the commas that are in no bracket."""
    depth, begin = 0, 0
    for match in re.finditer(r'[(){}[\],]', text):
        if match[0] == ',':
            if not depth:
                yield text[begin:match.start()]
                begin = match.end()
        else:
            depth += 1 if match[0] in '({[' else -1
    yield text[begin:]


class Source:
    def __init__(self, path, text):
        self.path, self.lines = path, text.count('\n')
        self.is_header = path.endswith('.h')
        self.included = INCLUDE.findall(text)
        self.raw = SKIPPED.sub(blank, text)  # with the preprocessor's lines
        self.code = ATTRIBUTE.sub('', DIRECTIVE.sub('', self.raw))
        self.tags = set(TAG.findall(self.code))
        self.statics, self.globals, self.declared = set(), set(), set()
        self.parameters = {}  # function -> its parameters' texts
        self.functions()
        for kind, names in VARIABLE.findall(self.code):
            (self.declared if kind.startswith('extern') else self.globals).update(
                name.split('[')[0].strip() for name in names.split(','))

    def functions(self):
        for match in FUNCTION.finditer(self.code):
            end = closing(self.code, match.end() - 1)
            after = AFTER.match(self.code, end + 1)
            if not after or match[1].startswith('typedef'):
                continue
            is_static = match[1].startswith('static')
            if after[1] == '{':
                (self.statics if is_static else self.globals).add(match[2])
            elif not is_static:
                self.declared.add(match[2])
            self.parameters[match[2]] = list(parts(self.code[match.end():end]))

    @functools.cached_property
    def identifiers(self):
        """Name -> number of its uses in the code and in the preprocessor's lines."""
        return collections.Counter(IDENTIFIER.findall(self.raw))


class Tree:
    """The sources by path, from {path: text}."""

    def __init__(self, texts):
        self.sources = {path: Source(path, text) for path, text in sorted(texts.items())}
        self.defined = {name: path for path, source in self.sources.items() if not source.is_header
                        for name in source.globals}
        self.includes = {path: [found for found in (self.header(name, path) for name in source.included) if found]
                         for path, source in self.sources.items()}
        self.seen = {}

    def header(self, name, path):
        return next((candidate for candidate in ('src/' + name, name, os.path.dirname(path) + '/' + name)
                     if candidate in self.sources), None)

    def visible(self, path):
        """The file, and all headers that it includes, through others too."""
        if path not in self.seen:
            found, ahead = set(), [path]
            while ahead:
                one = ahead.pop()
                if one not in found:
                    found.add(one)
                    ahead += self.includes[one]
            self.seen[path] = found
        return self.seen[path]

    def include_edges(self):
        return [(path, header, 'include') for path, headers in self.includes.items() for header in headers]

    def use_edges(self, path):
        """(the file, the file that defines the name, name) for each function or table that the file uses and one of
        its headers declares: what nm says of an object that was built."""
        source = self.sources[path]
        declared = set().union(*(self.sources[one].declared for one in self.visible(path)))
        return [(path, self.defined[name], name) for name in set(IDENTIFIER.findall(OTHER_NAME.sub('', source.raw)))
                if name in declared and self.defined.get(name, path) != path and name not in source.statics]


def read_tree(top, folders):
    texts = {}
    for folder in folders:
        for place, _, names in os.walk(os.path.join(top, folder)):
            for name in names:
                if name.endswith(('.c', '.h')) and not name.endswith(GENERATED):
                    path = os.path.join(place, name)
                    with open(path) as file:
                        texts[os.path.relpath(path, top)] = file.read()
    return Tree(texts)
