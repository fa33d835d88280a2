// RUN: la-opt %s --linattn-vectorize-linalg=vector-bits=96 --verify-diagnostics --split-input-file
// RUN: not la-opt %s --linattn-vectorize-linalg=unroll=3 2>&1 | FileCheck %s

// CHECK: error: unroll must be a power of two, got 3
// expected-error@unknown {{vector-bits must be a power of two of at least 128, got 96}}
module {}
