//===- Machine.h - what the machine can do at most, and clocks ----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_MACHINE_H
#define LINATTN_BENCHMARKS_MACHINE_H

#include <cstdint>
#include <functional>

/// Calls `work(i)` for 0 <= i < count, divided over threads.
void forEach(int threads, int64_t count, const std::function<void(int64_t)> &work);

/// With cpuTime, seconds that the calling thread has run; else seconds of a steady clock.
double now(bool cpuTime);

/// Operations per second of fused multiply-adds in f32.
double measureFmaPeak(int threads, bool cpuTime);
/// The same of dot products of bf16 pairs; 0 if the machine has no such instruction.
double measureBf16Peak(int threads, bool cpuTime);
/// Bytes per second, read and written, of a pass that changes `count` floats in place.
double measureInPlaceBandwidth(float *data, int64_t count, int threads, bool cpuTime);

#endif // LINATTN_BENCHMARKS_MACHINE_H
