import StorageInterface
import StoreValues
import Synchronization

extension Snapshot {
  final func elementCount(_ id: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int {
    try enter()
    defer { leave() }
    let column = try layout.collection(id)
    if let count = knownCount(id, owner) ?? positions.count(id, owner) { return count }
    guard column.kind == .list else { return try memberCount(column, owner) }
    if sharesLists, let count = engine.knownCount(id, owner, version) {
      positions.keep(count: count, id, owner)
      return count
    }
    // Counted by SQLite, which reads the list's pages; no positions are kept.
    let count = try memberCount(column, owner)
    positions.keep(count: count, id, owner)
    if sharesLists { engine.share(count: count, id, owner, version) }
    return count
  }

  final func elements(
    _ id: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try enter()
    defer { leave() }
    let list = try layout.collection(id)
    if list.kind != .list { return try members(list, owner, range, body) }
    let first = max(0, range.lowerBound)
    guard first > 0 else {
      // Reading from the start needs no positions, but the owner must exist.
      if positions[id, owner] == nil { try requireObject(try layout.table(id.table), owner) }
      return try elements(list, owner, from: .min, place: 0, limit: range.upperBound, body)
    }
    let positions = try loadPositions(list, owner)
    guard first < positions.count else { return }
    try elements(list, owner, from: positions[first], place: first, limit: range.upperBound - first, body)
  }

  private final func elements(
    _ list: ColumnLayout, _ owner: ObjectKey, from position: Int64, place: Int, limit: Int,
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    guard limit > 0 else { return }
    let key = StatementKey(.elements, list.id.table.rawValue, list.id.property.rawValue)
    let statement = try connection.take(key) {
      "SELECT value FROM \(list.name) WHERE owner = ? AND position >= ? ORDER BY position"
    }
    defer { connection.finish(statement) }
    statement.bind(1, owner.rawValue)
    statement.bind(2, position)
    let buffer = BatchBuffer([list.cell])
    var place = place
    var left = limit
    while left > 0 {
      let isMore = try buffer.fill(from: statement, of: connection, hasKeys: false, limit: left) { _ in list.label }
      if buffer.count == 0 { return }
      if buffer.lendElements(from: place, body) == .stop || !isMore { return }
      place += buffer.count
      left -= buffer.count
    }
  }

  /// The positions of a list's elements, in order. O(1) after the first call, also of a transaction before if nobody else has written.
  final func loadPositions(_ list: ColumnLayout, _ owner: ObjectKey) throws(StorageError) -> [Int64] {
    if let positions = positions[list.id, owner] { return positions }
    if sharesLists, let known = engine.knownPositions(list.id, owner, version) {
      positions.keep(known, list.id, owner)
      return known
    }
    try requireObject(try layout.table(list.id.table), owner)
    let key = StatementKey(.positions, list.id.table.rawValue, list.id.property.rawValue)
    let statement = try connection.take(key) { "SELECT position FROM \(list.name) WHERE owner = ? ORDER BY position" }
    defer { connection.finish(statement) }
    statement.bind(1, owner.rawValue)
    var found: [Int64] = []
    while try connection.advance(statement, "read \(list.label)") {
      // Another program may have put anything there; a value that is not an integer is not a position.
      guard statement.isInteger(0) else { throw statement.named(.foreignValue(in: list.label)) }
      let position = statement.int64(0)
      if let last = found.last, position <= last { throw statement.named(.outOfOrder(list.label)) }
      found.append(position)
    }
    try connection.confirm()
    engine.positionsRead.add(found.count, ordering: .relaxed)
    positions.keep(found, list.id, owner)
    if sharesLists { engine.share(found, list.id, owner, version) }
    return found
  }
}
