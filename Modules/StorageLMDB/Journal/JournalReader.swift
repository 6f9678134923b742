import CVivariumSystem
import StorageInterface

/// Reads the differences of a record. What the bytes say is checked before it is used.
struct JournalReader {
  /// What a record says of an entry.
  enum Change {
    case removal
    case value(UnsafeRawBufferPointer)
    case patch(Patch)
  }

  private var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

  /// The next entry; nil at the end. Throws where the bytes are none of a record.
  mutating func next() throws(JournalFault) -> (key: UnsafeRawBufferPointer, change: Change)? {
    if rest.isEmpty { return nil }
    let count = Int(try number(UInt16.self))
    let rawKind = try number(UInt8.self)
    _ = try number(UInt8.self)
    let key = try take(count)
    guard let kind = JournalDifferences.Kind(rawValue: rawKind) else { throw JournalFault() }
    switch kind {
    case .removal: return (key, .removal)
    case .value:
      let length = Int(try number(UInt32.self))
      return (key, .value(try take(length)))
    case .patch:
      let (old, new) = (Int(try number(UInt32.self)), Int(try number(UInt32.self)))
      let checksum = try number(UInt32.self)
      let start = rest
      let places = Int(try number(UInt32.self))
      var given = 0
      for _ in 0..<places {
        _ = try number(UInt32.self)
        let length = Int(try number(UInt32.self))
        given += length
        _ = try take(length)
      }
      // What the old value does not have is given.
      guard new <= old + given else { throw JournalFault() }
      return (key, .patch(Patch(oldCount: old, newCount: new, checksum: checksum, places: places, bytes: start)))
    }
  }

  fileprivate mutating func number<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type) throws(JournalFault) -> T {
    let bytes = try take(MemoryLayout<T>.size)
    return T(littleEndian: bytes.loadUnaligned(as: T.self))
  }

  fileprivate mutating func take(_ count: Int) throws(JournalFault) -> UnsafeRawBufferPointer {
    guard count <= rest.count else { throw JournalFault() }
    defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
    return UnsafeRawBufferPointer(rebasing: rest[..<count])
  }

  /// How a value becomes another one.
  struct Patch {
    fileprivate var oldCount: Int
    fileprivate var newCount: Int
    fileprivate var checksum: UInt32
    fileprivate var places: Int
    fileprivate var bytes: UnsafeRawBufferPointer

    /// The new value. Throws if the old one is not the one that the patch was made of.
    func applied(to old: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws(JournalFault) -> [UInt8] {
      guard old.count == oldCount else { throw JournalFault() }
      var value = Array(old.prefix(newCount))
      value += [UInt8](repeating: 0, count: newCount - value.count)
      var reader = JournalReader(bytes)
      for _ in 0..<Int(try reader.number(UInt32.self)) {
        let offset = Int(try reader.number(UInt32.self))
        let part = try reader.take(Int(try reader.number(UInt32.self)))
        guard offset + part.count <= newCount else { throw JournalFault() }
        value.replaceSubrange(offset..<offset + part.count, with: part)
      }
      let sum = value.withUnsafeBytes { cs_checksum(key.baseAddress, key.count, $0.baseAddress, $0.count) }
      guard sum == checksum else { throw JournalFault() }
      return value
    }
  }
}

/// The bytes of a record are not what a commit wrote, or do not fit what the file has.
struct JournalFault: Error {}
