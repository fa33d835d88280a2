//===- StateGraph.h - how the states of a recurrence evolve -------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_ANALYSIS_STATEGRAPH_H
#define LINATTN_ANALYSIS_STATEGRAPH_H

#include "linattn/IR/LinAttn.h"

#include "llvm/ADT/SmallBitVector.h"
#include <vector>

namespace mlir::linattn {

enum class StateClass {
  lowRank,   ///< decays and outer products; what is written is affine in what is read
  shift,     ///< keeps what the last tokens brought, for a fixed number of tokens
  scan,      ///< updates whose compositions have the same form; run in order, with vectors
  sequential ///< anything else: token by token
};
StringRef stringifyStateClass(StateClass stateClass);

/// `+-` product of the factors over the divisors: what multiplies a read in a written value. Each
/// factor is a scalar of the token or a tensor whose entries are all equal.
struct ReadTerm {
  ReadOp read;
  bool negative = false;
  SmallVector<Value> factors, divisors;
};

/// A value that the state takes inside a step: the ops that lead to it from the state before the
/// step. The values form a tree; the new state is the end of its trunk.
struct StateValue {
  SmallVector<Operation *> path; ///< decays and writes, in order
  size_t trunkLength;            ///< how many ops of the path lie on the trunk
};

/// The vector that a write has along `axis`: its address, or its value.
inline Value getVector(WriteOp write, int64_t axis) {
  return int64_t(write.getAxis()) == axis ? write.getAddress() : write.getValue();
}

/// One write of the trunk: an outer product of an address, along the state's `axis`, and a value.
struct StateWrite {
  WriteOp op;
  Value address, value;
  SmallVector<ReadTerm> terms; ///< empty: the value does not depend on what was read
  bool hasConstant = false;    ///< it is not only a sum of terms
};

struct StateInfo {
  unsigned index;
  StateClass stateClass = StateClass::lowRank;
  /// Why the state is not low-rank, and the op that is in the way.
  std::string reason;
  Operation *culprit = nullptr;
  /// Of a scan, what is composed; of a shift, what it keeps.
  StringRef form;

  /// Of a shift: what a token brings. It is the whole new state, or the last row of a window from
  /// which the first row leaves.
  Value entering;
  bool isWindow = false;

  /// The rest describes low-rank states.
  int64_t axis = 0; ///< the axis that reads contract which feed writes
  SmallVector<Operation *> trunk;
  SmallVector<StateWrite> writes; ///< those on the trunk, in order
  SmallVector<ReadOp> reads;
  llvm::DenseMap<Value, StateValue> values;
  /// Values of the body that are computed from the state's own reads.
  llvm::DenseSet<Value> dependent;

  /// True if there are decays along the other axis, and writes that depend on reads.
  bool isSolvedAcross() const;
};

/// States that depend on each other, directly or in a circle; usually one state.
struct StateComponent {
  SmallVector<unsigned> states; ///< in order; more than one: all of them are sequential
  bool isRunInOrder;            ///< in a loop over the tokens of a chunk
};

/// Low-rank states that begin a token as sums of each other's old values, with numbers of the
/// token, and then go through the same decays and writes of what they read; each may add writes of
/// its own behind them.
struct StateLevels {
  SmallVector<unsigned> states;
  SmallVector<Value> mixes;                ///< what each of them begins a token with
  StateInfo shared;                        ///< one state to which all of it happens
  llvm::DenseMap<Value, unsigned> levelOf; ///< of the values of `shared`
  llvm::DenseMap<Operation *, SmallVector<unsigned>> writers; ///< levels that a write changes
};

/// Classifies every state of a recurrence by abstract interpretation of its updates
/// (docs/ChunkDerivation.md says why the rules are what they are).
class StateGraph {
public:
  explicit StateGraph(RecurrenceOp op);

  ArrayRef<StateInfo> getStates() const { return states; }
  /// Each component depends on earlier ones only.
  ArrayRef<StateComponent> getComponents() const { return components; }
  /// The state that a read or write works on; null if it is none that the graph follows.
  const StateInfo *lookup(Operation *step) const;
  /// The levels to which a state belongs; null if it is none.
  const StateLevels *getLevels(unsigned state) const;
  /// The states from whose values before the token `value` is computed.
  llvm::SmallBitVector getSources(Value value) const { return sources.lookup(value); }
  llvm::SmallBitVector getSources(Operation *op) const;
  /// True if the new value of state `to` depends on state `from`, at once or by way of other states
  /// and later tokens.
  bool feeds(unsigned from, unsigned to) const { return successors[from][to]; }
  /// True if a new state depends on what `read` reads, directly or by way of other reads.
  static bool feedsStates(ReadOp read);
  /// True if a chunk has something to gain: some state that is changed or read has a chunk form.
  bool isChunkable() const;
  void print(raw_ostream &os) const;

private:
  void joinLevels();
  bool dissolveLevels();
  // StateComponents.cpp
  void findSources(RecurrenceOp op);
  void findComponents(RecurrenceOp op);
  bool joinWhatLoopsNeed(RecurrenceOp op, const StateComponent &component);
  bool joinWhatLoopsRead(RecurrenceOp op);

  std::vector<StateInfo> states;
  std::vector<StateLevels> levels;
  std::vector<StateComponent> components;
  llvm::DenseMap<Value, llvm::SmallBitVector> sources;
  SmallVector<llvm::SmallBitVector> successors; ///< of each state, transitively
};

} // namespace mlir::linattn

#endif // LINATTN_ANALYSIS_STATEGRAPH_H
