// Files in, files out, expectations, and arguments that the function overwrites.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/Inputs/arrays.py 'x = np.arange(12, dtype="f4").reshape(3, 4)' \
// RUN:   'y = np.ones((3, 4), "f4")' 'want = 2 * x + y' 'n = np.int64(3)' \
// RUN:   'yT = np.asfortranarray(x + 1)' 'wantT = 2 * x + yT' 'far = want + [[0], [.5], [0]]' \
// RUN:   'wide = np.float64(want)' 'short = want[:2]' 'empty = x[:0]'

// Three runs: each adds to a fresh y.
// RUN: la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2 --arg x.npy --arg y.npy \
// RUN:   --expect want.npy --expect n.npy --out got --repeat 3 --time-phases | FileCheck %s --check-prefix=FIRST
// RUN: %python -c 'import numpy as np; assert (np.load("got0.npy") == np.load("want.npy")).all(); \
// RUN:   n = np.load("got1.npy"); assert n == 3 and n.shape == () and n.dtype == np.int64'
// RUN: not ls got2.npy
// FIRST: result 0: tensor<3x4xf32> max error 0 of max (rel 0, abs 0) at [0,0]: got 1, expected 1; non-finite: 0 got, 0 expected: ok
// FIRST-NEXT:  result 1: index max error 0 of max (rel 0, abs 0) at []: got 3, expected 3; {{.*}}: ok
// FIRST-NEXT:  repeat: median {{[0-9.e+-]+}} ms, min {{[0-9.e+-]+}} ms, spread {{[0-9.e+-]+}} % of 3 runs
// FIRST-NEXT:  phases: parse {{[0-9.]+}} ms, compile {{[0-9.]+}} ms, codegen {{[0-9.]+}} ms, run {{[0-9.]+}} ms

// By position, out of order; a wider float is an expectation too.
// RUN: la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2=y.npy --arg 1=x.npy --arg 0=2 \
// RUN:   --expect 1=n.npy --expect 0=wide.npy | FileCheck %s --check-prefix=ORDER
// ORDER: result 0: {{.*}}: ok
// ORDER: result 1: {{.*}}: ok

// A file in Fortran order is transposed.
// RUN: la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2 --arg x.npy --arg yT.npy \
// RUN:   --expect wantT.npy | FileCheck %s --check-prefix=FORTRAN
// FORTRAN: result 0: {{.*}}: ok
// FORTRAN: result 1: index values 3; non-finite: 0

// A mismatch names the worst element and fails.
// RUN: not la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2 --arg x.npy --arg y.npy \
// RUN:   --expect far.npy | FileCheck %s --check-prefix=FAR
// FAR: result 0: tensor<3x4xf32> max error 0.0217 of max (rel 0.0526, abs 0.5) at [1,0]: got 9, expected 9.5; non-finite: 0 got, 0 expected: MISMATCH (4 of 12 elements, rtol 1e-05, atol 1e-05)
// RUN: la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2 --arg x.npy --arg y.npy \
// RUN:   --expect far.npy --rtol 0 --atol 0.5
// RUN: not la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2 --arg x.npy --arg y.npy \
// RUN:   --expect far.npy --rtol 0 --atol 0.49
// RUN: la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2 --arg x.npy --arg y.npy \
// RUN:   --expect far.npy --norm-tol 0.022
// RUN: not la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2 --arg x.npy --arg y.npy \
// RUN:   --expect far.npy --norm-tol 0.021 | FileCheck %s --check-prefix=NORM
// NORM: MISMATCH (norm-tol 0.021)

// RUN: not la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2 --arg x.npy --arg y.npy \
// RUN:   --expect short.npy | FileCheck %s --check-prefix=SHAPE
// SHAPE: result 0: tensor<3x4xf32> the expectation holds f32 [2,4], the function returned f32 [3,4]

// No rows.
// RUN: la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2 --arg empty.npy --arg empty.npy \
// RUN:   --expect empty.npy --guard | FileCheck %s --check-prefix=EMPTY
// EMPTY: result 0: tensor<0x4xf32> max error 0 of max; non-finite: 0 got, 0 expected: ok
