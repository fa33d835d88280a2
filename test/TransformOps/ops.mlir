// RUN: la-opt %s --verify-roundtrip | FileCheck %s

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%op: !transform.any_op {transform.readonly}, %r: !transform.op<"linattn.recurrence"> {transform.consumed}) {
    // CHECK: transform.linattn.apply_plan #linattn.plan<strategy = chunk, chunk = 64, source = tuned> to %{{.+}} : !transform.op<"linattn.recurrence">
    transform.linattn.apply_plan #linattn.plan<strategy = chunk, chunk = 64, source = tuned> to %r : !transform.op<"linattn.recurrence">
    // CHECK: transform.linattn.split_value %{{.+}} tile 8 : (!transform.op<"linattn.recurrence">) -> !transform.any_op
    %s = transform.linattn.split_value %r tile 8 : (!transform.op<"linattn.recurrence">) -> !transform.any_op
    // CHECK: transform.linattn.chunk %{{.+}} : (!transform.any_op) -> !transform.any_op
    %c = transform.linattn.chunk %s : (!transform.any_op) -> !transform.any_op
    // CHECK: transform.linattn.chunk %{{.+}} {chunk = 64 : i64, subchunk = 8 : i64} : (!transform.any_op) -> !transform.any_op
    %d = transform.linattn.chunk %c {chunk = 64, subchunk = 8} : (!transform.any_op) -> !transform.any_op
    // CHECK: transform.linattn.split_time %{{.+}} parts 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %t:3 = transform.linattn.split_time %d parts 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    // CHECK: transform.linattn.split_time %{{.+}} parts 2 {chunk = 8 : i64} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %u:3 = transform.linattn.split_time %t#2 parts 2 {chunk = 8} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
