import StoreValues

/// The key of an entry of the column store, built in place: a space, then big-endian numbers, so that keys sort as the numbers.
struct EntryKey {
  /// The kind of an entry: the first byte of its key. The values are part of the file format.
  enum Space: UInt8 {
    case header = 0x01
    case catalog = 0x02
    case tableRecord = 0x03
    case freshRows = 0x04
    case chunkMap = 0x05
    case column = 0x06
    case externalValue = 0x07
    case listSegment = 0x08
    case indexRecord = 0x09
    case indexBlock = 0x0A
    case backlinkRecord = 0x0B
    case backlinkBlock = 0x0C
    case history = 0x0D
    case side = 0x0E
  }

  private var storage: (UInt64, UInt64, UInt64) = (0, 0, 0)
  private(set) var count = 0

  init(_ space: Space) { append(space.rawValue) }

  /// Appends a number, high byte first. A key has at most 24 bytes; every constructor below stays within that.
  private mutating func append(_ number: some FixedWidthInteger) {
    let width = number.bitWidth / 8
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.storeBytes(of: number.bigEndian, toByteOffset: count, as: type(of: number))
    }
    count += width
  }

  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    var copy = storage
    let count = count
    // Not a `Result`: for the first one with a new error type, the runtime searches the conformances of every library in the
    // process.
    var result: R?
    var failure: E?
    withUnsafeMutableBytes(of: &copy) { bytes in
      do throws(E) { result = try body(UnsafeRawBufferPointer(rebasing: bytes[0..<count])) } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    // `withUnsafeMutableBytes` ran its body exactly once, and it did not throw, so there is a result.
    return result.unsafelyUnwrapped
  }
}

extension EntryKey {
  static let header = EntryKey(.header)
  static let catalog = EntryKey(.catalog)

  static func table(_ space: Space, _ table: TableID) -> EntryKey {
    var key = EntryKey(space)
    key.append(table.rawValue)
    return key
  }

  static func chunkMap(_ table: TableID, _ chunk: Int64) -> EntryKey {
    var key = EntryKey.table(.chunkMap, table)
    key.append(UInt64(bitPattern: chunk))
    return key
  }

  static func column(_ table: TableID, _ property: PropertyID, _ chunk: Int64) -> EntryKey {
    var key = EntryKey.table(.column, table)
    key.append(property.rawValue)
    key.append(UInt64(bitPattern: chunk))
    return key
  }

  static func externalValue(_ table: TableID, _ property: PropertyID, _ object: Int64) -> EntryKey {
    var key = EntryKey.table(.externalValue, table)
    key.append(property.rawValue)
    key.append(UInt64(bitPattern: object))
    return key
  }

  /// Segment 0 is the list's directory.
  static func listSegment(_ table: TableID, _ property: PropertyID, _ owner: Int64, _ segment: UInt32) -> EntryKey {
    var key = EntryKey.table(.listSegment, table)
    key.append(property.rawValue)
    key.append(UInt64(bitPattern: owner))
    key.append(segment)
    return key
  }

  static func history(_ version: UInt64) -> EntryKey {
    var key = EntryKey(.history)
    key.append(version)
    return key
  }

  static func indexRecord(_ index: IndexReference) -> EntryKey {
    switch index {
    case .index(let id):
      var key = EntryKey(.indexRecord)
      key.append(id.rawValue)
      return key
    case .backlinks(let column):
      var key = EntryKey.table(.backlinkRecord, column.table)
      key.append(column.property.rawValue)
      return key
    }
  }

  /// The common prefix of the keys of all blocks of an index; a block's fence follows it.
  static func blockPrefix(_ index: IndexReference) -> EntryKey {
    switch index {
    case .index(let id):
      var key = EntryKey(.indexBlock)
      key.append(id.rawValue)
      return key
    case .backlinks(let column):
      var key = EntryKey.table(.backlinkBlock, column.table)
      key.append(column.property.rawValue)
      return key
    }
  }

  var bytes: [UInt8] { withBytes { Array($0) } }
}

/// The purpose of an index structure: a declared index, or the backlinks of a relationship.
enum IndexReference: Hashable, Sendable {
  case index(IndexID)
  case backlinks(ColumnID)
}
