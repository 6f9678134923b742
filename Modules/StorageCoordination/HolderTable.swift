import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface
import StoreValues
import Synchronization

/// The holders of a store's versions in all processes, with labels: lines in the coordination file.
///
/// A line is valid while the process that filled it has its byte in the file locked, so the kernel frees the lines of dead
/// processes and nothing in them needs repair. It is a hint for people: snapshots are protected elsewhere.
///
/// A line is 128 bytes: process u64 (0: nobody), version u64, milliseconds since 1970 u64, length of the label u64, label in up
/// to 96 bytes of UTF-8. Safe from any thread.
public final class HolderTable: Sendable {
  /// A line that a living process has filled.
  public struct Holder: Sendable, Hashable {
    public var processID: Int32
    public var version: Version
    public var sinceMilliseconds: Int64
    public var label: String

    package init(processID: Int32, version: Version, sinceMilliseconds: Int64, label: String) {
      self.processID = processID
      self.version = version
      self.sinceMilliseconds = sinceMilliseconds
      self.label = label
    }
  }

  static let start = 2048
  static let lineSize = 128
  static let lineCount = 48
  static let labelMax = 96
  /// Below the presence bytes, and above every ticket.
  fileprivate static let firstByte: Int64 = (1 << 61) - 1024

  private let file: CoordinationFile
  private let descriptor: Int32
  private let mark = ForkMark()
  /// Our lines, a bit each: locks of one open file description do not exclude each other.
  private let own = Mutex<UInt64>(0)

  /// Opens the coordination file at `path`, and creates it if missing. Throws the errors of `FileWriterLock`.
  public init(path: String, mode: UInt32 = 0o664) throws(StorageError) {
    file = try CoordinationFile(path: path, mode: mode)
    descriptor = try file.openAgain()
  }

  deinit { close(descriptor) }

  /// Fills a line until the announcement is dropped; nil if there is no room.
  public func announce(_ version: Version, label: String) -> (any VersionAnnouncement)? {
    if mark.isStale { return nil }
    let number = own.withLock { own -> Int? in
      for line in 0..<HolderTable.lineCount where own & 1 << UInt64(line) == 0 {
        guard cs_lock_exclusive(descriptor, HolderTable.firstByte + Int64(line), 1) == 0 else { continue }
        own |= 1 << UInt64(line)
        return line
      }
      return nil
    }
    guard let number else { return nil }
    let line = file.line(number)
    let bytes = HolderTable.cut(label)
    line.store(version, at: 8)
    line.store(HolderTable.now, at: 16)
    line.store(UInt64(bytes.count), at: 24)
    bytes.withUnsafeBytes { if let from = $0.baseAddress { (line + 32).copyMemory(from: from, byteCount: $0.count) } }
    // Written last: it makes the line valid.
    line.store(UInt64(getpid()), at: 0)
    return Announcement(self, number)
  }

  /// The lines of all living processes, including this one. Empty if there is no file or it cannot be read.
  public static func holders(path: String) -> [Holder] {
    guard let file = try? SideFile.open(path, CoordinationFile.name, writes: false, creates: false) else { return [] }
    defer { close(file) }
    guard CoordinationFile.isOurs(file, path) else { return [] }
    var bytes = [UInt8](repeating: 0, count: lineCount * lineSize)
    let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(start)) }
    return (0..<max(0, count) / lineSize).compactMap { line in
      let fields = bytes[line * lineSize..<(line + 1) * lineSize]
      func word(_ at: Int) -> UInt64 {
        fields.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: UInt64.self) }
      }
      guard word(0) != 0, cs_locked_at(file, firstByte + Int64(line), 1) >= 0 else { return nil }
      let length = Int(min(word(24), UInt64(labelMax)))
      return Holder(
        processID: Int32(truncatingIfNeeded: word(0)), version: Version(word(8)),
        // Any process may have written the line, and ages are computed from this.
        sinceMilliseconds: Int64(clamping: word(16)),
        label: String(decoding: fields.dropFirst(32).prefix(length), as: UTF8.self))
    }
  }

  // MARK: Private

  /// A holder's line. Freed with the last reference.
  private final class Announcement: VersionAnnouncement {
    private let table: HolderTable
    private let number: Int

    init(_ table: HolderTable, _ number: Int) {
      self.table = table
      self.number = number
    }

    func move(to version: Version) {
      if table.mark.isStale { return }
      let line = table.file.line(number)
      line.store(version, at: 8)
      line.store(HolderTable.now, at: 16)
    }

    deinit { table.giveBack(number) }
  }

  private func giveBack(_ number: Int) {
    // In a forked child the line is the parent's.
    if mark.isStale { return }
    file.line(number).store(0, at: 0)
    own.withLock { own in
      _ = cs_unlock(descriptor, HolderTable.firstByte + Int64(number), 1)
      own &= ~(1 << UInt64(number))
    }
  }

  /// As much of the label as fits a line, in whole characters.
  private static func cut(_ label: String) -> [UInt8] {
    var label = Substring(label)
    while label.utf8.count > labelMax { label = label.dropLast(max(1, (label.utf8.count - labelMax) / 4)) }
    return Array(label.utf8)
  }

  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_nsec / 1_000_000)
  }
}

extension UnsafeMutableRawPointer {
  fileprivate func store(_ word: UInt64, at offset: Int) {
    cs_store64((self + offset).assumingMemoryBound(to: UInt64.self), word)
  }

  fileprivate func store(_ version: Version, at offset: Int) { store(version.rawValue, at: offset) }
}

extension [VersionPin] {
  /// Labels pins with the names their holders announced: one announcement for one pin of the same process and version.
  /// `isComplete`: there are no other pins; otherwise holders without a pin are added as pins.
  public func named(by holders: [HolderTable.Holder], isComplete: Bool) -> [VersionPin] {
    var result = self
    var unnamed = holders
    for i in result.indices {
      guard let match = unnamed.firstIndex(where: {
        $0.processID == result[i].processID && $0.version == result[i].version
      }) else { continue }
      result[i].label = unnamed[match].label
      result[i].sinceMilliseconds = unnamed[match].sinceMilliseconds
      unnamed.remove(at: match)
    }
    if !isComplete {
      result += unnamed.map {
        VersionPin(version: $0.version, processID: $0.processID, label: $0.label, sinceMilliseconds: $0.sinceMilliseconds)
      }
    }
    return result
  }
}
