// RUN: la-opt %s --linattn-vectorize-linalg --canonicalize | FileCheck %s --check-prefixes=CHECK,BITS512
// RUN: la-opt %s --linattn-vectorize-linalg="vector-bits=256 vector-registers=16" --canonicalize | FileCheck %s --check-prefixes=CHECK,BITS256
// RUN: la-opt %s --linattn-vectorize-linalg=bf16-dot --canonicalize | FileCheck %s --check-prefixes=CHECK,DOT

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A block of entries keeps its sums in registers along the rows; one tree adds the lanes of all.
// CHECK-LABEL: func.func @dots(
// CHECK-SAME:      %[[A:[^:]+]]: memref<8x64xf32>, %[[B:[^:]+]]: memref<8x64xf32>, %[[C:[^:]+]]: memref<8x8xf32>)
// CHECK-NOT:     linalg
// BITS512:       scf.for %[[I:[^ ]+]] = %{{.+}} to %c8 step %c4
// DOT:           scf.for %[[I:[^ ]+]] = %{{.+}} to %c8 step %c4
// BITS256:       scf.for %[[I:[^ ]+]] = %{{.+}} to %c8 step %c2
// CHECK:           scf.for %[[J:[^ ]+]] = %{{.+}} to %c8 step %c4
// DOT:               scf.for %[[K:[^ ]+]] = %{{.+}} to %c64 step %c16
// BITS512:           scf.for %[[K:[^ ]+]] = %{{.+}} to %c64 step %c16
// BITS256:           scf.for %[[K:[^ ]+]] = %{{.+}} to %c64 step %c8
// CHECK:               vector.transfer_read %[[A]][%[[I]], %[[K]]]
// CHECK:               vector.transfer_read %[[B]][%[[J]], %[[K]]]
// BITS512-COUNT-16:    vector.fma {{.*}} : vector<16xf32>
// DOT-COUNT-16:        vector.fma {{.*}} : vector<16xf32>
// BITS256-COUNT-8:     vector.fma {{.*}} : vector<8xf32>
// CHECK:             vector.shuffle
// CHECK:             vector.transfer_write %{{.+}}, %[[C]][%[[I]], %[[J]]]
func.func @dots(%a: memref<8x64xf32>, %b: memref<8x64xf32>, %c: memref<8x8xf32>) {
  linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : memref<8x64xf32>, memref<8x64xf32>) outs(%c : memref<8x8xf32>)
  return
}

// Rows of bf16 are extended on their way, or multiplied two numbers at a time.
// CHECK-LABEL: func.func @narrow(
// CHECK:         scf.for %{{.+}} = %{{.+}} to %c64 step %c{{8|16|32}}
// CHECK:           vector.transfer_read
// BITS512:         arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>
// BITS512-COUNT-16: vector.fma {{.*}} : vector<16xf32>
// BITS256-COUNT-8: vector.fma {{.*}} : vector<8xf32>
// DOT-NOT:         arith.extf
// DOT-COUNT-16:    x86vector.avx512.dot {{.*}} : vector<32xbf16> -> vector<16xf32>
// CHECK:         vector.shuffle
func.func @narrow(%a: memref<8x64xbf16>, %b: memref<8x64xbf16>, %c: memref<8x8xf32>) {
  linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : memref<8x64xbf16>, memref<8x64xbf16>) outs(%c : memref<8x8xf32>)
  return
}

// A short row fills a smaller register, with zeros behind it.
// CHECK-LABEL: func.func @short(
// DOT-COUNT-2:   vector.transfer_read {{.*}} : memref<1x13xbf16>, vector<16xbf16>
// DOT:           x86vector.avx512.dot {{.*}} : vector<16xbf16> -> vector<8xf32>
func.func @short(%a: memref<1x13xbf16>, %b: memref<1x13xbf16>, %c: memref<1x1xf32>) {
  linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : memref<1x13xbf16>, memref<1x13xbf16>) outs(%c : memref<1x1xf32>)
  return
}

// Rows of different types take the general way.
// CHECK-LABEL: func.func @mixed(
// CHECK-NOT:     vector.shuffle
// CHECK-NOT:     x86vector
func.func @mixed(%a: memref<8x64xbf16>, %b: memref<8x64xf32>, %c: memref<8x8xf32>) {
  linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : memref<8x64xbf16>, memref<8x64xf32>) outs(%c : memref<8x8xf32>)
  return
}
