import StorageInterface
import StoreValues

extension ColumnReading {
  final func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int? {
    try checkOpen()
    let table = try table(column.table)
    let (slot, probe) = try memberProbe(table, column, value)
    let (chunk, place) = try place(table, owner)
    let segments = try segments(table, slot, owner.rawValue, chunk, place)
    let found = try find(probe, segments, MemberContext(table: table, slot: slot, owner: owner.rawValue))
    return found.isThere ? found.position : nil
  }

  final func value(
    forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> Value? {
    try checkOpen()
    let table = try table(column.table)
    let slot = try mapSlot(table, column.property)
    let (chunk, place) = try place(table, owner)
    let segments = try segments(table, slot, owner.rawValue, chunk, place)
    let context = MemberContext(table: table, slot: slot, owner: owner.rawValue)
    let found = try find(.key(Array(key.utf8)), segments, context)
    guard found.isThere else { return nil }
    let run = try run(segments[found.segment], context)
    return MapEntry.value(run, found.offset, table.shapes[slot].type)
  }

  final func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try checkOpen()
    beginLending()
    defer { endLending() }
    let entry = try table(column.table).entry
    guard let schema = entry[column.property]?.schema, schema.isStored, schema.valueType?.mayLink == true else {
      throw .misuse("Column \(column.property.rawValue) of '\(entry.name)' is no relationship.")
    }
    if schema.valueType == .mixed {
      guard target.key.rawValue > 0, target.key.rawValue <= ObjectLink.keyMax else { return }
      try sources(ofWord: target.word, through: column, body)
    } else if catalog[target.table]?.name == schema.target {
      try sources(of: target.key, through: column, body)
    }
  }
}

/// A member of a set or a key of a map to search for.
enum MemberProbe {
  case member(Value)
  case key([UInt8])
}

/// The owner of a set or map.
struct MemberContext {
  let table: TableState
  let slot: Int
  let owner: Int64
  var shape: ColumnShape { table.shapes[slot] }
}

extension ColumnReading {
  final func mapSlot(_ table: TableState, _ property: PropertyID) throws(StorageError) -> Int {
    guard let slot = table.slot(property), table.shapes[slot].collection == .map else {
      throw .misuse("Table '\(table.entry.name)' has no map column \(property.rawValue).")
    }
    return slot
  }

  final func setSlot(_ table: TableState, _ property: PropertyID) throws(StorageError) -> Int {
    guard let slot = table.slot(property), table.shapes[slot].collection == .set else {
      throw .misuse("Table '\(table.entry.name)' has no set column \(property.rawValue).")
    }
    return slot
  }

  private final func memberProbe(
    _ table: TableState, _ column: ColumnID, _ value: Value
  ) throws(StorageError) -> (slot: Int, MemberProbe) {
    if let slot = table.slot(column.property), table.shapes[slot].collection == .map {
      guard case .string(let key) = value else { throw .misuse("The keys of a map are strings.") }
      return (slot, .key(Array(key.utf8)))
    }
    return (try setSlot(table, column.property), .member(value))
  }

  /// The segments of a stored or edited collection.
  final func segments(
    _ table: TableState, _ slot: Int, _ owner: Int64, _ chunk: Chunk, _ position: Int
  ) throws(StorageError) -> [EditedList.Segment] {
    if let list = table.lists[ListOwner(slot: slot, owner: owner)] { return list.segments }
    switch try listValue(table, slot, owner, chunk, position) {
    case .empty: return []
    case .short(let run): return [EditedList.Segment(id: 0, count: run.count, run: run)]
    case .segmented(let count, _): return try storedSegments(table, slot, owner, count: count)
    }
  }

  final func run(_ segment: EditedList.Segment, _ context: MemberContext) throws(StorageError) -> ElementRun {
    if let run = segment.run { return run }
    let decoded = try self.segment(context.table, context.slot, context.owner, segment)
    return ElementRun(decoded.vector, form: context.shape.elementForm)
  }

  /// The position of a member or key, or its insertion point. Binary search over the segments' first elements, then in one
  /// segment.
  final func find(
    _ probe: MemberProbe, _ segments: [EditedList.Segment], _ context: MemberContext
  ) throws(StorageError) -> (segment: Int, offset: Int, position: Int, isThere: Bool) {
    var (low, high) = (0, segments.count)
    while low < high {
      let middle = (low + high) / 2
      if try order(of: 0, in: segments[middle], probe, context) == .after { high = middle } else { low = middle + 1 }
    }
    // The last segment that does not begin after the probe.
    let i = max(low - 1, 0)
    guard i < segments.count else { return (0, 0, 0, false) }
    let before = segments[..<i].reduce(0) { $0 + $1.count }
    (low, high) = (0, segments[i].count)
    let run = segments[i].run
    let decoded = run == nil ? try segment(context.table, context.slot, context.owner, segments[i]) : nil
    while low < high {
      let middle = (low + high) / 2
      switch order(of: middle, run, decoded?.vector, probe, context.shape) {
      case .before: low = middle + 1
      case .same: return (i, middle, before + middle, true)
      case .after: high = middle
      }
    }
    return (i, low, before + low, false)
  }

  private final func order(
    of row: Int, in segment: EditedList.Segment, _ probe: MemberProbe, _ context: MemberContext
  ) throws(StorageError) -> Value.Order {
    if let run = segment.run { return order(of: row, run, nil, probe, context.shape) }
    let decoded = try self.segment(context.table, context.slot, context.owner, segment)
    return order(of: row, nil, decoded.vector, probe, context.shape)
  }

  /// Compares an element with the probe.
  private final func order(
    of row: Int, _ run: ElementRun?, _ vector: ColumnVector?, _ probe: MemberProbe, _ shape: ColumnShape
  ) -> Value.Order {
    switch probe {
    case .member(let member):
      return (run?.value(row, shape.type) ?? vector?.value(at: row, as: shape.type) ?? .null).order(to: member)
    case .key(let key):
      if let run { return run.withBytesResult(row) { Value.Order.compare(MapEntry.key($0), key) } }
      return vector.map { Value.Order.compare(MapEntry.key($0.bytes(at: row)), key) } ?? .before
    }
  }
}

extension ObjectLink {
  /// The link as a number, the key of backlinks of mixed columns: the table, then the key in 47 bits.
  var word: Int64 { Int64(table.rawValue) << 47 | key.rawValue }
}
