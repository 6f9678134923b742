import StorageInterface
import StoreValues

extension ColumnWrite {
  func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    try checkWritable()
    let table = try table(column.table)
    let slot = try collectionSlot(table, column.property)
    guard edit == .clear || table.shapes[slot].collection == .list else {
      throw .misuse("'\(table.shapes[slot].name)' is no list.")
    }
    let (chunk, position) = try place(table, owner)
    let list: EditedList
    if let edited = table.lists[ListOwner(slot: slot, owner: owner.rawValue)] { list = edited } else {
      list = try openList(table, slot, chunk, position, owner.rawValue)
    }
    try check(edit, count: list.count, table.shapes[slot])
    try apply(edit, to: list, table, slot, owner)
  }

  /// Applies a validated edit to a list that was read or edited before.
  func apply(
    _ edit: ElementEdit, to list: consuming EditedList, _ table: TableState, _ slot: Int, _ owner: ObjectKey
  ) throws(StorageError) {
    let place = ListOwner(slot: slot, owner: owner.rawValue)
    let before = isRecordingUndo ? table.lists[place] : nil
    // Removes the dictionary's copy, so that the list is changed in place.
    if !isRecordingUndo { table.lists[place] = nil }
    do throws(StorageError) {
      try apply(edit, to: &list, ListContext(table: table, slot: slot, owner: owner.rawValue))
    } catch {
      isSpoiled = true
      throw StorageError(error.code, .transaction, error.message, remedy: error.remedy)
    }
    table.lists[place] = list
    table.isChanged = true
    if isRecordingUndo { undo.append(.list(table, place, old: before)) }
  }

  private func check(_ edit: ElementEdit, count: Int, _ shape: ColumnShape) throws(StorageError) {
    func inside(_ isInside: Bool, _ text: @autoclosure () -> String) throws(StorageError) {
      guard isInside else {
        throw StorageError(
          .indexOutOfRange, .statement, "'\(shape.name)' has \(count) elements; position \(text()) is outside.")
      }
    }
    func fits(_ value: Value) throws(StorageError) {
      guard value.isNull ? shape.isOptional : value.fits(shape.type) else { throw .mismatch(shape, value.description) }
    }
    switch edit {
    case .insert(let at, let values):
      try inside(at >= 0 && at <= count, "\(at)")
      for value in values { try fits(value) }
    case .remove(let range): try inside(range.lowerBound >= 0 && range.upperBound <= count, "\(range)")
    case .set(let at, let value):
      try inside(at >= 0 && at < count, "\(at)")
      try fits(value)
    case .move(let from, let to):
      try inside(from >= 0 && from < count, "\(from)")
      try inside(to >= 0 && to < count, "\(to)")
    case .clear: break
    }
  }

  func openList(
    _ table: TableState, _ slot: Int, _ chunk: Chunk, _ position: Int, _ owner: Int64
  ) throws(StorageError) -> EditedList {
    var list = EditedList(form: table.shapes[slot].elementForm)
    switch try listValue(table, slot, owner, chunk, position) {
    case .empty: break
    case .short(let run): list.segments = [EditedList.Segment(id: 0, count: run.count, run: run)]
    case .segmented(let count, let nextSegment):
      list.segments = try storedSegments(table, slot, owner, count: count)
      list.nextSegment = nextSegment
      list.isStoredInSegments = true
    }
    return list
  }

  /// The owner of the edited list, and its backlinks.
  private struct ListContext {
    let table: TableState
    let slot: Int
    let owner: Int64
    var backlinks: Int? {
      guard table.shapes[slot].hasBacklinks else { return nil }
      return table.indexes.firstIndex {
        $0.reference == .backlinks(ColumnID(table.id, table.shapes[slot].property))
      }
    }
  }

  private func link(_ context: ListContext, _ run: ElementRun, isRemoval: Bool) {
    guard let index = context.backlinks else { return }
    let edits = edits(context.table, index)
    run.forEachTarget(context.table.shapes[context.slot]) { target in
      add(edits, word: UInt64(bitPattern: target) ^ (1 << 63), object: context.owner, isRemoval: isRemoval)
    }
  }

  private func apply(
    _ edit: ElementEdit, to list: inout EditedList, _ context: ListContext
  ) throws(StorageError) {
    switch edit {
    case .insert(let at, let values):
      let run = ElementRun(values, context.table.shapes[context.slot])
      link(context, run, isRemoval: false)
      try insert(run, at: at, into: &list, context)
    case .remove(let range): try link(context, remove(range, from: &list, context), isRemoval: true)
    case .set(let at, let value):
      let run = ElementRun([value], context.table.shapes[context.slot])
      link(context, run, isRemoval: false)
      try link(context, remove(at..<at + 1, from: &list, context), isRemoval: true)
      try insert(run, at: at, into: &list, context)
    case .move(let from, let to):
      let run = try remove(from..<from + 1, from: &list, context)
      try insert(run, at: to, into: &list, context)
    case .clear: try link(context, remove(0..<list.count, from: &list, context), isRemoval: true)
    }
  }

  /// Makes a segment's elements editable.
  private func open(_ list: inout EditedList, _ i: Int, _ context: ListContext) throws(StorageError) {
    if list.segments[i].run == nil {
      let decoded = try segment(context.table, context.slot, context.owner, list.segments[i])
      list.segments[i].run = ElementRun(decoded.vector, form: list.form)
    }
    list.segments[i].isChanged = true
  }

  private func insert(
    _ run: ElementRun, at: Int, into list: inout EditedList, _ context: ListContext
  ) throws(StorageError) {
    guard run.count > 0 else { return }
    if list.segments.isEmpty { list.segments = [EditedList.Segment(id: 0, count: 0, run: ElementRun(form: list.form))] }
    let (i, offset) = list.locate(at)
    try open(&list, i, context)
    list.segments[i].run?.insert(run, at: offset)
    list.segments[i].count += run.count
    splitIfLong(&list, i)
  }

  /// Splits a segment that exceeds its limit into pieces three quarters full.
  private func splitIfLong(_ list: inout EditedList, _ i: Int) {
    guard list.segments[i].count > ListValue.segmentMax, let run = list.segments[i].run else { return }
    let piece = ListValue.segmentMax * 3 / 4
    var pieces: [EditedList.Segment] = []
    var start = 0
    while start < run.count {
      let end = min(run.count, start + piece)
      let part = run.part(start..<end)
      pieces.append(
        EditedList.Segment(id: start == 0 ? list.segments[i].id : 0, count: part.count, run: part, isChanged: true))
      start = end
    }
    list.segments.replaceSubrange(i...i, with: pieces)
  }

  /// Removes elements and returns them.
  private func remove(
    _ range: Range<Int>, from list: inout EditedList, _ context: ListContext
  ) throws(StorageError) -> ElementRun {
    var removed = ElementRun(form: list.form)
    guard !range.isEmpty else { return removed }
    var (i, offset) = list.locate(range.lowerBound)
    if i < list.segments.count, offset == list.segments[i].count { (i, offset) = (i + 1, 0) }
    var left = range.count
    while left > 0, i < list.segments.count {
      let n = min(left, list.segments[i].count - offset)
      try open(&list, i, context)
      if let run = list.segments[i].run { removed.append(run.part(offset..<offset + n)) }
      list.segments[i].run?.remove(offset..<offset + n)
      list.segments[i].count -= n
      left -= n
      if list.segments[i].count == 0 {
        if list.segments[i].id != 0 { list.dropped.append(list.segments[i].id) }
        list.segments.remove(at: i)
      } else {
        i += 1
      }
      offset = 0
    }
    return removed
  }

  /// Removes the backlinks of all elements, or of all links in the mixed value, of a deleted owner.
  func removeBacklinks(
    _ table: TableState, _ index: Int, _ owner: Int64, _ chunk: Chunk, _ position: Int
  ) throws(StorageError) {
    let slot = table.indexes[index].slots[0]
    if table.shapes[slot].isScalar {
      return link(mixed: try bytes(table, chunk, position, slot), table, index, owner, isRemoval: true)
    }
    let context = ListContext(table: table, slot: slot, owner: owner)
    let edited = table.lists[ListOwner(slot: slot, owner: owner)]
    let list: EditedList
    if let edited { list = edited } else { list = try openList(table, slot, chunk, position, owner) }
    for segment in list.segments {
      if let run = segment.run {
        link(context, run, isRemoval: true)
      } else {
        let decoded = try self.segment(table, slot, owner, segment)
        link(context, ElementRun(decoded.vector, form: list.form), isRemoval: true)
      }
    }
  }
}
