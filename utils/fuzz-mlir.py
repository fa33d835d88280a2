#!/usr/bin/python3
"""Textual fuzzer: la-opt must answer any text with IR or an error, never with a crash.

Mutates the .mlir files of test/ and examples/, in the pretty and in the generic form, and runs la-opt on batches of
mutants, each batch with one of: no pass, --verify-roundtrip, --canonicalize and the linattn passes that `--help` lists.
Fails if la-opt dies by a signal, hangs, hits an assert or a sanitizer report, or prints IR that it does not read back.
A failing batch is bisected to one mutant, which is written to --out with the command and the stack.

    utils/fuzz-mlir.py --count 100000 --seed 1 --la-opt build/bin/la-opt

The same seed, count and corpus give the same mutants. 10^5 mutants take minutes on two cores.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEPARATOR = "\n// -----\n"
TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|affine_map<\([^\n]*?\) -> \([^\n]*?\)>|(?:tensor|memref|vector|complex)<[^<>\n]*(?:<[^<>\n]*>)?[^<>\n]*>'
    r"|[%#^@!][\w.$#-]+|\d+\.\d+(?:e[+-]?\d+)?|\d+|[A-Za-z_][\w.$]*|->|\s+|.", re.DOTALL)
NUMBERS = ["0", "1", "2", "-1", "3", "64", "2147483647", "2147483648", "4294967296", "9223372036854775807",
           "9223372036854775808", "-9223372036854775808", "4611686018427387904", "1" + "0" * 40]
TYPES = ["f32", "bf16", "f64", "f80", "i1", "i32", "i64", "ui8", "index", "none", "tensor<f32>", "tensor<*xf32>",
         "tensor<0xf32>", "tensor<?xf32>", "tensor<?x?xf32>", "tensor<4x8xi32>", "memref<4xf32>", "vector<4xf32>",
         "complex<f32>", "tensor<8xcomplex<f32>>", "tensor<2x9223372036854775807xf32>", "() -> ()"]
MAPS = ["affine_map<() -> ()>", "affine_map<(d0) -> (d0)>", "affine_map<(d0, d1) -> (d1, d0)>",
        "affine_map<(d0, d1, d2) -> (d0 * 64 + d1, d2)>", "affine_map<(d0, d1)[s0] -> (d0 + s0)>",
        "affine_map<(d0, d1, d2) -> (d0, d1 floordiv 0, d2)>", "affine_map<(d0, d1, d2) -> (d0, d1 mod -2, d2)>",
        "affine_map<(d0, d1) -> (d0 * -9223372036854775808, d1)>", "affine_map<(d0, d1) -> (d0 ceildiv 2, d1 mod 3)>",
        "affine_map<(d0, d1, d2) -> ((d0 floordiv 3) mod 2, (d1 mod 6) floordiv 4, d2)>"]
# Crashes of upstream code that no frame of ours takes part in: (pattern of neighbouring stack frames, why it is not
# ours). Keep the patterns as narrow as one function.
KNOWN_UPSTREAM = [
    (r"NamedAttrList::set\(.*\n(?:.*\n){2}.*linalg::\w+Op::parse\(",
     "linalg.transpose, reduce and broadcast store their permutation or dimensions although parsing them failed"),
    (r"Type::getIntOrFloatBitWidth\(.*\n.*Parser::parseDenseArrayAttr\(",
     "array<T: ...> asks for the width of a T that is neither integer nor float"),
]
SANITIZER = {"ASAN_OPTIONS": "abort_on_error=1:detect_container_overflow=0:detect_leaks=0",
             "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1"}
BAD_OUTPUT = re.compile(r"LLVM ERROR|Assertion .* failed|UNREACHABLE executed|runtime error:|AddressSanitizer|"
                        r"roundtripped module differs|failed to parse bytecode back|failed to parse .* content back")


class LaOpt:
    def __init__(self, path, timeout):
        self.path, self.timeout = path, timeout

    def run(self, text, flags):
        """What went wrong (None if nothing did), and the end of stderr."""
        command = [self.path, "--split-input-file", "--mlir-disable-threading", *flags]
        try:
            done = subprocess.run(command, input=text.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  timeout=self.timeout, env={**os.environ, **SANITIZER})
        except subprocess.TimeoutExpired:
            return f"no answer after {self.timeout} s", ""
        errors = done.stderr.decode(errors="replace")
        bad = BAD_OUTPUT.search(errors)
        if done.returncode >= 0 and not bad:
            return None, errors
        return (bad.group() if bad else f"signal {-done.returncode}"), errors[-6000:]

    def find_modes(self):
        """Flag lists: without a pass, and with each pass that may see a recurrence."""
        usage = subprocess.run([self.path, "--help"], capture_output=True, text=True, check=True).stdout
        passes = sorted(set(re.findall(r"--(linattn-[\w-]+)", usage)))
        return [[], ["--verify-roundtrip"], ["--canonicalize"], *([f"--{name}"] for name in passes)]

    def print_generic(self, text):
        return subprocess.run([self.path, "--mlir-print-op-generic", "--allow-unregistered-dialect"],
                              input=text, capture_output=True, text=True, check=False)


def read_corpus(la_opt, max_chars=6000):
    """Token lists of all programs, pretty and generic."""
    programs = []
    for folder in ("test", "examples"):
        for path in sorted((ROOT / folder).rglob("*.mlir")):
            for program in re.split(r"^// -----.*$", path.read_text(), flags=re.M):
                program = re.sub(r"^\s*//.*\n", "", program, flags=re.M).strip()
                # Long files are cut to their maps and one function each.
                maps = "".join(line + "\n" for line in program.splitlines() if line.startswith("#"))
                functions = re.findall(r"^func\.func .*?^}$", program, flags=re.M | re.DOTALL)
                parts = [program] if len(functions) < 2 else [maps + function for function in functions]
                programs += [part for part in parts if "linattn" in part and len(part) <= max_chars]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        generic = [done.stdout for done in pool.map(la_opt.print_generic, programs) if done.returncode == 0]
    return [TOKEN.findall(program) for program in programs + generic]


class Mutator:
    def __init__(self, corpus, seed):
        self.corpus, self.random = corpus, random.Random(seed)
        kinds = {}
        for tokens in corpus:
            for token in tokens:
                kinds.setdefault(self.get_kind(token), set()).add(token)
        self.pool = {kind: sorted(tokens) for kind, tokens in kinds.items()}
        self.pool["type"] += TYPES
        self.pool["map"] += MAPS
        self.pool["number"] += NUMBERS

    @staticmethod
    def get_kind(token):
        if token.isspace():
            return "space"
        if token.startswith("affine_map<"):
            return "map"
        if re.match(r"(?:tensor|memref|vector|complex)<|(?:bf|f|i)\d+$|index$", token):
            return "type"
        if token[0].isdigit():
            return "number"
        return {"%": "value", "#": "alias", '"': "string"}.get(token[0], "word" if token[0].isalpha() else "mark")

    def mutate(self):
        tokens = list(self.random.choice(self.corpus))
        for _ in range(self.random.choice((1, 1, 1, 2, 2, 3))):
            mutation = self.random.choice((self.replace, self.replace, self.replace, self.swap, self.delete, self.duplicate,
                                           self.remove_operand, self.change_shape, self.change_number))
            mutation(tokens)
        # A mutant must stay one: no separators, and its comments end with it.
        return "".join(tokens).replace("// -----", "") + "\n"

    def pick(self, tokens, kinds=None):
        places = [place for place, token in enumerate(tokens)
                  if (self.get_kind(token) in kinds if kinds else not token.isspace())]
        return self.random.choice(places) if places else None

    def replace(self, tokens):
        """A token by another one of its kind, seldom by any."""
        place = self.pick(tokens)
        if place is not None:
            kind = self.get_kind(tokens[place])
            kind = kind if self.random.random() < 0.9 else self.random.choice(sorted(self.pool))
            # The program's own values and maps are likelier to go far than a stranger's.
            own = [token for token in tokens if self.get_kind(token) == kind]
            use_own = own and (kind in ("value", "alias") or self.random.random() < 0.3)
            tokens[place] = self.random.choice(own if use_own else self.pool[kind])

    def swap(self, tokens):
        first = self.pick(tokens)
        second = first is not None and self.pick(tokens, {self.get_kind(tokens[first])})
        if first is not None:
            tokens[first], tokens[second] = tokens[second], tokens[first]

    def delete(self, tokens):
        place = self.pick(tokens)
        if place is not None:
            del tokens[place:place + self.random.choice((1, 1, 1, 3, 10))]

    def duplicate(self, tokens):
        place = self.pick(tokens)
        if place is not None:
            length = self.random.choice((1, 1, 3, 10, 30))
            target = self.random.choice((place, self.pick(tokens)))
            tokens[target:target] = tokens[place:place + length]

    def remove_operand(self, tokens):
        """A value with the comma beside it."""
        place = self.pick(tokens, {"value"})
        if place is not None:
            end = place + 1
            while end < len(tokens) and (tokens[end].isspace() or tokens[end] == ","):
                end += 1
            del tokens[place:end]

    def change_number(self, tokens):
        place = self.pick(tokens, {"number"})
        if place is not None:
            tokens[place] = self.random.choice(NUMBERS)

    def change_shape(self, tokens):
        """One number or element inside a type or a map."""
        place = self.pick(tokens, {"type", "map"})
        if place is not None:
            parts = re.findall(r"\d+|[?]|[a-z]\w*|.", tokens[place])
            part = self.random.randrange(len(parts))
            parts[part] = self.random.choice(NUMBERS + ["?", "d0", "d1", "d2", "d9", "f64", "i8", "", parts[part] * 2])
            tokens[place] = "".join(parts) or " "


def find_culprits(la_opt, mutants, flags):
    """(mutant, what went wrong, stderr) for each mutant of a batch that fails."""
    what, errors = la_opt.run(SEPARATOR.join(mutants), flags)
    if what is None:
        return []
    if len(mutants) == 1:
        return [(mutants[0], what, errors)]
    half = len(mutants) // 2
    culprits = find_culprits(la_opt, mutants[:half], flags) + find_culprits(la_opt, mutants[half:], flags)
    return culprits or [(SEPARATOR.join(mutants), what + ", only as a batch", errors)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10000, help="mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--la-opt", default=str(ROOT / "build/bin/la-opt"))
    parser.add_argument("--batch", type=int, default=200, help="mutants per process")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=120, help="seconds for a batch")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("fuzz-failures"))
    args = parser.parse_args()

    la_opt = LaOpt(args.la_opt, args.timeout)
    modes = la_opt.find_modes()
    corpus = read_corpus(la_opt)
    if not corpus:
        parser.error(f"no programs of the dialect under {ROOT}/test and {ROOT}/examples")
    mutator = Mutator(corpus, args.seed)
    print(f"{len(corpus)} programs, modes: " + ", ".join(" ".join(flags) or "no pass" for flags in modes), flush=True)

    def run_batch(batch):
        number, mutants = batch
        flags = modes[number % len(modes)]
        return flags, find_culprits(la_opt, mutants, flags)

    batches = ((number, [mutator.mutate() for _ in range(min(args.batch, args.count - start))])
               for number, start in enumerate(range(0, args.count, args.batch)))
    failures, upstream, tried = 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        # (a few batches at a time: a map over all of them would first build them all)
        while group := [batch for _, batch in zip(range(4 * args.jobs), batches)]:
            for flags, culprits in pool.map(run_batch, group):
                for mutant, what, errors in culprits:
                    if any(re.search(pattern, errors) for pattern, _ in KNOWN_UPSTREAM):
                        upstream += 1
                        continue
                    args.out.mkdir(parents=True, exist_ok=True)
                    path = args.out / f"seed{args.seed}-{failures}.mlir"
                    stack = "".join(f"// {line}\n" for line in errors.splitlines()[-60:])
                    path.write_text(f"// {what}: la-opt {' '.join(flags)} {path.name}\n{mutant}\n{stack}")
                    print(f"{path}: {what} with '{' '.join(flags)}'", flush=True)
                    failures += 1
            tried += sum(len(mutants) for _, mutants in group)
            if tried % 20000 < 4 * args.jobs * args.batch:
                print(f"{tried} mutants, {failures} failures", flush=True)
    print(f"{tried} mutants, {failures} failures, {upstream} known crashes of upstream code")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
