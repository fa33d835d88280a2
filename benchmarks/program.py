#!/usr/bin/python3
"""Print one benchmarked program: an operator's recurrence over tensors of dynamic B, T and H.

Arguments of the function, as Problem.cpp passes them: q, k, v, the gates g, beta (delta rules), a and b (DPLR),
offsets (packed), the output, the state; of the scan x, dt, A, B, C, d, the output, the state. Operators:

    scalar   S = exp(g) S + k v^T                          one decay per token and head
    gla      S = diag(exp(g)) S + k v^T                    one decay per key channel
    gdn      X = exp(g) S,        S = X + k beta (v - X^T k)^T
    kda      X = diag(exp(g)) S,  S = X + k beta (v - X^T k)^T
    rwkv7    S = diag(exp(g)) S + b (S^T a)^T + k v^T      diagonal plus rank 1 (DPLR)

with o = S^T q; a whole block, in ops on tensors around the recurrence of gdn (arguments: q, k, v, their weights, a, b, a_log,
dt_bias, z, norm, the output, the state):

    gdn-block  q, k, v = silu(conv4(q)), ..;  q, k = l2norm(q), l2norm(k);  g = -exp(a_log) softplus(a + dt_bias);
               beta = sigmoid(b);  o = rmsnorm(o) norm silu(z)

and for 2048 channels with a state of `size` entries each

    scan     h = exp(dt A) h + (dt x) B^T,  y = h C + d x  one decay per entry
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from linattn.blocks import gated_delta_net_tensors
from linattn.tensor_programs import TensorProgram

SCAN = """\
#token = affine_map<(t, d) -> (t, d)>
#skip = affine_map<(t, d) -> (d)>
#state = affine_map<(t, d, n) -> (d, n)>

func.func @FUNCTION(%x: tensor<?x2048xf32>, %dt: tensor<?x2048xf32>, %a: tensor<2048xNxf32>,
    %b: tensor<?xNxf32>, %c: tensor<?xNxf32>, %d: tensor<2048xf32>, %out: tensor<?x2048xf32>,
    %state: tensor<2048xNxf32>)
    -> (tensor<?x2048xf32>, tensor<2048xNxf32>) attributes {llvm.emit_c_interface} {
  %r:2 = linattn.recurrence [time]
      ins(%x via #token : tensor<?x2048xf32> as %xt : tensor<2048xf32>,
          %dt via #token : tensor<?x2048xf32> as %dtt : tensor<2048xf32>,
          %a via #state : tensor<2048xNxf32> as %at : tensor<2048xNxf32>,
          %b via #token : tensor<?xNxf32> as %bt : tensor<Nxf32>,
          %c via #token : tensor<?xNxf32> as %ct : tensor<Nxf32>,
          %d via #skip : tensor<2048xf32> as %d0 : tensor<2048xf32>)
      outs(%out via #token : tensor<?x2048xf32>)
      states(%state via #state : tensor<2048xNxf32> as %S : tensor<2048xNxf32>) {
    %empty = tensor.empty() : tensor<2048xNxf32>
    %steps = linalg.broadcast ins(%dtt : tensor<2048xf32>) outs(%empty : tensor<2048xNxf32>) dimensions = [1]
    %g = arith.mulf %steps, %at : tensor<2048xNxf32>
    %X = linattn.decay %S by %g along [0, 1] : tensor<2048xNxf32>, tensor<2048xNxf32>
    %u = arith.mulf %dtt, %xt : tensor<2048xf32>
    %S1 = linattn.write %X at %u along 0 value %bt : tensor<2048xNxf32>, tensor<2048xf32>, tensor<Nxf32>
    %y = linattn.read %S1 at %ct along 1 : tensor<2048xNxf32>, tensor<Nxf32>
    %dx = arith.mulf %d0, %xt : tensor<2048xf32>
    %ot = arith.addf %y, %dx : tensor<2048xf32>
    linattn.yield %ot, %S1 : tensor<2048xf32>, tensor<2048xNxf32>
  }
  return %r#0, %r#1 : tensor<?x2048xf32>, tensor<2048xNxf32>
}"""


def print_block(function, size):
    program = TensorProgram(d=size, v=size, w=4)
    qkv = [program.argument(name, "bth" + dim) for name, dim in zip("qkv", "ddv")]
    weights = [program.argument("w" + name, "wh" + dim) for name, dim in zip("qkv", "ddv")]
    a, b = (program.argument(name, "bth") for name in "ab")
    a_log, dt_bias = (program.argument(name, "h") for name in ("a_log", "dt_bias"))
    z, norm = program.argument("z", "bthv"), program.argument("norm", "v")
    out, state = program.argument("out", "bthv"), program.argument("state", "bhdv")
    q, k, v = (program.each(x.dims, lambda e, y: e.silu(y),
                            program.convolve(program.behind_zeros(x, 3), weight))
               for x, weight in zip(qkv, weights))
    results = gated_delta_net_tensors(program, q, k, v, a, b, a_log, dt_bias, z, norm, state, out=out)
    print(program.function(function, results, " attributes {llvm.emit_c_interface}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("function", help="its name")
    parser.add_argument("operator", choices=["scalar", "gla", "gdn", "kda", "rwkv7", "gdn-block", "scan"])
    parser.add_argument("--dtype", default="f32", choices=["f32", "bf16"], help="of q, k, v, a, b and the output")
    parser.add_argument("--size", type=int, default=128, help="K = V")
    parser.add_argument("--plan", help="parameters of #linattn.plan; default: what the pipeline chooses")
    parser.add_argument("--packed", action="store_true", help="sequences one after the other, with offsets")
    args = parser.parse_args()
    if args.operator == "scan":
        print(SCAN.replace("FUNCTION", args.function).replace("xNx", f"x{args.size}x").replace("<Nx", f"<{args.size}x"))
        return

    if args.operator == "gdn-block":
        print_block(args.function, args.size)
        return

    size, dtype = args.size, args.dtype
    outer = "?x?" if args.packed else "?x?x?"
    time = "(t, h" if args.packed else "(b, t, h"
    channel_decay = args.operator in ("gla", "kda", "rwkv7")
    row, vector, state = f"tensor<{size}x{dtype}>", f"tensor<{size}xf32>", f"tensor<{size}x{size}xf32>"
    rows = ("token", f"tensor<{outer}x{size}x{dtype}>", row)
    gates = ("gate", f"tensor<{outer}xf32>", "f32")
    out_type, state_type = rows[1], f"tensor<?x?x{size}x{size}xf32>"

    ins = {"q": rows, "k": rows, "v": rows,
           "g": ("token", f"tensor<{outer}x{size}xf32>", vector) if channel_decay else gates}
    decay = f"%X = linattn.decay %S by %gt{' along [0]' if channel_decay else ''} : {state}, {ins['g'][2]}"
    new = "%vt"
    value_type = row
    if args.operator in ("gdn", "kda"):
        ins["beta"] = gates
        new, value_type = "%new", vector
        body = [decay, f"%old = linattn.read %X at %kt along 0 : {state}, {row}"]
        if dtype == "bf16":
            body += [f"%value = arith.extf %vt : {row} to {vector}"]
        body += [f"%error = arith.subf {'%value' if dtype == 'bf16' else '%vt'}, %old : {vector}",
                 f"%strength = tensor.splat %betat : {vector}",
                 f"%new = arith.mulf %error, %strength : {vector}"]
        written = "%X"
    elif args.operator == "rwkv7":
        ins["a"] = ins["b"] = rows
        body = [f"%old = linattn.read %S at %at along 0 : {state}, {row}", decay,
                f"%erased = linattn.write %X at %bt along 0 value %old : {state}, {row}, {vector}"]
        written = "%erased"
    else:
        body, written = [decay], "%X"
    body += [f"%S1 = linattn.write {written} at %kt along 0 value {new} : {state}, {row}, {value_type}",
             f"%ot = linattn.read %S1 at %qt along 0 : {state}, {row}"]
    yielded = "%ot"
    if dtype == "bf16":
        body += [f"%rounded = arith.truncf %ot : {vector} to {row}"]
        yielded = "%rounded"
    body += [f"linattn.yield {yielded}, %S1 : {row}, {state}"]

    arguments = [f"%{name}: {type}" for name, (_, type, _) in ins.items()]
    arguments += ["%offsets: tensor<?xi32>"] if args.packed else []
    arguments += [f"%out: {out_type}", f"%state: {state_type}"]
    operands = ",\n          ".join(f"%{name} via #{map} : {type} as %{name}t : {slice}"
                                    for name, (map, type, slice) in ins.items())
    segments = "\n      segments(%offsets : tensor<?xi32>)" if args.packed else ""
    plan = f" attributes {{plan = #linattn.plan<{args.plan}>}}" if args.plan else ""
    dims = "[segment, time, parallel]" if args.packed else "[parallel, time, parallel]"
    print(f"""\
#token = affine_map<(b, t, h, d) -> {time}, d)>
#gate = affine_map<(b, t, h) -> {time})>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

func.func @{args.function}({", ".join(arguments)})
    -> ({out_type}, {state_type}) attributes {{llvm.emit_c_interface}} {{
  %r:2 = linattn.recurrence {dims}
      ins({operands}){segments}
      outs(%out via #token : {out_type})
      states(%state via #state : {state_type} as %S : {state}){plan} {{
    {(chr(10) + "    ").join(body)}
  }}
  return %r#0, %r#1 : {out_type}, {state_type}
}}""")


if __name__ == "__main__":
    main()
