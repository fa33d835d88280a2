//===- TargetDescription.cpp - what code generation asks of a CPU -------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Target/TargetDescription.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/IR/Builders.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::linattn;

static constexpr StringRef kDevice = "CPU";

/// Calls `visit` with the key and the field of each value.
template <typename Description, typename Visitor>
static void forEachField(Description &description, Visitor visit) {
  visit("vector_bits", description.vectorBits);
  visit("vector_registers", description.vectorRegisters);
  visit("vector_masks", description.hasMasks);
  visit("bf16_conversion", description.convertsBf16);
  visit("bf16_dot", description.hasBf16Dot);
}

TargetDescription TargetDescription::get(const llvm::TargetMachine &machine) {
  // LLVM answers for a function.
  llvm::LLVMContext context;
  llvm::Module module("", context);
  module.setDataLayout(machine.createDataLayout());
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), /*isVarArg=*/false);
  auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "", module);
  // LLVM's tuning for Intel's CPUs prefers 256 bits because a few wide instructions may lower the
  // clock. Loops of multiply-adds gain; so that preference counts only if the features ask for it.
  if (machine.getTargetTriple().isX86())
    function->addFnAttr(
        "target-features",
        ("-prefer-256-bit,-prefer-128-bit," + machine.getTargetFeatureString()).str());
  llvm::TargetTransformInfo info = machine.getTargetTransformInfo(*function);

  TargetDescription description;
  description.vectorBits =
      info.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
  description.vectorRegisters =
      info.getNumberOfRegisters(info.getRegisterClassForType(/*Vector=*/true));
  // Without vectors, LLVM splits them.
  description.vectorBits = std::max<int64_t>(description.vectorBits, 128);
  description.vectorRegisters = std::max<int64_t>(description.vectorRegisters, 8);
  auto *vector = llvm::FixedVectorType::get(llvm::Type::getFloatTy(context), 4);
  description.hasMasks = info.isLegalMaskedLoad(vector, llvm::Align(4), /*AddressSpace=*/0);
  auto hasFeature = [&](StringRef name) {
    return llvm::any_of(machine.getMCSubtargetInfo()->getEnabledProcessorFeatures(),
                        [&](const auto &feature) { return feature.Key == name; });
  };
  description.hasBf16Dot = hasFeature("avx512bf16") || hasFeature("bf16");
  description.convertsBf16 = description.hasBf16Dot || hasFeature("avxneconvert");
  return description;
}

TargetDescription TargetDescription::get(Operation *op) {
  TargetDescription description;
  forEachField(description, [&](StringRef key, auto &field) {
    FailureOr<Attribute> value = dlti::query(op, {kDevice, key});
    if (auto integer = dyn_cast_or_null<IntegerAttr>(value.value_or(nullptr)))
      field = integer.getValue().getZExtValue();
  });
  return description;
}

bool TargetDescription::isKnown(Operation *op) {
  while (op && !op->hasAttr(DLTIDialect::kTargetSystemDescAttrName))
    op = op->getParentOp();
  return op;
}

void TargetDescription::attachTo(ModuleOp module) const {
  StringRef name = DLTIDialect::kTargetSystemDescAttrName;
  if (module->hasAttr(name))
    return;
  Builder builder(module.getContext());
  SmallVector<DataLayoutEntryInterface> fields;
  auto getEntry = [&](StringRef key, Attribute value) {
    return DataLayoutEntryAttr::get(builder.getStringAttr(key), value);
  };
  forEachField(*this, [&](StringRef key, auto field) {
    bool isFlag = std::is_same_v<decltype(field), bool>;
    Attribute value = builder.getI64IntegerAttr(field);
    fields.push_back(getEntry(key, isFlag ? builder.getBoolAttr(field) : value));
  });
  auto device = TargetDeviceSpecAttr::get(module.getContext(), fields);
  module->setAttr(name,
                  TargetSystemSpecAttr::get(module.getContext(), {getEntry(kDevice, device)}));
}
