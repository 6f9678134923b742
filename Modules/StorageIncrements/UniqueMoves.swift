#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// Sets values of unique indexes, of which only the last state is known to be free of duplicates: what is taken when it comes is set once
/// its owner has another value, and where two or more have exchanged theirs, one gets a value that nobody has meanwhile.
///
/// A value that is taken waits for its owner, and is tried again when that has got another one: so each is tried a few times, however long
/// the line of those that wait for each other.
struct UniqueMoves {
  private struct Move {
    var column: ColumnID
    var key: ObjectKey
    var value: Value
    /// Who had the value when it was last tried; nil while it is not in a line.
    var owner: Place?

    var place: Place { Place(table: column.table, key: key) }
  }

  /// An object.
  private struct Place: Hashable {
    var table: TableID
    var key: ObjectKey
  }

  /// How often a value that nobody should have was taken before it is given up.
  private static let attemptsMax = 64

  private let write: any WriteTransaction
  /// The values that were taken when they came; nil where one is set by now.
  private var moves: [Move?] = []
  /// The positions in `moves` of those that wait for an object, and of the object's own.
  private var lines: [Place: [Int]] = [:]
  private var own: [Place: [Int]] = [:]
  /// Those of which an engine did not say who has the value.
  private var unnamed: [Int] = []
  /// What has to be tried again.
  private var ready: [Int] = []

  init(_ write: any WriteTransaction) { self.write = write }

  /// Sets a value, now or when it is free.
  mutating func set(_ column: ColumnID, _ key: ObjectKey, _ value: Value) throws(StorageError) {
    var move = Move(column: column, key: key, value: value)
    if try isDone(&move) {
      free(move.place)
      return try tryReady()
    }
    moves.append(move)
    own[move.place, default: []].append(moves.count - 1)
    wait(moves.count - 1)
  }

  /// Sets what could not be set yet. O(moves), in expectation.
  mutating func settle() throws(StorageError) {
    for i in moves.indices {
      try tryUnnamed()
      // Whoever is left waits in a circle. With another value it is in nobody's way, so no second one is needed.
      guard let move = moves[i] else { continue }
      try vacate(move)
      free(move.place)
      try tryReady()
    }
    try tryUnnamed()
    guard moves.allSatisfy({ $0 == nil }) else { throw VarintReader.damaged }
    (moves, lines, own, unnamed) = ([], [:], [:], [])
  }

  // MARK: Lines

  /// An object has other values: those who wait for it are to be tried, and its own, which may be of one index together.
  private mutating func free(_ place: Place) {
    for i in lines.removeValue(forKey: place) ?? [] where moves[i]?.owner == place {
      moves[i]?.owner = nil
      ready.append(i)
    }
    ready += own[place] ?? []
  }

  private mutating func wait(_ i: Int) { if let owner = moves[i]?.owner { lines[owner, default: []].append(i) } else { unnamed.append(i) } }

  private mutating func tryReady() throws(StorageError) {
    while let i = ready.popLast() {
      guard var move = moves[i] else { continue }
      let before = move.owner
      if try isDone(&move) {
        moves[i] = nil
        own[move.place]?.removeAll { $0 == i }
        free(move.place)
      } else {
        moves[i] = move
        // It is still in that line.
        if before == nil || before != move.owner { wait(i) }
      }
    }
  }

  private mutating func tryUnnamed() throws(StorageError) {
    if unnamed.isEmpty { return }
    ready += unnamed
    unnamed = []
    try tryReady()
  }

  /// Whether the value is set. If not, notes who has it.
  private func isDone(_ move: inout Move) throws(StorageError) -> Bool {
    do throws(StorageError) {
      try write.set(move.column, move.key, move.value)
      return true
    } catch {
      guard error.code == .uniqueViolation, error.scope == .statement else { throw error }
      move.owner = error.conflictingKey.map { Place(table: move.column.table, key: $0) }
      return false
    }
  }

  /// Gives an object another value meanwhile, so that somebody can have its present one. There is one: who wrote the store needed it too.
  private func vacate(_ move: Move) throws(StorageError) {
    guard let schema = write.catalog[move.column]?.schema, let type = schema.valueType else { throw VarintReader.damaged }
    var aside = move
    if !schema.mayBeNull, type == .int8 || type == .int16, let range = type.integerRange {
      // Perhaps a single one is free.
      let present = try write.value(move.column, move.key)
      let first = Int64.random(in: range)
      for offset in 0..<Int64(range.count) {
        let number = first + offset
        aside.value = .int(number > range.upperBound ? number - Int64(range.count) : number)
        if aside.value != present, try isDone(&aside) { return }
      }
      throw VarintReader.damaged
    }
    for _ in 0..<UniqueMoves.attemptsMax {
      aside.value = schema.mayBeNull ? .null : UniqueMoves.random(type)
      if try isDone(&aside) { return }
    }
    throw VarintReader.damaged
  }

  private static func random(_ type: ValueType) -> Value {
    let number = Int64.random(in: .min ... .max)
    switch type {
    case .int8, .int16, .int32, .int64: return .int(type.integerRange.map { Int64.random(in: $0) } ?? number)
    case .float: return .float(Float.random(in: -1e30...1e30))
    case .double: return .double(Double.random(in: -1e300...1e300))
    case .string: return .string(UUID().uuidString)
    case .data: return .data(Data(UUID().uuidString.utf8))
    case .date: return Value(word: Int64.random(in: 0...Int64.max / 4), type: .date) ?? .null
    case .uuid: return .uuid(UUID())
    case .objectId: return .objectId(ObjectId())
    case .decimal: return .decimal(Decimal128(number))
    case .bool, .mixed, .link: return .null
    }
  }
}
