#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// What the coordination file says of the last durable commit: its version, and the log that it was written to. An engine that
/// finds an older version in that log knows that the log is damaged, where it would otherwise lose commits without a word.
///
/// A note is written after the sync, so it never names a commit that a power cut can take. It counts only for the file that it
/// was written for: a copy may well be older than a note that was copied after it.
package struct DurableNote: Equatable, Sendable {
  package let version: UInt64
  /// What tells the log from earlier ones.
  package let log: UInt64

  package init(version: UInt64, log: UInt64) { (self.version, self.log) = (version, log) }

  /// Reads the note for a data file. Nil if there is none, if it is another file's, or if it is half written.
  package static func read(_ path: String, for data: FileIdentity) -> DurableNote? {
    guard let file = try? SideFile.open(path, CoordinationFile.name, writes: false, creates: false) else { return nil }
    defer { close(file) }
    let end = offset + wordCount * 8
    guard let (bytes, _) = SideFile.beginning(file, end), bytes.count == end else { return nil }
    let words = bytes.withUnsafeBytes { bytes in
      (0..<wordCount).map { bytes.loadUnaligned(fromByteOffset: offset + $0 * 8, as: UInt64.self) }
    }
    let note = DurableNote(version: words[0], log: words[1])
    return note.words(for: data) == words ? note : nil
  }

  // MARK: In the coordination file

  static let offset = 24
  private static let wordCount = 3

  /// The third word is of both and the file. It also finds notes that are half written, since their words are stored one by one, and
  /// files that are not ours. By the inode alone: a device may have another number after a restart.
  func words(for data: FileIdentity) -> [UInt64] {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for word in [version, log, data.inode] {
      hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 29
    }
    return [version, log, hash]
  }
}
