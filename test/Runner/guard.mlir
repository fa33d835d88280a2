// Accesses outside of a buffer, which nothing else would notice. The functions index freely.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/Inputs/arrays.py 'x = np.arange(6, dtype="f4")' 'n = np.arange(6, dtype="i4")'
// DEFINE: %{run} = la-run %s --pipeline='%{upstream}' --guard --arg x.npy --function

// RUN: %{run} read --arg 5 | FileCheck %s --check-prefix=INSIDE
// INSIDE: result 0: f32 values 5; non-finite: 0
// RUN: not %{run} read --arg 6 2>&1 | FileCheck %s --check-prefix=PAST
// PAST: error: the function read memory 0 bytes past the end of argument 0 ('%x'){{$}}
// RUN: not %{run} read --arg 8 2>&1 | FileCheck %s --check-prefix=PAST8
// PAST8: error: the function read memory 8 bytes past the end of argument 0 ('%x'){{$}}
// RUN: not %{run} write --arg 6 2>&1 | FileCheck %s --check-prefix=WPAST
// WPAST: error: the function wrote memory 0 bytes past the end of argument 0 ('%x'){{$}}

// The margin in front reads as NaN; before it lies an inaccessible page.
// RUN: %{run} read --arg -1 | FileCheck %s --check-prefix=BEFORE
// BEFORE: result 0: f32 values {{-?}}nan; non-finite: 1
// RUN: not %{run} write --arg -2 2>&1 | FileCheck %s --check-prefix=WBEFORE
// WBEFORE: error: the function wrote 4 bytes before argument 0 ('%x'){{$}}
// RUN: not %{run} write --arg -1019 2>&1 | FileCheck %s --check-prefix=WFAR
// WFAR: error: the function wrote memory 4{{[0-9]+}} bytes before argument 0 ('%x'){{$}}
// RUN: la-run %s --pipeline='%{upstream}' --guard --arg n.npy --function integers | FileCheck %s --check-prefix=INTS
// INTS: result 0: i32 values -1515870811; non-finite: 0

// Buffers that the function allocates: unset elements and the rest of the allocation are NaN.
// RUN: %{run} unset | FileCheck %s --check-prefix=UNSET
// UNSET: result 0: tensor<6xf32> no finite values; non-finite: 6
// RUN: not %{run} past_own --arg 100 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: error: the function wrote memory {{[0-9]+}} bytes past the end of a buffer of {{[0-9]+}} bytes that the function allocated
// RUN: not %{run} past_own --arg -1 2>&1 | FileCheck %s --check-prefix=OWNBEFORE
// OWNBEFORE: error: the function wrote 4 bytes before a buffer of {{[0-9]+}} bytes that the function allocated

// Without guards the same programs run to the end.
// RUN: la-run %s --pipeline='%{upstream}' --arg x.npy --function read --arg 5

func.func @read(%x: tensor<6xf32>, %i: index) -> f32 {
  %m = bufferization.to_buffer %x : tensor<6xf32> to memref<6xf32>
  %r = memref.load %m[%i] : memref<6xf32>
  return %r : f32
}
func.func @write(%x: tensor<6xf32>, %i: index) -> f32 {
  %m = bufferization.to_buffer %x : tensor<6xf32> to memref<6xf32>
  %r = arith.constant 1.0 : f32
  memref.store %r, %m[%i] : memref<6xf32>
  return %r : f32
}
func.func @integers(%x: tensor<6xi32>) -> i32 {
  %i = arith.constant -1 : index
  %m = bufferization.to_buffer %x : tensor<6xi32> to memref<6xi32>
  %r = memref.load %m[%i] : memref<6xi32>
  return %r : i32
}
func.func @unset(%x: tensor<6xf32>) -> tensor<6xf32> {
  %e = bufferization.alloc_tensor() : tensor<6xf32>
  return %e : tensor<6xf32>
}
func.func @past_own(%x: tensor<6xf32>, %i: index) -> tensor<6xf32> {
  %e = memref.alloc() : memref<6xf32>
  %r = arith.constant 1.0 : f32
  memref.store %r, %e[%i] : memref<6xf32>
  %t = bufferization.to_tensor %e restrict : memref<6xf32> to tensor<6xf32>
  return %t : tensor<6xf32>
}
