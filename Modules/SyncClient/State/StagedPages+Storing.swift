import StorageInterface
import SyncModel
import SyncProtocol
import Vivarium

// Where a file has staged pages.
//
// | key | value |
// |---|---|
// | `s`, 5 | which pages there are, and for whom: the replica, its cursor, and whether it begins anew |
// | `p`, number u32 | a page, as in a message |
//
// Each value ends with a checksum. All of it goes with the commit that takes the objects.

extension StagedPages {
  private static let listKey: [UInt8] = [UInt8(ascii: "s"), 5]
  private static let space = UInt8(ascii: "p")
  private static let format: UInt8 = 1
  /// The most pages that a list is believed to have.
  private static let countMax = 1 << 20

  private static func pageKey(_ number: Int) -> [UInt8] { [space] + SideName.bigEndian(UInt32(truncatingIfNeeded: number)) }

  /// Whether there is something, of use or not.
  static func areThere(_ sides: any SideReading) throws(StorageError) -> Bool { try stored(listKey, sides) != nil }

  /// Returns nil if there are none with which the replica can go on. Throws `.stagedPagesDamaged`.
  static func read(
    _ sides: any SideReading, _ standing: ReplicaStanding, cursor: Seq
  ) throws(StorageError) -> StagedPages? {
    guard let list = try list(sides), list.replica == standing.replica, list.cursor == cursor, list.isAnew == standing.isAnew
    else { return nil }
    return list.pages
  }

  /// Returns nil if there is none, or it is of another build.
  private static func list(
    _ sides: any SideReading
  ) throws(StorageError) -> (pages: StagedPages, replica: ReplicaID, cursor: Seq, isAnew: Bool)? {
    guard let sealed = try stored(listKey, sides) else { return nil }
    guard let bytes = CheckedBytes.opened(sealed) else { throw .stagedPages("their list is damaged") }
    do throws(CodingError) {
      var reader = ByteReader(bytes)
      guard try reader.byte() == format else { return nil }
      let replica = ReplicaID(try reader.fixed(UInt64.self))
      let cursor = Seq(try reader.fixed(UInt64.self))
      let isAnew = try reader.byte() != 0
      let time = try reader.fixed(UInt64.self)
      let floor = Stamp(time: time, replica: ReplicaID(try reader.fixed(UInt64.self)))
      let count = Int(try reader.fixed(UInt32.self))
      guard count <= countMax else { throw reader.error(.value) }
      let begun = try reader.begunPages()
      try reader.end()
      return (StagedPages(begun, floor: floor, count: count), replica, cursor, isAnew)
    } catch { throw .stagedPages("their list cannot be read: \(error)") }
  }

  /// A page by its number, from 0. Throws `.stagedPagesDamaged`. O(the page).
  package static func page(_ number: Int, _ sides: any SideReading) throws(StorageError) -> StatePage {
    guard let sealed = try stored(pageKey(number), sides) else { throw .stagedPages("page \(number) is missing") }
    guard let bytes = CheckedBytes.opened(sealed) else { throw .stagedPages("page \(number) is damaged") }
    do throws(CodingError) { return try StatePage(decoding: bytes) } catch {
      throw .stagedPages("page \(number) cannot be read: \(error)")
    }
  }

  private static func stored(_ key: [UInt8], _ sides: any SideReading) throws(StorageError) -> [UInt8]? {
    do throws(StorageError) { return try sides.side(key) } catch {
      if error.code == .corrupt { throw .stagedPages(error.message) }
      throw error
    }
  }

  /// Throws unless these are what a file has, and what it takes them for.
  func check(
    _ sides: any SideReading, _ standing: ReplicaStanding, cursor: Seq
  ) throws(StorageError) {
    guard try StagedPages.read(sides, standing, cursor: cursor) == self else { throw .stagedPages("others were expected") }
  }

  /// Puts pages behind these, which a file must have; if these are none, it loses all that it has.
  func add(
    _ pages: [CheckedBytes], making all: StagedPages, _ sides: any SideWriting, _ standing: ReplicaStanding, cursor: Seq
  ) throws(StorageError) {
    if count == 0 { try StagedPages.remove(sides) } else { try check(sides, standing, cursor: cursor) }
    for (offset, page) in pages.enumerated() { try sides.setSide(StagedPages.pageKey(count + offset), page.sealed) }
    var writer = ByteWriter()
    writer.put(byte: StagedPages.format)
    writer.put(fixed: standing.replica.rawValue)
    writer.put(fixed: cursor.rawValue)
    writer.put(byte: standing.isAnew ? 1 : 0)
    writer.put(fixed: all.floor.time)
    writer.put(fixed: all.floor.replica.rawValue)
    writer.put(fixed: UInt32(truncatingIfNeeded: all.count))
    writer.put(all.begun)
    try sides.setSide(StagedPages.listKey, CheckedBytes(writer.bytes).sealed)
  }

  /// Removes everything, whatever it is. O(pages); O(1) if there is nothing.
  static func remove(_ sides: any SideWriting) throws(StorageError) {
    guard try areThere(sides) else { return }
    var keys: [[UInt8]] = []
    do throws(StorageError) { if let list = try list(sides) { keys = (0..<list.pages.count).map(pageKey) } } catch {}
    if keys.isEmpty {
      try sides.sides(from: [space], below: [space + 1]) { key, _ in
        keys.append(Array(key))
        return .proceed
      }
    }
    for key in keys { try sides.setSide(key, nil) }
    try sides.setSide(listKey, nil)
  }

  /// Whether an error says that staged pages are damaged. Nothing else is.
  static func isDamage(_ error: any Error) -> Bool {
    let error = (error as? StorageError) ?? ((error as? StoreError)?.underlying as? StorageError)
    return error?.code == .stagedPagesDamaged
  }
}

extension StorageError.Code {
  /// What a file had of an interrupted download is damaged. It is discarded, and comes again; nothing else is lost.
  public static let stagedPagesDamaged = Self(rawValue: "stagedPagesDamaged")
}

extension StorageError {
  static func stagedPages(_ why: String) -> StorageError {
    StorageError(
      .stagedPagesDamaged, .transaction, "What the file had of the server's objects cannot be used: \(why).",
      remedy: "Nothing needs to be done: it is discarded, and comes again.")
  }
}
