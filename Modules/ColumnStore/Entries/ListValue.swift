import StorageInterface
import StoreValues

/// A list as the value of its owner's row (Docs/FileFormat.md, "Lists"): empty for an empty list; 1 and the elements for a
/// short one; 2, element count u64 and next segment number u32 for one whose elements are in segments.
enum ListValue {
  /// Longer lists are stored in segments.
  static let inlineElementsMax = 64
  /// The most elements of a segment.
  static let segmentMax = 500
  /// No build writes more elements to a segment; a higher count is damage.
  static let segmentLimit = 4_096

  case empty
  case short(ElementRun)
  case segmented(count: Int, nextSegment: UInt32)

  init(_ bytes: UnsafeRawBufferPointer?, form: ColumnShape.Form) throws(StorageError) {
    guard let bytes, let start = bytes.baseAddress, bytes.count > 0 else {
      self = .empty
      return
    }
    switch bytes[0] {
    case 1:
      guard bytes.count >= 3 else { throw .corrupt("a list is cut off") }
      let count = Int(start.number(1, as: UInt16.self))
      // Each element takes at least a byte, and an empty list has no bytes.
      guard count > 0, count <= bytes.count - 3 else { throw .corrupt("a list counts its elements wrong") }
      let column = EditedColumn(form: form, capacity: count)
      var input = FreshRows.Reader(bytes: bytes, offset: 3)
      for _ in 0..<count { try input.value(into: column) }
      if column.hasExternal { throw .corrupt("an element of a list lies outside it") }
      var run = ElementRun(form: form)
      for i in 0..<count {
        if form.isWord {
          run.append(word: column.isNull(i) ? nil : column.words[i])
        } else {
          run.append(bytes: column.isNull(i) ? nil : form == .bytes ? column.slices[i] : column.fixedBytes(i))
        }
      }
      self = .short(run)
    case 2:
      guard bytes.count >= 13, let count = Int(exactly: start.number(1, as: UInt64.self)) else {
        throw .corrupt("a list is cut off")
      }
      self = .segmented(count: count, nextSegment: start.number(9))
    default: throw .corrupt("a list has an unknown form")
    }
  }

  /// The element count without decoding the elements.
  static func count(_ bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Int {
    guard let bytes, let start = bytes.baseAddress, bytes.count > 0 else { return 0 }
    if bytes[0] == 1, bytes.count >= 3 {
      let count = Int(start.number(1, as: UInt16.self))
      if count > 0, count <= bytes.count - 3 { return count }
    }
    // The segments' directory has their counts: see `SegmentDirectory.check`.
    if bytes[0] == 2, bytes.count >= 13, let count = Int(exactly: start.number(1, as: UInt64.self)) { return count }
    throw .corrupt("a list is cut off")
  }

  static func isSegmented(_ bytes: UnsafeRawBufferPointer?) -> Bool { bytes?.first == 2 }

  /// The bytes of a short list; nil if it must go to segments.
  static func encodeShort(_ run: ElementRun) -> [UInt8]? {
    if run.count == 0 { return [] }
    guard run.count <= inlineElementsMax else { return nil }
    let column = EditedColumn(form: run.form, capacity: run.count)
    run.copy(to: column)
    var out: [UInt8] = [1]
    withUnsafeBytes(of: UInt16(run.count).littleEndian) { out.append(contentsOf: $0) }
    for i in 0..<run.count {
      if run.form == .bytes, !column.isNull(i), column.slices[i].count > ExternalValues.inlineMax { return nil }
      FreshRows.append(column, i, to: &out)
    }
    return out.count <= ExternalValues.inlineMax ? out : nil
  }

  static func encodeSegmented(count: Int, nextSegment: UInt32) -> [UInt8] {
    var out: [UInt8] = [2]
    withUnsafeBytes(of: UInt64(count).littleEndian) { out.append(contentsOf: $0) }
    withUnsafeBytes(of: nextSegment.littleEndian) { out.append(contentsOf: $0) }
    return out
  }
}

extension ElementRun {
  func copy(to column: EditedColumn) {
    for i in 0..<count {
      if form.isWord {
        column.append(word: word(i), isNull: isNull(i))
      } else if isNull(i) {
        column.append(bytes: nil)
      } else {
        withBytes(i) { column.append(bytes: $0) }
      }
    }
  }
}
