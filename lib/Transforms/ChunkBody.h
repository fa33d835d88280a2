//===- ChunkBody.h - the body of a chunk from the body of a token -------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_LIB_TRANSFORMS_CHUNKBODY_H
#define LINATTN_LIB_TRANSFORMS_CHUNKBODY_H

#include "linattn/Analysis/StateGraph.h"
#include "linattn/Transforms/Chunk.h"
#include "linattn/Transforms/Lift.h"

#include <array>
#include <map>

namespace mlir::linattn {

/// Builds the body of a chunk. Values of the token's body are lifted when somebody asks for them,
/// so states are solved in the order in which they depend on each other. What has no chunk form is
/// run token by token, in loops.
class ChunkBody {
public:
  /// `chunk` has its block arguments already; the body is appended to its block.
  ChunkBody(OpBuilder &builder, RecurrenceOp token, RecurrenceOp chunk, const StateGraph &graph,
            const ChunkOptions &options);

  /// Fails, with `getCulprit`, on an op whose results cannot be kept for all tokens.
  LogicalResult build();
  Operation *getCulprit() const { return culprit; }
  /// Ops that depend on no state and are run token by token.
  ArrayRef<Operation *> getRowByRow() const { return rowByRow; }

private:
  /// Multipliers of the tokens: none (1), one per token `[C]`, or one per token and channel `[C,
  /// K]`.
  using Factor = Value;

  /// The multipliers of the tokens that scale one axis of a state.
  struct Decays {
    Factor total;          ///< of a whole token
    Factor before, behind; ///< of the tokens before and behind each token, exclusive
  };

  /// A state while its chunk is built.
  struct Solved {
    explicit Solved(const StateInfo &info, Value state) : info(&info), state(state) {}
    const StateInfo *info;
    Value state;                  ///< before the chunk
    Value after;                  ///< after the chunk, if run token by token or shifted
    SmallVector<Factor> decays;   ///< of the ops of the trunk; none for writes
    SmallVector<Value> addresses; ///< per write `[C, K]`, along the axis of the state's class
    SmallVector<Value> values;    ///< per write `[C, V]`, along the other one
    /// Per axis: of the channels along it, without and with the multipliers of whole tokens.
    std::array<std::array<std::optional<Decays>, 2>, 2> products;
    bool isReady = false;

    /// If addresses are solved for, not values (ChunkAddresses.cpp): the writes that depend on
    /// reads, those whose values have a part that does not, and what the former write per row of
    /// the old state, `[C, K]`, and per token of each of the latter, `[C, C]`.
    SmallVector<unsigned> unknown, sources;
    SmallVector<SmallVector<Value>> passed;
  };

  /// What reads at one address see: of the old levels, and of each write.
  struct Seen {
    Value address;
    SmallVector<Value> old, weights;
  };

  /// Levels while their chunk is built.
  struct SolvedLevels {
    SolvedLevels(const StateLevels &info, Value state);
    const StateLevels *info;
    Solved shared;
    SmallVector<llvm::SmallBitVector> reach; ///< levels of which a token or more leaves something
    Value products;                          ///< `[C, L, columns]`
    SmallVector<int64_t> columns;            ///< of the sources
    DenseMap<std::pair<Value, Operation *>, Seen> seen;
  };

  // Lifting (ChunkBody.cpp).
  LogicalResult get(Value token);
  LogicalResult prepareReads(Operation *op);
  FailureOr<Value> readAll(ReadOp op);
  LogicalResult getUsed(Operation *op, function_ref<LogicalResult(Value)> getter);
  LogicalResult getZeroed(Value token, const StateInfo &info, Lifting &overlay);
  Value getChunk(Value token);
  bool isZeroOnDeadRows(Value token, const StateInfo *own = nullptr);
  Value clearDeadRows(Value chunk, Value token, const StateInfo *own = nullptr);
  Value fillDeadRows(Value chunk, double fill);
  Value flipRows(Value chunk);

  // States (ChunkState.cpp).
  LogicalResult prepare(Solved &solved);
  LogicalResult solve(Solved &solved);
  FailureOr<Value> read(Solved &solved, ReadOp op, ArrayRef<bool> include);
  FailureOr<Value> sumTerms(Solved &solved, unsigned write, Value sum,
                            function_ref<FailureOr<Value>(ReadOp)> getRows);
  FailureOr<Value> getConstant(Solved &solved, unsigned write, Lifting &overlay);
  FailureOr<Value> getSystem(Solved &solved, ArrayRef<unsigned> unknown);
  SmallVector<Value> solveSystem(Value matrix, ArrayRef<Value> sides);
  FailureOr<Value> getCoefficient(Solved &solved, const ReadTerm &term);
  Factor getFirstDecay(Solved &solved, ReadOp op);
  Value getFirstUse(Solved &solved, ReadOp op);
  Value readOld(Solved &solved, ReadOp op);
  bool isRounded(Solved &solved, ReadOp op = nullptr, std::optional<unsigned> write = std::nullopt);
  Factor getDecay(Operation *step);
  Factor getDecayBetween(Solved &solved, ArrayRef<Operation *> path, size_t from, size_t to,
                         int64_t axis, bool withScalars);
  const Decays &getDecays(Solved &solved, int64_t axis, bool withScalars);
  Value getMoved(Solved &solved, unsigned write, int64_t axis, bool withScalars);
  Value getBracket(Solved &solved, ReadOp op, unsigned write, bool withDiagonal);
  Value getOwn(Solved &solved, ReadOp op, size_t position, Value contracted, Value value);
  Value getAddress(Value token);
  Value finish(Solved &solved);

  Value decayWhole(Value state, const Decays &decays, int64_t axis);

  // Solved for addresses (ChunkAddresses.cpp).
  LogicalResult solveAddresses(Solved &solved);
  Value getWeights(Solved &solved, ReadOp op, std::optional<unsigned> source);
  Value getDiagonal(Value matrix);
  LogicalResult solveAcross(Solved &solved);

  // States that are mixed (ChunkLevels.cpp).
  FailureOr<Value> getNumbers(Value mix, unsigned state);
  LogicalResult multiplyLevels(SolvedLevels &levels);
  Value getProducts(SolvedLevels &levels, std::optional<int64_t> row, unsigned level,
                    int64_t column, bool isPair);
  bool isInLevel(SolvedLevels &levels, unsigned source, unsigned level);
  FailureOr<Value> readLevel(SolvedLevels &levels, ReadOp op);
  LogicalResult solveLevels(SolvedLevels &levels);

  // Windows of the last tokens (ChunkShift.cpp).
  LogicalResult shift(Solved &solved);

  // Token by token (ChunkSequential.cpp).
  void planLoops();
  void planLoop(const StateComponent &component);
  bool isStepOfChunk(Operation *op);
  const StateComponent *getLoop(Value token);
  bool isNeededOutside(Value token, const StateComponent *component);
  LogicalResult runComponent(const StateComponent &component);
  LogicalResult runOp(Operation *op);
  LogicalResult runRows(const StateComponent *component, ArrayRef<Operation *> ops);

  // Small builders (ChunkState.cpp).
  Factor multiply(Factor a, Factor b);
  Value scaleRows(Value rows, Factor factor);
  Value dotRows(Value a, Value b);
  Value product(Value matrix, Value rows, Value accumulator);
  Value extend(Value value);
  Value add(Value a, Value b);
  Value place(Value part, Value whole, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes);

  OpBuilder &builder;
  Location loc;
  RecurrenceOp token, chunk;
  const StateGraph &graph;
  int64_t rows, subchunk;
  OperandPrecision precision;
  Lifting lifting;
  Type element; ///< of the state that is being built
  /// What states share: the multipliers of decays by the same value, log or linear, in one element
  /// type, and the products of the same multipliers.
  std::array<DenseMap<std::pair<Value, Type>, Factor>, 2> multipliers;
  DenseMap<Value, Decays> products;
  std::vector<Solved> states;
  std::map<const StateLevels *, SolvedLevels> levels;
  Operation *culprit = nullptr;
  DenseSet<Operation *> live;                          ///< ops that outs or states need
  DenseMap<Operation *, const StateComponent *> loops; ///< in whose loop an op is
  DenseMap<const ReadTerm *, Value> coefficients;
  DenseSet<Value> zeroOnDeadRows; ///< results of loops
  SmallVector<Operation *> rowByRow;
};

} // namespace mlir::linattn

#endif // LINATTN_LIB_TRANSFORMS_CHUNKBODY_H
