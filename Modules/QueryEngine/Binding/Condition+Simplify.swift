import StorageInterface

extension Condition {
  /// An equivalent condition: flat, without nested constants, with the intervals of one column merged and the cheap parts
  /// first. Linear, except that merging compares the few tests of a conjunction pairwise.
  func simplified() -> Condition {
    switch self {
    case .constant, .pair, .row: return self
    case .own(let own): return own.test.isEmpty ? .constant(false) : self
    case .not(let inner):
      switch inner.simplified() {
      case .constant(let value): return .constant(!value)
      case .not(let twice): return twice
      case let other: return .not(other)
      }
    case .and(let parts): return Condition.conjunction(of: parts)
    case .or(let parts): return Condition.disjunction(of: parts)
    }
  }

  private static func conjunction(of parts: [Condition]) -> Condition {
    var flat: [Condition] = []
    for part in parts {
      switch part.simplified() {
      case .constant(true): continue
      case .constant(false): return .constant(false)
      case .and(let inner): for other in inner { other.join(&flat) }
      case let other: other.join(&flat)
      }
    }
    for part in flat { if case .own(let own) = part, own.test.isEmpty { return .constant(false) } }
    if flat.count == 1 { return flat[0] }
    return flat.isEmpty ? .constant(true) : .and(flat.orderedByCost())
  }

  /// Adds the condition to a conjunction, merged into a test of the same column if possible.
  private func join(_ parts: inout [Condition]) {
    if case .own(let own) = self {
      for i in parts.indices {
        if case .own(var other) = parts[i], other.column == own.column,
          let merged = other.test.intersection(own.test)
        {
          other.test = merged
          parts[i] = .own(other)
          return
        }
      }
    }
    parts.append(self)
  }

  private static func disjunction(of parts: [Condition]) -> Condition {
    var flat: [Condition] = []
    for part in parts {
      switch part.simplified() {
      case .constant(false): continue
      case .constant(true): return .constant(true)
      case .or(let inner): flat += inner
      case let other: flat.append(other)
      }
    }
    if flat.count == 1 { return flat[0] }
    return flat.isEmpty ? .constant(false) : .or(flat.orderedByCost())
  }

  /// The terms of the conjunction.
  var conjuncts: [Condition] {
    switch self {
    case .and(let parts): parts
    case .constant(true): []
    default: [self]
    }
  }
}

extension [Condition] {
  /// Stable: parts of one cost keep the order in which they were written.
  fileprivate func orderedByCost() -> [Condition] {
    let costs = map(\.cost)
    if zip(costs, costs.dropFirst()).allSatisfy({ $0 <= $1 }) { return self }
    return indices.sorted { (costs[$0], $0) < (costs[$1], $1) }.map { self[$0] }
  }
}
