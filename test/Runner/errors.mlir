// Every rejected input names both sides.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: split-file %s m
// RUN: %python %S/Inputs/arrays.py 'x = np.zeros((3, 4), "f4")' 'h = np.zeros((3, 4), "f2")' \
// RUN:   'narrow = np.zeros((3, 5), "f4")' 's = np.float32(1)'
// DEFINE: %{axpy} = not la-run %S/Inputs/axpy.mlir --pipeline='%{upstream}' --arg 2

// RUN: %{axpy} --arg x.npy --arg narrow.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: argument 2 ('%y'): file narrow.npy holds f32 [3,5], the function expects tensor<?x4xf32>{{$}}
// RUN: %{axpy} --arg h.npy --arg x.npy 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: argument 1 ('%x'): file h.npy holds f16 [3,4], the function expects tensor<?x4xf32>; convert the file's element type
// RUN: %{axpy} --arg x.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: argument 2 ('%y'): no value of type tensor<?x4xf32> is given; use --arg, --fill or --random SEED
// RUN: %{axpy} --arg x.npy --arg nosuch.npy 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: error: argument 2 ('%y'): nosuch.npy: No such file or directory
// RUN: %{axpy} --arg x.npy --arg m 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: argument 2 ('%y'): m: not a regular file
// RUN: %{axpy} --arg x.npy --arg x.npy --arg x.npy 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: --arg: 'x.npy' is for argument 3, but the function has 3 arguments
// RUN: %{axpy} --arg x.npy --arg 1=x.npy 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: --arg: argument 1 is given twice, as 'x.npy' and 'x.npy'
// RUN: %{axpy} --arg x.npy --arg x.npy --expect 2=x.npy 2>&1 | FileCheck %s --check-prefix=RESULTS
// RESULTS: error: --expect: '2=x.npy' is for result 2, but the function has 2 results
// RUN: %{axpy} --arg x.npy --arg x.npy --expect x.npy --expect 0=x.npy 2>&1 | FileCheck %s --check-prefix=EXPECTTWICE
// EXPECTTWICE: error: --expect: result 0 is given twice
// RUN: %{axpy} --arg x.npy --arg x.npy --expect 1=s.npy 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: result 1: index the expectation holds f32 [], the function returned i64 []
// RUN: %{axpy} --arg x.npy --arg x.npy --out nosuch/r 2>&1 | FileCheck %s --check-prefix=OUT
// OUT: error: cannot write nosuch/r0.npy: No such file or directory
// RUN: %{axpy} --arg x.npy --fill 2=0 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: error: argument 2 ('%y'): the function expects tensor<?x4xf32>; give its dynamic sizes with --shape 2=...
// RUN: %{axpy} --arg x.npy --fill 2=0 --shape 2=3x5 2>&1 | FileCheck %s --check-prefix=SHAPEFLAG
// SHAPEFLAG: error: argument 2 ('%y'): --shape gives [3,5], the function expects tensor<?x4xf32>
// RUN: %{axpy} --arg x.npy --fill 2=0 --shape 2=3y4 2>&1 | FileCheck %s --check-prefix=SHAPETEXT
// SHAPETEXT: error: argument 2 ('%y'): expected a shape such as 2x33x4, got '3y4'
// RUN: %{axpy} --arg x.npy --fill 2=0 --shape 2=2305843009213693952x4 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: error: argument 2 ('%y'): no memory for an array f32 [2305843009213693952,4]
// RUN: %{axpy} --arg x.npy --fill 2=one --shape 2=3x4 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: argument 2 ('%y'): expected a number, got 'one'
// RUN: %{axpy} --arg x.npy --fill 0 2>&1 | FileCheck %s --check-prefix=POSITION
// POSITION: error: --fill: expected I=..., got '0'
// RUN: %{axpy} --arg x.npy --fill 2= 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: --fill: '2=' gives nothing
// RUN: %{axpy} --arg x.npy --random 1 --range 1=0:1 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: argument 1 ('%x'): given by --arg as 'x.npy', so --fill, --shape and --range do not apply
// RUN: %{axpy} --arg x.npy --range 2=0:1 --fill 2=1 --shape 2=3x4 2>&1 | FileCheck %s --check-prefix=EXCLUDE
// EXCLUDE: error: argument 2 ('%y'): --fill and --range exclude each other
// RUN: %{axpy} --arg x.npy --random 1 --range 2=1:0 --shape 2=3x4 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: argument 2 ('%y'): expected a finite range LO:HI with LO <= HI, got '1:0'
// RUN: %{axpy} --arg x.npy --random one 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: error: --random: expected a number, got 'one'
// RUN: %{axpy} --arg x.npy --arg x.npy --cpu=nosuch 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: LLVM knows no CPU 'nosuch' for {{.*}}; llc -mtriple={{.*}} -mcpu=help lists them
// RUN: %{axpy} --arg x.npy --arg x.npy --features=+nosuch 2>&1 | FileCheck %s --check-prefix=FEATURES
// FEATURES: error: LLVM knows no feature 'nosuch' for {{.*}}; llc -mtriple={{.*}} -mattr=help lists them
// RUN: %{axpy} --arg x.npy --arg x.npy --function=f 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: error: no func.func with a body is called 'f', the module has 'axpy'
// RUN: %{axpy} --arg x.npy --arg x.npy --save-ir nosuch/ir 2>&1 | FileCheck %s --check-prefix=SAVE
// SAVE: error: cannot write nosuch/ir: No such file or directory

// RUN: not la-run nosuch.mlir 2>&1 | FileCheck %s --check-prefix=NOMLIR
// NOMLIR: error: {{.*}}nosuch.mlir
// RUN: not la-run 2>&1 | FileCheck %s --check-prefix=NOARG
// NOARG: error: expected one FILE.mlir, got 0
// RUN: not la-run m/bad.mlir 2>&1 | FileCheck %s --check-prefix=PARSE
// PARSE: bad.mlir:1:{{[0-9]+}}: error:
// PARSE: error: cannot parse m/bad.mlir
// RUN: not la-run m/many.mlir 2>&1 | FileCheck %s --check-prefix=CHOOSE
// CHOOSE: error: expected one public func.func with a body, the module has 'f', 'g'; choose with --function
// RUN: not la-run m/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: expected one public func.func with a body, the module has none
// RUN: not la-run m/types.mlir --function=complex 2>&1 | FileCheck %s --check-prefix=COMPLEX
// COMPLEX: error: argument 0 has type tensor<4xcomplex<f32>>; expected a ranked tensor or a scalar of i1, i8 to i64, index, bf16, f16, f32 or f64
// RUN: not la-run m/types.mlir --function=unranked 2>&1 | FileCheck %s --check-prefix=UNRANKED
// UNRANKED: error: argument 0 has type tensor<*xf32>; expected a ranked tensor
// RUN: not la-run m/types.mlir --function=vector 2>&1 | FileCheck %s --check-prefix=VECTOR
// VECTOR: error: argument 0 has type vector<4xf32>; expected
// RUN: not la-run m/ints.mlir --function=i8 --random 1 2>&1 | FileCheck %s --check-prefix=INTS
// INTS: error: argument 0 ('%x'): random integers need a range; add --range 0=LO:HI
// RUN: not la-run m/ints.mlir --function=i8 --fill 0=128 2>&1 | FileCheck %s --check-prefix=FIT
// FIT: error: argument 0 ('%x'): '128' does not fit in i8
// RUN: not la-run m/ints.mlir --function=i8 --fill 0=1.5 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: error: argument 0 ('%x'): expected an integer, got '1.5'
// RUN: not la-run m/ints.mlir --function=i8 --random 1 --range 0=3:2 2>&1 | FileCheck %s --check-prefix=INTRANGE
// INTRANGE: error: argument 0 ('%x'): expected a range LO:HI with LO <= HI, got '3:2'

// Pipelines that cannot be parsed, fail, stop early, or change the calling convention.
// RUN: not la-run m/ints.mlir --function=i8 --fill 0=1 --pipeline='builtin.module(nosuch)' 2>&1 | FileCheck %s --check-prefix=NOPASS
// NOPASS: error: cannot parse the pipeline 'builtin.module(nosuch)': {{.*}}'nosuch' does not refer to a registered pass
// RUN: not la-run m/ints.mlir --function=i8 --fill 0=1 --pipeline='func.func(cse)' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// ANCHOR: error: the pipeline 'func.func(cse)' failed
// RUN: not la-run m/ints.mlir --function=i8 --fill 0=1 --pipeline='builtin.module(cse)' 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: after the pipeline, 'i8' is not an llvm.func with a C interface; the pipeline must end in the LLVM dialect (convert-func-to-llvm)
// RUN: not la-run m/new.mlir --fill 0=1 --pipeline='builtin.module(one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map},buffer-results-to-out-params{modify-public-functions=1},convert-linalg-to-loops,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)' 2>&1 | FileCheck %s --check-prefix=CONVENTION
// CONVENTION: error: the pipeline gave 'new' the type !llvm.func<void ({{.*}}expected !llvm.func<struct{{.*}} (one memref descriptor per tensor)
// RUN: not la-run m/extern.mlir --pipeline='%{upstream}' 2>&1 | FileCheck %s --check-prefix=EXTERN
// EXTERN: error: the generated code calls 'no_such_function', which no loaded library defines

// RUN: not la-run m/cast.mlir --pipeline='%{upstream}' --fill 0=1 --shape 0=3 2>&1 | FileCheck %s --check-prefix=CAST
// CAST: error: result 0: the function returned [3], its type says [4]

//--- bad.mlir
func.func @f( {
//--- many.mlir
func.func @f() { return }
func.func @g() { return }
func.func private @h() { return }
//--- none.mlir
func.func private @h() { return }
//--- types.mlir
func.func @complex(%x: tensor<4xcomplex<f32>>) { return }
func.func @unranked(%x: tensor<*xf32>) { return }
func.func @vector(%x: vector<4xf32>) -> vector<4xf32> { return %x : vector<4xf32> }
//--- ints.mlir
func.func @i8(%x: tensor<4xi8>) -> tensor<4xi8> { return %x : tensor<4xi8> }
func.func @other() { return }
//--- new.mlir
func.func @new(%x: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.fill ins(%x : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
//--- extern.mlir
func.func private @no_such_function()
func.func @f() {
  call @no_such_function() : () -> ()
  return
}
//--- cast.mlir
func.func @f(%x: tensor<?xf32>) -> tensor<4xf32> {
  %r = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
