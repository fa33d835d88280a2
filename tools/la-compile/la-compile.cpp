//===- la-compile.cpp - compile a module to an object file --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "../Registry.h"
#include "linattn/Runner/Codegen.h"
#include "linattn/Target/TargetMachine.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::linattn;

namespace {
/// The flags; see la-run's for why they are no globals.
struct Options {
  template <typename T> using Flag = llvm::cl::opt<T>;
  using Desc = llvm::cl::desc;
  using Value = llvm::cl::value_desc;

  Flag<std::string> file{llvm::cl::Positional, llvm::cl::Required, Desc("FILE.mlir")};
  Flag<std::string> output{"o", Value("file"), llvm::cl::init("-"), Desc("Where to write")};
  Flag<CodeKind> emit{
      "emit", Desc("What to write (default: obj)"), llvm::cl::init(CodeKind::object),
      llvm::cl::values(clEnumValN(CodeKind::object, "obj", "position-independent object code"),
                       clEnumValN(CodeKind::assembly, "asm", "assembly"),
                       clEnumValN(CodeKind::llvm, "llvm", "optimised LLVM IR"))};
  Flag<std::string> triple{"triple", Value("triple"),
                           Desc("Such as aarch64-linux-gnu (default: this machine's)")};
  Flag<std::string> cpu{"cpu", Value("name"),
                        Desc("LLVM's name of the CPU, or native (default: this machine's, or with "
                             "--triple a generic one)")};
  Flag<std::string> features{"features", Value("+x,-y"),
                             Desc("Features of the CPU to add or leave out")};
  Flag<std::string> pipeline{"pipeline", Value("passes"), llvm::cl::init(kDefaultPipeline.str()),
                             Desc("Passes from tensors to the LLVM dialect (default: "
                                  "builtin.module(linattn-to-cpu-pipeline))")};
};
} // namespace

static llvm::Error compile(const Options &flags) {
  auto machine = createTargetMachine({flags.triple, flags.cpu, flags.features},
                                     /*inThisProcess=*/false);
  if (!machine)
    return machine.takeError();
  MLIRContext context(registerEverything());
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto module = parseSourceFile<ModuleOp>(flags.file, sources, &context);
  if (!module)
    return llvm::createStringError("cannot parse " + flags.file);
  for (auto function : module->getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      emitCInterface(function);
  if (llvm::Error error = runPipeline(*module, **machine, flags.pipeline))
    return error;
  std::string message;
  auto output = openOutputFile(flags.output, &message);
  if (!output)
    return llvm::createStringError(message);
  llvm::SmallVector<char> buffer;
  llvm::raw_svector_ostream code(buffer);
  if (llvm::Error error = emitCode(*module, **machine, flags.emit, code))
    return error;
  output->os() << code.str();
  output->keep();
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  llvm::cl::ResetCommandLineParser();
  Options flags;
  llvm::cl::ParseCommandLineOptions(argc, argv, "compiles functions over tensors to object code\n");
  llvm::Error error = compile(flags);
  if (!error)
    return 0;
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << '\n';
  return 1;
}
