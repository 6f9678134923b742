import StorageInterface
import StoreValues

/// The owner of a list: the slot of the property and the owner's key.
struct ListOwner: Hashable {
  var slot: Int
  var owner: Int64
}

/// A list that an open write has changed. A value, so that a savepoint can keep the previous one.
struct EditedList {
  struct Segment {
    /// Its number in the file; 0: not stored yet.
    var id: UInt32
    var count: Int
    /// The elements if loaded; nil: as stored.
    var run: ElementRun?
    var isChanged = false
  }

  let form: ColumnShape.Form
  var segments: [Segment] = []
  var nextSegment: UInt32 = 1
  /// Stored segments that the list no longer uses.
  var dropped: [UInt32] = []
  /// The base version keeps the list in segments.
  var isStoredInSegments = false

  init(form: ColumnShape.Form) { self.form = form }

  var count: Int { segments.reduce(0) { $0 + $1.count } }

  /// The segment and offset of position `at`; the end position belongs to the last segment.
  func locate(_ at: Int) -> (segment: Int, offset: Int) {
    var rest = at
    for (i, segment) in segments.enumerated() {
      if rest < segment.count || (rest == segment.count && i == segments.count - 1) { return (i, rest) }
      rest -= segment.count
    }
    return (segments.count, 0)
  }
}

/// The directory of a long list: id u32 and element count u32 of each segment, in list order.
enum SegmentDirectory {
  static func decode(_ bytes: UnsafeRawBufferPointer, count: Int) throws(StorageError) -> [EditedList.Segment] {
    let start = try check(bytes, count: count)
    var segments: [EditedList.Segment] = []
    segments.reserveCapacity(bytes.count / 8)
    for i in 0..<bytes.count / 8 {
      segments.append(EditedList.Segment(id: start.number(i * 8), count: Int(start.number(i * 8 + 4, as: UInt32.self))))
    }
    return segments
  }

  /// Throws unless the segments have `count` elements together; until then a list's count is untrusted. O(segments), no
  /// allocation.
  @discardableResult
  static func check(_ bytes: UnsafeRawBufferPointer, count: Int) throws(StorageError) -> UnsafeRawPointer {
    // Segments are never empty, so a directory with more segments than elements is damaged.
    guard let start = bytes.baseAddress, bytes.count % 8 == 0, bytes.count / 8 <= count else {
      throw .corrupt("the directory of a list is cut off")
    }
    var sum = 0
    for i in 0..<bytes.count / 8 {
      let n = Int(start.number(i * 8 + 4, as: UInt32.self))
      guard n > 0, n <= ListValue.segmentLimit else { throw .corrupt("a list has a segment of impossible size") }
      // No overflow: at most 2³² segments.
      sum &+= n
    }
    guard sum == count else { throw .corrupt("a list counts its elements wrong") }
    return start
  }

  static func encode(_ segments: [EditedList.Segment]) -> ValueBuffer {
    ValueBuffer(count: segments.count * 8) { out in
      guard let out = out.baseAddress else { return }
      for (i, segment) in segments.enumerated() {
        out.store(segment.id, at: i * 8)
        out.store(UInt32(segment.count), at: i * 8 + 4)
      }
    }
  }
}
