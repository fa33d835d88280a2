// The whole pipeline, an option at a time.

// DEFINE: %{options} =
// DEFINE: %{target} =
// DEFINE: %{run} = la-opt %s --pass-pipeline="builtin.module(%{target}linattn-to-cpu-pipeline{%{options}})"
// REDEFINE: %{options} = openmp=true
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,OPENMP
// REDEFINE: %{options} = openmp=false
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,SERIAL
// REDEFINE: %{options} = openmp=false vector-bits=256 chunk=0
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,BITS256
// REDEFINE: %{options} = openmp=false vector-bits=128 chunk=0
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,BITS128
// REDEFINE: %{options} = openmp=false chunk=8 subchunk=4
// RUN: %{run} --mlir-print-ir-after=linattn-chunk -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHUNK8
// RUN: la-opt %examples/gla.mlir --pass-pipeline="builtin.module(linattn-to-cpu-pipeline{value-tile=64})" --mlir-print-ir-after=linattn-split-value -o /dev/null 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: la-opt %examples/gla.mlir --pass-pipeline="builtin.module(linattn-to-cpu-pipeline{time-parts=2 chunk=16})" --mlir-print-ir-after=linattn-split-time -o /dev/null 2>&1 | FileCheck %s --check-prefix=PARTS
// REDEFINE: %{options} = openmp=false chunk=0
// RUN: %{run} --mlir-print-ir-before=linattn-to-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHUNK0
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,BITS512,EXPANDED
// The target decides, unless an option does.
// REDEFINE: %{target} = linattn-set-target{triple=x86_64-linux-gnu cpu=x86-64-v3},
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,BITS256,EXPANDED
// REDEFINE: %{target} = linattn-set-target{triple=x86_64-linux-gnu cpu=x86-64-v4 features=+avx512bf16},
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,BITS512,NATIVE
// REDEFINE: %{options} = openmp=false chunk=0 vector-bits=128 expand-bf16
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,BITS128,EXPANDED
// REDEFINE: %{options} = openmp=false bf16-dot
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,NODOT
// RUN: la-opt %s --pass-pipeline="builtin.module(linattn-chunk{chunk=8 subchunk=4 operand-precision=bf16}, linattn-to-cpu-pipeline{openmp=false bf16-dot})" | FileCheck %s --check-prefixes=CHECK,DOT
// RUN: la-opt %s --pass-pipeline="builtin.module(linattn-chunk{chunk=8 subchunk=4 operand-precision=bf16}, linattn-to-cpu-pipeline{openmp=false})" | FileCheck %s --check-prefixes=CHECK,NODOT

// CHECK-NOT: linattn.
// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.func @layer
// OPENMP: omp.parallel
// SERIAL-NOT: omp.parallel
// Dots where a plan asks for rounded operands and the target has them.
// DOT: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps
// NODOT-NOT: dpbf16ps
// A row of four registers.
// BITS512: vector<64xf32>
// BITS256: vector<32xf32>
// BITS128: vector<16xf32>
// The last tokens one by one, as their number is dynamic.
// CHUNK8: linattn.recurrence [time, parallel] step(%{{.+}} of 8)
// CHUNK8: linattn.recurrence [time, parallel]{{$}}
// TILES: linattn.recurrence [parallel, time, parallel, parallel]
// TILES: tensor<?x4x256x512xf32> as %{{.+}} : tensor<256x64xf32>
// PARTS: affine_map<()[s0] -> ((s0 ceildiv 32) * 16, s0)>
// PARTS: linattn.recurrence [parallel, time, parallel, segment]
// PARTS: segments(%{{.+}} : tensor<3xi64>)
// CHUNK0: linattn.recurrence [time, parallel]{{$}}
// CHUNK0-NOT: step(
// NATIVE: llvm.fptrunc %{{.+}} : vector<{{[0-9]+}}xf32> to vector<{{[0-9]+}}xbf16>
// EXPANDED-NOT: llvm.fptrunc

#token = affine_map<(t, h, d) -> (t, h, d)>
#state = affine_map<(t, h, k, v) -> (h, k, v)>
func.func @layer(%k: tensor<?x4x64xbf16>, %o: tensor<?x4x64xbf16>, %s: tensor<4x64x64xf32>) -> (tensor<?x4x64xbf16>, tensor<4x64x64xf32>) {
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via #token : tensor<?x4x64xbf16> as %kt : tensor<64xbf16>)
      outs(%o via #token : tensor<?x4x64xbf16>)
      states(%s via #state : tensor<4x64x64xf32> as %S : tensor<64x64xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<64x64xf32>, tensor<64xbf16>, tensor<64xbf16>
    %of = linattn.read %S1 at %kt along 0 : tensor<64x64xf32>, tensor<64xbf16>
    %ot = arith.truncf %of : tensor<64xf32> to tensor<64xbf16>
    linattn.yield %ot, %S1 : tensor<64xbf16>, tensor<64x64xf32>
  }
  return %r#0, %r#1 : tensor<?x4x64xbf16>, tensor<4x64x64xf32>
}
