"""Finds the function pointers through which a file of a lower layer calls one of a higher layer."""

import collections
import re

from floors_source import closing


class Pointers:
    """Finds function pointers that one file calls and that another file fills, which the first file must not include:
    members of structs, as "tag.member", and parameters of functions, as "function(parameter)"."""

    TYPEDEF = re.compile(r'\btypedef\b[^;{}()]*(?:\(\*\s*(\w+)\)|\b(\w+))\s*\(')
    STRUCT = re.compile(r'\b(?:struct|union)\s+(\w+)\s*\{')
    # A pointer that is called, or is passed to a function that calls it.
    CALLED = re.compile(r'(?:->|\.)\s*(\w+)(?:\[[^]\n]*\])?[(),]')
    # A name at a place where a value is expected.
    VALUE = re.compile(r'[=,({?:&]\s*([A-Za-z_]\w*)(?=\s*[,;)}:])')
    MEMBER_SET = re.compile(r'(?:->|\.)\s*(\w+)(?:\[[^]]*\])?\s*=(?!=)[^,;]*$')
    TYPE = re.compile(r'\(\s*(?:const\s+)?(?:struct|union)\s+(\w+)\s*(?:\[\w*\])?\s*\)\s*$|'
                      r'\b(?:struct|union)\s+(\w+)\s*(?:\*\s*)?(?:const\s+)?\w+\s*(?:\[[^]]*\])*\s*=\s*$')

    def __init__(self, house, tree):
        self.house, self.tree = house, tree
        types = {a or b for source in tree.sources.values() for a, b in self.TYPEDEF.findall(source.code)}
        self.pointer = re.compile(r'\(\*\s*(?:const\s+)?(\w+)(?:\[\w*\])?\)\s*\(|\b(?:%s)\s*\**\s*(\w+)\s*$' %
                                  '|'.join(sorted(types) or ['$']))
        # tag -> (file, its members, None for a member that is not a pointer)
        self.structs = collections.defaultdict(list)
        self.members = collections.defaultdict(list)  # member -> (file, tag)
        self.callers = collections.defaultdict(set)  # member -> files that call it
        for path, source in tree.sources.items():
            self.read_structs(path, source.code)
            for name in self.CALLED.findall(source.code):
                self.callers[name].add(path)
        self.found = collections.defaultdict(set)  # pointer -> functions that are stored in it
        for path in tree.sources:
            self.read_values(path)

    def name(self, text):
        match = self.pointer.search(text)
        return match and (match[1] or match[2])

    def read_structs(self, path, code):
        for match in self.STRUCT.finditer(code):
            body = code[match.end():closing(code, match.end() - 1)]
            names = []
            for declaration in re.split(r';', re.sub(r'\{[^{}]*\}', ' ', body)):
                name = self.name(declaration)
                names += [name] if name else [None] * (declaration.count(',') + 1)
            self.structs[match[1]].append((path, names))
            for name in filter(None, names):
                self.members[name].append((path, match[1]))

    def read_values(self, path):
        source, tree = self.tree.sources[path], self.tree
        statics = set().union(*(tree.sources[one].statics for one in tree.visible(path)))
        for match in self.VALUE.finditer(source.code):
            function = match[1]
            if function in statics or function in tree.defined:
                if function in source.parameters or function in tree.defined:
                    self.place(path, source.code, match.start(1), function)

    def place(self, path, code, at, function):
        bracket, commas, begin = self.around(code, at)
        before = self.MEMBER_SET.search(code[begin:at])
        visible = self.tree.visible(path)
        if before:
            for where, tag in self.members.get(before[1], ()):
                if where in visible:
                    self.member(path, tag, before[1], function, where)
        elif bracket == '(':
            callee = re.search(r'(\w+)\s*$', code[:begin - 1])
            target = callee and self.tree.defined.get(callee[1])
            if target and target != path:
                parameters = self.tree.sources[target].parameters.get(callee[1], [])
                name = commas < len(parameters) and self.name(parameters[commas].strip())
                if name and not self.house.may_know(target, path):
                    self.found['%s(%s)' % (callee[1], name)].add(function)
        elif bracket == '{':
            self.positional(path, code, begin - 1, commas, function)

    @staticmethod
    def around(code, at):
        """Returns the enclosing bracket or the ';' before the place, the number of commas between, and where the text
        inside begins."""
        depth = commas = 0
        for i in range(at - 1, -1, -1):
            c = code[i]
            if c in ')]}':
                depth += 1
            elif c in '([{' or (c == ';' and not depth):
                if not depth:
                    return c, commas, i + 1
                depth -= 1
            elif c == ',' and not depth:
                commas += 1
        return '', commas, 0

    def positional(self, path, code, brace, commas, function):
        """Returns the member at this place in an initialiser without names, of a struct or of a struct in an array."""
        for _ in range(3):
            match = self.TYPE.search(code[max(0, brace - 200):brace])
            if match:
                for where, names in self.structs.get(match[1] or match[2], ()):
                    if where in self.tree.visible(path) and commas < len(names) and names[commas]:
                        self.member(path, match[1] or match[2], names[commas], function, where)
                return
            bracket, _, begin = self.around(code, brace)
            if bracket != '{':
                return
            brace = begin - 1

    def member(self, path, tag, name, function, where):
        for caller in self.callers[name]:
            if where in self.tree.visible(caller) and not self.house.may_know(caller, path):
                self.found['%s.%s' % (tag, name)].add(function)
                return
