import QueryModel
import Storage
import TestSupport
import Values

/// Rules of the powers that a backend may add; where it adds none they hold.
extension StorageConformance {
  static let powerChecks: [ConformanceCheck] = [
    ConformanceCheck("windowsAgreeWithPointReads") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(2_100, store, $0) }
      try store.write { try changeVaried(store, $0) }
      try store.read { try checkWindows($0, store) }
      try store.writeInVain { write in
        try checkWindows(write, store)
        try write.set(store.person.column(named: "rank"), ObjectKey(firstKey(write, store)), word: -12_345)
        try addVaried(5, store, write, from: 3_000)
        try checkWindows(write, store)
      }
    },
    ConformanceCheck("noWindowHoldsADeadKey") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<300, $0) }
      try store.write { write in for key in Int64(50)...60 { try write.delete(store.person.id, ObjectKey(key)) } }
      try store.read { read in
        guard let read = read as? any WindowedReading else { return }
        for key in [Int64](arrayLiteral: 55, 50, 60, 0, -1, 301, .max, .min) {
          let window = try read.window(store.person.column(named: "rank"), containing: ObjectKey(key))
          try expect(window == nil, "a window for the key \(key)")
        }
        guard let window = try read.window(store.person.column(named: "rank"), containing: ObjectKey(49)) else {
          throw ConformanceFailure("no window for a key that lives")
        }
        for key in Int64(50)...60 {
          let row = Int(key - window.firstKey)
          guard row < window.vector.count else { continue }
          try expect(window.live.map { $0[row >> 6] >> UInt64(row & 63) & 1 == 0 } ?? false, "key \(key) is live in the window of 49")
        }
      }
    },
    ConformanceCheck("aWindowOfAnotherKindOfColumnIsMisuse") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<3, $0) }
      try store.read { read in
        guard let read = read as? any WindowedReading else { return }
        try expectError(.misuse, nil, "window of a list") { try read.window(store.person.column(named: "numbers"), containing: ObjectKey(1)) }
        try expectError(.misuse, nil, "window of nothing") { try read.window(ColumnID(TableID(99), PropertyID(1)), containing: ObjectKey(1)) }
      }
    },
    ConformanceCheck("pushedDownConditionsAgreeWithAScan") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(300, store, $0) }
      try store.read { try checkPushdown($0, store) }
      try store.writeInVain { write in
        try changeVaried(store, write)
        try checkPushdown(write, store)
      }
    },
  ]

  private static func firstKey(_ tx: any StorageReading, _ store: ConformanceStore) -> Int64 {
    (try? tx.allRows(store.person, []).first?.key) ?? 1
  }

  private static func checkWindows(_ tx: any StorageReading, _ store: ConformanceStore) throws {
    guard let windows = tx as? any WindowedReading else { return }
    let names = ["id", "name", "age", "score", "born", "tag", "photo", "weight", "isNice", "rank", "best"]
    for (key, values) in try tx.allRows(store.person, names) where key % 17 == 3 || key > 2_095 {
      for (name, value) in zip(names, values) {
        let column = store.person.column(named: name)
        guard let window = try windows.window(column, containing: ObjectKey(key)) else {
          throw ConformanceFailure("no window of \(name) for \(key)")
        }
        let row = Int(key - window.firstKey)
        try expect((0..<window.vector.count).contains(row), "the window of \(name) does not hold \(key)")
        try expect(window.live.map { $0[row >> 6] >> UInt64(row & 63) & 1 == 1 } ?? true, "\(key) is a hole in its window")
        let type = try unwrap(store.person[name]?.schema.valueType, "type of \(name)")
        try expectEqual(window.vector.value(at: row, as: type), value, "\(name) of \(key) in its window")
      }
    }
  }

  private static func checkPushdown(_ tx: any StorageReading, _ store: ConformanceStore) throws {
    guard let pushing = tx as? any QueryPushdown else { return }
    let constants: [(String, [Value])] = [
      ("age", [.null, .int(0), .int(-20), .int(7), .double(2.5)]), ("name", [.string("a1"), .string(""), .string("é0")]),
      ("score", [.double(0), .double(.nan), .double(2.25), .null, .int(2)]), ("email", [.null, .string("5@example.org")]),
      ("isNice", [.bool(true), .null]), ("rank", [.int(100), .int(.max)]), ("weight", [.float(0.5), .float(-2)]),
    ]
    for (name, values) in constants {
      for value in values {
        for comparator in [ComparisonOperator.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual] {
          let condition = PredicateNode.comparison(Comparison(.path(PropertyPath(name)), comparator, .constant(value)))
          for node in [condition, .not(condition)] {
            try checkPushed(pushing, store, Query(type: "Person", condition: node)) { read, key in
              let matches = compare(try read.value(store.person, name, key), comparator, value)
              return node == condition ? matches : !matches
            }
          }
        }
      }
    }
  }

  /// Two-valued: null equals null and nothing else and is below nothing, but a null string is below every string;
  /// NaN equals nothing.
  private static func compare(_ a: Value, _ comparator: ComparisonOperator, _ b: Value) -> Bool {
    if a.isNull, case .string = b, comparator == .less || comparator == .lessOrEqual { return true }
    let isOrdered = !a.isNull && !b.isNull && !a.isNotANumber && !b.isNotANumber
    let order = a.order(to: b)
    let isEqual = a.isNull || b.isNull ? a.isNull && b.isNull : isOrdered && order == .same
    return switch comparator {
    case .equal: isEqual
    case .notEqual: !isEqual
    case .less: isOrdered && order == .before
    case .lessOrEqual: isEqual || (isOrdered && order == .before)
    case .greater: isOrdered && order == .after
    case .greaterOrEqual: isEqual || (isOrdered && order == .after)
    default: false
    }
  }

  private static func checkPushed(
    _ tx: any QueryPushdown, _ store: ConformanceStore, _ query: Query,
    _ matches: (any StorageReading, ObjectKey) throws -> Bool
  ) throws {
    guard let pushed = try tx.pushdown(query) else { return }
    var keys: [Int64] = []
    try tx.keys(pushed) { block in
      keys += block
      return .proceed
    }
    let expected = try tx.allRows(store.person, []).map(\.key).filter { try matches(tx, ObjectKey($0)) }
    if pushed.residual == .constant(true) {
      try expectEqual(keys, expected, "\(query.condition) as \(pushed.statement)")
    } else {
      try expect(Set(keys).isSuperset(of: expected), "\(query.condition) as \(pushed.statement) lost rows")
    }
    try expectEqual(try tx.count(pushed), keys.count, "count of \(query.condition)")
  }
}

extension Value {
  fileprivate var isNotANumber: Bool {
    switch self {
    case .float(let x): x.isNaN
    case .double(let x): x.isNaN
    default: false
    }
  }
}
