// The program of docs/tutorials/FromStepToChunk.md, whose IR is made from this file, and what the tutorial says of each level.
//
// DEFINE: %{chunk} = --linattn-chunk="chunk=8 subchunk=4"
// DEFINE: %{bufferize} = --convert-elementwise-to-linalg --linattn-merge-generics --canonicalize --eliminate-empty-tensors --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map"
// RUN: la-opt %s --linattn-print-state-graph -o %t.unchanged.mlir 2>&1 | FileCheck %s --check-prefix=GRAPH
// RUN: la-opt %s %{chunk} --canonicalize --cse | FileCheck %s --check-prefix=CHUNK
// RUN: la-opt %s %{chunk} --linattn-to-loops --canonicalize --cse | FileCheck %s --check-prefix=LOOPS --implicit-check-not=linattn.
// RUN: la-opt %s %{chunk} --linattn-to-loops %{bufferize} --cse --canonicalize | FileCheck %s --check-prefix=BUFFERS
//
// Chunks of 8 agree with one token at a time; 20 tokens leave a chunk of 4.
// DEFINE: %{plan} = chunk=0
// DEFINE: %{run} = la-run %s --pipeline="builtin.module(linattn-to-cpu-pipeline{%{plan}})" --random=1 --range=3=-1:0 --range=4=0:1 \
// DEFINE:   --shape=0=20x4 --shape=1=20x4 --shape=2=20x8 --shape=3=20 --shape=4=20 --shape=5=20x8
// RUN: mkdir -p %t
// RUN: %{run} --out=%t/step
// REDEFINE: %{plan} = chunk=8 subchunk=4
// RUN: %{run} --guard --expect=%t/step0.npy --expect=%t/step1.npy

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#state = affine_map<(t, k, v) -> (k, v)>

func.func @gated_delta(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x8xf32>, %g: tensor<?xf32>,
                       %beta: tensor<?xf32>, %o0: tensor<?x8xf32>, %s0: tensor<4x8xf32>)
    -> (tensor<?x8xf32>, tensor<4x8xf32>) {
  %o, %s = linattn.recurrence [time]
      ins(%q via #vec : tensor<?x4xf32> as %qt : tensor<4xf32>,
          %k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>,
          %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>,
          %g via #num : tensor<?xf32> as %gt : f32,
          %beta via #num : tensor<?xf32> as %bt : f32)
      outs(%o0 via #vec : tensor<?x8xf32>)
      states(%s0 via #state : tensor<4x8xf32> as %S : tensor<4x8xf32>) {
    %X = linattn.decay %S by %gt : tensor<4x8xf32>, f32                  // exp(g) S
    %r = linattn.read %X at %kt along 0 : tensor<4x8xf32>, tensor<4xf32> // what is stored under k
    %e = arith.subf %vt, %r : tensor<8xf32>
    %b = tensor.splat %bt : tensor<8xf32>
    %d = arith.mulf %b, %e : tensor<8xf32>                               // beta (v - r)
    %S1 = linattn.write %X at %kt along 0 value %d : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<4x8xf32>, tensor<4xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<4x8xf32>
  }
  return %o, %s : tensor<?x8xf32>, tensor<4x8xf32>
}

// GRAPH: state #0: low-rank along axis 0, 1 writes (1 depend on reads), 2 reads

// CHUNK-LABEL: func @gated_delta
// CHUNK:         linattn.recurrence [time] step(%{{.+}} of 8)
// CHUNK:           as %[[Q:.+]] : tensor<8x4xf32>,
// CHUNK:           as %[[K:.+]] : tensor<8x4xf32>,
// CHUNK:         states({{.*}} as %[[S:.+]] : tensor<4x8xf32>)
// CHUNK:           %[[A:.+]] = math.exp %{{.+}} : tensor<8xf32>
// CHUNK:           linattn.running_product %[[A]]
// CHUNK:           linattn.running_product reverse %[[A]]
// CHUNK:           linattn.read %[[S]] at %{{.+}} along 0 : tensor<4x8xf32>, tensor<8x4xf32>
// CHUNK:           linattn.bracket %{{.+}}, %[[K]] decay %[[A]] subchunk 4
// CHUNK:           %[[D:.+]] = linattn.solve %{{.+}}, %{{.+}} subchunk 4 : tensor<8x8xf32>, tensor<8x8xf32>
// CHUNK:           %[[READ:.+]] = linattn.read %[[S]] at
// CHUNK:           %[[OLD:.+]] = linalg.generic {{.*}} ins(%[[READ]],
// CHUNK:           %[[B:.+]] = linattn.bracket %{{.+}}, %[[K]] decay %[[A]] diagonal
// CHUNK:           %[[O:.+]] = linalg.matmul ins(%[[B]], %[[D]] : {{.*}}) outs(%[[OLD]]
// CHUNK:           %[[X:.+]] = linattn.decay %[[S]] by linear
// CHUNK:           %[[S1:.+]] = linattn.write %[[X]] at %{{.+}} along 0 value %[[D]]
// CHUNK:           linattn.yield %[[O]], %[[S1]]

// LOOPS-LABEL: func @gated_delta
// LOOPS:         scf.for %[[FIRST:.+]] = %{{.+}} to %[[WHOLE:.+]] step %c8 iter_args(%{{.+}} = %{{.+}}, %[[S:.+]] = %{{.+}})
// LOOPS:           tensor.extract_slice %{{.+}}[%[[FIRST]], 0] [8, 4]
// LOOPS:           linalg.vecmat
// LOOPS:           linalg.matmul ins({{.*}} : tensor<4x4xf32>, tensor<4x8xf32>)
// LOOPS:           linalg.vecmat
// LOOPS:           %[[NEW:.+]] = linalg.copy ins(%{{.+}} : tensor<4x8xf32>) outs(%[[S]] : tensor<4x8xf32>)
// LOOPS:           scf.yield %{{.+}}, %[[NEW]]
// LOOPS:         scf.for %[[LAST:.+]] = %[[WHOLE]] to %[[T:.+]] step %c8
// LOOPS:           %[[LIVE:.+]] = affine.apply #{{.+}}(%[[LAST]])[%[[T]]]
// LOOPS:           tensor.extract_slice %{{.+}}[%[[LAST]], 0] [%[[LIVE]], 4]

// The state is updated where it lies: the last argument is written in the loop, and returned.
// BUFFERS-LABEL: func @gated_delta
// BUFFERS-SAME:    %[[O:[a-z0-9]+]]: memref<?x8xf32>, %[[S:[a-z0-9]+]]: memref<4x8xf32>) ->
// BUFFERS:         scf.for
// BUFFERS:           linalg.generic {{.*}} outs(%[[S]] : memref<4x8xf32>)
// BUFFERS:           linalg.generic {{.*}} outs(%[[S]] : memref<4x8xf32>)
// BUFFERS-NOT:       memref.copy %{{.+}}, %[[S]]
// BUFFERS:         return %[[O]], %[[S]]
