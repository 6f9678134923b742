import StorageInterface
import StoreValues

/// A column of one chunk in editable form: fresh rows, and rows that an open write has touched.
///
/// Rows are positions of the chunk. Words are 64-bit; 16-byte values take two; byte strings are slices, of the snapshot until
/// they are changed and then of the column's own arena.
///
/// `@exclusivity(unchecked)`: confined to its transaction, and no two accesses to one variable overlap: the only closures are
/// `grow`'s own, which get a variable as `inout` and touch no other.
final class EditedColumn {
  let form: ColumnShape.Form
  @exclusivity(unchecked) private(set) var count = 0
  @exclusivity(unchecked) private var capacity: Int
  /// Words, or pairs of them for 16-byte values.
  @exclusivity(unchecked) private(set) var words: UnsafeMutablePointer<Int64>
  @exclusivity(unchecked) private(set) var slices: UnsafeMutablePointer<UnsafeRawBufferPointer>
  @exclusivity(unchecked) private(set) var nulls: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private(set) var nullCount = 0
  /// Byte strings only. Bit set: the row's bytes are in an entry of their own in the base version, and the slice is not loaded.
  @exclusivity(unchecked) private(set) var external: UnsafeMutablePointer<UInt64>
  /// Byte strings only. Bit set: changed by this write.
  @exclusivity(unchecked) private(set) var changed: UnsafeMutablePointer<UInt64>
  private let arena = ByteArena()
  /// The bytes of rows without a stored value: shared by all of them, however long the default is.
  @exclusivity(unchecked) private var absentBytes: ValueBuffer?
  /// Incremented by each change; anything derived from the column (a vector for scans) with another revision is stale.
  @exclusivity(unchecked) private(set) var revision = 0

  init(form: ColumnShape.Form, capacity: Int) {
    self.form = form
    self.capacity = max(capacity, 16)
    let bitmap = Bits.wordCount(self.capacity)
    words = .allocate(capacity: form == .bytes ? 1 : form == .fixed16 ? self.capacity * 2 : self.capacity)
    slices = .allocate(capacity: form == .bytes ? self.capacity : 1)
    nulls = .allocate(capacity: bitmap)
    nulls.initialize(repeating: 0, count: bitmap)
    external = .allocate(capacity: form == .bytes ? bitmap : 1)
    external.initialize(repeating: 0, count: form == .bytes ? bitmap : 1)
    changed = .allocate(capacity: form == .bytes ? bitmap : 1)
    changed.initialize(repeating: 0, count: form == .bytes ? bitmap : 1)
  }

  deinit {
    words.deallocate()
    slices.deallocate()
    nulls.deallocate()
    external.deallocate()
    changed.deallocate()
  }

  /// Empties the column for reuse by the next chunk.
  func reset() {
    count = 0
    nullCount = 0
    revision += 1
    let bitmap = Bits.wordCount(capacity)
    nulls.update(repeating: 0, count: bitmap)
    if form == .bytes {
      external.update(repeating: 0, count: bitmap)
      changed.update(repeating: 0, count: bitmap)
    }
    arena.reset()
  }

  private func grow() {
    let old = capacity
    capacity *= 2
    func enlarge<T>(_ pointer: inout UnsafeMutablePointer<T>, _ from: Int, _ to: Int) {
      let larger = UnsafeMutablePointer<T>.allocate(capacity: to)
      larger.moveInitialize(from: pointer, count: from)
      pointer.deallocate()
      pointer = larger
    }
    func enlargeBitmap(_ pointer: inout UnsafeMutablePointer<UInt64>) {
      let (from, to) = (Bits.wordCount(old), Bits.wordCount(capacity))
      enlarge(&pointer, from, to)
      (pointer + from).initialize(repeating: 0, count: to - from)
    }
    enlargeBitmap(&nulls)
    switch form {
    case .bytes:
      enlarge(&slices, count, capacity)
      enlargeBitmap(&external)
      enlargeBitmap(&changed)
    case .fixed16: enlarge(&words, count * 2, capacity * 2)
    default: enlarge(&words, count, capacity)
    }
  }
}

extension EditedColumn {
  /// Takes the rows of an encoded column. Byte strings stay in place: the vector's memory must outlive the column.
  func load(_ column: DecodedColumn) {
    let vector = column.vector
    while capacity < vector.count { grow() }
    count = vector.count
    if let bits = vector.nulls {
      for i in 0..<Bits.wordCount(count) { nulls[i] = bits[i] }
      if count & 63 != 0 { nulls[count >> 6] &= (1 << UInt64(count & 63)) - 1 }
      nullCount = Bits.population(nulls, count)
    }
    if let bits = column.external, form == .bytes {
      for i in 0..<Bits.wordCount(count) { external[i] = bits[i] }
    }
    switch form {
    case .bytes: for row in 0..<count { slices[row] = vector.bytes(at: row) }
    case .fixed16:
      for row in 0..<count {
        // A 16-byte layout has 16 bytes per row, proved at decoding.
        let bytes = vector.bytes(at: row)
        words[row * 2] = bytes.loadUnaligned(fromByteOffset: 0, as: Int64.self)
        words[row * 2 + 1] = bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)
      }
    default: loadWords(vector)
    }
  }

  private func loadWords(_ vector: ColumnVector) {
    let (base, values) = (vector.base, vector.values)
    switch vector.layout {
    case .int8:
      for i in 0..<count { words[i] = base &+ Int64(values.load(fromByteOffset: i, as: UInt8.self)) }
    case .int16:
      for i in 0..<count { words[i] = base &+ Int64(values.number(i &* 2, as: UInt16.self)) }
    case .float64: words.update(from: values.assumingMemoryBound(to: Int64.self), count: count)
    default: for i in 0..<count { words[i] = vector.word(at: i) }
    }
  }

  /// Whether a row has, or had in the base version, an entry of its own.
  var hasExternal: Bool { form == .bytes && Bits.population(external, count) > 0 }

  @inline(__always) func isNull(_ row: Int) -> Bool { nullCount > 0 && Bits.test(nulls, row) }

  /// Whether the bytes of the row must be fetched from an entry of their own.
  @inline(__always) func isExternal(_ row: Int) -> Bool {
    Bits.test(external, row) && !Bits.test(changed, row)
  }

  func fixedBytes(_ row: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: words + row * 2, count: 16) }

  @inline(__always) private func setNull(_ row: Int, _ isNull: Bool) {
    if isNull == Bits.test(nulls, row) { return }
    if isNull {
      Bits.set(nulls, row)
      nullCount += 1
    } else {
      Bits.clear(nulls, row)
      nullCount -= 1
    }
  }

  /// Sets a word; nil is null.
  @inline(__always) func set(_ row: Int, word: Int64?) {
    revision &+= 1
    if let word { words[row] = word }
    setNull(row, word == nil)
  }

  /// Sets a byte string or a 16-byte value; nil is null. Copies.
  func set(_ row: Int, bytes: UnsafeRawBufferPointer?) {
    revision &+= 1
    if form == .bytes {
      Bits.set(changed, row)
      slices[row] = bytes.map { arena.copy($0) } ?? UnsafeRawBufferPointer(start: nil, count: 0)
    } else if let bytes, bytes.count == 16 {
      words[row * 2] = bytes.loadUnaligned(fromByteOffset: 0, as: Int64.self)
      words[row * 2 + 1] = bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)
    }
    setNull(row, bytes == nil)
  }

  @inline(__always) private func addRow() -> Int {
    if count == capacity { grow() }
    revision &+= 1
    count += 1
    return count - 1
  }

  @inline(__always) func append(word: Int64, isNull: Bool) {
    let row = addRow()
    words[row] = word
    if isNull { setNull(row, true) }
  }

  func append(bytes: UnsafeRawBufferPointer?) {
    let row = addRow()
    if form == .bytes {
      slices[row] = UnsafeRawBufferPointer(start: nil, count: 0)
    } else {
      words[row * 2] = 0
      words[row * 2 + 1] = 0
    }
    set(row, bytes: bytes)
  }

  /// Appends a stored value: byte strings are not marked as changed, and without `copying` they stay in place.
  func appendStored(_ bytes: UnsafeRawBufferPointer, copying: Bool) {
    guard form == .bytes else { return append(bytes: bytes) }
    let row = addRow()
    slices[row] = copying ? arena.copy(bytes) : bytes
  }

  /// Marks everything as stored.
  func markStored() {
    if form == .bytes { changed.update(repeating: 0, count: Bits.wordCount(capacity)) }
  }

  /// Appends a row whose bytes are already in an entry of their own.
  func appendExternal() {
    let row = addRow()
    slices[row] = UnsafeRawBufferPointer(start: nil, count: 0)
    Bits.set(external, row)
  }

  /// Appends row `row` of another column of the same form, with its null, external and changed bits.
  func append(_ other: EditedColumn, row: Int) {
    switch form {
    case .bytes:
      if other.isExternal(row) { return appendExternal() }
      append(bytes: other.isNull(row) ? nil : other.slices[row])
      if Bits.test(other.external, row) { Bits.set(external, count - 1) }
      if !Bits.test(other.changed, row) { Bits.clear(changed, count - 1) }
    case .fixed16: append(bytes: other.isNull(row) ? nil : other.fixedBytes(row))
    default: append(word: other.words[row], isNull: other.isNull(row))
    }
  }

  /// Appends the value of rows that have none stored.
  func appendAbsent(_ shape: ColumnShape) {
    if form.isWord {
      append(word: shape.absentWord, isNull: shape.absentIsNull)
    } else {
      guard form == .bytes, !shape.absentIsNull, let absent = shape.absentBytes, absentBytes == nil || absentBytes === absent
      else { return append(bytes: shape.absentIsNull ? nil : shape.absentBytes?.bytes) }
      absentBytes = absent
      let row = addRow()
      Bits.set(changed, row)
      slices[row] = absent.bytes
    }
  }

  /// Keeps only the rows at the given positions, which must ascend.
  func keep(_ rows: [Int]) {
    revision += 1
    var nulls = 0
    for (to, from) in rows.enumerated() {
      switch form {
      case .bytes:
        slices[to] = slices[from]
        copyBit(external, from, to)
        copyBit(changed, from, to)
      case .fixed16:
        words[to * 2] = words[from * 2]
        words[to * 2 + 1] = words[from * 2 + 1]
      default: words[to] = words[from]
      }
      copyBit(self.nulls, from, to)
      if Bits.test(self.nulls, to) { nulls += 1 }
    }
    count = rows.count
    nullCount = nulls
  }

  private func copyBit(_ words: UnsafeMutablePointer<UInt64>, _ from: Int, _ to: Int) {
    if Bits.test(words, from) { Bits.set(words, to) } else { Bits.clear(words, to) }
  }
}
