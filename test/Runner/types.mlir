// Every element type, scalars and arrays, as arguments and results; results that share memory.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/Inputs/arrays.py 'b = bf16([1, -2.5, np.inf, np.nan])' 'bits = b.view("u2")' \
// RUN:   'f = np.array([1, -2.5, 65504, 6e-8], "f2")' 'd = np.array([1, 2**-60], "f8")' \
// RUN:   'i1 = np.array([True, False])' 'i8 = np.int8([-128, 127])' 'u8 = np.uint8([128, 127])' \
// RUN:   'i16 = np.int16([-1, 5])' 'i32 = np.int32([-1, 5])' 'i64 = np.int64([-2**63, 2**63 - 1])' \
// RUN:   's = np.float32(3)' 'bwide = np.array([1, -2.5, np.inf, 0])' \
// RUN:   'fwide = np.array([1, -2.5, 65504, 6e-8], "f4")' 'off = i64 + [0, -1]'
// DEFINE: %{run} = la-run %s --pipeline='%{upstream}' --function

// bf16 arrives bit by bit, from both spellings, and is written as V2. NaN equals nothing.
// RUN: %{run} bf16 --arg b.npy --out a --guard | FileCheck %s --check-prefix=BF16
// BF16: result 0: tensor<4xbf16> values 1 -2.5 inf nan; non-finite: 2
// RUN: %{run} bf16 --arg bits.npy --out b
// RUN: %python -c 'import numpy as np; a, b, x = (np.load(f) for f in ("a0.npy", "b0.npy", "b.npy")); \
// RUN:   assert a.dtype == b.dtype == "V2" and a.tobytes() == b.tobytes() == x.tobytes()'
// RUN: not %{run} bf16 --arg b.npy --expect bwide.npy | FileCheck %s --check-prefix=NAN
// NAN: result 0: tensor<4xbf16> max error inf of max (rel inf, abs inf) at [3]: got nan, expected 0; non-finite: 2 got, 1 expected: MISMATCH (1 of 4 elements
// RUN: not %{run} bf16 --arg b.npy --expect b.npy | FileCheck %s --check-prefix=NANS
// NANS: at [3]: got nan, expected nan; non-finite: 2 got, 2 expected: MISMATCH (1 of 4 elements
// RUN: not %{run} bf16 --arg b.npy --expect b.npy --norm-tol 1 | FileCheck %s --check-prefix=NANNORM
// NANNORM: MISMATCH (norm-tol 1)
// RUN: not %{run} bf16 --arg f.npy 2>&1 | FileCheck %s --check-prefix=NOTBF16
// NOTBF16: error: argument 0 ('%x'): file f.npy holds f16 [4], the function expects tensor<4xbf16>; convert

// RUN: %{run} f16 --arg f.npy --expect fwide.npy --rtol 0 --atol 1e-8 | FileCheck %s --check-prefix=F16
// F16: result 0: tensor<4xf16> {{.*}}; non-finite: 0 got, 0 expected: ok
// RUN: %{run} f64 --arg d.npy --expect d.npy --rtol 0 --atol 0 --out d
// RUN: %{run} i1 --arg i1.npy --expect i1.npy --guard | FileCheck %s --check-prefix=I1
// I1: result 0: tensor<2xi1> {{.*}}: ok
// RUN: %{run} i8 --arg i8.npy --expect i8.npy
// RUN: %{run} i8 --arg u8.npy | FileCheck %s --check-prefix=U8
// U8: result 0: tensor<2xi8> values -128 127; non-finite: 0
// RUN: %{run} i16 --arg i16.npy --expect i16.npy
// RUN: %{run} i32 --arg i32.npy --expect i32.npy
// RUN: %{run} i64 --arg i64.npy --expect i64.npy

// Neighbours that a double cannot tell apart.
// RUN: not %{run} i64 --arg i64.npy --expect off.npy | FileCheck %s --check-prefix=I64
// I64: abs 1) at [1]: got 9223372036854775807, expected 9223372036854775806; {{.*}}MISMATCH (1 of 2 elements, rtol 0, atol 0)

// Scalars: literals or arrays without dims; lone ones are returned by value.
// RUN: %{run} scalars --arg 0.5 --arg -1.5 --arg -7 --arg 17 --arg 1 --arg s.npy | FileCheck %s --check-prefix=SCALARS
// RUN: %{run} scalars --arg 5=s.npy --arg 4=1 --arg 3=17 --arg 2=-7 --arg 1=-1.5 --arg 0=0.5 --guard | FileCheck %s --check-prefix=SCALARS
// SCALARS:      result 0: i1 values 1; non-finite: 0
// SCALARS-NEXT: result 1: tensor<f32> values 3; non-finite: 0
// SCALARS-NEXT: result 2: index values 17; non-finite: 0
// SCALARS-NEXT: result 3: i32 values -7; non-finite: 0
// SCALARS-NEXT: result 4: bf16 values -1.5; non-finite: 0
// SCALARS-NEXT: result 5: f64 values 0.5; non-finite: 0
// RUN: %{run} lone_bf16 --arg -2.5 | FileCheck %s --check-prefix=LONE
// LONE: result 0: bf16 values -2.5; non-finite: 0
// RUN: %{run} lone_index --fill 0=12 | FileCheck %s --check-prefix=INDEX
// INDEX: result 0: index values 12; non-finite: 0
// RUN: %{run} nothing | count 0

// One buffer returned twice, an argument returned, a constant returned: each is freed at most once.
// RUN: %{run} shared --arg 4 --arg d.npy | FileCheck %s --check-prefix=SHARED
// RUN: %{run} shared --arg 4 --arg d.npy --guard --repeat 3 | FileCheck %s --check-prefix=SHARED
// SHARED:      result 0: tensor<2xf64> values 4 4; non-finite: 0
// SHARED-NEXT: result 1: tensor<2xf64> values 4 4; non-finite: 0
// SHARED-NEXT: result 2: tensor<2xf64> values 1 {{8.67.*e-19}}; non-finite: 0
// SHARED-NEXT: result 3: tensor<2xf64> values 7 8; non-finite: 0

// A result with strides of its own.
// RUN: %{run} strided --fill 0=2 | FileCheck %s --check-prefix=STRIDED
// STRIDED: result 0: tensor<2x2xf32> values 2 2 2 2; non-finite: 0

func.func @bf16(%x: tensor<4xbf16>) -> tensor<4xbf16> { return %x : tensor<4xbf16> }
func.func @f16(%x: tensor<4xf16>) -> tensor<4xf16> { return %x : tensor<4xf16> }
func.func @f64(%x: tensor<?xf64>) -> tensor<?xf64> { return %x : tensor<?xf64> }
func.func @i1(%x: tensor<2xi1>) -> tensor<2xi1> { return %x : tensor<2xi1> }
func.func @i8(%x: tensor<2xi8>) -> tensor<2xi8> { return %x : tensor<2xi8> }
func.func @i16(%x: tensor<2xi16>) -> tensor<2xi16> { return %x : tensor<2xi16> }
func.func @i32(%x: tensor<2xi32>) -> tensor<2xi32> { return %x : tensor<2xi32> }
func.func @i64(%x: tensor<2xi64>) -> tensor<2xi64> { return %x : tensor<2xi64> }

func.func @scalars(%a: f64, %b: bf16, %c: i32, %d: index, %e: i1, %f: tensor<f32>)
    -> (i1, tensor<f32>, index, i32, bf16, f64) {
  return %e, %f, %d, %c, %b, %a : i1, tensor<f32>, index, i32, bf16, f64
}
func.func @lone_bf16(%x: bf16) -> bf16 { return %x : bf16 }
func.func @lone_index(%x: index) -> index { return %x : index }
func.func @nothing() { return }

func.func @shared(%x: f64, %y: tensor<2xf64>)
    -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %e = tensor.empty() : tensor<2xf64>
  %r = linalg.fill ins(%x : f64) outs(%e : tensor<2xf64>) -> tensor<2xf64>
  %c = arith.constant dense<[7.0, 8.0]> : tensor<2xf64>
  return %r, %r, %y, %c : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}

func.func @strided(%x: tensor<4x4xf32>) -> tensor<2x2xf32> {
  %r = tensor.extract_slice %x[1, 1] [2, 2] [2, 2] : tensor<4x4xf32> to tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
