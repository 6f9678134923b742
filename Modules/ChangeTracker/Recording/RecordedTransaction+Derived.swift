import StorageInterface
import StoreValues

// Derived properties: edits note what they affect, which is computed on demand or at the commit.

extension RecordedTransaction {
  /// Computes the derived properties that earlier edits of this write have affected. Part of the commit; call it before a read
  /// that needs them within the write. O(edits) for counts, sums of integers, and least and greatest values (unless that value
  /// itself was lost); O(elements of each affected object) for sums of doubles and averages.
  public func settleDerived() throws(StorageError) {
    while let (place, pending) = underived.popFirst() {
      let key = ObjectKey(place.key)
      do throws(StorageError) {
        guard let derived = derivations.byColumn[place.column], try transaction.contains(place.column.table, key) else { continue }
        try set(place.column, key, try settled(derived, pending, key))
      } catch {
        underived[place] = .anew
        throw error
      }
    }
  }

  private func settled(
    _ derived: DerivedColumn, _ pending: PendingDerivation, _ key: ObjectKey
  ) throws(StorageError) -> Value {
    if case .by(let delta) = pending,
      let moved = delta.applied(to: try transaction.value(derived.column, key), derived.derivation.function)
    {
      return moved
    }
    return try value(of: derived, key)
  }

  /// Whether derived properties are pending.
  public var hasUnderived: Bool { !underived.isEmpty }

  /// Computes every derived property of every object: needed when one was added to a type that has objects.
  public func deriveAll() throws(StorageError) {
    for (table, derived) in derivations.byTable {
      try transaction.scan(table, [], from: ObjectKey(1), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) {
          for derived in derived { noteAnew(derived, batch.key(at: row).rawValue) }
        }
        return .proceed
      }
    }
    try settleDerived()
  }
}

// MARK: - What edits touch

extension RecordedTransaction {
  /// Call when a scalar of an object has changed. Not called if nothing is derived.
  func noteSet(_ column: ColumnID, _ key: ObjectKey, old: Value, new: Value) throws(StorageError) {
    for derived in derivations.byRelationship[column] ?? [] {
      if let target = old.linkedKey { try note(derived, target, lost: key.rawValue) }
      if let target = new.linkedKey { try note(derived, target, gained: key.rawValue) }
    }
    for derived in derivations.bySource[column] ?? [] {
      var owners: [Int64] = []
      if derived.isInverse {
        owners = try targets(of: derived, key)
      } else {
        try transaction.sources(of: key, through: derived.relationship) { block in
          owners += block
          return .proceed
        }
      }
      for owner in owners {
        change(derived, owner) { delta in delta.lose(old, derived.derivation.function) }
        change(derived, owner) { delta in delta.gain(new, derived.derivation.function) }
      }
    }
  }

  /// The objects that an edit of a collection is about to remove, if a derived property needs them.
  func derivedLosses(of column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) -> [Int64] {
    if !derives { return [] }
    guard let affected = derivations.byRelationship[column], affected.contains(where: \.needsElements),
      let range = edit.lostRange
    else { return [] }
    return try elements(column, owner, range)
  }

  /// Call when a collection was edited.
  func noteEdit(_ column: ColumnID, _ owner: ObjectKey, lost: [Int64], gained: [Int64]) throws(StorageError) {
    if !derives { return }
    for derived in derivations.byRelationship[column] ?? [] {
      if derived.isInverse {
        for target in lost { try note(derived, target, lost: owner.rawValue) }
        for target in gained { try note(derived, target, gained: owner.rawValue) }
      } else if derived.needsElements {
        for element in lost { try note(derived, owner.rawValue, lost: element) }
        for element in gained { try note(derived, owner.rawValue, gained: element) }
      } else {
        noteAnew(derived, owner.rawValue)
      }
    }
  }

  /// Call when an object was inserted.
  func noteInsertion(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    if !derives { return }
    for derived in derivations.byTable[table] ?? [] { noteAnew(derived, key.rawValue) }
    for derived in derivations.byOrigin[table] ?? [] {
      for target in try targets(of: derived, key) { try note(derived, target, gained: key.rawValue) }
    }
  }

  /// Call when an object is about to be deleted.
  func noteDeletion(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    if !derives { return }
    for derived in derivations.byOrigin[table] ?? [] {
      for target in try targets(of: derived, key) { try note(derived, target, lost: key.rawValue) }
    }
  }

  /// - Parameter other: the object whose number no longer counts.
  private func note(_ derived: DerivedColumn, _ owner: Int64, lost other: Int64) throws(StorageError) {
    if isAnew(derived, owner) { return }
    let value = try number(of: derived, other)
    change(derived, owner) { delta in delta.lose(value, derived.derivation.function) }
  }

  private func note(_ derived: DerivedColumn, _ owner: Int64, gained other: Int64) throws(StorageError) {
    if isAnew(derived, owner) { return }
    let value = try number(of: derived, other)
    change(derived, owner) { delta in delta.gain(value, derived.derivation.function) }
  }

  private func change(_ derived: DerivedColumn, _ owner: Int64, _ body: (inout DerivedDelta) -> Bool) {
    let place = DerivedPlace(column: derived.column, key: owner)
    var delta = DerivedDelta()
    switch underived[place] {
    case .anew: return
    case .by(let known): delta = known
    case nil: break
    }
    underived[place] = derived.takesDeltas && body(&delta) ? .by(delta) : .anew
  }

  private func noteAnew(_ derived: DerivedColumn, _ owner: Int64) {
    underived[DerivedPlace(column: derived.column, key: owner)] = .anew
  }

  private func isAnew(_ derived: DerivedColumn, _ owner: Int64) -> Bool {
    if case .anew = underived[DerivedPlace(column: derived.column, key: owner)] { true } else { false }
  }

  /// The aggregated number of an object; null if none is needed, and for a missing object.
  private func number(of derived: DerivedColumn, _ key: Int64) throws(StorageError) -> Value {
    guard derived.takesDeltas, let source = derived.source, try transaction.contains(source.table, ObjectKey(key)) else { return .null }
    return try transaction.value(source, ObjectKey(key))
  }

  /// The targets of an object by the relationship that an inverse follows back.
  private func targets(of derived: DerivedColumn, _ key: ObjectKey) throws(StorageError) -> [Int64] {
    let isScalar = transaction.catalog[derived.relationship]?.schema.isScalar ?? true
    return try targets(
      of: Relationship(column: derived.relationship, target: derived.column.table, isList: !isScalar), key.rawValue)
  }
}

// MARK: - Anew

extension RecordedTransaction {
  private func value(of derived: DerivedColumn, _ key: ObjectKey) throws(StorageError) -> Value {
    if !derived.isInverse, derived.derivation.function == .count {
      return .int(Int64(try transaction.elementCount(derived.relationship, key)))
    }
    let others = try others(of: derived, key)
    if derived.derivation.function == .count { return .int(Int64(others.count)) }
    guard let source = derived.source else { return .null }
    var numbers: [Value] = []
    for other in others {
      let value = try transaction.value(source, ObjectKey(other))
      if !value.isNull { numbers.append(value) }
    }
    return DerivedColumn.value(derived.derivation.function, of: numbers, as: derived.schema.valueType ?? .double)
  }

  private func others(of derived: DerivedColumn, _ key: ObjectKey) throws(StorageError) -> [Int64] {
    if !derived.isInverse {
      return try targets(of: Relationship(column: derived.relationship, target: TableID(0), isList: true), key.rawValue)
    }
    var keys: [Int64] = []
    try transaction.sources(of: key, through: derived.relationship) { block in
      keys += block
      return .proceed
    }
    return keys
  }
}

extension DerivedColumn {
  /// A sum of integers that overflows Int64 is clamped: an edit must not fail because of a derived value.
  fileprivate static func value(_ function: Derivation.Function, of numbers: [Value], as type: ValueType) -> Value {
    func double(_ value: Value) -> Double {
      switch value {
      case .int(let x): Double(x)
      case .float(let x): Double(x)
      case .double(let x): x
      default: 0
      }
    }
    switch function {
    case .count: return .int(Int64(numbers.count))
    case .min: return numbers.min { $0.order(to: $1) == .before } ?? .null
    case .max: return numbers.max { $0.order(to: $1) == .before } ?? .null
    case .average where type == .decimal:
      return numbers.isEmpty ? .null : .decimal(sum(ofDecimals: numbers) / Decimal128(numbers.count))
    case .average:
      return numbers.isEmpty ? .null : .double(numbers.reduce(0) { $0 + double($1) } / Double(numbers.count))
    case .sum where type == .decimal: return .decimal(sum(ofDecimals: numbers))
    case .sum:
      if type.integerRange == nil { return .double(numbers.reduce(0) { $0 + double($1) }) }
      var (total, carry) = (Int64(0), 0)
      for case .int(let x) in numbers {
        let (sum, overflow) = total.addingReportingOverflow(x)
        total = sum
        if overflow { carry += x > 0 ? 1 : -1 }
      }
      return .int(carry == 0 ? total : carry > 0 ? .max : .min)
    }
  }

  /// Exact, rounded once, so that the order of a collection does not affect its sum.
  private static func sum(ofDecimals numbers: [Value]) -> Decimal128 {
    var sum = DecimalSum()
    for case .decimal(let number) in numbers { sum.add(number) }
    return sum.value
  }
}
