// RUN: la-opt %s --linattn-vectorize-linalg --canonicalize | FileCheck %s --check-prefixes=CHECK,BITS512
// RUN: la-opt %s --linattn-vectorize-linalg="vector-bits=256 vector-registers=16" --canonicalize | FileCheck %s --check-prefixes=CHECK,BITS256

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A block of entries keeps its sums in registers along the rows; one tree adds the lanes of all.
// CHECK-LABEL: func.func @dots(
// CHECK-SAME:      %[[A:[^:]+]]: memref<8x64xf32>, %[[B:[^:]+]]: memref<8x64xf32>, %[[C:[^:]+]]: memref<8x8xf32>)
// CHECK-NOT:     linalg
// BITS512:       scf.for %[[I:[^ ]+]] = %{{.+}} to %c8 step %c4
// BITS256:       scf.for %[[I:[^ ]+]] = %{{.+}} to %c8 step %c2
// CHECK:           scf.for %[[J:[^ ]+]] = %{{.+}} to %c8 step %c4
// BITS512:           scf.for %[[K:[^ ]+]] = %{{.+}} to %c64 step %c16
// BITS256:           scf.for %[[K:[^ ]+]] = %{{.+}} to %c64 step %c8
// CHECK:               vector.transfer_read %[[A]][%[[I]], %[[K]]]
// CHECK:               vector.transfer_read %[[B]][%[[J]], %[[K]]]
// BITS512-COUNT-16:    vector.fma {{.*}} : vector<16xf32>
// BITS256-COUNT-8:     vector.fma {{.*}} : vector<8xf32>
// CHECK:             vector.shuffle
// CHECK:             vector.transfer_write %{{.+}}, %[[C]][%[[I]], %[[J]]]
func.func @dots(%a: memref<8x64xf32>, %b: memref<8x64xf32>, %c: memref<8x8xf32>) {
  linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : memref<8x64xf32>, memref<8x64xf32>) outs(%c : memref<8x8xf32>)
  return
}

// Rows of different types take the general way.
// CHECK-LABEL: func.func @narrow(
// CHECK-NOT:     vector.shuffle
func.func @narrow(%a: memref<8x64xbf16>, %b: memref<8x64xbf16>, %c: memref<8x8xf32>) {
  linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : memref<8x64xbf16>, memref<8x64xbf16>) outs(%c : memref<8x8xf32>)
  return
}
