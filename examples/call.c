//===- call.c - calls a compiled function from C ------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// The function is that of linear_attention.mlir. To build and run (see docs/AheadOfTime.md):
//   la-compile linear_attention.mlir -o attention.o
//   L=/usr/lib/llvm-22/lib
//   clang-22 call.c attention.o -lm -L$L -Wl,-rpath,$L -lomp -o call && ./call
//
//===----------------------------------------------------------------------------------------------===//

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { T = 21, H = 8, K = 64, V = 64 };

/* A tensor of rank N travels as a descriptor. `allocated` is what free() takes, `aligned` where the
 * elements start; sizes and strides count elements. */
typedef struct {
  float *allocated, *aligned;
  int64_t offset, sizes[4], strides[4];
} Tensor4;
typedef struct {
  float *allocated, *aligned;
  int64_t offset, sizes[3], strides[3];
} Tensor3;

/* More than one result: a struct of them, by a pointer in front of the arguments. */
typedef struct {
  Tensor4 o, s;
  Tensor3 z;
} Results;
void _mlir_ciface_linear_attention(Results *, Tensor4 *q, Tensor4 *k, Tensor4 *v, Tensor4 *s0,
                                   Tensor3 *z0);

/* Row-major, as the compiled function expects it. */
static Tensor4 tensor4(float *data, int64_t a, int64_t b, int64_t c, int64_t d) {
  return (Tensor4){data, data, 0, {a, b, c, d}, {b * c * d, c * d, d, 1}};
}

static float *fill(size_t count) {
  static uint32_t seed = 1;
  float *data = malloc(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    data[i] = (float)(seed >> 8) / (1 << 23) - 1;
  }
  return data;
}

static double feature(double x) { return x > 0 ? x + 1 : exp(x); }

/* The largest error of head h against the formula in double precision. */
static double check(int h, const float *q, const float *k, const float *v, const float *o) {
  static double s[K][V], z[K];
  double worst = 0;
  for (int i = 0; i < K; ++i) {
    z[i] = 0;
    for (int j = 0; j < V; ++j)
      s[i][j] = 0;
  }
  for (int t = 0; t < T; ++t) {
    int row = (t * H + h) * K;
    double den = 1e-10;
    for (int i = 0; i < K; ++i) {
      z[i] += feature(k[row + i]);
      den += feature(q[row + i]) * z[i];
    }
    for (int j = 0; j < V; ++j) {
      double num = 0;
      for (int i = 0; i < K; ++i) {
        s[i][j] += feature(k[row + i]) * v[row + j];
        num += feature(q[row + i]) * s[i][j];
      }
      worst = fmax(worst, fabs(num / den - o[row + j]));
    }
  }
  return worst;
}

int main(void) {
  float *q = fill(T * H * K), *k = fill(T * H * K), *v = fill(T * H * V);
  float *s = calloc(H * K * V, sizeof(float)), *z = calloc(H * K, sizeof(float));
  Tensor4 qt = tensor4(q, 1, T, H, K), kt = tensor4(k, 1, T, H, K), vt = tensor4(v, 1, T, H, V);
  Tensor4 st = tensor4(s, 1, H, K, V);
  Tensor3 zt = {z, z, 0, {1, H, K}, {H * K, K, 1}};
  Results results;
  _mlir_ciface_linear_attention(&results, &qt, &kt, &vt, &st, &zt);

  double worst = 0;
  for (int h = 0; h < H; ++h)
    worst = fmax(worst, check(h, q, k, v, results.o.aligned));
  printf("largest error %.1e; the state is updated in place: %s\n", worst,
         results.s.aligned == s && results.z.aligned == z ? "yes" : "no");
  /* The output is a new buffer and ours now; the states are those that we passed. */
  free(results.o.allocated);
  free(q), free(k), free(v), free(s), free(z);
  return !(worst < 1e-5);
}
