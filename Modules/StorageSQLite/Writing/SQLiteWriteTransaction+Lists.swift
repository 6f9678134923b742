import CVivariumSQLite
import StorageInterface
import StoreValues

extension SQLiteWriteTransaction {
  func edit(_ id: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    settleInsertion()
    try change { () throws(StorageError) in
      if case .clear = edit, let column = try? layout.collection(id), column.kind != .list {
        try requireObject(try layout.table(id.table), owner)
        return try removeAll(of: owner, from: column)
      }
      let list = try layout.list(id)
      positions.forgetCount(id, owner)
      if case .insert(let at, let values) = edit, try append(values, at: at, to: list, owner) { return }
      tails[id, owner] = nil
      var found: [Int64] = []
      // Clearing a list does not need its contents, which another program may have damaged.
      if case .clear = edit { try requireObject(try layout.table(id.table), owner) } else { found = try loadPositions(list, owner) }
      // Removed from the cache while it changes: this avoids a copy, and drops the positions if something fails on the way.
      _ = positions.take(id, owner)
      do throws(StorageError) {
        try apply(edit, to: list, owner, &found)
      } catch {
        if error.scope == .statement { positions.keep(found, id, owner) }
        throw error
      }
      positions.keep(found, id, owner)
      tails[id, owner] = ListTails.Tail(count: found.count, last: found.last)
    }
  }

  /// Checks everything before changing anything.
  private func apply(
    _ edit: ElementEdit, to list: ColumnLayout, _ owner: ObjectKey, _ found: inout [Int64]
  ) throws(StorageError) {
    func require(_ isInRange: Bool, _ position: Int) throws(StorageError) {
      if isInRange { return }
      throw StorageError(
        .indexOutOfRange, .statement, "Position \(position) is not in \(list.label) of \(found.count) elements.")
    }
    switch edit {
    case .insert(let at, let values):
      try require(at >= 0 && at <= found.count, at)
      for value in values { try check(value, list) }
      try insert(values, at: at, list, owner, &found)
    case .remove(let range):
      try require(range.lowerBound >= 0 && range.upperBound <= found.count, range.upperBound)
      guard !range.isEmpty else { return }
      try remove(found[range.lowerBound]...found[range.upperBound - 1], list, owner)
      found.removeSubrange(range)
    case .set(let at, let value):
      try require(found.indices.contains(at), at)
      try check(value, list)
      try set(value, at: found[at], list, owner)
    case .move(let from, let to):
      try require(found.indices.contains(from), from)
      try require(found.indices.contains(to), to)
      if from != to { try move(from, to, list, owner, &found) }
    case .clear:
      try removeAll(of: owner, from: list)
      found = []
    }
  }

  func check(_ value: Value, _ list: ColumnLayout) throws(StorageError) {
    try list.check(value)
    try checkSize(value, list)
  }

  func checkSize(_ value: Value, _ list: ColumnLayout) throws(StorageError) {
    // Rejected here, before anything is changed; the row's other columns need some of the room.
    let limit = Int(sqlite3_limit(connection.database, SQLITE_LIMIT_LENGTH, -1)) - 64
    let count = value.withBytes(as: list.cell.type) { $0?.count ?? 0 }
    if count > limit {
      throw StorageError(.tooLarge, .statement, "\(count) bytes are too many for an element of \(list.label).")
    }
  }

  private func insert(
    _ values: [Value], at index: Int, _ list: ColumnLayout, _ owner: ObjectKey, _ found: inout [Int64]
  ) throws(StorageError) {
    guard !values.isEmpty else { return }
    let slots = try makeRoom(for: values.count, at: index, list, owner, &found)
    try put(values, at: slots, list, owner)
    found.insert(contentsOf: slots, at: index)
  }

  /// Inserts elements at free positions.
  func put(_ values: [Value], at slots: [Int64], _ list: ColumnLayout, _ owner: ObjectKey) throws(StorageError) {
    let statement = try take(.putElement, list) {
      "INSERT INTO \(list.name) (owner, position, value) VALUES (?, ?, ?)"
    }
    defer { connection.finish(statement) }
    for (slot, value) in zip(slots, values) {
      statement.bind(1, owner.rawValue)
      statement.bind(2, slot)
      try bind(3, value, list, statement) { () throws(StorageError) in
        _ = try connection.step(statement, "add to \(list.label)")
      }
      sqlite3_reset(statement.pointer)
    }
    if list.linksInside { for value in values { try change(links: value.links, of: list, owner, by: 1) } }
  }

  /// Positions for new elements; moves their neighbours if there is no room.
  private func makeRoom(
    for count: Int, at index: Int, _ list: ColumnLayout, _ owner: ObjectKey, _ found: inout [Int64]
  ) throws(StorageError) -> [Int64] {
    guard let plan = ListSpacing.plan(found, insert: count, at: index) else {
      throw StorageError(.tooLarge, .statement, "\(list.label) is too long for another \(count) elements.")
    }
    guard !plan.moved.isEmpty else { return plan.inserted }
    let statement = try takeMove(list)
    defer { connection.finish(statement) }
    let steps = Array(zip(found[plan.moved], plan.movedTo))
    // Elements that move up from the last on, then elements that move down from the first on, so that no positions collide.
    for (old, new) in steps.reversed() where new > old { try move(old, new, owner, list, statement) }
    for (old, new) in steps where new < old { try move(old, new, owner, list, statement) }
    found.replaceSubrange(plan.moved, with: plan.movedTo)
    return plan.inserted
  }

  private func takeMove(_ list: ColumnLayout) throws(StorageError) -> Statement {
    try take(.moveElement, list) { "UPDATE \(list.name) SET position = ? WHERE owner = ? AND position = ?" }
  }

  private func move(
    _ old: Int64, _ new: Int64, _ owner: ObjectKey, _ list: ColumnLayout, _ statement: Statement
  ) throws(StorageError) {
    statement.bind(1, new)
    statement.bind(2, owner.rawValue)
    statement.bind(3, old)
    _ = try connection.step(statement, "move in \(list.label)")
    sqlite3_reset(statement.pointer)
  }

  private func move(
    _ from: Int, _ to: Int, _ list: ColumnLayout, _ owner: ObjectKey, _ found: inout [Int64]
  ) throws(StorageError) {
    // Before the element that follows it afterwards, as an index of the list before the move.
    let index = to > from ? to + 1 : to
    var slots = try makeRoom(for: 1, at: index, list, owner, &found)
    let statement = try takeMove(list)
    defer { connection.finish(statement) }
    try move(found[from], slots[0], owner, list, statement)
    found.remove(at: from)
    found.insert(slots.removeFirst(), at: to)
  }

  private func set(_ value: Value, at position: Int64, _ list: ColumnLayout, _ owner: ObjectKey) throws(StorageError) {
    if list.linksInside {
      try change(links: links(of: list, owner, positions: position...position), of: list, owner, by: -1)
      try change(links: value.links, of: list, owner, by: 1)
    }
    let statement = try take(.setElement, list) {
      "UPDATE \(list.name) SET value = ? WHERE owner = ? AND position = ?"
    }
    defer { connection.finish(statement) }
    statement.bind(2, owner.rawValue)
    statement.bind(3, position)
    try bind(1, value, list, statement) { () throws(StorageError) in
      _ = try connection.step(statement, "change \(list.label)")
    }
  }

  private func remove(
    _ range: ClosedRange<Int64>, _ list: ColumnLayout, _ owner: ObjectKey
  ) throws(StorageError) {
    if list.linksInside { try change(links: links(of: list, owner, positions: range), of: list, owner, by: -1) }
    let statement = try take(.removeElements, list) {
      "DELETE FROM \(list.name) WHERE owner = ? AND position BETWEEN ? AND ?"
    }
    defer { connection.finish(statement) }
    statement.bind(1, owner.rawValue)
    statement.bind(2, range.lowerBound)
    statement.bind(3, range.upperBound)
    _ = try connection.step(statement, "remove from \(list.label)")
  }

  /// Empties a collection.
  func removeAll(of owner: ObjectKey, from list: ColumnLayout) throws(StorageError) {
    if list.linksInside { try forgetLinks(of: list, owner) }
    let statement = try take(.deleteOwner, list) { "DELETE FROM \(list.name) WHERE owner = ?" }
    defer { connection.finish(statement) }
    statement.bind(1, owner.rawValue)
    _ = try connection.step(statement, "clear \(list.label)")
  }

  func take(
    _ purpose: StatementKey.Purpose, _ list: ColumnLayout, _ text: () -> String
  ) throws(StorageError) -> Statement {
    try connection.take(StatementKey(purpose, list.id.table.rawValue, list.id.property.rawValue), text)
  }

  /// Binds an element and runs the statement while the binding is valid.
  func bind(
    _ parameter: Int32, _ value: Value, _ list: ColumnLayout, _ statement: Statement,
    _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    if value.isNull {
      statement.bindNull(parameter)
      return try body()
    }
    if list.cell.isTranslated {
      let code = statement.bind(parameter, value, translatedFor: list.cell.type)
      guard code == SQLITE_OK else { throw connection.failure(code, doing: "store in \(list.label)") }
      return try body()
    }
    if let word = value.word {
      statement.bind(parameter, word: word, list.cell.physical)
      return try body()
    }
    try value.withBytes { bytes throws(StorageError) in
      let code = statement.bind(
        parameter, bytes: bytes ?? .init(start: nil, count: 0), isText: list.cell.isText)
      guard code == SQLITE_OK else { throw connection.failure(code, doing: "store in \(list.label)") }
      try body()
    }
  }
}
