//===- RecurrenceSyntax.cpp - parsing and printing a recurrence ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
//   linattn.recurrence [parallel, time, parallel] reverse step(%live of 32)
//       ins(%q via #map : type as %arg : type, ...)
//       segments(%cu : type) position_offset(%p via #map : type)
//       outs(%o via #map : type, ...) states(%s via #map : type as %arg : type, ...)
//       checkpoints(%c via #map : type, ...) every 64
//       attributes {plan = #linattn.plan<...>} { body }
//
// A block argument is named where its operand is: nobody has to count positions.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::linattn;

//===----------------------------------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------------------------------===//

namespace {

/// `%x via #map : type`, and `as %arg : type` where the operand has a block argument.
struct ParsedOperand {
  OpAsmParser::UnresolvedOperand operand;
  Type type;
  AffineMapAttr map;
};

class RecurrenceParser {
public:
  RecurrenceParser(OpAsmParser &parser, OperationState &result) : parser(parser), result(result) {}

  ParseResult parse() {
    if (parseIterators() || parseFlags())
      return failure();
    SmallVector<ParsedOperand> ins, offset, outs, states, checkpoints;
    OpAsmParser::UnresolvedOperand segments;
    Type segmentsType;
    if (parseGroup("ins", ins, /*hasArg=*/true))
      return failure();
    bool hasSegments = succeeded(parser.parseOptionalKeyword("segments"));
    if (hasSegments && (parser.parseLParen() || parser.parseOperand(segments) ||
                        parser.parseColonType(segmentsType) || parser.parseRParen()))
      return failure();
    SMLoc offsetLoc = parser.getCurrentLocation();
    if (parseGroup("position_offset", offset, /*hasArg=*/false))
      return failure();
    if (offset.size() > 1)
      return parser.emitError(offsetLoc) << "expects one position offset, got " << offset.size();
    if (parseGroup("outs", outs, /*hasArg=*/false) ||
        parseGroup("states", states, /*hasArg=*/true) ||
        parseGroup("checkpoints", checkpoints, /*hasArg=*/false))
      return failure();
    if (!checkpoints.empty()) {
      int64_t interval;
      if (parser.parseKeyword("every") || parser.parseInteger(interval))
        return failure();
      result.addAttribute("checkpoint_interval", builder().getI64IntegerAttr(interval));
    }
    if (parseAttributes())
      return failure();
    Region *body = result.addRegion();
    SMLoc bodyLoc = parser.getCurrentLocation();
    if (parser.parseRegion(*body, args, /*enableNameShadowing=*/true))
      return failure();
    if (body->empty())
      return parser.emitError(bodyLoc,
                              "expects a body that ends in linattn.yield, got an empty region");

    SmallVector<int32_t> sizes{int32_t(ins.size()),    hasSegments,
                               int32_t(offset.size()), int32_t(outs.size()),
                               int32_t(states.size()), int32_t(checkpoints.size())};
    if (resolve(ins) ||
        (hasSegments && parser.resolveOperand(segments, segmentsType, result.operands)) ||
        resolve(offset) || resolve(outs) || resolve(states) || resolve(checkpoints))
      return failure();
    result.addAttribute("operandSegmentSizes", builder().getDenseI32ArrayAttr(sizes));
    result.addAttribute("indexing_maps", builder().getArrayAttr(maps));
    for (ArrayRef<ParsedOperand> group : {ArrayRef(outs), ArrayRef(states), ArrayRef(checkpoints)})
      for (const ParsedOperand &init : group)
        result.addTypes(init.type);
    return success();
  }

private:
  Builder &builder() { return parser.getBuilder(); }

  ParseResult parseIterators() {
    SmallVector<Attribute> kinds;
    auto parseKind = [&]() -> ParseResult {
      SMLoc loc = parser.getCurrentLocation();
      StringRef keyword;
      if (parser.parseKeyword(&keyword))
        return failure();
      std::optional<IteratorKind> kind = symbolizeIteratorKind(keyword);
      if (!kind)
        return parser.emitError(loc)
               << "expects iterator 'parallel', 'time' or 'segment', got '" << keyword << "'";
      kinds.push_back(IteratorKindAttr::get(parser.getContext(), *kind));
      return success();
    };
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseKind))
      return failure();
    result.addAttribute("iterators", builder().getArrayAttr(kinds));
    return success();
  }

  ParseResult parseFlags() {
    if (succeeded(parser.parseOptionalKeyword("reverse")))
      result.addAttribute("reverse", builder().getUnitAttr());
    if (failed(parser.parseOptionalKeyword("step")))
      return success();
    OpAsmParser::Argument live;
    int64_t step;
    if (parser.parseLParen() || parser.parseArgument(live) || parser.parseKeyword("of") ||
        parser.parseInteger(step) || parser.parseRParen())
      return failure();
    live.type = builder().getIndexType();
    args.push_back(live);
    result.addAttribute("step", builder().getI64IntegerAttr(step));
    return success();
  }

  ParseResult parseGroup(StringRef keyword, SmallVectorImpl<ParsedOperand> &group, bool hasArg) {
    if (failed(parser.parseOptionalKeyword(keyword)))
      return success();
    return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
      ParsedOperand operand;
      if (parser.parseOperand(operand.operand) || parser.parseKeyword("via") ||
          parser.parseAttribute(operand.map) || parser.parseColonType(operand.type))
        return failure();
      if (hasArg && (parser.parseKeyword("as") ||
                     parser.parseArgument(args.emplace_back(), /*allowType=*/true)))
        return failure();
      group.push_back(operand);
      maps.push_back(operand.map);
      return success();
    });
  }

  ParseResult parseAttributes() {
    SMLoc loc = parser.getCurrentLocation();
    NamedAttrList attributes;
    if (parser.parseOptionalAttrDictWithKeyword(attributes))
      return failure();
    for (NamedAttribute attribute : attributes) {
      StringRef name = attribute.getName();
      if (name == "plan") {
        if (!isa<PlanAttr>(attribute.getValue()))
          return parser.emitError(loc)
                 << "expects plan to be a #linattn.plan attribute, got " << attribute.getValue();
      } else if (llvm::is_contained(RecurrenceOp::getAttributeNames(), name) ||
                 name == "operandSegmentSizes") {
        return parser.emitError(loc)
               << "attribute '" << name << "' has a clause of its own and cannot be given here";
      }
      result.addAttribute(name, attribute.getValue());
    }
    return success();
  }

  ParseResult resolve(ArrayRef<ParsedOperand> group) {
    for (const ParsedOperand &operand : group)
      if (parser.resolveOperand(operand.operand, operand.type, result.operands))
        return failure();
    return success();
  }

  OpAsmParser &parser;
  OperationState &result;
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<Attribute> maps;
};

} // namespace

ParseResult RecurrenceOp::parse(OpAsmParser &parser, OperationState &result) {
  return RecurrenceParser(parser, result).parse();
}

//===----------------------------------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------------------------------===//

/// Prints `keyword(%x via #map : type as %arg : type, ...)` on a line of its own.
static void printGroup(OpAsmPrinter &printer, RecurrenceOp op, StringRef keyword,
                       MutableOperandRange group, ArrayRef<BlockArgument> args = {}) {
  if (group.empty())
    return;
  printer.printNewline();
  printer << "    " << keyword << "(";
  std::string indent(keyword.size() + 5, ' ');
  for (auto [index, operand] : llvm::enumerate(group)) {
    if (index) {
      printer << ",";
      printer.printNewline();
      printer << indent;
    }
    printer << operand.get() << " via " << AffineMapAttr::get(op.getMap(operand)) << " : "
            << operand.get().getType();
    if (!args.empty())
      printer << " as " << args[index] << " : " << args[index].getType();
  }
  printer << ")";
}

void RecurrenceOp::print(OpAsmPrinter &printer) {
  printer << " [";
  llvm::interleaveComma(getIterators(), printer, [&](Attribute kind) {
    printer << stringifyIteratorKind(cast<IteratorKindAttr>(kind).getValue());
  });
  printer << "]";
  if (getReverse())
    printer << " reverse";
  if (std::optional<int64_t> step = getStep())
    printer << " step(" << getLiveArg() << " of " << *step << ")";
  printGroup(printer, *this, "ins", getInsMutable(), getInArgs());
  if (Value segments = getSegments()) {
    printer.printNewline();
    printer << "    segments(" << segments << " : " << segments.getType() << ")";
  }
  printGroup(printer, *this, "position_offset", getPositionOffsetMutable());
  printGroup(printer, *this, "outs", getOutsMutable());
  printGroup(printer, *this, "states", getStatesMutable(), getStateArgs());
  printGroup(printer, *this, "checkpoints", getCheckpointsMutable());
  if (std::optional<int64_t> interval = getCheckpointInterval())
    printer << " every " << *interval;
  NamedAttrList attributes((*this)->getDiscardableAttrDictionary());
  if (PlanAttr plan = getPlanAttr())
    attributes.append("plan", plan);
  if (!attributes.empty()) {
    printer.printNewline();
    printer << "   ";
    printer.printOptionalAttrDictWithKeyword(attributes);
  }
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void RecurrenceOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  if (&region != &getBody() ||
      region.getNumArguments() != (getStep() ? 1 : 0) + getIns().size() + getStates().size())
    return;
  if (BlockArgument live = getLiveArg())
    setName(live, "live");
  for (auto [index, state] : llvm::enumerate(getStateArgs()))
    setName(state, index == 0 ? "S" : "S" + std::to_string(index));
}
