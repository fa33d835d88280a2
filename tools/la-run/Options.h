//===- Options.h - the command line of la-run ---------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_TOOLS_LA_RUN_OPTIONS_H
#define LINATTN_TOOLS_LA_RUN_OPTIONS_H

#include "linattn/Runner/CompiledFunction.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::linattn {

/// The flags. Not globals: the libraries of LLVM register hundreds of flags, one called `threads`
/// among them, and `main` first has to clear these.
struct Options {
  template <typename T> using Flag = llvm::cl::opt<T>;
  using Texts = llvm::cl::list<std::string>;
  using Desc = llvm::cl::desc;
  using Value = llvm::cl::value_desc;

  llvm::cl::OptionCategory category{"la-run options"};
  llvm::cl::cat in{category};

  Texts files{llvm::cl::Positional, in, Desc("FILE.mlir")};
  Flag<std::string> function{"function", in, Value("name"),
                             Desc("The function to run (default: the only public one)")};

  Texts args{"arg", in, Value("[I=]FILE.npy|VALUE"),
             Desc("An argument, in order or for position I; VALUE for scalars. bf16 is <V2 (or "
                  "<u2) in a file; values are never converted")};
  Flag<std::string> random{"random", in, Value("seed"),
                           Desc("Fill arguments that are not given, uniformly")};
  Texts shapes{"shape", in, Value("I=2x33x4"),
               Desc("The shape of argument I, for --random and --fill")};
  Texts ranges{"range", in, Value("I=LO:HI"),
               Desc("The range of random argument I (default for floats: -1:1; integers need one "
                    "and include both ends)")};
  Texts fills{"fill", in, Value("I=VALUE"),
              Desc("Fill argument I with one value, such as 0, nan or -inf")};

  Flag<std::string> out{"out", in, Value("prefix"), Desc("Write result I to <prefix>I.npy")};
  Texts expect{"expect", in, Value("[I=]FILE.npy"),
               Desc("The expected result, in order or for position I; a float result takes any "
                    "float type")};
  Flag<double> rtol{"rtol", in, Value("R"),
                    Desc("Each element: |got - expected| <= atol + rtol |expected|. Default of "
                         "both: f64 1e-12, f32 1e-5, f16 2e-3, bf16 2e-2, integers 0")};
  Flag<double> atol{"atol", in, Value("A"), Desc("See --rtol")};
  Flag<double> normTol{
      "norm-tol", Value("E"),
      Desc("Instead of --rtol and --atol: max|got - expected| <= E max|expected|")};

  Flag<std::string> pipeline{"pipeline", in, Value("passes"),
                             llvm::cl::init(CompileOptions().pipeline),
                             Desc("Passes from tensors to the LLVM dialect (default: "
                                  "builtin.module(linattn-to-cpu-pipeline))")};
  Flag<std::string> cpu{"cpu", in, Value("name"),
                        Desc("Generate code for this CPU (default: $LINATTN_CPU, else the host)")};
  Flag<std::string> features{"features", in, Value("+x,-y"),
                             Desc("Features of the CPU to add or leave out")};
  Flag<std::string> saveIR{"save-ir", in, Value("file"),
                           Desc("Write the module after the pipeline")};
  Flag<bool> guard{"guard", in,
                   Desc("Put NaN margins and inaccessible pages around every buffer, and "
                        "report accesses to them")};

  Flag<unsigned> threads{"threads", in, Value("N"), Desc("OpenMP threads (default: all cores)")};
  Flag<unsigned> repeat{"repeat", in, Value("N"),
                        Desc("Time N runs after a warm-up; each gets fresh arguments")};
  Flag<bool> timePhases{"time-phases",
                        Desc("Print the times of parsing, passes, code generation and run")};
  Flag<bool> checkNpy{"check-npy", in, Desc("Only read .npy files and say what they hold")};
};

} // namespace mlir::linattn

#endif // LINATTN_TOOLS_LA_RUN_OPTIONS_H
