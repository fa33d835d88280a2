//===- Codegen.cpp - from a module to code of a machine -----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Runner/Codegen.h"

#include "linattn/Target/TargetDescription.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::linattn;

void linattn::emitCInterface(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  context->loadDialect<LLVM::LLVMDialect>();
  function.setPublic();
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), UnitAttr::get(context));
}

llvm::Error linattn::runPipeline(ModuleOp module, const llvm::TargetMachine &machine,
                                 StringRef pipeline) {
  std::string message;
  llvm::raw_string_ostream os(message);
  FailureOr<OpPassManager> parsed = parsePassPipeline(pipeline, os);
  if (failed(parsed))
    return llvm::createStringError("cannot parse the pipeline '" + pipeline +
                                   "': " + StringRef(message).trim());
  module.getContext()->loadDialect<DLTIDialect>();
  TargetDescription::get(machine).attachTo(module);
  PassManager manager(module.getContext());
  static_cast<OpPassManager &>(manager) = std::move(*parsed);
  // Once at the end, not after every pass, which takes a third of the time; la-opt does that.
  manager.enableVerifier(false);
  if (failed(manager.run(module)) || failed(verify(module)))
    return llvm::createStringError("the pipeline '" + pipeline + "' failed");
  return llvm::Error::success();
}

std::function<llvm::Error(llvm::Module *)> linattn::getOptimizations(llvm::TargetMachine &machine) {
  return makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0, &machine);
}

llvm::Error linattn::emitCode(ModuleOp module, llvm::TargetMachine &machine, CodeKind kind,
                              llvm::raw_pwrite_stream &os) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, context);
  if (!llvmModule)
    return llvm::createStringError("the module has ops that are not of the LLVM dialect; the "
                                   "pipeline must end there");
  llvmModule->setDataLayout(machine.createDataLayout());
  llvmModule->setTargetTriple(machine.getTargetTriple());
  if (llvm::Error error = getOptimizations(machine)(llvmModule.get()))
    return error;
  if (kind == CodeKind::llvm) {
    llvmModule->print(os, /*AAW=*/nullptr);
    return llvm::Error::success();
  }
  llvm::legacy::PassManager passes;
  auto fileType = kind == CodeKind::object ? llvm::CodeGenFileType::ObjectFile
                                           : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, os, /*DwoOut=*/nullptr, fileType))
    // no-test: the targets of the tests write both
    return llvm::createStringError("LLVM cannot write this kind of file for " +
                                   machine.getTargetTriple().str());
  passes.run(*llvmModule);
  return llvm::Error::success();
}
