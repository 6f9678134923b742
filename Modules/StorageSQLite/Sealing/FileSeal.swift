import StorageInterface
import Synchronization

/// The key of one file, for this process's connections to it, and the cipher derived from key and file.
///
/// SQLite knows nothing of keys: a connection's address contains the number of its seal, by which `SealedFileSystem` finds it.
/// A seal lives as long as the store's files and connections, which all refer to it. Safe from any thread.
final class FileSeal: Sendable {
  private struct Entry: Sendable {
    let number: UInt64
    weak let seal: FileSeal?
  }

  /// The latest knowledge about the file.
  private struct State: Sendable {
    var salt: [UInt8] = []
    var cipher: (any PageCipher)?
    /// The last page that failed authentication.
    var damage: String?
  }

  private static let entries = Mutex<[Entry]>([])
  private static let lastNumber = Atomic<UInt64>(0)

  let key: any StoreKey
  /// Its name in addresses.
  let number: UInt64
  private let state = Mutex(State())

  init(_ key: any StoreKey) {
    self.key = key
    number = FileSeal.lastNumber.add(1, ordering: .relaxed).newValue
    let entry = Entry(number: number, seal: self)
    FileSeal.entries.withLock { entries in
      entries.removeAll { $0.seal == nil }
      entries.append(entry)
    }
  }

  /// The seal with that number, while it is referenced.
  static func find(_ number: UInt64) -> FileSeal? {
    entries.withLock { entries in entries.first { $0.number == number }?.seal }
  }

  /// The cipher for a file with that salt. The last one is cached: deriving one from a passphrase takes long.
  func cipher(_ salt: [UInt8]) throws(StorageError) -> any PageCipher {
    if let known = state.withLock({ $0.salt == salt ? $0.cipher : nil }) { return known }
    let cipher = try key.cipher(salt: salt)
    state.withLock { ($0.salt, $0.cipher) = (salt, cipher) }
    return cipher
  }

  /// Salt and cipher of the file opened last, to which the log being opened belongs; of a new file if there is none yet.
  func current() throws(StorageError) -> (mark: SealMark, cipher: any PageCipher) {
    let known = state.withLock { ($0.salt, $0.cipher) }
    if let cipher = known.1 { return (SealMark(salt: known.0, check: cipher.check), cipher) }
    let salt = (0..<SealMark.saltCount).map { _ in UInt8.random(in: 0 ... .max) }
    let cipher = try cipher(salt)
    return (SealMark(salt: salt, check: cipher.check), cipher)
  }

  /// Throws `.wrongKey` if the file was not created with the key.
  func check(_ mark: SealMark, _ path: String) throws(StorageError) {
    guard try cipher(mark.salt).check != mark.check else { return }
    state.withLock { $0 = State() }
    throw StorageError(
      .wrongKey, .engine, "'\(path)' is encrypted with another key.", remedy: "Give the key that it was made with.")
  }

  /// The last damage found, in words.
  var damage: String? { state.withLock { $0.damage } }

  func note(damage: String) { state.withLock { $0.damage = damage } }
}

/// The mark of an encrypted file, within the first 100 bytes, which are not encrypted. Our name replaces SQLite's there, so
/// that no program takes it for an SQLite file; salt and check are where SQLite's format has zeroes.
struct SealMark: Equatable, Sendable {
  static let name = Array("Vivarium sealed\0".utf8)
  static let plainName = Array("SQLite format 3\0".utf8)
  static let headerCount = 100
  static let saltCount = 16
  private static let place = 72
  private static let checkCount = 4

  var salt: [UInt8]
  var check: [UInt8]

  init(salt: [UInt8], check: [UInt8]) { (self.salt, self.check) = (salt, check) }

  /// Nil if the bytes are not the beginning of an encrypted file.
  init?(_ header: UnsafeRawBufferPointer) {
    guard header.count >= SealMark.headerCount, header.starts(with: SealMark.name) else { return nil }
    let salts = SealMark.place..<SealMark.place + SealMark.saltCount
    salt = Array(header[salts])
    check = Array(header[salts.upperBound..<salts.upperBound + SealMark.checkCount])
  }

  /// Turns the beginning of an SQLite file into one of ours.
  func write(to header: UnsafeMutableRawBufferPointer) {
    header.copyBytes(from: SealMark.name)
    UnsafeMutableRawBufferPointer(rebasing: header[SealMark.place...]).copyBytes(from: salt + check)
  }

  /// The inverse, for the part of it in `header`, which begins at `start`.
  static func remove(from header: UnsafeMutableRawBufferPointer, at start: Int) {
    for i in header.indices {
      let place = start + i
      if place < plainName.count { header[i] = plainName[place] }
      if (SealMark.place..<SealMark.place + saltCount + checkCount).contains(place) { header[i] = 0 }
    }
  }
}
