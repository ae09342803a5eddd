"""A strict reader of OpenMetrics 1.0.0 (its ABNF and its rules for families) and of Prometheus' text format 0.0.4.

read(data, is_open) returns {family: Family}; raises Wrong for any text that a rule forbids, also for what other readers
let pass.
"""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r"[a-zA-Z_][a-zA-Z0-9_]*"
REAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?i:inf(?:inity)?)|(?i:nan)"
META = re.compile(rf"# (HELP|TYPE|UNIT) ({NAME}) (.+)")
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? ({REAL})")
ONE_LABEL = re.compile(rf'({LABEL})="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=.)|$)')
SUFFIX = {"gauge": "", "counter": "_total", "info": "_info"}


class Wrong(Exception):
    pass


def demand(is_right, *words):
    if not is_right:
        raise Wrong(" ".join(str(word) for word in words))


class Family:
    def __init__(self, name):
        self.name, self.kind, self.unit, self.help = name, None, None, None
        self.samples = {}  # (the sample's name, its labels as a sorted tuple) -> value

    def meta(self, word, text, is_open):
        demand(not self.samples, self.name, "has", word, "after a sample")
        if word == "TYPE":
            demand(self.kind is None, self.name, "has two types")
            demand(text in (SUFFIX if is_open else ("gauge", "counter")), "there is no type", text)
            self.kind = text
        elif word == "UNIT":
            demand(is_open, "the text format has no units")
            demand(self.unit is None, self.name, "has two units")
            demand(self.kind not in ("info", "stateset"), self.name, "is an info with a unit")
            demand(self.name.endswith("_" + text), self.name, "does not end in its unit", text)
            self.unit = text
        else:
            demand(self.help is None, self.name, "has two helps")
            demand(re.fullmatch(r'(?:[^\\"]|\\[\\n"])+' if is_open else r"(?:[^\\]|\\[\\n])+", text), "help:", text)
            self.help = text

    def add(self, name, labels, value, is_open):
        demand(self.kind, self.name, "has no TYPE")
        demand(self.help, self.name, "has no HELP")
        own = self.name + (SUFFIX[self.kind] if is_open else "")
        demand(name == own, name, "is no sample of", self.name, self.kind)
        demand((name, labels) not in self.samples, "twice:", name, labels)
        demand(value == value, name, "is NaN")
        if self.kind == "counter":
            demand(0 <= value < float("inf"), name, "is a counter of", value)
        if is_open and self.kind == "info":
            demand(value == 1, name, "is an info of", value)
        self.samples[name, labels] = value


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        found = ONE_LABEL.match(text, at)
        demand(found, "labels:", text)
        demand(found[1] not in labels, "two labels:", found[1])
        demand(not found[1].startswith("__"), "reserved:", found[1])
        labels[found[1]] = re.sub(r"\\(.)", lambda escape: "\n" if escape[1] == "n" else escape[1], found[2])
        at = found.end()
    return tuple(sorted(labels.items()))


def read(data, is_open):
    """data: bytes. Families must not be interleaved, nor have names that other families' samples have."""
    text = data.decode("utf-8")
    demand("\r" not in text and "\0" not in text, "a control character")
    demand(text.endswith("\n"), "no newline at the end")
    lines = text[:-1].split("\n")
    if is_open:
        demand(lines.pop() == "# EOF", "no # EOF at the end")
    families, now = {}, None
    for line in lines:
        demand(line, "an empty line")
        meta = META.fullmatch(line)
        sample = None if meta else SAMPLE.fullmatch(line)
        demand(meta or sample, "neither metadata nor a sample:", line)
        if meta:
            if now is None or now.name != meta[2]:
                demand(meta[2] not in families, "interleaved:", meta[2])
                now = families[meta[2]] = Family(meta[2])
            now.meta(meta[1], meta[3], is_open)
        else:
            demand(now, "a sample without a family:", line)
            now.add(sample[1], labels_of(sample[2] or ""), float(sample[3]), is_open)
    names = [name for family in families.values()
             for name in {family.name, *(sample for sample, _ in family.samples)}]
    demand(len(names) == len(set(names)), "two families share a name")
    return families


def values(families):
    """Returns {name of a sample: {labels: value}}."""
    found = {}
    for family in families.values():
        for (name, labels), value in family.samples.items():
            found.setdefault(name, {})[labels] = value
    return found


WRONG = [
    "", "a 1\n# EOF\n", "# TYPE a gauge\n# HELP a h\na 1\n", "# TYPE a gauge\n# HELP a h\na 1\n# EOF", "# EOF\n# EOF\n",
    "# TYPE a gauge\n# HELP a h\n\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a h\na 1\na 1\n# EOF\n",
    "# TYPE a gauge\n# HELP a h\na  1\n# EOF\n", "# TYPE a gauge\n# HELP a h\na x\n# EOF\n",
    "# TYPE a counter\n# HELP a h\na 1\n# EOF\n", "# TYPE a counter\n# HELP a h\na_total -1\n# EOF\n",
    "# TYPE a info\n# HELP a h\na_info 2\n# EOF\n", "# TYPE a gauge\n# HELP a h\n# UNIT a bytes\na 1\n# EOF\n",
    "# TYPE a gauge\n# HELP a h\na 1\n# TYPE b gauge\n# HELP b h\nb 1\na{x=\"1\"} 1\n# EOF\n",
    '# TYPE a gauge\n# HELP a h\na{x="1",} 1\n# EOF\n', '# TYPE a gauge\n# HELP a h\na{x="\\t"} 1\n# EOF\n',
    '# TYPE a gauge\n# HELP a h\na{x="1",x="2"} 1\n# EOF\n', '# TYPE a gauge\n# HELP a h\na{x="""} 1\n# EOF\n',
    '# TYPE a gauge\n# HELP a h "\na 1\n# EOF\n', "# TYPE a gauge\n# HELP a h\na{x=\"1\"}1\n# EOF\n",
    "# TYPE a gauge\n# HELP a h\na 1\n# TYPE a gauge\n# EOF\n", "# a comment\n# EOF\n",
    "# TYPE a gauge\n# HELP a h\na NaN\n# EOF\n",
    "# TYPE a_total gauge\n# HELP a_total h\na_total 1\n# TYPE a counter\n# HELP a h\na_total 1\n# EOF\n",
]
RIGHT = '# HELP a_bytes h \\\\ \\"\n# TYPE a_bytes gauge\n# UNIT a_bytes bytes\na_bytes{x="\\\\\\"\\n",y=""} 1e3\n' \
        'a_bytes 2.5\n# TYPE b counter\n# HELP b h\nb_total 7\n# TYPE c info\n# HELP c h\nc_info{v="1"} 1\n# EOF\n'


def check_itself():
    """The reader must refuse each of these texts."""
    for text in WRONG:
        try:
            read(text.encode(), True)
        except Wrong:
            continue
        raise AssertionError(f"the reader takes {text!r}")
    found = values(read(RIGHT.encode(), True))
    assert found["a_bytes"][(("x", '\\"\n'), ("y", ""))] == 1000 and found["b_total"][()] == 7, found
