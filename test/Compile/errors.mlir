// Every rejected input says what would be accepted.
// RUN: not la-compile %s --triple=foo-bar -o %t 2>&1 | FileCheck %s --check-prefix=TRIPLE
// RUN: not la-compile %s --triple=i386-linux-gnu -o %t 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not la-compile %s --triple=x86_64-linux-gnu --cpu=nosuch -o %t 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not la-compile %s --triple=aarch64-linux-gnu --cpu=x86-64-v3 -o %t 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not la-compile %s --triple=riscv64-linux-gnu --cpu=native -o %t 2>&1 | FileCheck %s --check-prefix=NATIVE
// RUN: not la-compile %s --features=fma -o %t 2>&1 | FileCheck %s --check-prefix=SIGN
// RUN: not la-compile %s --triple=x86_64-linux-gnu --features=+fma,-nosuch -o %t 2>&1 | FileCheck %s --check-prefix=FEATURE
// RUN: not la-compile %s --emit=exe -o %t 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: not la-compile nosuch.mlir -o %t 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not la-compile %s -o nosuch/x.o 2>&1 | FileCheck %s --check-prefix=OUT
// RUN: not la-compile %s --pipeline="builtin.module(nosuch)" -o %t 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: not la-compile %s --pipeline="builtin.module(cse)" -o %t 2>&1 | FileCheck %s --check-prefix=DIALECT

// TRIPLE: error: LLVM has no 64-bit target for the triple 'foo-bar'; expected one such as x86_64-linux-gnu or aarch64-linux-gnu (llc --version lists targets)
// BITS: error: LLVM has no 64-bit target for the triple 'i386-linux-gnu'
// CPU: error: LLVM knows no CPU 'nosuch' for x86_64-unknown-linux-gnu; llc -mtriple=x86_64-unknown-linux-gnu -mcpu=help lists them
// OTHER: error: LLVM knows no CPU 'x86-64-v3' for aarch64-unknown-linux-gnu
// NATIVE: error: the CPU 'native' is this machine's, but the triple is riscv64-unknown-linux-gnu
// SIGN: error: expected features such as +fma,-avx512f, got 'fma'
// FEATURE: error: LLVM knows no feature 'nosuch' for x86_64-unknown-linux-gnu; llc -mtriple=x86_64-unknown-linux-gnu -mattr=help lists them
// EMIT: Cannot find option named 'exe'
// NOFILE: error: cannot parse nosuch.mlir
// OUT: error: cannot open output file 'nosuch/x.o': No such file or directory
// PIPELINE: error: cannot parse the pipeline 'builtin.module(nosuch)'
// DIALECT: error: the module has ops that are not of the LLVM dialect; the pipeline must end there
func.func @f(%x: f32) -> f32 { return %x : f32 }
