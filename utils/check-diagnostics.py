#!/usr/bin/python3
"""Check that every diagnostic has a test: each error text of lib/ and tools/ must occur in some test.

A diagnostic is a call of one of EMITTERS, or of a function of ours that only passes its argument on to one. Of the
string literals in that statement the longest one, cut at format fields, must occur in an `expected-error` (or -remark,
-warning, -note) line, in a FileCheck line, in a pytest file or in a unit test. Lists the untested ones and exits with 1.

A failure of the machine that no test can bring about (out of memory, a failed mmap) is marked in the line before it:
`// no-test: REASON`. A check that cannot fail wants an assert instead.
"""

import argparse
import collections
import pathlib
import re
import sys

EMITTERS = ["emitOpError", "emitError", "emitRemark", "emitWarning", "emitOptionalError", "emitSilenceableError",
            "emitDefiniteFailure", "emitSilenceableFailure", "createStringError", "StringError", "WithColor::error",
            "WithColor::warning", "createFileError"]
# A text that is put together before it goes to an emitter.
BUILDERS = ["raw_string_ostream"]
# Ends a text: what is printed there differs from run to run. (formatv {0}, printf %s)
FORMAT_FIELD = re.compile(r"\{\d[^}]*\}|%[-+ #0-9.]*(?:l|ll|z)?[diuxsfgec]\b|%%|\n")
# A shorter literal is too weak to stand for a diagnostic alone; given to a function of ours, it is a label.
MIN_WORDS = 2
WORD = re.compile(r"[A-Za-z]\w+")

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
# Comments go, literals stay: a // inside a string is not a comment, a quote inside a comment is not a string.
COMMENT_OR_LITERAL = re.compile(rf"//[^\n]*|/\*.*?\*/|{LITERAL}|'(?:[^'\\\n]|\\.)+'", re.DOTALL)
JOINED_LITERALS = re.compile(rf"{LITERAL}(?:\s*{LITERAL})*")
# What follows the parameters of a function's definition, and never the arguments of a call.
DEFINITION = re.compile(r"\)\s*(?:const\s*|override\s*)*(?:->[^{;]*)?\{")
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"}
FUNCTION = re.compile(r"(?:\b(\w+)\s*=\s*\[[^\]]*\]\s*|\b(\w+))\(([^;{}]*)\)\s*(?:const\s*)?(?:->[^{;]*)?\{")
EXCUSE = re.compile(r"//\s*no-test: \w+ \w+")
TEXT_PARAMETER = re.compile(r"Twine|StringRef|string|char\s*\*|\.\.\.|auto")
TEST_LINE = re.compile(r"expected-(?:error|remark|warning|note)|\b[A-Z][\w-]*(?:-NEXT|-SAME|-DAG|-NOT|-LABEL)?:")


def strip_comments(text):
    """Blanks comments and keeps every line where it was."""
    def blank(match):
        token = match.group(0)
        return re.sub(r"[^\n]", " ", token) if token.startswith("/") else token
    return COMMENT_OR_LITERAL.sub(blank, text)


def unquote(literals):
    """The text of adjacent C++ string literals."""
    text = "".join(literal[1:-1] for literal in re.findall(LITERAL, literals))
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match.group(1), match.group(0)), text)


def statement_end(text, start):
    """The index of the ';' that ends the statement at `start`, or of the bracket that closes around it."""
    depth, index = 0, start
    while index < len(text):
        match = COMMENT_OR_LITERAL.match(text, index)
        if match:
            index = match.end()
            continue
        if text[index] in "([{":
            depth += 1
        elif text[index] in ")]}":
            depth -= 1
            if depth < 0:
                return index
        elif text[index] == ";" and depth == 0:
            return index
        index += 1
    return index


def enclosing_forwarder(text, position):
    """The name of the function or lambda around `position` if it takes a text, else None."""
    name = None
    for match in FUNCTION.finditer(text, 0, position):
        function = match.group(1) or match.group(2)
        if function not in ("if", "for", "while", "switch"):
            name = function if TEXT_PARAMETER.search(match.group(3)) else None
    return name


class Diagnostic:
    def __init__(self, path, line, pieces, excused):
        self.path, self.line, self.excused = path, line, excused
        self.pieces = [piece for piece in pieces if piece.strip()]
        self.text = max(self.pieces, key=len).strip()


def find_diagnostics(path, text, excused_lines, emitters):
    """Returns (diagnostics, names of the functions that pass a text on to an emitter)."""
    found, forwarders = [], set()
    call = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, emitters)) + r")>?\s*\(")
    covered = 0
    for match in call.finditer(text):
        if match.start() < covered:
            continue  # inside a statement that is already read
        open_bracket = match.end() - 1
        if DEFINITION.match(text, statement_end(text, open_bracket + 1)):
            continue
        covered = statement_end(text, open_bracket)
        pieces = []
        for literals in JOINED_LITERALS.finditer(text, open_bracket, covered):
            pieces += FORMAT_FIELD.split(unquote(literals.group(0)))
        words = max((len(WORD.findall(piece)) for piece in pieces), default=0)
        if words >= (1 if match.group(1) in EMITTERS else MIN_WORDS):
            line = text[: match.start()].count("\n") + 1
            found.append(Diagnostic(path, line, pieces, excused=line in excused_lines))
        elif match.group(1) in EMITTERS:
            forwarders.add(enclosing_forwarder(text, match.start()))
    return found, forwarders - {None}


def collect(root):
    """All diagnostics of lib/, include/ and tools/."""
    sources = []
    for folder in ("include", "lib", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".h", ".c"):
                text = path.read_text(encoding="utf-8")
                excused_lines = {number + 1 for number, line in enumerate(text.split("\n"), 1) if EXCUSE.search(line)}
                sources.append((path, strip_comments(text), excused_lines))
    forwarders = set().union(*(find_diagnostics(*source, EMITTERS)[1] for source in sources), set())
    emitters = EMITTERS + BUILDERS + sorted(forwarders - set(EMITTERS))
    return [diagnostic for source in sources for diagnostic in find_diagnostics(*source, emitters)[0]]


def squeeze(text):
    """Compared without backslashes (regular expressions and Python strings escape) and with single spaces."""
    return re.sub(r"\s+", " ", text.replace("\\", ""))


def collect_tests(root):
    """Every line of the tests that states a text that must be printed."""
    lines = []
    for folder in ("test", "unittests", "python", "utils", "examples"):
        for path in sorted((root / folder).rglob("*")):
            if not path.is_file():
                continue
            if path.suffix in (".mlir", ".test", ".c") or (path.suffix == ".py" and folder == "test"):
                lines += [squeeze(line) for line in path.read_text(encoding="utf-8").split("\n") if TEST_LINE.search(line)]
            if (path.suffix == ".py" and path.name.startswith("test_") and folder != "utils") or (
                    path.suffix == ".cpp" and folder == "unittests"):
                # Texts may be split over several literals: "expected rank 2, " "got 3"
                text = re.sub(r'"\s*\n\s*[rf]?"', "", path.read_text(encoding="utf-8"))
                lines += [squeeze(line) for line in text.split("\n")]
    return lines


def is_tested(diagnostic, lines, ambiguous):
    text = squeeze(diagnostic.text)
    if len(WORD.findall(text)) >= MIN_WORDS and diagnostic.text not in ambiguous:
        return any(text in line for line in lines)
    # Does not tell one diagnostic from another: then all pieces, in order, in one line.
    pattern = re.compile(".*".join(re.escape(squeeze(piece).strip()) for piece in diagnostic.pieces))
    return any(pattern.search(line) for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    parser.add_argument("--list", action="store_true", help="print every diagnostic and whether it is tested")
    options = parser.parse_args()
    lines = collect_tests(options.root)
    diagnostics = collect(options.root)
    counts = collections.Counter(diagnostic.text for diagnostic in diagnostics)
    ambiguous = {text for text, count in counts.items() if count > 1}
    untested = 0
    for diagnostic in diagnostics:
        if is_tested(diagnostic, lines, ambiguous):
            state = "tested"
        elif diagnostic.excused:
            state = "excused"
        else:
            state = "no test has the text"
            untested += 1
        if options.list or state.startswith("no test"):
            print(f"{diagnostic.path.relative_to(options.root)}:{diagnostic.line}: {state}: {diagnostic.text}")
    if untested:
        print(f"diagnostics: {untested} of {len(diagnostics)} have no test; add an expected-error, a CHECK line or a pytest"
              " with the text, or make a check that cannot fail an assert", file=sys.stderr)
        return 1
    print(f"diagnostics: {len(diagnostics)} checked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
