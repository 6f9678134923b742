import ChangeTracker
import StorageInterface
import StoreValues

/// An aggregate of a result that is observed instead of its rows.
package enum TotalQuestion: Sendable, Hashable {
  case count
  /// The sum of a column of words, and the number of values.
  case sum(ColumnID, ValueType)
  /// The value of the first row.
  case first(ColumnID)
  /// The least or greatest value of a column, if the result has another order.
  case least(ColumnID, ValueType)
  case greatest(ColumnID, ValueType)
}

/// The value of an aggregate.
package enum ResultTotal: Sendable, Hashable {
  case count(Int)
  /// The sums of integers and of reals, and the number of non-null values.
  case sum(Int128, ExactReal, values: Int)
  /// The same for decimals; the sum is a decimal.
  case decimals(Value, values: Int)
  case value(Value)

  /// A double compared by its bits.
  package struct ExactReal: Sendable, Hashable {
    package let value: Double

    package static func == (a: Self, b: Self) -> Bool { a.value.bitPattern == b.value.bitPattern }
    package func hash(into hasher: inout Hasher) { hasher.combine(value.bitPattern) }
  }
}

/// Maintains an aggregate of a result, incrementally if the rows are kept one by one. Confined to its result.
final class KeptTotal {
  private let question: TotalQuestion
  private var integers: Int128 = 0
  private var reals = ExactSum()
  private var decimals = DecimalSum()
  private var values = 0
  private(set) var value = ResultTotal.count(0)
  /// The value before the last step.
  private(set) var before = ResultTotal.count(0)
  /// The number of values read, excluding the initial ones.
  private(set) var valuesRead = 0
  private var initialValuesRead = 0

  /// O(n) for a sum.
  init(_ question: TotalQuestion, of rows: ResultVersion, in reading: any StorageReading) throws(StorageError) {
    self.question = question
    try start(rows, in: reading)
    initialValuesRead = valuesRead
    valuesRead = 0
    before = value
  }

  /// Follows a step of the result for which the total was found anew.
  func follow(_ anew: KeptTotal) {
    before = value
    (integers, reals, decimals, values, value) = (anew.integers, anew.reals, anew.decimals, anew.values, anew.value)
    valuesRead += anew.initialValuesRead
  }

  private func start(_ rows: ResultVersion, in reading: any StorageReading) throws(StorageError) {
    (integers, reals, decimals, values) = (0, ExactSum(), DecimalSum(), 0)
    switch question {
    case .sum(let column, let type):
      // In parts, because the result may be large.
      for start in stride(from: 0, to: rows.count, by: 4_096) {
        try add(rows.keys(in: start..<min(start + 4_096, rows.count)), column, type, in: reading)
      }
      value = sum(type)
    case .least(let column, let type), .greatest(let column, let type): try rank(rows, column, type, in: reading)
    case .count, .first: try look(rows, in: reading)
    }
  }

  /// Recomputes aggregates that need no step: the count, and the first row.
  private func look(_ rows: ResultVersion, in reading: any StorageReading) throws(StorageError) {
    guard case .first(let column) = question else { return value = .count(rows.count) }
    guard let key = rows.key(at: 0) else { return value = .value(.null) }
    valuesRead += 1
    value = .value(try reading.value(column, ObjectKey(key)))
  }

  /// Follows a step of the result, which has already been advanced.
  func follow(
    _ step: ResultStep, to rows: ResultVersion, from older: any StorageReading, to newer: any StorageReading
  ) throws(StorageError) {
    before = value
    switch (question, step) {
    case (.sum(let column, let type), .rows(let step)):
      let changes = step.rows.filter { change in
        change.old == nil || change.new == nil || change.marks.properties.contains(column.property)
      }
      try add(changes.filter { $0.old != nil }.map(\.key), column, type, in: older, isLeaving: true)
      try add(changes.filter { $0.new != nil }.map(\.key), column, type, in: newer)
      value = sum(type)
    case (.count, _), (.first, _): try look(rows, in: newer)
    // Not kept row by row: a window, or evaluated again as a whole.
    default: try start(rows, in: newer)
    }
  }

  private func sum(_ type: ValueType) -> ResultTotal {
    type == .decimal
      ? .decimals(.decimal(decimals.value), values: values) : .sum(integers, .init(value: reals.value), values: values)
  }

  private func add(
    _ keys: [Int64], _ column: ColumnID, _ type: ValueType, in reading: any StorageReading, isLeaving: Bool = false
  ) throws(StorageError) {
    valuesRead += keys.count
    if type == .decimal {
      for key in keys {
        guard case .decimal(let number) = try reading.value(column, ObjectKey(key)) else { continue }
        values += isLeaving ? -1 : 1
        if isLeaving { decimals.subtract(number) } else { decimals.add(number) }
      }
      return
    }
    for case let word? in try reading.words(column, of: keys) {
      values += isLeaving ? -1 : 1
      if let real = type.real(word) {
        if isLeaving { reals.subtract(real) } else { reals.add(real) }
      } else {
        integers += isLeaving ? -Int128(word) : Int128(word)
      }
    }
  }

  private func rank(
    _ rows: ResultVersion, _ column: ColumnID, _ type: ValueType, in reading: any StorageReading
  ) throws(StorageError) {
    let keys = rows.keys(in: 0..<rows.count)
    valuesRead += keys.count
    var found = Value.null
    var isGreatest = false
    if case .greatest = question { isGreatest = true }
    func look(at value: Value) {
      if value.isNull || value.isNaN { return }
      if found.isNull || value.order(to: found) == (isGreatest ? .after : .before) { found = value }
    }
    if type == .decimal {
      for key in keys { look(at: try reading.value(column, ObjectKey(key))) }
    } else {
      for case let word? in try reading.words(column, of: keys) { look(at: Value(word: word, type: type) ?? .null) }
    }
    value = .value(found)
  }
}

extension ValueType {
  /// A word of this type as a real number; nil for integers.
  fileprivate func real(_ word: Int64) -> Double? {
    switch self {
    case .double: Double(bitPattern: UInt64(bitPattern: word))
    case .float: Double(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
    default: nil
    }
  }
}
