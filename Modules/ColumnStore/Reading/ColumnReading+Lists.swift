import StorageInterface
import StoreValues

extension ColumnReading {
  final func elementCount(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int {
    try checkOpen()
    let table = try table(column.table)
    let slot = try collectionSlot(table, column.property)
    let (chunk, position) = try place(table, owner)
    if let list = table.lists[ListOwner(slot: slot, owner: owner.rawValue)] { return list.count }
    let bytes = try bytes(table, chunk, position, slot)
    return try decoding(.externalValue(table.id, column.property, owner.rawValue)) { () throws(StorageError) in
      let count = try ListValue.count(bytes)
      if ListValue.isSegmented(bytes) { try SegmentDirectory.check(directory(table, slot, owner.rawValue), count: count) }
      return count
    }
  }

  final func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try checkOpen()
    beginLending()
    defer { endLending() }
    let table = try table(column.table)
    let slot = try collectionSlot(table, column.property)
    let (chunk, position) = try place(table, owner)
    let segments = try segments(table, slot, owner.rawValue, chunk, position)
    if table.shapes[slot].collection == .map {
      let context = MemberContext(table: table, slot: slot, owner: owner.rawValue)
      return try entries(context, segments, range, body)
    }
    try lend(table, slot, owner.rawValue, segments, table.shapes[slot].elementForm, range, body)
  }

  /// Calls `body` with the segments that a range covers, in order, and the begin and end of the covered part in each.
  @inline(__always) private final func visit(
    _ range: Range<Int>, of segments: [EditedList.Segment],
    _ body: (EditedList.Segment, Int, Int) throws(StorageError) -> Step
  ) throws(StorageError) {
    // Clamped first: a range may extend to the largest integer.
    let range = range.clamped(to: 0..<segments.reduce(0) { $0 + $1.count })
    var start = 0
    for segment in segments {
      let (from, to) = (max(range.lowerBound - start, 0), min(range.upperBound - start, segment.count))
      start += segment.count
      if to <= 0 { return }
      if from < to, try body(segment, from, to) == .stop { return }
    }
  }

  /// Lends a map as two columns, values and keys.
  private final func entries(
    _ context: MemberContext, _ segments: [EditedList.Segment], _ range: Range<Int>,
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try visit(range, of: segments) { segment, from, to throws(StorageError) in
      let (values, keys) = MapEntry.split(try run(segment, context).part(from..<to), context.shape.type)
      let (encodedValues, encodedKeys) = (values.encoded(), keys.encoded())
      let decoded = [
        try DecodedColumn(encodedValues.bytes, form: values.form, count: to - from),
        try DecodedColumn(encodedKeys.bytes, form: .bytes, count: to - from),
      ]
      return withExtendedLifetime((encodedValues, encodedKeys, decoded.map(\.scratch))) {
        decoded.map(\.vector).withUnsafeBufferPointer { vectors in
          body(ColumnBatch(firstKey: ObjectKey(0), count: to - from, columns: vectors))
        }
      }
    }
  }

  final func storedSegments(
    _ table: TableState, _ slot: Int, _ owner: Int64, count: Int
  ) throws(StorageError) -> [EditedList.Segment] {
    try decoding(.listSegment(table.id, table.shapes[slot].property, owner, 0)) { () throws(StorageError) in
      try SegmentDirectory.decode(directory(table, slot, owner), count: count)
    }
  }

  /// A list as its owner's row has it.
  final func listValue(
    _ table: TableState, _ slot: Int, _ owner: Int64, _ chunk: Chunk, _ position: Int
  ) throws(StorageError) -> ListValue {
    let bytes = try bytes(table, chunk, position, slot)
    return try decoding(.externalValue(table.id, table.shapes[slot].property, owner)) { () throws(StorageError) in
      try ListValue(bytes, form: table.shapes[slot].elementForm)
    }
  }

  private final func directory(
    _ table: TableState, _ slot: Int, _ owner: Int64
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    let entry = EntryKey.listSegment(table.id, table.shapes[slot].property, owner, 0)
    guard let bytes = try value(entry) else { throw named(.corrupt("the directory of a list is missing"), entry) }
    return bytes
  }

  /// A stored segment, decoded in place.
  final func segment(
    _ table: TableState, _ slot: Int, _ owner: Int64, _ segment: EditedList.Segment
  ) throws(StorageError) -> DecodedColumn {
    let entry = EntryKey.listSegment(table.id, table.shapes[slot].property, owner, segment.id)
    guard let bytes = try value(entry) else { throw named(.corrupt("a segment of a list is missing"), entry) }
    return try decoding(entry) { () throws(StorageError) in
      try DecodedColumn(bytes, form: table.shapes[slot].elementForm, count: segment.count)
    }
  }

  private final func lend(
    _ table: TableState, _ slot: Int, _ owner: Int64, _ segments: [EditedList.Segment], _ form: ColumnShape.Form,
    _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try visit(range, of: segments) { segment, from, to throws(StorageError) in
      // Kept until the closure has returned, because the vector points into it.
      var owned: ValueBuffer?
      var decoded: DecodedColumn
      if let run = segment.run {
        let encoded = (from == 0 && to == run.count ? run : run.part(from..<to)).encoded()
        owned = encoded
        decoded = try DecodedColumn(encoded.bytes, form: form, count: to - from)
      } else {
        decoded = try self.segment(table, slot, owner, segment)
        if let part = decoded.vector.part(from..<to) {
          decoded.vector = part
        } else {
          let encoded = ElementRun(decoded.vector, form: form).part(from..<to).encoded()
          owned = encoded
          decoded = try DecodedColumn(encoded.bytes, form: form, count: to - from)
        }
      }
      return withExtendedLifetime((owned, decoded.scratch)) {
        withUnsafePointer(to: decoded.vector) { vector in
          body(
            ColumnBatch(
              firstKey: ObjectKey(0), count: to - from, columns: UnsafeBufferPointer(start: vector, count: 1)))
        }
      }
    }
  }
}

extension ColumnVector {
  /// A range of the vector's rows over the same memory; nil if bits would have to be shifted.
  fileprivate func part(_ range: Range<Int>) -> ColumnVector? {
    if range == 0..<count { return self }
    guard nulls == nil else { return nil }
    let width: Int
    switch layout {
    case .bits: return nil
    case .int8: width = 1
    case .int16: width = 2
    case .int32, .float32: width = 4
    case .int64, .float64: width = 8
    case .fixed16: width = 16
    case .constantWord, .constantBytes: width = 0
    case .bytes16, .bytes32:
      return ColumnVector(
        layout: layout, count: range.count, base: base, values: values,
        offsets: offsets.map { $0 + range.lowerBound * (layout == .bytes16 ? 2 : 4) }, min: min, max: max)
    }
    return ColumnVector(
      layout: layout, count: range.count, base: base, values: values + range.lowerBound * width, min: min, max: max)
  }
}
