import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let rangeChecks: [ConformanceCheck] = [
    ConformanceCheck("rangesOverOneColumnAgreeWithAFilter") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(180, store, $0) }
      let probes: [(String, [Value])] = [
        ("id", [.int(.min), .int(0), .int(5_000), .int(7_919), .int(.max)]),
        ("name", [.string(""), .string("a"), .string("ab1"), .string("zz"), .string("é0"), .string("a\0")]),
        ("age", [.null, .int(-20), .int(-1), .int(0), .int(19), .int(1_000)]),
        ("score", [.null, .double(.nan), .double(-.infinity), .double(-1.5), .double(-0.0), .double(0), .double(.infinity)]),
        ("born", [.null] + TimestampSamples.edges.map { .date($0) }),
        ("tag", [.null] + Extremes.uuids), ("photo", [.null, .data(Data()), .data(Data([128])), .data(Data([128, 0]))]),
        ("weight", [.null, .float(.nan), .float(-2), .float(0), .float(-0.0)]),
        ("email", [.null, .string("1@example.org"), .string("5")]),
      ]
      func check(_ tx: any StorageReading) throws {
        for (name, values) in probes { try checkRanges(tx, store, [name], [], values) }
      }
      try store.read { try check($0) }
      try store.writeInVain { write in
        try changeVaried(store, write)
        try check(write)
      }
    },
    ConformanceCheck("rangesOverCompoundIndexesAgreeWithAFilter") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(180, store, $0) }
      let ages: [Value] = [.null, .int(-20), .int(0), .int(3)]
      let scores: [Value] = [.null, .double(.nan), .double(0), .double(2.25)]
      try store.read { read in
        for name in ["a0", "ab1", "", "nobody"] { try checkRanges(read, store, ["name", "age"], [.string(name)], ages) }
        try checkRanges(read, store, ["name", "age"], [], [.string("a"), .string("ab2")])
        for age in ages {
          try checkRanges(read, store, ["age", "score", "name"], [age], scores)
          for score in scores {
            try checkRanges(read, store, ["age", "score", "name"], [age, score], [.string(""), .string("a2"), .string("é")])
          }
        }
        try checkRanges(read, store, ["score", "isNice"], [], scores)
        for score in scores { try checkRanges(read, store, ["score", "isNice"], [score], [.null, .bool(false)]) }
      }
    },
    ConformanceCheck("boundsOfOtherNumericTypesCompareByValue") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(200, store, $0) }
      try store.read { read in
        let halves: [Value] = [
          .double(-3.5), .double(0), .double(-0.0), .double(2.5), .float(2.5), .double(.nan), .double(.infinity),
          .double(-.infinity), .double(0x1p63), .double(-0x1p63), .double(1e300),
        ]
        try checkRanges(read, store, ["age"], [], halves)
        try checkRanges(read, store, ["score"], [], [.int(0), .int(2), .int(.max), .float(2.25), .int(-2)])
        try checkRanges(read, store, ["weight"], [], [.int(0), .double(0.5), .double(0.1), .int(.min), .double(1e300)])
        try checkRanges(read, store, ["id"], [], [.double(7_919), .double(7_919.5), .float(16)])
      }
    },
    ConformanceCheck("boundsOfOtherKindsCompareByKind") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(100, store, $0) }
      let kinds: [Value] = [
        .null, .bool(true), .int(0), .string("m"), .data(Data([1])), .date(Timestamp(secondsSinceReferenceDate: 0)),
        Extremes.uuids[2], .link(ObjectKey(3)),
      ]
      try store.read { read in
        for name in ["age", "name", "score", "born", "tag", "photo", "weight", "best", "isNice"] {
          try checkRanges(read, store, [name], [], kinds)
        }
      }
    },
    ConformanceCheck("anUpperBoundBelowTheLowerFindsNothing") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<50, $0) }
      try store.read { read in
        let index = store.person.index("id")
        for range in [
          IndexRange(lower: .including(.int(30)), upper: .including(.int(10))),
          IndexRange(lower: .excluding(.int(10)), upper: .excluding(.int(10))),
          IndexRange(lower: .including(.int(10)), upper: .excluding(.int(10))),
          IndexRange(lower: .excluding(.int(10)), upper: .including(.int(10))),
          IndexRange(lower: .excluding(.int(10)), upper: .excluding(.int(11))),
        ] {
          for descending in [false, true] { try expectEqual(try read.allKeys(in: index, range, descending: descending), []) }
          try expectEqual(try read.count(in: index, range), 0)
        }
      }
    },
    ConformanceCheck("nullIsFoundByEqualAndExcludedByItsBound") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<40, $0) }
      try store.read { read in
        let index = store.person.index("age")
        let nulls = try read.allKeys(in: index, IndexRange(equal: [.null]))
        try expectEqual(nulls, (0..<40).filter { $0 % 4 == 0 }.map { Int64($0 + 1) })
        try expectEqual(try read.count(in: index, IndexRange(lower: .excluding(.null))), 30)
        try expectEqual(try read.count(in: index, IndexRange(upper: .including(.null))), 10)
        try expectEqual(try read.count(in: index, IndexRange(upper: .excluding(.null))), 0)
      }
    },
    ConformanceCheck("moreValuesThanColumnsAreMisuse") { subject in
      let store = try ConformanceStore(subject)
      try store.read { read in
        let index = store.person.index("name")
        try expectError(.misuse, nil, "two values") { try read.count(in: index, IndexRange(equal: [.null, .null])) }
        try expectError(.misuse, nil, "a bound beyond") {
          try read.allKeys(in: index, IndexRange(equal: [.string("a")], lower: .including(.null)))
        }
      }
    },
  ]

  /// Every combination of bounds over the column after `equal` gives what a filter over a scan gives.
  private static func checkRanges(
    _ tx: any StorageReading, _ store: ConformanceStore, _ names: [String], _ equal: [Value], _ values: [Value]
  ) throws {
    let properties = names.map { store.person.id($0) }
    let index = try unwrap(store.person.indexes.first { $0.properties == properties }, "index over \(names)").id
    let rows = try tx.allRows(store.person, names)
    let ordered = rows.sorted { precedes($0, $1) }
    // Of the rows that have the values before, those within bounds are a run: each bound is a place between them, found
    // once by comparing it with every row.
    let candidates = ordered.filter { matches($0.values, IndexRange(equal: equal)) }
    let keys = candidates.map(\.key)
    var lowers: [(bound: IndexRange.Bound, place: Int)] = [(.unbounded, 0)]
    var uppers: [(bound: IndexRange.Bound, place: Int)] = [(.unbounded, keys.count)]
    func check(_ range: IndexRange, _ expected: [Int64]) throws {
      let shown = "the index over \(names) in \(range)"
      try expectEqual(try tx.allKeys(in: index, range), expected, shown)
      try expectEqual(try tx.count(in: index, range), expected.count, "count of \(shown)")
    }
    try check(IndexRange(equal: equal), keys)
    for value in values {
      let orders = candidates.map { $0.values[equal.count].order(to: value) }
      let (below, through) = (orders.count { $0 == .before }, orders.count { $0 != .after })
      lowers += [(.including(value), below), (.excluding(value), through)]
      uppers += [(.including(value), through), (.excluding(value), below)]
      try check(IndexRange(equal: equal + [value]), Array(keys[below..<through]))
    }
    for lower in lowers {
      for upper in uppers {
        let expected = lower.place < upper.place ? Array(keys[lower.place..<upper.place]) : []
        try check(IndexRange(equal: equal, lower: lower.bound, upper: upper.bound), expected)
      }
    }
    let range = IndexRange(equal: equal, lower: values.first.map { .excluding($0) } ?? .unbounded)
    try expectEqual(
      try tx.allKeys(in: index, range, descending: true), ordered.filter { matches($0.values, range) }.map(\.key).reversed(),
      "descending \(names)")
  }

  private static func precedes(_ a: (key: Int64, values: [Value]), _ b: (key: Int64, values: [Value])) -> Bool {
    for (x, y) in zip(a.values, b.values) {
      let order = x.order(to: y)
      if order != .same { return order == .before }
    }
    return a.key < b.key
  }

  private static func matches(_ values: [Value], _ range: IndexRange) -> Bool {
    for (value, wanted) in zip(values, range.equal) where value.order(to: wanted) != .same { return false }
    guard range.equal.count < values.count else { return true }
    let value = values[range.equal.count]
    let isAbove =
      switch range.lower {
      case .unbounded: true
      case .including(let bound): value.order(to: bound) != .before
      case .excluding(let bound): value.order(to: bound) == .after
      }
    let isBelow =
      switch range.upper {
      case .unbounded: true
      case .including(let bound): value.order(to: bound) != .after
      case .excluding(let bound): value.order(to: bound) == .before
      }
    return isAbove && isBelow
  }
}
