import Storage
import Values

// Properties that follow from others: what an edit touches is noted, and computed when somebody asks or at the commit.

extension RecordedTransaction {
  /// Computes what earlier edits of this write left to be computed. Part of the commit; before a read it makes derived
  /// properties right within the write. O(touched objects), and for anything but counts the elements each has.
  public func settleDerived() throws(StorageError) {
    while let place = underived.popFirst() {
      guard try transaction.contains(place.table, ObjectKey(place.key)) else { continue }
      for derived in derivations.byTable[place.table] ?? [] {
        try set(derived.column, ObjectKey(place.key), try value(of: derived, ObjectKey(place.key)))
      }
    }
  }

  /// Whether there is anything to be computed.
  public var hasUnderived: Bool { !underived.isEmpty }

  /// Computes every derived property of every object: when one was added to a type that has objects.
  public func deriveAll() throws(StorageError) {
    for table in derivations.byTable.keys {
      try transaction.scan(table, [], from: ObjectKey(1), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) {
          underived.insert(ObjectPlace(table: table, key: batch.key(at: row).rawValue))
        }
        return .proceed
      }
    }
    try settleDerived()
  }

  /// A scalar of an object has another value.
  func noteSet(_ column: ColumnID, _ key: ObjectKey, old: Int64?, new: Int64?) throws(StorageError) {
    if derivations.isEmpty { return }
    for derived in derivations.byRelationship[column] ?? [] {
      for target in [old, new] {
        if let target { underived.insert(ObjectPlace(table: derived.column.table, key: target)) }
      }
    }
    try noteSource(column, key)
  }

  /// A number that others follow from has another value.
  func noteSource(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) {
    if derivations.isEmpty { return }
    for derived in derivations.bySource[column] ?? [] {
      if derived.isInverse {
        try noteTargets(of: derived, key)
      } else {
        try transaction.sources(of: key, through: derived.relationship) { owners in
          for owner in owners { underived.insert(ObjectPlace(table: derived.column.table, key: owner)) }
          return .proceed
        }
      }
    }
  }

  /// A collection is about to be edited, or was.
  func noteCollection(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) {
    if derivations.isEmpty { return }
    for derived in derivations.byRelationship[column] ?? [] {
      if derived.isInverse {
        try noteTargets(of: derived, owner)
      } else {
        underived.insert(ObjectPlace(table: derived.column.table, key: owner.rawValue))
      }
    }
  }

  /// An object came, or is about to go.
  func noteObject(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    if derivations.isEmpty { return }
    if derivations.byTable[table] != nil { underived.insert(ObjectPlace(table: table, key: key.rawValue)) }
    for derived in derivations.byOrigin[table] ?? [] { try noteTargets(of: derived, key) }
  }

  /// What an object points to by the relationship that an inverse follows back.
  private func noteTargets(of derived: DerivedColumn, _ key: ObjectKey) throws(StorageError) {
    let isScalar = transaction.catalog[derived.relationship]?.schema.isScalar ?? true
    let relationship = Relationship(column: derived.relationship, target: derived.column.table, isList: !isScalar)
    for target in try targets(of: relationship, key.rawValue) {
      underived.insert(ObjectPlace(table: derived.column.table, key: target))
    }
  }

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
    return DerivedColumn.value(derived.derivation.function, of: numbers, isInteger: derived.schema.valueType?.integerRange != nil)
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
  /// A sum of integers that leaves Int64 stays at its bound: an edit must not fail for what follows from it.
  fileprivate static func value(_ function: Derivation.Function, of numbers: [Value], isInteger: Bool) -> Value {
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
    case .average:
      return numbers.isEmpty ? .null : .double(numbers.reduce(0) { $0 + double($1) } / Double(numbers.count))
    case .sum:
      if !isInteger { return .double(numbers.reduce(0) { $0 + double($1) }) }
      var (total, carry) = (Int64(0), 0)
      for case .int(let x) in numbers {
        let (sum, overflow) = total.addingReportingOverflow(x)
        total = sum
        if overflow { carry += x > 0 ? 1 : -1 }
      }
      return .int(carry == 0 ? total : carry > 0 ? .max : .min)
    }
  }
}
