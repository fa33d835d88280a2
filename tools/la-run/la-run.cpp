//===- la-run.cpp - compile a function and run it on arrays -------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Registry.h"
#include "Options.h"
#include "linattn/Runner/Arguments.h"
#include "linattn/Runner/CheckArguments.h"
#include "linattn/Runner/CompiledFunction.h"
#include "linattn/Runner/NumpyFile.h"
#include "linattn/Runner/Outputs.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace mlir::linattn;

/// Describes each file; an unreadable one makes the status 1.
static llvm::Expected<bool> checkNumpyFiles(const Options &flags) {
  bool allGood = true;
  for (const std::string &path : flags.files) {
    auto array = readNumpyFile(path);
    if (array)
      llvm::outs() << path << ": " << array->describe() << ' ' << summarize(*array) << '\n';
    else
      llvm::outs() << "error: " << llvm::toString(array.takeError()) << '\n';
    allGood &= static_cast<bool>(array);
  }
  return allGood;
}

static OwningOpRef<ModuleOp> parse(llvm::SourceMgr &sources, MLIRContext &context,
                                   AsmParserState &state) {
  const llvm::MemoryBuffer &buffer = *sources.getMemoryBuffer(sources.getMainFileID());
  if (isBytecode(buffer.getMemBufferRef()))
    return parseSourceFile<ModuleOp>(sources, &context);
  Block block;
  if (failed(parseAsmSourceFile(sources, &block, &context, &state)))
    return nullptr;
  return mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, &context, FileLineColLoc::get(&context, buffer.getBufferIdentifier(), 0, 0));
}

/// Returns false if a result is not what was expected or a guard was hit.
static llvm::Expected<bool> run(const Options &flags) {
  if (flags.files.size() != 1)
    return llvm::createStringError("expected one FILE.mlir, got " + Twine(flags.files.size()));
  std::string message;
  auto file = openInputFile(flags.files.front(), &message);
  if (!file)
    return llvm::createStringError(message);
  ArgumentOptions argumentOptions{flags.args, flags.shapes, flags.ranges, flags.fills,
                                  std::nullopt};
  uint64_t seed;
  if (flags.random.getNumOccurrences()) {
    if (StringRef(flags.random).getAsInteger(10, seed))
      return llvm::createStringError("--random: expected a number, got '" + flags.random + "'");
    argumentOptions.seed = seed;
  }

  MLIRContext context(registerEverything());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  AsmParserState parserState;
  auto start = std::chrono::steady_clock::now();
  OwningOpRef<ModuleOp> module = parse(sources, context, parserState);
  std::chrono::duration<double, std::milli> parseTime = std::chrono::steady_clock::now() - start;
  if (!module)
    return llvm::createStringError("cannot parse " + flags.files.front());

  auto function = findFunction(*module, flags.function);
  if (!function)
    return function.takeError();
  RunOptions runOptions{flags.repeat, flags.threads, getArgumentNames(*function, parserState)};
  auto arguments = makeArguments(*function, runOptions.argumentNames, argumentOptions);
  if (!arguments)
    return arguments.takeError();
  if (llvm::Error error = checkArguments(*function, *arguments, runOptions.argumentNames))
    return error;
  OutputOptions outputOptions{flags.out, flags.expect, {}};
  auto given = [](const Options::Flag<double> &flag) {
    return flag.getNumOccurrences() ? std::optional<double>(flag) : std::nullopt;
  };
  outputOptions.tolerance = {given(flags.rtol), given(flags.atol), given(flags.normTol)};
  auto expected = readExpectations(outputOptions, function->getNumResults());
  if (!expected)
    return expected.takeError();

  // So that a whole suite can be run for another CPU.
  const char *defaultCpu = std::getenv("LINATTN_CPU");
  std::string cpu = flags.cpu.empty() && defaultCpu ? defaultCpu : flags.cpu.getValue();
  auto compiled = CompiledFunction::compile(
      *module, *function,
      {flags.pipeline, {/*triple=*/"", cpu, flags.features}, flags.guard, flags.saveIR});
  if (!compiled)
    return compiled.takeError();
  auto report = (*compiled)->run(*arguments, runOptions);
  if (!report)
    return report.takeError();
  auto matches = reportResults(report->results, (*compiled)->getResultTypes(), *expected,
                               outputOptions, llvm::outs());
  if (!matches)
    return matches;
  if (flags.repeat)
    reportTimes(report->times, llvm::outs());
  if (flags.timePhases)
    llvm::outs() << llvm::format("phases: parse %.3f ms, compile %.3f ms, codegen %.3f ms, ",
                                 parseTime.count(), (*compiled)->getTimes().passes,
                                 (*compiled)->getTimes().codegen)
                 << llvm::format("run %.3f ms\n", report->times.front());
  for (StringRef line : llvm::split(StringRef(report->damage).trim(), '\n'))
    if (!line.empty())
      llvm::errs() << "error: " << line << '\n';
  return *matches && report->damage.empty();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  // Generated code says why it aborts on the C library's stdout, which abort() does not flush.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  llvm::cl::ResetCommandLineParser();
  Options flags;
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "compiles a function over tensors and runs it on arrays\n");
  auto good = flags.checkNpy ? checkNumpyFiles(flags) : run(flags);
  if (!good)
    llvm::errs() << "error: " << llvm::toString(good.takeError()) << '\n';
  return good && *good ? 0 : 1;
}
