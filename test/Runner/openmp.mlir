// DEFINE: %{bufferize} = one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}
// DEFINE: %{owning} = builtin.module(%{bufferize},buffer-deallocation-pipeline,convert-bufferization-to-memref,convert-linalg-to-loops,convert-scf-to-openmp,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-to-llvm,convert-openmp-to-llvm,reconcile-unrealized-casts)
// Code that calls the OpenMP runtime finds it, and --threads sets the size of its teams.
// RUN: la-run %s --pipeline='%{owning}' --random 1 --threads 1 | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: la-run %s --pipeline='%{owning}' --random 1 --threads 3 --guard | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: la-run %s --pipeline='%{owning}' --random 1 --threads 2 --repeat 2 | FileCheck %s --check-prefixes=CHECK,TWO
// CHECK: result 0: tensor<64xf32> min
// ONE:   result 1: i32 values 1;
// THREE: result 1: i32 values 3;
// TWO:   result 1: i32 values 2;
func.func private @omp_get_max_threads() -> i32
func.func @f(%x: tensor<64xf32>) -> (tensor<64xf32>, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %m = bufferization.to_buffer %x : tensor<64xf32> to memref<64xf32>
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %e = memref.load %m[%i] : memref<64xf32>
    %d = arith.addf %e, %e : f32
    memref.store %d, %m[%i] : memref<64xf32>
    scf.reduce
  }
  %n = call @omp_get_max_threads() : () -> i32
  return %x, %n : tensor<64xf32>, i32
}
