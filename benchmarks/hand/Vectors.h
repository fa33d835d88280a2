//===- Vectors.h - AVX-512 helpers of the hand-written kernels ----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_HAND_VECTORS_H
#define LINATTN_BENCHMARKS_HAND_VECTORS_H

#include <immintrin.h>

namespace hand {

using Vector = __m512;
#define ALWAYS_INLINE inline __attribute__((always_inline))

ALWAYS_INLINE Vector load(const float *p) { return _mm512_loadu_ps(p); }
ALWAYS_INLINE void store(float *p, Vector x) { _mm512_storeu_ps(p, x); }
ALWAYS_INLINE Vector splat(float x) { return _mm512_set1_ps(x); }
ALWAYS_INLINE Vector mul(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
ALWAYS_INLINE Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
ALWAYS_INLINE Vector fnma(Vector a, Vector b, Vector c) { return _mm512_fnmadd_ps(a, b, c); }

/// Underflow is gradual, and -inf gives 0.
ALWAYS_INLINE Vector exp(Vector x) {
  x = _mm512_max_ps(x, splat(-200.f));
  Vector n = _mm512_roundscale_ps(mul(x, splat(1.44269504088896341f)),
                                  _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  Vector r = fnma(n, splat(-2.12194440e-4f), fnma(n, splat(0.693359375f), x));
  Vector p = splat(1.9875691500e-4f);
  p = fma(p, r, splat(1.3981999507e-3f));
  p = fma(p, r, splat(8.3334519073e-3f));
  p = fma(p, r, splat(4.1665795894e-2f));
  p = fma(p, r, splat(1.6666665459e-1f));
  p = fma(p, r, splat(5.0000001201e-1f));
  p = fma(p, mul(r, r), _mm512_add_ps(r, splat(1.f)));
  return _mm512_scalef_ps(p, n);
}

/// Element e of the result is the sum of the elements of x[e].
ALWAYS_INLINE Vector sums(const Vector (&x)[16]) {
  Vector a[8], b[4], c[2];
  for (int i = 0; i < 8; ++i)
    a[i] = _mm512_add_ps(_mm512_shuffle_f32x4(x[i], x[i + 8], 0x44),
                         _mm512_shuffle_f32x4(x[i], x[i + 8], 0xEE));
  for (int i = 0; i < 4; ++i)
    b[i] = _mm512_add_ps(_mm512_shuffle_f32x4(a[i], a[i + 4], 0x88),
                         _mm512_shuffle_f32x4(a[i], a[i + 4], 0xDD));
  for (int i = 0; i < 2; ++i)
    c[i] = _mm512_add_ps(_mm512_unpacklo_ps(b[i], b[i + 2]), _mm512_unpackhi_ps(b[i], b[i + 2]));
  Vector d = _mm512_add_ps(_mm512_unpacklo_ps(c[0], c[1]), _mm512_unpackhi_ps(c[0], c[1]));
  // Lanes are those of x[i], x[i + 8], x[i + 4], x[i + 12].
  return _mm512_shuffle_f32x4(d, d, _MM_SHUFFLE(3, 1, 2, 0));
}

} // namespace hand

#endif // LINATTN_BENCHMARKS_HAND_VECTORS_H
