//===- TargetMachine.cpp - LLVM's machine for a named target ------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Target/TargetMachine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace mlir::linattn;
using llvm::StringRef;

/// LLVM itself only warns of features that it does not know.
static llvm::Error checkFeatures(StringRef features, const llvm::MCSubtargetInfo &known,
                                 const llvm::Triple &triple) {
  for (StringRef feature : llvm::split(features, ',')) {
    StringRef name = feature;
    if (!name.consume_front("+") && !name.consume_front("-"))
      return llvm::createStringError("expected features such as +fma,-avx512f, got '" + feature +
                                     "'");
    if (llvm::none_of(known.getAllProcessorFeatures(),
                      [&](const auto &other) { return name == other.Key; }))
      return llvm::createStringError("LLVM knows no feature '" + name + "' for " + triple.str() +
                                     "; llc -mtriple=" + triple.str() + " -mattr=help lists them");
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
mlir::linattn::createTargetMachine(const TargetName &name, bool inThisProcess) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::Triple host(llvm::sys::getProcessTriple());
  llvm::Triple triple =
      name.triple.empty() ? host : llvm::Triple(llvm::Triple::normalize(name.triple));
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target || !triple.isArch64Bit())
    return llvm::createStringError("LLVM has no 64-bit target for the triple '" + name.triple +
                                   "'; expected one such as x86_64-linux-gnu or aarch64-linux-gnu "
                                   "(llc --version lists targets)");

  bool isHost = name.cpu.empty() ? name.triple.empty() : name.cpu == "native";
  std::string cpu = isHost ? llvm::sys::getHostCPUName().str() : name.cpu;
  llvm::SubtargetFeatures features;
  if (isHost) {
    if (triple.getArch() != host.getArch())
      return llvm::createStringError("the CPU 'native' is this machine's, but the triple is " +
                                     triple.str());
    for (const auto &[feature, isThere] : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature, isThere);
  }
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, /*CPU=*/"", /*Features=*/""));
  if (!cpu.empty() && !known->isCPUStringValid(cpu))
    return llvm::createStringError("LLVM knows no CPU '" + cpu + "' for " + triple.str() +
                                   "; llc -mtriple=" + triple.str() + " -mcpu=help lists them");
  if (!name.features.empty()) {
    if (llvm::Error error = checkFeatures(name.features, *known, triple))
      return error;
    features.addFeaturesVector(llvm::SubtargetFeatures(name.features).getFeatures());
  }
  llvm::TargetOptions options;
  options.MCOptions.AsmVerbose = true; // says what is a loop and a spill
  std::optional<llvm::Reloc::Model> relocation;
  if (!inThisProcess)
    relocation = llvm::Reloc::PIC_;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, cpu, features.getString(), options, relocation,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive, inThisProcess));
}
