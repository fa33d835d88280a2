// A stock mlir-opt with our plugin parses, verifies and lowers a layer, with one copy of MLIR.

// REQUIRES: mlir-opt
// DEFINE: %{opt} = mlir-opt --load-dialect-plugin=%linattn_plugin --load-pass-plugin=%linattn_plugin
// RUN: %{opt} %examples/gated_delta_net.mlir --verify-roundtrip | FileCheck %s
// RUN: %{opt} %examples/gated_delta_net.mlir --pass-pipeline='builtin.module(linattn-to-loops)' | FileCheck %s --check-prefix=LOOPS
// RUN: %{opt} %examples/gated_delta_net.mlir --pass-pipeline='builtin.module(linattn-to-cpu-pipeline)' | FileCheck %s --check-prefix=LLVM
// RUN: %{opt} %examples/gated_delta_net.mlir --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/schedule.mlir},transform-interpreter)' | FileCheck %s --check-prefix=SCHEDULE
// RUN: %{opt} --help | FileCheck %s --check-prefix=HELP
// RUN: not %{opt} %S/Inputs/invalid.mlir 2>&1 | FileCheck %s --check-prefix=INVALID

// CHECK: linattn.recurrence [parallel, time, parallel]
// LOOPS-NOT: linattn.
// LOOPS: scf.forall
// SCHEDULE: linattn.recurrence [parallel, time, parallel, parallel] step(%{{.+}} of 16)
// LLVM: llvm.func @gated_delta_net
// HELP-DAG: linattn-to-loops
// HELP-DAG: linattn-to-cpu-pipeline
// INVALID: error: 'linattn.recurrence' op expects exactly one 'time' iterator, got 0
