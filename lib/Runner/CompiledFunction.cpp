//===- CompiledFunction.cpp - compile a function ------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/CompiledFunction.h"
#include "RuntimeLibraries.h"
#include "linattn/Runner/Codegen.h"
#include "linattn/Runner/GuardedMemory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>

using namespace mlir;
using namespace mlir::linattn;

llvm::Expected<func::FuncOp> linattn::findFunction(ModuleOp module, StringRef name) {
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (function.getName() == name)
      return function;
    if (function.isPublic())
      candidates.push_back(function);
  }
  if (name.empty() && candidates.size() == 1)
    return candidates.front();
  std::string text = name.empty() ? "expected one public func.func with a body"
                                  : ("no func.func with a body is called '" + name + "'").str();
  text += ", the module has ";
  text += candidates.empty() ? "none" : "";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(candidates, os,
                        [&](func::FuncOp function) { os << "'" << function.getName() << "'"; });
  if (name.empty() && !candidates.empty())
    os << "; choose with --function";
  return llvm::createStringError(text);
}

//===----------------------------------------------------------------------===//
// Calling convention
//===----------------------------------------------------------------------===//

static llvm::Error checkType(Type type, const Twine &what) {
  Type elementType = type;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (tensor.getEncoding())
      elementType = nullptr;
    else
      elementType = tensor.getElementType();
  }
  if (elementType && getElementFor(elementType))
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream(text) << what << " has type " << type
                                 << "; expected a ranked tensor or a scalar of i1, i8 to i64, "
                                    "index, bf16, f16, f32 or f64";
  return llvm::createStringError(text);
}

llvm::Error linattn::checkSignature(func::FuncOp function) {
  for (auto [position, type] : llvm::enumerate(function.getArgumentTypes()))
    if (llvm::Error error = checkType(type, "argument " + Twine(position)))
      return error;
  for (auto [position, type] : llvm::enumerate(function.getResultTypes()))
    if (llvm::Error error = checkType(type, "result " + Twine(position)))
      return error;
  return llvm::Error::success();
}

/// The LLVM type of a value inside the lowered function: a memref descriptor or a scalar.
static Type getLoweredType(Type type) {
  MLIRContext *context = type.getContext();
  Type i64 = IntegerType::get(context, 64);
  if (type.isIndex())
    return i64;
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(context, integer.getWidth());
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  Type pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> fields{pointer, pointer, i64};
  if (tensor.getRank() > 0)
    fields.append(2, LLVM::LLVMArrayType::get(i64, tensor.getRank()));
  return LLVM::LLVMStructType::getLiteral(context, fields);
}

/// The type that the function must have after the pipeline, where descriptors of arguments are
/// spread over several parameters.
static LLVM::LLVMFunctionType getLoweredFunctionType(FunctionType type) {
  MLIRContext *context = type.getContext();
  Type i64 = IntegerType::get(context, 64);
  Type pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> parameters;
  for (Type input : type.getInputs()) {
    if (auto tensor = dyn_cast<RankedTensorType>(input)) {
      parameters.append({pointer, pointer, i64});
      parameters.append(2 * tensor.getRank(), i64);
    } else {
      parameters.push_back(getLoweredType(input));
    }
  }
  SmallVector<Type> results = llvm::map_to_vector(type.getResults(), getLoweredType);
  Type result = LLVM::LLVMVoidType::get(context);
  if (results.size() == 1)
    result = results.front();
  else if (!results.empty())
    result = LLVM::LLVMStructType::getLiteral(context, results);
  return LLVM::LLVMFunctionType::get(result, parameters);
}

/// A pipeline may change the calling convention (for example turn results into arguments); a call
/// by the wrong one would crash.
static llvm::Error checkLoweredFunction(ModuleOp module, StringRef name,
                                        LLVM::LLVMFunctionType expected) {
  auto lowered = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  auto wrapper = module.lookupSymbol<LLVM::LLVMFuncOp>(("_mlir_ciface_" + name).str());
  if (!lowered || !wrapper)
    return llvm::createStringError("after the pipeline, '" + name +
                                   "' is not an llvm.func with a C interface; the pipeline must "
                                   "end in the LLVM dialect (convert-func-to-llvm)");
  if (lowered.getFunctionType() == expected)
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream(text) << "the pipeline gave '" << name << "' the type "
                                 << lowered.getFunctionType() << ", expected " << expected
                                 << " (one memref descriptor per tensor)";
  return llvm::createStringError(text);
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

static llvm::Error saveModule(ModuleOp module, StringRef path) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << module;
    file.close();
    error = file.error();
    file.clear_error();
  }
  if (error)
    return llvm::createStringError("cannot write " + path + ": " + error.message());
  return llvm::Error::success();
}

static llvm::Expected<std::unique_ptr<ExecutionEngine>>
createEngine(ModuleOp module, std::unique_ptr<llvm::TargetMachine> machine, bool guard) {
  std::string missing;
  auto buildModule = [&](Operation *op, llvm::LLVMContext &context) {
    std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(op, context);
    if (llvmModule)
      missing = llvm::toString(loadRuntimeLibraries(*llvmModule));
    return missing.empty() ? std::move(llvmModule) : nullptr;
  };
  auto optimize = getOptimizations(*machine);
  ExecutionEngineOptions engineOptions;
  engineOptions.llvmModuleBuilder = buildModule;
  engineOptions.transformer = optimize;
  // Listeners write files or keep the code for a debugger; nothing here reads them.
  engineOptions.enableGDBNotificationListener = false;
  engineOptions.enablePerfNotificationListener = false;
  auto engine = ExecutionEngine::create(module, engineOptions, std::move(machine));
  if (!missing.empty()) {
    llvm::consumeError(engine.takeError());
    return llvm::createStringError(missing);
  }
  if (!engine)
    return engine.takeError();
  (*engine)->registerSymbols([&](llvm::orc::MangleAndInterner intern) {
    auto symbol = [](auto *function) {
      return llvm::orc::ExecutorSymbolDef(llvm::orc::ExecutorAddr::fromPtr(function),
                                          llvm::JITSymbolFlags::Exported);
    };
    llvm::orc::SymbolMap symbols;
    symbols[intern("__truncsfbf2")] = symbol(static_cast<float (*)(float)>(truncateToBF16));
    symbols[intern("__truncdfbf2")] = symbol(static_cast<float (*)(double)>(truncateToBF16));
    if (guard) {
      symbols[intern("malloc")] = symbol(guardedMalloc);
      symbols[intern("aligned_alloc")] = symbol(guardedAlignedAlloc);
      symbols[intern("free")] = symbol(guardedFree);
    }
    return symbols;
  });
  return engine;
}

llvm::Expected<std::unique_ptr<CompiledFunction>>
CompiledFunction::compile(ModuleOp module, func::FuncOp function, const CompileOptions &options) {
  if (llvm::Error error = checkSignature(function))
    return error;
  auto machine = createTargetMachine(options.target, /*inThisProcess=*/true);
  if (!machine)
    return machine.takeError();
  FunctionType type = function.getFunctionType();
  std::unique_ptr<CompiledFunction> compiled(new CompiledFunction());
  compiled->argumentTypes.assign(type.getInputs().begin(), type.getInputs().end());
  compiled->resultTypes.assign(type.getResults().begin(), type.getResults().end());
  compiled->guard = options.guard;

  std::string name = function.getName().str();
  emitCInterface(function);
  auto start = std::chrono::steady_clock::now();
  if (llvm::Error error = runPipeline(module, **machine, options.pipeline))
    return error;
  compiled->times.passes = millisecondsSince(start);
  if (!options.saveIR.empty())
    if (llvm::Error error = saveModule(module, options.saveIR))
      return error;
  if (llvm::Error error = checkLoweredFunction(module, name, getLoweredFunctionType(type)))
    return error;

  start = std::chrono::steady_clock::now();
  auto engine = createEngine(module, std::move(*machine), options.guard);
  if (!engine)
    return engine.takeError();
  compiled->engine = std::move(*engine);
  // Code is generated when an address is first asked for.
  auto entry = compiled->engine->lookupPacked("_mlir_ciface_" + name);
  if (!entry)
    return entry.takeError();
  compiled->entry = *entry;
  compiled->engine->initialize();
  compiled->times.codegen = millisecondsSince(start);
  return compiled;
}

CompiledFunction::~CompiledFunction() = default;
