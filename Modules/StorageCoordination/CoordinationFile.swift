import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// The mapped side file `<store>.coord`, through which the writers of one store coordinate across processes.
///
/// Its contents are only order and hints; ownership is expressed by byte-range locks, which the kernel releases when a process
/// dies. So the contents never need repair, and the file may be deleted while no process has the store open. Layout, in the
/// machine's byte order: 0 magic, 8 last ticket issued, 16 ticket of the holder (0: nobody), 24 the last durable commit
/// (`DurableNote`), 64 sixty-four 32-bit wake-up words, 2,048 forty-eight lines of 128 bytes with the holders of versions
/// (`HolderTable`). Length 8,192; files of older builds have 4,096 and grow when opened for writing.
final class CoordinationFile: Sendable {
  static let length = 8192
  static let name = "coordination file"
  private static let oldLength = 4096
  private static let magic: UInt64 = 0x3144_524F_4F43_5656  // "VVCOORD1"
  private static let turnCount: Int64 = 64
  private static let ticketMask: UInt64 = (1 << 60) - 1

  let path: String
  let identity: FileIdentity
  private let descriptor: Int32
  /// Safe to share: set once in `init`, unmapped in `deinit` when no reference is left, and every access in between is an
  /// atomic operation within `length`.
  nonisolated(unsafe) private let base: UnsafeMutableRawPointer

  /// Opens the file, and creates it if missing.
  ///
  /// Throws `.permissionDenied`, `.outOfDiskSpace`, `.foreignFile` or `.io`.
  init(path: String, mode: UInt32) throws(StorageError) {
    let file = try SideFile.open(path, CoordinationFile.name, writes: true, creates: true, mode: mode)
    guard CoordinationFile.isOurs(file, path) else {
      close(file)
      throw SideFile.foreign(path, CoordinationFile.name)
    }
    var number: Int32 = 0
    // Allocate the blocks now: on a full disk, a store into a hole of a mapping would raise a signal.
    number = cs_reserve(file, Int64(CoordinationFile.length))
    guard number == 0, let identity = FileIdentity(descriptor: file) else {
      close(file)
      throw .system(number, doing: "make room in the coordination file", path: path)
    }
    let mapped = mmap(nil, CoordinationFile.length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let mapped, mapped != MAP_FAILED else {
      let number = errno
      close(file)
      throw .system(number, doing: "map the coordination file", path: path)
    }
    let first = mapped.assumingMemoryBound(to: UInt64.self)
    cs_store64(first, CoordinationFile.magic)
    self.path = path
    self.identity = identity
    descriptor = file
    base = mapped
  }

  /// Whether the file has our mark, or was never written: it is empty, or zeroes of our length.
  static func isOurs(_ file: Int32, _ path: String) -> Bool {
    SideFile.passes(file, CoordinationFile.length) { bytes, length in
      if bytes.count >= 8 {
        let found = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        if found == CoordinationFile.magic { return true }
      }
      if length == 0 { return SideFile.isNew(file, path: path, suffix: ".coord") }
      return [CoordinationFile.oldLength, CoordinationFile.length].contains(length) && bytes.allSatisfy { $0 == 0 }
    }
  }

  deinit {
    munmap(base, CoordinationFile.length)
    close(descriptor)
  }

  /// A descriptor of the same file with separate locks. The caller closes it.
  func openAgain() throws(StorageError) -> Int32 {
    let file: Int32
    do throws(StorageError) {
      file = try SideFile.open(path, CoordinationFile.name, writes: true, creates: false, .statement)
    } catch {
      guard error.underlyingCode == ENOENT else { throw error }
      throw replaced
    }
    guard FileIdentity(descriptor: file) == identity else {
      close(file)
      throw replaced
    }
    return file
  }

  private var replaced: StorageError {
    StorageError(
      .replaced, .engine, "'\(path)' was replaced or removed while the store was open.",
      remedy: "Close the store in every process and open it again.")
  }

  /// Takes the next ticket, counting from 1.
  func takeTicket() -> Int64 {
    // Masked, so that a damaged counter still gives a valid file offset; only the order suffers.
    Int64((cs_add64(word64(8), 1) &+ 1) & CoordinationFile.ticketMask)
  }

  /// The last ticket issued.
  var lastTicket: Int64 { Int64(cs_load64(word64(8)) & CoordinationFile.ticketMask) }

  /// The ticket of the holder; 0 between holders. Only the holder writes it.
  var holder: UInt64 {
    get { cs_load64(word64(16)) }
    set { cs_store64(word64(16), newValue) }
  }

  /// Only the holder writes it.
  func note(_ note: DurableNote, for data: FileIdentity) {
    for (i, word) in note.words(for: data).enumerated() { cs_store64(word64(DurableNote.offset + i * 8), word) }
  }

  func turn(_ ticket: Int64) -> UInt32 { cs_load32(turnWord(ticket)) }

  /// Sleeps until the wake-up word of `ticket` is no longer `seen`, or the time is over; may also wake up spuriously.
  func sleep(_ ticket: Int64, seen: UInt32, nanoseconds: UInt64) { cs_wait(turnWord(ticket), seen, nanoseconds) }

  func wake(_ ticket: Int64) {
    cs_add32(turnWord(ticket), 1)
    cs_wake(turnWord(ticket))
  }

  /// A line of the holder table. The caller owns the line.
  func line(_ number: Int) -> UnsafeMutableRawPointer { base + HolderTable.start + number * HolderTable.lineSize }

  private func word64(_ offset: Int) -> UnsafeMutablePointer<UInt64> {
    (base + offset).assumingMemoryBound(to: UInt64.self)
  }

  private func turnWord(_ ticket: Int64) -> UnsafeMutablePointer<UInt32> {
    (base + 64 + Int(ticket & (CoordinationFile.turnCount - 1)) * 4).assumingMemoryBound(to: UInt32.self)
  }
}
