// RUN: la-opt %s --linattn-vectorize-linalg=vector-bits=96 --verify-diagnostics --split-input-file
// RUN: not la-opt %s --linattn-vectorize-linalg=unroll=3 2>&1 | FileCheck %s
// RUN: not la-opt %s --linattn-vectorize-linalg=vector-registers=2 2>&1 | FileCheck %s --check-prefix=REGISTERS

// RUN: not la-opt %S/Inputs/no-bf16-dot.mlir --linattn-vectorize-linalg=bf16-dot 2>&1 | FileCheck %s --check-prefix=DOT

// DOT: error: bf16-dot needs a target with AVX-512's dot instruction for bf16 (avx512bf16), but the module's target has none; without the option products are multiply-adds
// CHECK: error: unroll must be a power of two, got 3
// REGISTERS: error: vector-registers must be at least 8, got 2
// expected-error@unknown {{vector-bits must be a power of two of at least 128, got 96}}
module {}
