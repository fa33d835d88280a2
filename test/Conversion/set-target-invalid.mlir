// RUN: la-opt %s --linattn-set-target="triple=x86_64-linux-gnu cpu=nosuch" --verify-diagnostics

// expected-error @below {{LLVM knows no CPU 'nosuch' for x86_64-unknown-linux-gnu; llc -mtriple=x86_64-unknown-linux-gnu -mcpu=help lists them}}
module {}
