"""C++ kernel names taken apart: template, arguments, parameters. Linear time; never raises."""

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

NAMES_KEPT = 1 << 18  # answers about names that are kept; no trace seen had as many, and each is asked often
# `operator()`, `operator<` and `->` hold brackets that open or close nothing.
_TOKENS = re.compile(r"operator(?:\(\)|\[\]|<=>|<<|>>|<=|>=|->|<|>)|->|[<>(){}\[\], ]")
_COMMA = re.compile(",")
_OPENER = re.compile(r"[<({\[]")
_CLOSES = {">": "<", ")": "(", "}": "{", "]": "["}
# Anonymous namespaces: some compilers put a hash of the file into the name, which differs between builds.
_ANONYMOUS = re.compile(r"(?:\(anonymous namespace\)|<unnamed>|\(anonymous\)|\b_GLOBAL__N_\w*)::")


@dataclass(frozen=True)
class Parts:
    """A kernel's name in parts. `template` is the qualified name without its arguments.

    `arguments` are the template's arguments and `parameters` the function's, both as the name spells them.
    `returns` is the return type, or "" where the name has none.
    """

    template: str
    arguments: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    returns: str = ""

    @property
    def base(self) -> str:
        """The last component of the template: `fused_add_rms_norm_kernel`."""
        return self.template.rsplit("::", 1)[-1]


@dataclass(frozen=True)
class _Level:
    """What stands outside all brackets: groups as [open, end), commas and blanks as positions."""

    groups: list[tuple[int, int]]
    commas: list[int]
    blanks: list[int]


def _outermost(text: str) -> _Level:
    """One pass over the brackets. An unclosed bracket closes at the end; a stray closing one is text."""
    level = _Level([], [], [])
    stack: list[tuple[str, int]] = []
    still_open = dict.fromkeys("<({[", 0)
    for match in _TOKENS.finditer(text):
        token, at = match.group(), match.start()
        if token in still_open:
            stack.append((token, at))
            still_open[token] += 1
        elif token in _CLOSES:
            opener = _CLOSES[token]
            while still_open[opener] and opener != "<" and stack[-1][0] == "<":
                still_open[stack.pop()[0]] -= 1  # it was a comparison
            if stack and stack[-1][0] == opener:
                begin = stack.pop()[1]
                still_open[opener] -= 1
                if not stack:
                    level.groups.append((begin, at + 1))
        elif not stack and token == ",":
            level.commas.append(at)
        elif not stack and token == " ":
            level.blanks.append(at)
    if stack:
        level.groups.append((stack[0][1], len(text)))
    return level


def split_arguments(text: str) -> tuple[str, ...]:
    """`text` cut at its outermost commas, trimmed: `int, Foo<a, b>` gives `int` and `Foo<a, b>`."""
    cuts = _outermost(text).commas if _OPENER.search(text) else [m.start() for m in _COMMA.finditer(text)]
    pieces = [text[a:b].strip() for a, b in zip([0, *(c + 1 for c in cuts)], [*cuts, len(text)], strict=True)]
    return tuple(pieces) if pieces != [""] else ()


def _inside(text: str, group: tuple[int, int]) -> str:
    begin, end = group
    closed = end - begin > 1 and _CLOSES.get(text[end - 1]) == text[begin]
    return text[begin + 1 : end - 1 if closed else end]


def leading(text: str) -> Parts:
    """The first name in `text` and its template arguments: of `f<a>(b)::{lambda()#1}` this is `f<a>`."""
    group = next(iter(_outermost(text).groups), None) if _OPENER.search(text) else None
    if group is None:
        return Parts(text)
    arguments = split_arguments(_inside(text, group)) if text[group[0]] == "<" else ()
    return Parts(text[: group[0]].strip(), arguments)


@lru_cache(maxsize=512)
def parse_parts(name: str) -> Parts:
    """Take the name of a kernel, function or type apart. Text that is no C++ comes back as `template`."""
    text = clean(name)
    level = _outermost(text)
    groups = [g for g in level.groups if g[1] - g[0] > 1]
    parameters: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    end = len(text)
    if groups and groups[-1][1] == end and text[groups[-1][0]] == "(":
        parameters = split_arguments(_inside(text, groups[-1]))
        end = groups[-1][0]
        groups.pop()
    if groups and groups[-1][1] == end and text[groups[-1][0]] == "<":
        arguments = split_arguments(_inside(text, groups[-1]))
        end = groups[-1][0]
    blanks = [b for b in level.blanks if b < end and not text.endswith("operator", 0, b)]
    begin = blanks[-1] + 1 if blanks else 0
    if not arguments and not parameters:  # no C++ function: a blank is part of the name
        begin = 0
    template = text[begin:end].strip()
    return Parts(template, arguments, parameters, text[:begin].strip()) if template else Parts(text)


def clean(name: str) -> str:
    """The name demangled if it can be, without anonymous namespaces and without the loader's suffixes."""
    text = name.strip()
    end = len(text)
    while True:
        if text.endswith("]", 0, end) and (clone := text.rfind(" [clone ", 0, end)) > 0:
            end = clone
        elif suffix := next((s for s in (".kd", " const") if text.endswith(s, 0, end)), None):
            end -= len(suffix)
        else:
            break
    text = text[:end]
    return _ANONYMOUS.sub("", demangle(text))


class _GiveUpError(Exception):
    """The mangled text holds something this reader does not know."""


_BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char",
    "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long",
    "x": "long long", "y": "unsigned long long", "f": "float", "d": "double", "e": "long double",
    "n": "__int128", "z": "...",
}  # fmt: skip
_EXTENDED = {
    "DF16b": "__bf16",
    "DF16_": "_Float16",
    "Dh": "half",
    "Dn": "decltype(nullptr)",
    "Di": "char32_t",
}
_SUBSTITUTION = re.compile(r"S[0-9A-Z]*_|S[absiod](?![0-9])")
_TEMPLATE_PARAMETER = re.compile(r"T[0-9]*_")
_NUMBER = re.compile(r"\d+")
_LITERAL = re.compile(r"n?\d+")
_DEEPEST = 40


class _Mangled:
    """Reads the parts of the Itanium C++ ABI's mangling that kernel names use.

    Substitutions (`S3_`) are left out, since only a complete reader can resolve them; where something else
    is unknown, what was read so far stands.
    """

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def take(self, word: str) -> bool:
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found.group() if found else None

    def source_name(self) -> str:
        digits = self.match(_NUMBER)
        if digits is None or len(digits) > 6:
            raise _GiveUpError
        begin, self.at = self.at, self.at + int(digits)
        if self.at > len(self.text):
            raise _GiveUpError
        return self.text[begin : self.at]

    def arguments(self, out: list[str], depth: int) -> None:
        """Template arguments up to their E, added to `out` as they are read."""
        while not self.take("E"):
            if self.at >= len(self.text) or depth > _DEEPEST:
                raise _GiveUpError
            if self.take("L"):
                kind: list[str] = []
                self.type(kind, depth + 1)
                value = self.match(_LITERAL)
                if value is None or not self.take("E"):
                    raise _GiveUpError
                named = {"0": "false", "1": "true"} if kind == ["bool"] else {}
                out.append(named.get(value, value.replace("n", "-")))
            elif self.take("J"):
                self.arguments(out, depth + 1)
            else:
                self.type(out, depth + 1)

    def name(self, out: list[str], nested: bool, depth: int) -> None:
        """A name's components, added to `out` as they are read; a nested name runs to its E."""
        while not (nested and self.take("E")):
            if self.take("I"):
                found: list[str] = []
                try:
                    self.arguments(found, depth + 1)
                finally:
                    if out:
                        out[-1] += f"<{', '.join(found)}>"
                if not nested:
                    return
            elif self.take("St") or self.match(_SUBSTITUTION) is not None:
                if (
                    not nested
                    and not self.text.startswith("I", self.at)
                    and not self.text[self.at : self.at + 1].isdigit()
                ):
                    return
            elif out and not nested:
                return
            else:
                self.take("L")
                out.append(self.source_name())

    def type(self, out: list[str], depth: int) -> None:
        """One type, added to `out`; of a named type as much as can be read."""
        if depth > _DEEPEST:
            raise _GiveUpError
        suffix = ""
        while self.text[self.at : self.at + 1] in tuple("PROKVr"):
            suffix = {"P": "*", "R": "&", "O": "&&", "K": " const"}.get(self.text[self.at], "") + suffix
            self.at += 1
            if len(suffix) > _DEEPEST:
                raise _GiveUpError
        here = self.text[self.at : self.at + 1]
        for code, spelling in _EXTENDED.items():
            if self.take(code):
                out.append(spelling + suffix)
                return
        if self.take("N") or here.isdigit() or here == "S":
            parts: list[str] = []
            try:
                self.name(parts, here == "N", depth + 1)
            finally:
                out.append("::".join(parts) + suffix)
        elif self.match(_TEMPLATE_PARAMETER) is not None:
            out.append("T" + suffix)
        elif here in _BUILTIN:
            self.at += 1
            out.append(_BUILTIN[here] + suffix)
        else:
            raise _GiveUpError


def demangle(name: str) -> str:
    """`_ZN5aiter11norm_kernelIDF16bLi256EEvPT_` as `aiter::norm_kernel<__bf16, 256>`.

    Function parameters are left out. What cannot be read is left out too; a name of which nothing can be
    read comes back unchanged. Source: Itanium C++ ABI, chapter 5.1.
    """
    reader = _Mangled(name)
    parts: list[str] = []
    if not reader.take("_Z"):
        return name
    nested = reader.take("N")
    while nested and name[reader.at : reader.at + 1] in tuple("KVrRO"):
        reader.at += 1
    with suppress(_GiveUpError):
        reader.name(parts, nested, 0)
    return "::".join(parts) or name
