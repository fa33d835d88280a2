#!/usr/bin/python3
"""Describe the innermost loops of an assembly listing: where a compiled program spends its time.

Reads what `la-compile --emit=asm` writes for x86-64 or AArch64. A loop is a backward branch to a label and all lines
between; it is innermost if no other loop begins in it. For each one with multiply-adds (--all: each one) the tool prints

  instructions  all of them
  FMAs          vector multiply-adds, with the widest register that they use; `scalar` if there are only such
  loads         vector loads, those inside of arithmetic instructions included, without spills
  broadcasts    loads of one number for all lanes (AArch64: of a scalar, which multiplies by lane)
  stores        vector stores without spills
  spills        vector registers that go to the stack and come back because there are too few

with its function and label, those with most FMAs first. --check WIDTH (zmm, ymm, xmm or v) fails if a loop spills
vectors or if its FMAs are not as wide; --allow N accepts up to N spills per loop.
"""

import argparse
import dataclasses
import re
import sys

WIDTHS = ["scalar", "xmm", "v", "ymm", "zmm"]
LABEL = re.compile(r"^(\.?[\w$.]+):")
X86_FMA = re.compile(r"^vf(?:n?m)(?:add|sub|addsub|subadd)\d+(p|s)[sdh]$")
ARM_FMA = {"fmla": "v", "fmls": "v", "bfmmla": "v", "bfdot": "v", "fmadd": "scalar", "fmsub": "scalar", "fnmadd": "scalar",
           "fnmsub": "scalar"}
X86_BRANCH = re.compile(r"^j\w+$")
ARM_BRANCH = re.compile(r"^(?:b|b\.\w+|cbn?z|tbn?z)$")


@dataclasses.dataclass
class Instruction:
    line: int
    name: str
    operands: str
    comment: str

    def target(self):
        """The label that it may jump to, or None."""
        if X86_BRANCH.match(self.name) or ARM_BRANCH.match(self.name):
            return self.operands.split(",")[-1].strip()
        return None

    def uses_vectors(self):
        return bool(re.search(r"%[xyz]mm\d|\bq\d+\b|\bv\d+\b", self.operands))

    def fma_width(self):
        """The register kind of a multiply-add, or None."""
        match = X86_FMA.match(self.name)
        if match:
            return "scalar" if match.group(1) == "s" else re.search(r"[xyz]mm", self.operands).group(0)
        if self.name == "vdpbf16ps":
            return re.search(r"[xyz]mm", self.operands).group(0)
        width = ARM_FMA.get(self.name)
        return "scalar" if width == "v" and not re.match(r"v\d+\.", self.operands) else width

    def is_spill(self):
        return self.uses_vectors() and bool(re.search(r"-byte (?:Folded )?(?:Spill|Reload)", self.comment))

    def kind(self):
        """'load', 'broadcast', 'store' or None."""
        operands = self.operands
        if "(" in operands:  # x86: the destination comes last
            if self.name.startswith(("lea", "prefetch")) or not self.uses_vectors():
                return None
            if "{1to" in operands or self.name.startswith("vbroadcast") or self.name in ("movss", "vmovss"):
                return "broadcast"
            return "store" if operands.rstrip().endswith(")") or re.search(r"\)\s*\{%k\d\}$", operands) else "load"
        if "[" in operands:
            if self.name.startswith("ld1r") or (self.name.startswith("ld") and re.match(r"[sd]\d+\b", operands)):
                return "broadcast"
            if re.match(r"q\d+\b|\{? ?v\d+\b", operands):
                return "load" if self.name.startswith("ld") else "store" if self.name.startswith("st") else None
        return None


@dataclasses.dataclass
class Loop:
    function: str
    label: str
    instructions: list

    def __post_init__(self):
        widths = [i.fma_width() for i in self.instructions]
        self.fma_widths = [width for width in widths if width]
        self.width = max(self.fma_widths, key=WIDTHS.index, default="-")
        self.fmas = len([width for width in self.fma_widths if width != "scalar"])
        self.spills = sum(i.is_spill() for i in self.instructions)
        kinds = [i.kind() for i in self.instructions if not i.is_spill()]
        self.loads, self.broadcasts, self.stores = (kinds.count(kind) for kind in ("load", "broadcast", "store"))


def inner_loops(text):
    """The innermost loops of a listing, in its order."""
    loops, function, instructions, labels = [], "", [], {}
    found = []  # (first, last, label, function): ranges of `instructions`
    for number, line in enumerate(text.split("\n"), 1):
        code, _, comment = re.sub(r"\s*//", " #", line, count=1).partition("#")
        label = LABEL.match(code)
        if label:
            name = label.group(1)
            if not name.startswith((".L", "$")):
                function = name
            labels[name] = len(instructions)
            continue
        words = code.strip().split(None, 1)
        if not words:
            if comment and instructions and not line.strip().startswith(("#", "//")):
                instructions[-1].comment += comment
            continue
        if words[0].startswith("."):
            continue
        instruction = Instruction(number, words[0], words[1].strip() if len(words) > 1 else "", comment)
        instructions.append(instruction)
        first = labels.get(instruction.target())
        if first is not None and first < len(instructions):
            found.append((first, len(instructions), instruction.target(), function))
    for first, last, label, name in found:
        if not any(first <= other[0] and other[1] <= last and other[:2] != (first, last) for other in found):
            loops.append(Loop(name, label, instructions[first:last]))
    return loops


def complaints(loops, width, allowed):
    """What --check says of loops with vector FMAs."""
    for loop in loops:
        place = f"{loop.function} {loop.label} ({loop.fmas} FMAs)"
        if loop.spills > allowed:
            yield f"{place}: {loop.spills} spills of vectors, expected at most {allowed}"
        narrow = [w for w in loop.fma_widths if w != width]
        if narrow:
            yield f"{place}: {len(narrow)} FMAs on {narrow[0]} registers, expected {width}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default="-", help="a listing; -: standard input")
    parser.add_argument("--all", action="store_true", help="loops without FMAs, too")
    parser.add_argument("--check", choices=WIDTHS[1:], metavar="WIDTH")
    parser.add_argument("--allow", type=int, default=0, metavar="N")
    options = parser.parse_args()
    text = sys.stdin.read() if options.file == "-" else open(options.file, encoding="utf-8").read()
    loops = [loop for loop in inner_loops(text) if options.all or loop.fma_widths]
    print(f"{'FMAs':>5} {'width':>6} {'instructions':>12} {'loads':>6} {'broadcasts':>10} {'stores':>6} {'spills':>6}  loop")
    for loop in sorted(loops, key=lambda loop: -loop.fmas):
        print(f"{loop.fmas:5} {loop.width:>6} {len(loop.instructions):12} {loop.loads:6} {loop.broadcasts:10}"
              f" {loop.stores:6} {loop.spills:6}  {loop.function} {loop.label}")
    if not options.check:
        return 0
    if not loops:
        print("no innermost loop has FMAs", file=sys.stderr)
        return 1
    bad = list(complaints(loops, options.check, options.allow))
    for line in bad:
        print(line, file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
