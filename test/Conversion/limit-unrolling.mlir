// Loops that do much in all their iterations stay loops; short ones and sums are left to LLVM.

// RUN: la-opt %s --linattn-limit-unrolling | FileCheck %s

// CHECK: #[[UNROLL:.+]] = #llvm.loop_unroll<disable = true>
// CHECK: #[[LOOP:.+]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"vector_bits" = 512 : i64>>} {

// A load and a store of 4 registers each: 8 instructions per iteration. The inner loop has 8 x 8, the outer one 4 times
// as many.
// CHECK-LABEL: func @nest(
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:         }
// CHECK-NEXT:  } {llvm.loop_annotation = #[[LOOP]]}
func.func @nest(%x: memref<4x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c512 step %c64 {
      %row = vector.load %x[%i, %j] : memref<4x512xf32>, vector<64xf32>
      vector.store %row, %x[%i, %j] : memref<4x512xf32>, vector<64xf32>
    }
  }
  return
}

// 12 x 8 instructions are just short enough, 13 x 8 are not.
// CHECK-LABEL: func @border(
// CHECK:       vector.store
// CHECK-NEXT:  }
// CHECK-NOT:   llvm.loop_annotation
// CHECK:       vector.store
// CHECK-NEXT:  } {llvm.loop_annotation = #[[LOOP]]}
func.func @border(%x: memref<4x832xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c768 = arith.constant 768 : index
  %c832 = arith.constant 832 : index
  scf.for %j = %c0 to %c768 step %c64 {
    %row = vector.load %x[%c0, %j] : memref<4x832xf32>, vector<64xf32>
    vector.store %row, %x[%c0, %j] : memref<4x832xf32>, vector<64xf32>
  }
  scf.for %j = %c0 to %c832 step %c64 {
    %row = vector.load %x[%c0, %j] : memref<4x832xf32>, vector<64xf32>
    vector.store %row, %x[%c0, %j] : memref<4x832xf32>, vector<64xf32>
  }
  return
}

// CHECK-LABEL: func @others(
// CHECK-NOT:   llvm.loop_annotation
// CHECK:       return
func.func @others(%x: memref<4x832xf32>, %n: index, %zero: vector<64xf32>) -> vector<64xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c832 = arith.constant 832 : index
  %sum = scf.for %j = %c0 to %c832 step %c64 iter_args(%old = %zero) -> vector<64xf32> {
    %row = vector.load %x[%c0, %j] : memref<4x832xf32>, vector<64xf32>
    %new = arith.addf %old, %row : vector<64xf32>
    scf.yield %new : vector<64xf32>
  }
  scf.for %j = %c0 to %n step %c64 {
    %row = vector.load %x[%c0, %j] : memref<4x832xf32>, vector<64xf32>
    vector.store %row, %x[%c0, %j] : memref<4x832xf32>, vector<64xf32>
  }
  return %sum : vector<64xf32>
}
}
