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
// may not. The exponential is a multiply-add of what it scales.
// CHECK-LABEL: func.func @logistic(
// CHECK-SAME:    %[[X:.+]]: vector<16xf32>, %[[Y:.+]]: vector<16xf32>)
// CHECK-NOT:     math.exp
// CHECK:         %[[BELOW:.+]] = arith.cmpf ogt, %[[LOW:.+]], %[[X]]
// CHECK:         arith.select %[[BELOW]]
// CHECK:         %[[HIGH:.+]] = arith.constant dense<87.3365478>
// CHECK:         %[[BEYOND:.+]] = arith.cmpf olt, %[[HIGH]]
// CHECK:         arith.select %[[BEYOND]]
// CHECK-NOT:     arith.select
// CHECK:         %[[SCALE:.+]] = arith.bitcast %{{.+}} : vector<16xi32> to vector<16xf32>
// CHECK:         %[[DIVISOR:.+]] = math.fma %{{.+}}, %[[SCALE]], %{{.+}}
// CHECK:         %[[R:.+]] = arith.divf %{{.+}}, %[[DIVISOR]] fastmath<ninf,arcp,contract>
// CHECK:         arith.mulf %[[Y]], %[[R]]
// CHECK:         arith.divf %[[Y]], %[[X]] : vector<16xf32>
func.func @logistic(%x: vector<16xf32>, %y: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %e = math.exp %x : vector<16xf32>
  %d = arith.addf %e, %one : vector<16xf32>
  %s = arith.divf %y, %d : vector<16xf32>
  %t = arith.divf %y, %x : vector<16xf32>
  return %s, %t : vector<16xf32>, vector<16xf32>
}

// The sign of a power is that of constants.
// CHECK-LABEL: func.func @silu(
// CHECK-SAME:    %[[X:.+]]: vector<16xf32>)
// CHECK:         arith.cmpf ogt, %{{.+}}, %[[X]]
// CHECK:         arith.select
// CHECK:         %[[CLAMPED:.+]] = arith.select
// CHECK:         %[[FACTOR:.+]] = arith.constant dense<-1.44269502>
// CHECK:         math.fma %[[CLAMPED]], %[[FACTOR]]
// CHECK-NOT:     arith.negf %[[CLAMPED]]
// CHECK:         arith.mulf %[[X]], %{{.+}}
func.func @silu(%x: vector<16xf32>) -> vector<16xf32> {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %n = arith.negf %x : vector<16xf32>
  %e = math.exp %n : vector<16xf32>
  %d = arith.addf %e, %one : vector<16xf32>
  %y = arith.divf %x, %d : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @power_used_twice(
// CHECK:         %[[POWER:.+]] = arith.mulf
// CHECK:         arith.divf {{.*}} fastmath<ninf,arcp,contract>
// CHECK:         return %{{.+}}, %[[POWER]]
func.func @power_used_twice(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %e = math.exp %x : vector<16xf32>
  %d = arith.addf %e, %one : vector<16xf32>
  %y = arith.divf %x, %d : vector<16xf32>
  return %y, %e : vector<16xf32>, vector<16xf32>
}
