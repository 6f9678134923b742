import StorageInterface
import StoreValues
import Synchronization

/// The element count and last position of lists, so that the cost of appending to a long list depends only on the appended
/// elements. Known for lists that this process has edited, as of the newest version that it wrote.
struct ListTails: Sendable {
  struct Tail: Sendable, Equatable {
    var count: Int
    /// nil if the list is empty.
    var last: Int64?
  }

  private struct Owner: Hashable {
    let column: ColumnID
    let key: Int64
  }

  /// The most lists remembered before all are dropped.
  private static let listsMax = 256

  private var tails: [Owner: Tail] = [:]

  subscript(column: ColumnID, owner: ObjectKey) -> Tail? {
    get { tails[Owner(column: column, key: owner.rawValue)] }
    set {
      if newValue != nil, tails.count >= ListTails.listsMax { tails = [:] }
      tails[Owner(column: column, key: owner.rawValue)] = newValue
    }
  }

  mutating func forgetAll() { tails = [:] }
}

extension SQLiteWriteTransaction {
  /// The end of a list, without reading its elements if it is known; nil if its last position is not an integer.
  func tail(_ list: ColumnLayout, _ owner: ObjectKey) throws(StorageError) -> ListTails.Tail? {
    if let tail = tails[list.id, owner] { return tail }
    if let found = positions[list.id, owner] { return ListTails.Tail(count: found.count, last: found.last) }
    try requireObject(try layout.table(list.id.table), owner)
    let statement = try take(.tail, list) { "SELECT count(*), max(position) FROM \(list.name) WHERE owner = ?" }
    defer { connection.finish(statement) }
    statement.bind(1, owner.rawValue)
    guard try connection.step(statement, "read \(list.label)") else { return nil }
    let count = Int(statement.int64(0))
    guard count == 0 || statement.isInteger(1) else { return nil }
    let tail = ListTails.Tail(count: count, last: count == 0 ? nil : statement.int64(1))
    tails[list.id, owner] = tail
    return tail
  }

  /// Appends elements without reading the others; false, with no change, if that is not possible.
  func append(_ values: [Value], at: Int, to list: ColumnLayout, _ owner: ObjectKey) throws(StorageError) -> Bool {
    if positions[list.id, owner] != nil { return false }
    guard let tail = try tail(list, owner), at == tail.count, !values.isEmpty else { return false }
    guard let slots = ListSpacing.slots(above: tail.last, below: nil, count: values.count) else { return false }
    for value in values { try check(value, list) }
    // Dropped if something fails on the way.
    tails[list.id, owner] = nil
    try put(values, at: slots, list, owner)
    tails[list.id, owner] = ListTails.Tail(count: tail.count + values.count, last: slots.last)
    return true
  }
}

extension SQLiteEngine {
  /// The known list ends in the version that a write begins with.
  func knownTails(_ version: Version) -> ListTails {
    shared.withLock { $0.tails.version == version ? $0.tails.lists : ListTails() }
  }

  /// The number of list positions that a transaction has read. For tests.
  package static func positionCount(of transaction: any StorageReading) -> Int {
    (transaction as? Snapshot)?.positions.count ?? 0
  }
}
