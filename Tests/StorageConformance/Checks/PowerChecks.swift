import QueryModel
import StorageInterface
import StoreValues
import VivariumTestSupport

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
        guard let read = read.powers.windows else { return }
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
    ConformanceCheck("aWindowStaysWhileOtherColumnsAreRead") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(700, store, $0) }
      try store.read { read in
        guard let windows = read.powers.windows else { return }
        let (rank, name) = (store.person.column(named: "rank"), store.person.column(named: "name"))
        // In the order of keys, so that engines read ahead, and with the column read later standing still meanwhile.
        for key in try read.allRows(store.person, []).map(\.key) {
          let window = try unwrap(try windows.window(rank, containing: ObjectKey(key)), "a window of rank")
          for other in key...key + 5 { _ = try windows.window(name, containing: ObjectKey(other)) }
          let row = Int(key - window.firstKey)
          try expectEqual(window.vector.value(at: row, as: .int64), try read.value(rank, ObjectKey(key)), "rank of \(key)")
        }
      }
    },
    ConformanceCheck("aWindowAfterALookUpIsOfTheObjectFound") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try store.addPeople(0..<40, $0) }
      func check(_ tx: any StorageReading) throws {
        guard let windows = tx.powers.windows else { return }
        for i in [3, 30, 7, 7, 8, 39, 0] {
          let key = try unwrap(try tx.key(in: store.person.index("id"), equalTo: Int64(i)), "the key of \(i)")
          for name in i % 2 == 0 ? ["rank", "name"] : ["name", "id"] {
            let window = try unwrap(try windows.window(store.person.column(named: name), containing: key), "a window")
            let type = try unwrap(store.person[name]?.schema.valueType, "type of \(name)")
            try expectEqual(
              window.vector.value(at: Int(key.rawValue - window.firstKey), as: type),
              try tx.value(store.person.column(named: name), key), "\(name) of \(key)")
          }
        }
      }
      try store.read { try check($0) }
      try store.writeInVain { write in
        try check(write)
        for i in [3, 7] { try write.set(store.person.column(named: "rank"), keys[i], word: Int64(900 + i)) }
        try check(write)
      }
    },
    ConformanceCheck("gatheredWordsAreThoseReadOneByOne") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(2_100, store, $0) }
      try store.write { try changeVaried(store, $0) }
      func check(_ tx: any StorageReading) throws {
        guard let gathering = tx.powers.gathering else { return }
        let keys = try tx.allRows(store.person, []).map(\.key).filter { $0 % 7 != 2 }.reversed() as [Int64]
        var words = [Int64](repeating: 0, count: keys.count)
        var nulls = [Bool](repeating: false, count: keys.count)
        for name in ["id", "age", "score", "born", "weight", "isNice", "rank", "best"] {
          let column = store.person.column(named: name)
          try gather(gathering, column, keys, &words, &nulls)
          for (i, key) in keys.enumerated() {
            try expectEqual(nulls[i] ? nil : words[i], try tx.word(column, ObjectKey(key)), "\(name) of \(key)")
          }
        }
        try expectError(.objectDeleted, .statement, "a gathered object that is not there") {
          try gather(gathering, store.person.column(named: "rank"), [keys[0], 1 << 40], &words, &nulls)
        }
        try expectError(.misuse, nil, "gathered bytes") {
          try gather(gathering, store.person.column(named: "name"), [keys[0]], &words, &nulls)
        }
      }
      try store.read { try check($0) }
      try store.writeInVain { write in
        try changeVaried(store, write)
        try check(write)
      }
    },
    ConformanceCheck("totalsOfAnEngineAreThoseOfAScan") { subject in
      let store = try ConformanceStore(subject)
      func check(_ tx: any StorageReading) throws {
        guard let adding = tx.powers.aggregates else { return }
        for name in ["id", "age", "score", "weight", "rank"] {
          let type = try unwrap(store.person[name]?.schema.valueType, "type of \(name)")
          let values = try tx.allRows(store.person, [name]).map { $0.values[0] }.filter { !$0.isNull }
          try checkTotals(adding, store.person.column(named: name), type, values)
        }
      }
      try store.read { try check($0) }
      try store.write { try addVaried(2_100, store, $0) }
      try store.read { try check($0) }
      try store.writeInVain { write in
        try changeVaried(store, write)
        try check(write)
      }
    },
    ConformanceCheck("aWindowOfAnotherKindOfColumnIsMisuse") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<3, $0) }
      try store.read { read in
        guard let read = read.powers.windows else { return }
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

  private static func gather(
    _ tx: any GatheringReading, _ column: ColumnID, _ keys: [Int64], _ words: inout [Int64], _ nulls: inout [Bool]
  ) throws {
    try keys.withUnsafeBufferPointer { keys in
      try words.withUnsafeMutableBufferPointer { words in
        try nulls.withUnsafeMutableBufferPointer { nulls in
          guard let words = words.baseAddress, let nulls = nulls.baseAddress else { return }
          try tx.words(column, of: keys, into: words, nulls: nulls)
        }
      }
    }
  }

  private static func checkTotals(
    _ tx: any AggregatePushdown, _ column: ColumnID, _ type: ValueType, _ values: [Value]
  ) throws {
    func real(_ value: Value) -> Double {
      switch value {
      case .double(let x): x
      case .float(let x): Double(x)
      default: .nan
      }
    }
    if let total = try tx.total(of: column, .mean) {
      try expectEqual(total.count, values.count, "the count of \(column)")
      var (integers, reals): (Int128, RealSum) = (0, RealSum())
      for value in values { if case .int(let x) = value { integers += Int128(x) } else { reals.add(real(value)) } }
      try expectEqual(total.integers, integers, "the sum of \(column)")
      let isSame = total.reals.value.bitPattern == reals.value.bitPattern || (total.reals.value.isNaN && reals.value.isNaN)
      try expect(isSame, "the sum of \(column) is \(total.reals.value), not \(reals.value)")
      let sum = try unwrap(try tx.total(of: column, .sum), "the sum without the count")
      try expectEqual(sum.integers, integers, "the sum of \(column) alone")
    }
    let numbers = values.filter { value in if case .int = value { true } else { !real(value).isNaN } }
    for (part, wanted) in [
      (ColumnTotal.Part.least, numbers.min { $0.order(to: $1) == .before }),
      (.greatest, numbers.max { $0.order(to: $1) == .before }),
    ] {
      guard let total = try tx.total(of: column, part) else { continue }
      let found = total.bound.flatMap { Value(word: $0, type: type) } ?? .null
      try expect(found.order(to: wanted ?? .null) == .same, "\(part) of \(column) is \(found), not \(wanted ?? .null)")
    }
  }

  private static func firstKey(_ tx: any StorageReading, _ store: ConformanceStore) -> Int64 {
    (try? tx.allRows(store.person, []).first?.key) ?? 1
  }

  private static func checkWindows(_ tx: any StorageReading, _ store: ConformanceStore) throws {
    guard let windows = tx.powers.windows else { return }
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
    guard let pushing = tx.powers.pushdown else { return }
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
