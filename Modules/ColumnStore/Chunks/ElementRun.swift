import StorageInterface
import StoreValues

/// Elements of a collection in editable form: a short list, or one segment of a long one. A value, so that a savepoint keeps a
/// copy at no cost.
struct ElementRun {
  let form: ColumnShape.Form
  /// Words; empty in lists of byte strings.
  private var words: [Int64] = []
  /// Byte strings and UUIDs; empty in lists of words.
  private var strings: [[UInt8]] = []
  private var nulls: [Bool] = []

  init(form: ColumnShape.Form) { self.form = form }

  var count: Int { nulls.count }

  func isNull(_ i: Int) -> Bool { nulls[i] }
  func word(_ i: Int) -> Int64 { words[i] }

  func bytes(_ i: Int) -> [UInt8] { strings[i] }

  func withBytes(_ i: Int, _ body: (UnsafeRawBufferPointer) -> Void) { strings[i].withUnsafeBytes(body) }

  mutating func append(word: Int64?) {
    words.append(word ?? 0)
    nulls.append(word == nil)
  }

  mutating func append(bytes: UnsafeRawBufferPointer?) {
    strings.append(bytes.map { Array($0) } ?? [])
    nulls.append(bytes == nil)
  }

  /// The elements of a collection from values.
  init(_ values: [Value], _ shape: ColumnShape) {
    form = shape.elementForm
    for value in values {
      if form.isWord { append(word: value.word) } else { value.withBytes(as: shape.elementType) { append(bytes: $0) } }
    }
  }

  mutating func insert(_ run: ElementRun, at: Int) {
    if form.isWord { words.insert(contentsOf: run.words, at: at) } else { strings.insert(contentsOf: run.strings, at: at) }
    nulls.insert(contentsOf: run.nulls, at: at)
  }

  mutating func remove(_ range: Range<Int>) {
    if form.isWord { words.removeSubrange(range) } else { strings.removeSubrange(range) }
    nulls.removeSubrange(range)
  }

  /// The elements of a range as a separate run.
  func part(_ range: Range<Int>) -> ElementRun {
    var run = ElementRun(form: form)
    if form.isWord { run.words = Array(words[range]) } else { run.strings = Array(strings[range]) }
    run.nulls = Array(nulls[range])
    return run
  }

  mutating func append(_ other: ElementRun) {
    words += other.words
    strings += other.strings
    nulls += other.nulls
  }

  init(_ vector: ColumnVector, form: ColumnShape.Form) {
    self.form = form
    for row in 0..<vector.count {
      let isNull = vector.isNull(at: row)
      if form.isWord { append(word: isNull ? nil : vector.word(at: row)) } else {
        append(bytes: isNull ? nil : vector.bytes(at: row))
      }
    }
  }

  /// The elements as an encoded column. Requires at least one element.
  func encoded() -> ValueBuffer {
    let column = EditedColumn(form: form, capacity: count)
    copy(to: column)
    return ColumnEncoder.encode(column)
  }
}

extension ColumnEncoder {
  /// Encodes all rows of an in-memory column, none of them external.
  static func encode(_ column: EditedColumn) -> ValueBuffer {
    switch column.form {
    case .bytes:
      encode(
        slices: column.slices, nulls: column.nulls, nullCount: column.nullCount, external: column.nulls,
        externalCount: 0, count: column.count)
    case .fixed16:
      encode(fixed16: column.words, nulls: column.nulls, nullCount: column.nullCount, count: column.count)
    default:
      encode(
        words: column.words, nulls: column.nulls, nullCount: column.nullCount, count: column.count, form: column.form)
    }
  }
}
