// RUN: la-opt %s --linattn-vectorize-linalg="vector-bits=128 unroll=1" | FileCheck %s --check-prefixes=CHECK,BITS128
// RUN: la-opt %s --linattn-vectorize-linalg="vector-bits=256 unroll=1" | FileCheck %s --check-prefixes=CHECK,BITS256
// RUN: la-opt %s --linattn-vectorize-linalg="vector-bits=128 unroll=2" | FileCheck %s --check-prefixes=CHECK,UNROLL2
// RUN: la-opt %s --linattn-vectorize-linalg | FileCheck %s --check-prefixes=CHECK,DEFAULT

// Full tiles without a mask; a row that is shorter than a tile is one vector.
// CHECK-LABEL: func.func @elementwise(
// CHECK-NOT:     linalg
// CHECK-NOT:     mask
// BITS128:       vector.transfer_read {{.*}} {in_bounds = [true]} : memref<32xf32>, vector<4xf32>
// BITS256:       vector.transfer_read {{.*}} {in_bounds = [true]} : memref<32xf32>, vector<8xf32>
// UNROLL2:       vector.transfer_read {{.*}} {in_bounds = [true]} : memref<32xf32>, vector<8xf32>
// DEFAULT:       vector.transfer_read {{.*}} {in_bounds = [true]} : memref<32xf32>, vector<32xf32>
// CHECK:         math.exp
// CHECK:         vector.transfer_write {{.*}} {in_bounds = [true]}
// CHECK:         return
func.func @elementwise(%a: memref<32xf32>, %b: memref<32xf32>) {
  linalg.exp ins(%a : memref<32xf32>) outs(%b : memref<32xf32>)
  return
}

// Of an unknown number the last tile is partial, and the lanes that are not there do not count.
// CHECK-LABEL: func.func @dynamic_sum(
// CHECK:         scf.for {{.*}} iter_args
// CHECK:           arith.addf
// CHECK:         scf.for {{.*}} iter_args
// CHECK:           vector.create_mask
// CHECK:           arith.select
// CHECK:         vector.reduction <add>
// CHECK:         memref.store
func.func @dynamic_sum(%a: memref<?xf32>, %sum: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<?xf32>) outs(%sum : memref<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %n = arith.addf %acc, %x : f32
    linalg.yield %n : f32
  }
  return
}

// What happens to the init right before is done where the sums start: one pass over it.
// CHECK-LABEL: func.func @scaled_update(
// CHECK-SAME:      %[[S:[^:]+]]: memref<8x32xf32>, %[[D:[^:]+]]: memref<8xf32>
// CHECK-NOT:     linalg
// CHECK:         vector.transfer_read %[[S]]
// CHECK:         memref.load %[[D]]
// CHECK:         arith.mulf
// CHECK:         scf.for {{.*}} iter_args
// CHECK:           arith.addf
// CHECK:         vector.transfer_write %{{.+}}, %[[S]]
// CHECK-NOT:     vector.transfer_read %[[S]]
// CHECK:         return
func.func @scaled_update(%s: memref<8x32xf32>, %d: memref<8xf32>, %w: memref<4x8xf32>, %u: memref<4x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(k, v) -> (k)>, affine_map<(k, v) -> (k, v)>], iterator_types = ["parallel", "parallel"]}
      ins(%d : memref<8xf32>) outs(%s : memref<8x32xf32>) {
  ^bb0(%x: f32, %old: f32):
    %n = arith.mulf %old, %x : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [affine_map<(t, k, v) -> (t, k)>, affine_map<(t, k, v) -> (t, v)>, affine_map<(t, k, v) -> (k, v)>],
                  iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%w, %u : memref<4x8xf32>, memref<4x32xf32>) outs(%s : memref<8x32xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %n = arith.addf %acc, %p : f32
    linalg.yield %n : f32
  }
  return
}

// A scaling that may be contracted is added to the sums when these are done: none waits for memory.
// CHECK-LABEL: func.func @late_update(
// CHECK-SAME:      %[[S:[^:]+]]: memref<8x32xf32>
// CHECK:         %[[SUM:[0-9]+]]:{{[48]}} = scf.for {{.*}} iter_args
// CHECK:           vector.transfer_read %{{.+}} : memref<4x32xf32>
// CHECK:         %[[OLD:.+]] = vector.transfer_read %[[S]]
// CHECK:         %[[SCALED:.+]] = arith.mulf %[[OLD]], %{{.+}} fastmath<contract>
// CHECK-NEXT:    %[[NEW:.+]] = arith.addf %[[SCALED]], %[[SUM]]#0 fastmath<contract>
// CHECK-NEXT:    vector.transfer_write %[[NEW]], %[[S]]
func.func @late_update(%s: memref<8x32xf32>, %d: memref<8xf32>, %w: memref<4x8xf32>, %u: memref<4x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(k, v) -> (k)>, affine_map<(k, v) -> (k, v)>], iterator_types = ["parallel", "parallel"]}
      ins(%d : memref<8xf32>) outs(%s : memref<8x32xf32>) {
  ^bb0(%x: f32, %old: f32):
    %n = arith.mulf %old, %x fastmath<contract> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [affine_map<(t, k, v) -> (t, k)>, affine_map<(t, k, v) -> (t, v)>, affine_map<(t, k, v) -> (k, v)>],
                  iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%w, %u : memref<4x8xf32>, memref<4x32xf32>) outs(%s : memref<8x32xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %n = arith.addf %acc, %p fastmath<contract> : f32
    linalg.yield %n : f32
  }
  return
}

// Not if something between may touch it.
// CHECK-LABEL: func.func @store_between(
// CHECK:         vector.transfer_write %{{.+}}, %[[S:[a-z0-9]+]][
// CHECK:         memref.store
// CHECK:         vector.transfer_read %[[S]]
func.func @store_between(%s: memref<4x32xf32>, %x: f32, %w: memref<4x4xf32>, %u: memref<4x32xf32>) {
  %c0 = arith.constant 0 : index
  linalg.fill ins(%x : f32) outs(%s : memref<4x32xf32>)
  memref.store %x, %s[%c0, %c0] : memref<4x32xf32>
  linalg.matmul ins(%w, %u : memref<4x4xf32>, memref<4x32xf32>) outs(%s : memref<4x32xf32>)
  return
}

// A vector of booleans would be packed into bits, but everybody else loads a byte for each.
// CHECK-LABEL: func.func @booleans(
// CHECK:         linalg.generic
func.func @booleans(%x: memref<8xf32>, %b: memref<8xi1>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%b : memref<8xi1>) {
  ^bb0(%e: f32, %old: i1):
    %zero = arith.constant 0.0 : f32
    %n = arith.cmpf olt, %e, %zero : f32
    linalg.yield %n : i1
  }
  return
}

// Entries that lie apart are put side by side for a function of vectors; where there is none to
// compute, a scalar loop costs less.
// CHECK-LABEL: func.func @gathered(
// CHECK-SAME:    %[[X:.+]]: memref<8xf32, strided<[4]>>, %[[Y:.+]]: memref<8xf32>, %[[Z:.+]]: memref<8xf32>)
// CHECK:         %[[ROW:.+]] = memref.alloca() : memref<8xf32>
// CHECK:         linalg.copy ins(%[[X]] : memref<8xf32, strided<[4]>>) outs(%[[ROW]] : memref<8xf32>)
// CHECK:         vector.transfer_read %[[ROW]]
// CHECK:         math.exp {{.*}} : vector<
// CHECK:         vector.transfer_write %{{.+}}, %[[Y]]
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[Z]]
func.func @gathered(%x: memref<8xf32, strided<[4]>>, %y: memref<8xf32>, %z: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32, strided<[4]>>) outs(%y : memref<8xf32>) {
  ^bb0(%e: f32, %old: f32):
    %p = math.exp %e : f32
    linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32, strided<[4]>>) outs(%z : memref<8xf32>) {
  ^bb0(%e: f32, %old: f32):
    %p = arith.negf %e : f32
    linalg.yield %p : f32
  }
  return
}

// A sum along rows of functions takes as many vectors at a time as polynomials have registers for, however many
// operands there are: none of these stays in registers.
// CHECK-LABEL: func.func @sum_of_functions(
// DEFAULT:       vector.transfer_read {{.*}} : memref<4x256xf32>, vector<64xf32>
#entry = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @sum_of_functions(%x: memref<4x256xf32>, %a: memref<256xf32>, %b: memref<256xf32>, %c: memref<256xf32>, %d: memref<256xf32>, %e: memref<256xf32>, %f: memref<256xf32>, %g: memref<256xf32>,
                            %y: memref<4x256xf32>, %sum: memref<4xf32>) {
  linalg.generic {indexing_maps = [#entry, #column, #column, #column, #column, #column, #column, #column, #entry, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %a, %b, %c, %d, %e, %f, %g : memref<4x256xf32>, memref<256xf32>, memref<256xf32>, memref<256xf32>, memref<256xf32>, memref<256xf32>, memref<256xf32>, memref<256xf32>)
      outs(%y, %sum : memref<4x256xf32>, memref<4xf32>) {
  ^bb0(%in: f32, %ai: f32, %bi: f32, %ci: f32, %di: f32, %ei: f32, %fi: f32, %gi: f32, %old: f32, %s: f32):
    %0 = arith.mulf %in, %ai : f32
    %1 = arith.addf %0, %bi : f32
    %2 = arith.mulf %1, %ci : f32
    %3 = arith.addf %2, %di : f32
    %4 = arith.mulf %3, %ei : f32
    %5 = arith.addf %4, %fi : f32
    %6 = arith.mulf %5, %gi : f32
    %p = math.exp %6 : f32
    %n = arith.addf %s, %p : f32
    linalg.yield %p, %n : f32, f32
  }
  return
}
