// RUN: la-opt %s --linattn-expand-arith | FileCheck %s --check-prefixes=CHECK,EXPAND
// RUN: la-opt %s --linattn-expand-arith=bf16 | FileCheck %s --check-prefixes=CHECK,EXPAND
// RUN: la-opt %s --linattn-set-target="triple=x86_64-linux-gnu cpu=znver4" --linattn-expand-arith | FileCheck %s --check-prefixes=CHECK,NATIVE
// RUN: la-opt %s --linattn-set-target="triple=x86_64-linux-gnu cpu=znver4" --linattn-expand-arith=bf16 | FileCheck %s --check-prefixes=CHECK,EXPAND

// CHECK-LABEL: func @narrow
// NATIVE:      arith.truncf
// EXPAND-NOT:  arith.truncf
func.func @narrow(%x: vector<16xf32>) -> vector<16xbf16> {
  %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %y : vector<16xbf16>
}
// CHECK-LABEL: func @round_up
// CHECK-NOT:   arith.ceildivsi
func.func @round_up(%x: index, %y: index) -> index {
  %z = arith.ceildivsi %x, %y : index
  return %z : index
}
