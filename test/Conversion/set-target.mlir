// What the module says of its target, and which blocks follow from it.

// DEFINE: %{target} =
// DEFINE: %{run} = la-opt %s --pass-pipeline="builtin.module(linattn-set-target{%{target}},linattn-vectorize-linalg)"
// REDEFINE: %{target} = triple=x86_64-linux-gnu cpu=x86-64-v2
// RUN: %{run} | FileCheck %s --check-prefixes=V2,SMALL
// REDEFINE: %{target} = triple=x86_64-linux-gnu cpu=x86-64-v3
// RUN: %{run} | FileCheck %s --check-prefixes=V3,SMALL
// REDEFINE: %{target} = triple=x86_64-linux-gnu cpu=x86-64-v4
// RUN: %{run} | FileCheck %s --check-prefixes=V4,LARGE
// The tuning of this CPU prefers 256 bits, which counts only where the features ask for it.
// REDEFINE: %{target} = triple=x86_64-linux-gnu cpu=sapphirerapids
// RUN: %{run} | FileCheck %s --check-prefixes=SAPPHIRE,LARGE
// REDEFINE: %{target} = triple=x86_64-linux-gnu cpu=sapphirerapids features=+prefer-256-bit,-avx512bf16
// RUN: %{run} | FileCheck %s --check-prefixes=PREFER256,LARGE
// REDEFINE: %{target} = triple=x86_64-linux-gnu cpu=sierraforest
// RUN: %{run} | FileCheck %s --check-prefixes=CONVERSION,SMALL
// REDEFINE: %{target} = triple=aarch64-linux-gnu cpu=neoverse-n1
// RUN: %{run} | FileCheck %s --check-prefixes=NEON,LARGE
// REDEFINE: %{target} = triple=aarch64-linux-gnu cpu=neoverse-v1
// RUN: %{run} | FileCheck %s --check-prefixes=NEONBF16,LARGE

// V2: "CPU" = #dlti.target_device_spec<"vector_bits" = 128 : i64, "vector_registers" = 16 : i64, "vector_masks" = false, "bf16_conversion" = false, "bf16_dot" = false>
// V3: "vector_bits" = 256 : i64, "vector_registers" = 16 : i64, "vector_masks" = true, "bf16_conversion" = false, "bf16_dot" = false>
// V4: "vector_bits" = 512 : i64, "vector_registers" = 32 : i64, "vector_masks" = true, "bf16_conversion" = false, "bf16_dot" = false>
// SAPPHIRE: "vector_bits" = 512 : i64, "vector_registers" = 32 : i64, "vector_masks" = true, "bf16_conversion" = true, "bf16_dot" = true>
// PREFER256: "vector_bits" = 256 : i64, "vector_registers" = 32 : i64, "vector_masks" = true, "bf16_conversion" = false, "bf16_dot" = false>
// CONVERSION: "vector_bits" = 256 : i64, "vector_registers" = 16 : i64, "vector_masks" = true, "bf16_conversion" = true, "bf16_dot" = false>
// NEON: "vector_bits" = 128 : i64, "vector_registers" = 32 : i64, "vector_masks" = false, "bf16_conversion" = false, "bf16_dot" = false>
// NEONBF16: "vector_bits" = 128 : i64, "vector_registers" = 32 : i64, {{.*}}"bf16_conversion" = true, "bf16_dot" = true>

// Rows of two registers, in blocks whose accumulators fill half of the registers.
// SMALL: scf.for {{.*}} step %c4
// LARGE: scf.for {{.*}} step %c8
// V2: vector<8xf32>
// Where a block fills 16 registers, LLVM must not unroll the sum in full.
// SMALL: llvm.loop_annotation
// LARGE-NOT: llvm.loop_annotation
// V3: vector<16xf32>
// V4: vector<32xf32>
// SAPPHIRE: vector<32xf32>
// PREFER256: vector<16xf32>
// NEON: vector<8xf32>
func.func @product(%a: memref<64x64xf32>, %b: memref<64x128xf32>, %c: memref<64x128xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x128xf32>) outs(%c : memref<64x128xf32>)
  return
}

// What is left of a row: one vector with a mask, or smaller vectors.
// V2-LABEL: func @rest
// V2-COUNT-3: vector.transfer_write {{.*}} {in_bounds = [true]} : vector<{{8|4|1}}xf32>
// V3-LABEL: func @rest
// V3: vector.transfer_write {{.*}} : vector<16xf32>
// NEON-LABEL: func @rest
// NEON: vector.transfer_write {{.*}} {in_bounds = [true]} : vector<8xf32>
// NEON: vector.transfer_write {{.*}} {in_bounds = [true]} : vector<4xf32>
// NEON: vector.transfer_write {{.*}} {in_bounds = [true]} : vector<1xf32>
func.func @rest(%x: memref<13xf32>, %y: memref<13xf32>) {
  linalg.add ins(%x, %x : memref<13xf32>, memref<13xf32>) outs(%y : memref<13xf32>)
  return
}
