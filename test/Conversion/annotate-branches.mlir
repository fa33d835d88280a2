// RUN: la-opt %s --linattn-annotate-branches | mlir-translate --mlir-to-llvmir | FileCheck %s
// REQUIRES: mlir-opt

// CHECK: br label %{{.+}}, !llvm.loop ![[LOOP:.+]]
// CHECK: ![[LOOP]] = distinct !{![[LOOP]], ![[COUNT:.+]]}
// CHECK: ![[COUNT]] = !{!"llvm.loop.unroll.count", i32 4}
llvm.func @loop(%more: i1) {
  llvm.br ^head
^head:
  llvm.cond_br %more, ^body, ^end
^body:
  llvm.br ^head {llvm.loop_annotation = #llvm.loop_annotation<unroll = <count = 4 : i32>>}
^end:
  llvm.return
}
