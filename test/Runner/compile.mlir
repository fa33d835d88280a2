// Which function, for which CPU; the module after the pipeline.
// RUN: la-run %s --pipeline='%{upstream}' --save-ir %t.ir --cpu=x86-64-v3 --arg 1.5 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR < %t.ir
// RUN: la-run %s --pipeline='%{upstream}' --function=other --arg 1.5 | FileCheck %s --check-prefix=OTHER

// The narrowing conversion is an instruction on some CPUs and a call on others. Ties go to even; a
// double is not rounded twice (1 + 2^-8 + 2^-40 lies just above a tie).
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/Inputs/arrays.py 'x = np.array([1 + 2**-8, 1 + 3 * 2**-8, -np.inf, 0.1], "f4")' \
// RUN:   'y = np.array([1 + 2**-8 + 2**-40, 1e-40, 3.4e38, -0.1])' \
// RUN:   'wantx = np.array([1, 1 + 2**-6, -np.inf, 0.1000976562])' \
// RUN:   'wanty = np.array([1 + 2**-7, 2.0**-133, np.inf, -0.1000976562])' 'h = np.float16(x)'
// DEFINE: %{narrow} = la-run %s --pipeline='%{upstream}' --function=narrow --arg x.npy --arg y.npy --expect wantx.npy --expect wanty.npy --expect h.npy --rtol 1e-7 --atol 1e-45
// RUN: %{narrow} --cpu=x86-64
// RUN: %{narrow}
// REQUIRES: x86_64
// CHECK: result 0: f32 values 3; non-finite: 0
// OTHER: result 0: f32 values 1.5; non-finite: 0
// IR: llvm.func @_mlir_ciface_twice(%{{.*}}: f32) -> f32 attributes {llvm.emit_c_interface}
func.func @twice(%x: f32) -> f32 {
  %r = arith.addf %x, %x : f32
  return %r : f32
}
func.func private @other(%x: f32) -> f32 { return %x : f32 }
#id = affine_map<(i) -> (i)>
func.func private @narrow(%x: tensor<4xf32>, %y: tensor<4xf64>)
    -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xf16>) {
  %b = tensor.empty() : tensor<4xbf16>
  %h = tensor.empty() : tensor<4xf16>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<4xf64>)
      outs(%b, %b, %h : tensor<4xbf16>, tensor<4xbf16>, tensor<4xf16>) {
  ^bb0(%e: f32, %d: f64, %o: bf16, %p: bf16, %q: f16):
    %s = arith.truncf %e : f32 to bf16
    %t = arith.truncf %d : f64 to bf16
    %u = arith.truncf %e : f32 to f16
    linalg.yield %s, %t, %u : bf16, bf16, f16
  } -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xf16>)
  return %r#0, %r#1, %r#2 : tensor<4xbf16>, tensor<4xbf16>, tensor<4xf16>
}
