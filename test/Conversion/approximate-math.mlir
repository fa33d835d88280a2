// RUN: la-opt %s --linattn-approximate-math | FileCheck %s

// CHECK-LABEL: func.func @vectors(
// CHECK-NOT:     math.exp
// CHECK-NOT:     math.log
// CHECK-NOT:     math.log1p
// CHECK-NOT:     math.tanh
// CHECK:         return
func.func @vectors(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  %e = math.exp %x : vector<16xf32>
  %l = math.log %x : vector<16xf32>
  %p = math.log1p %x : vector<16xf32>
  %t = math.tanh %x : vector<16xf32>
  return %e, %l, %p, %t : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// Scalars, other types and other functions stay calls.
// CHECK-LABEL: func.func @others(
// CHECK:         math.exp %{{.+}} : f32
// CHECK:         math.exp %{{.+}} : vector<8xf64>
// CHECK:         math.sin %{{.+}} : vector<16xf32>
func.func @others(%x: f32, %y: vector<8xf64>, %z: vector<16xf32>) -> (f32, vector<8xf64>, vector<16xf32>) {
  %e = math.exp %x : f32
  %f = math.exp %y : vector<8xf64>
  %s = math.sin %z : vector<16xf32>
  return %e, %f, %s : f32, vector<8xf64>, vector<16xf32>
}

// What upstream would lower to e^x - 1 and log(1 + x).
// CHECK-LABEL: func.func @near_zero(
// CHECK:         call @expm1f
// CHECK:         call @log1p(
// CHECK-NOT:     math.expm1
// CHECK:         return
func.func @near_zero(%x: f32, %y: f64, %z: vector<16xf32>) -> (f32, f64, vector<16xf32>) {
  %e = math.expm1 %x : f32
  %l = math.log1p %y : f64
  %v = math.expm1 %z : vector<16xf32>
  return %e, %l, %v : f32, f64, vector<16xf32>
}

// A division by 1 + e^y may be an estimate of the reciprocal, which needs a finite divisor; others
// may not.
// CHECK-LABEL: func.func @logistic(
// CHECK:         %[[SUM:.+]] = arith.addf %{{.+}} : vector<16xf32>
// CHECK-NEXT:    %[[LIMIT:.+]] = arith.constant dense<8.50705917E+37>
// CHECK:         %[[BEYOND:.+]] = arith.cmpf olt, %[[LIMIT]], %[[SUM]]
// CHECK:         %[[FINITE:.+]] = arith.select %[[BEYOND]], %[[LIMIT]], %[[SUM]]
// CHECK:         %[[ONE:.+]] = arith.constant dense<1.000000e+00>
// CHECK:         %[[R:.+]] = arith.divf %[[ONE]], %[[FINITE]] fastmath<ninf,arcp,contract>
// CHECK:         arith.mulf %{{.+}}, %[[R]]
// CHECK:         arith.divf %{{.+}}, %{{.+}} : vector<16xf32>
func.func @logistic(%x: vector<16xf32>, %y: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %e = math.exp %x : vector<16xf32>
  %d = arith.addf %e, %one : vector<16xf32>
  %s = arith.divf %y, %d : vector<16xf32>
  %t = arith.divf %y, %x : vector<16xf32>
  return %s, %t : vector<16xf32>, vector<16xf32>
}
