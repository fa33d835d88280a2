// What is written, for this machine and for others.
// RUN: la-compile %s --emit=llvm --triple=x86_64-linux-gnu --cpu=x86-64-v3 | FileCheck %s --check-prefix=LLVM
// RUN: la-compile %s --emit=asm --triple=x86_64-linux-gnu --cpu=x86-64-v3 | FileCheck %s --check-prefix=AVX2
// RUN: la-compile %s --emit=asm --triple=x86_64-linux-gnu --cpu=x86-64-v3 --features=-fma | FileCheck %s --check-prefix=NOFMA
// RUN: la-compile %s --emit=asm --triple=x86_64-linux-gnu --cpu=x86-64-v4 | FileCheck %s --check-prefix=AVX512
// RUN: la-compile %s --emit=asm --triple=aarch64-linux-gnu --cpu=neoverse-n1 | FileCheck %s --check-prefix=NEON
// RUN: la-compile %s -o %t.o && llvm-readelf --symbols %t.o | FileCheck %s --check-prefix=SYMBOLS

// LLVM: target triple = "x86_64-unknown-linux-gnu"
// LLVM: define {{.*}} @_mlir_ciface_axpy(
// AVX2: vfmadd{{.*}} %ymm
// AVX2-NOT: %zmm
// NOFMA-NOT: vfmadd
// NOFMA: vmulps {{.*}} %ymm
// AVX512: vfmadd{{.*}} %zmm
// NEON: fmla v{{[0-9]+}}.4s
// SYMBOLS-NOT: UND {{.*}}trunc
// SYMBOLS-DAG: FUNC GLOBAL {{.*}} axpy
// SYMBOLS-DAG: FUNC GLOBAL {{.*}} _mlir_ciface_axpy
func.func @axpy(%a: f32, %x: tensor<1024xf32>, %y: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xbf16>) {
  %e = tensor.empty() : tensor<1024xbf16>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
      ins(%x : tensor<1024xf32>) outs(%y, %e : tensor<1024xf32>, tensor<1024xbf16>) {
  ^bb0(%xi: f32, %yi: f32, %o: bf16):
    %p = arith.mulf %a, %xi fastmath<contract> : f32
    %s = arith.addf %p, %yi fastmath<contract> : f32
    %n = arith.truncf %s : f32 to bf16
    linalg.yield %s, %n : f32, bf16
  } -> (tensor<1024xf32>, tensor<1024xbf16>)
  return %r#0, %r#1 : tensor<1024xf32>, tensor<1024xbf16>
}
