import Foundation
import StorageEncryption
import StorageInterface
import StorageLMDB
import StorageSQLite
import VivariumTestSupport

/// Damages one file of a store in many ways, and reads, verifies and writes what is left each time:
///
///     damage-child make KIND FOLDER SEED
///     damage-child try KIND FOLDER STATE FILE SEED FIRST COUNT
///
/// `make` puts a store into the folder, as it rests (`rest`) and as a process has it open (`open`): the states. `try` says a line for
/// each variant: its number, and its verdict with what was wrong (`Trial.run`). Ends by a signal where the store does.
@main struct DamageChild {
  /// Of one variant; longer is a hang.
  private static let secondsMax: UInt32 = 30

  static func main() throws {
    let arguments = CommandLine.arguments
    if arguments.count == 5, arguments[1] == "make", let seed = UInt64(arguments[4]) {
      return try SoundFiles(arguments[2], arguments[3]).make(seed)
    }
    guard arguments.count == 9, arguments[1] == "try", let seed = UInt64(arguments[6]), let first = Int(arguments[7]),
      let count = Int(arguments[8])
    else {
      let usage = "usage: damage-child make|try lmdb|lmdb-deep|lmdb-sealed|sqlite|sealed FOLDER [rest|open FILE] SEED [FIRST COUNT]\n"
      FileHandle.standardError.write(Data(usage.utf8))
      exit(2)
    }
    let files = SoundFiles(arguments[2], arguments[3])
    let whole = try files.read(arguments[4])
    let truth = try files.truth(whole)
    for number in first..<first + count {
      alarm(secondsMax)
      var random = SeededGenerator(seed: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
      var damaged = whole
      FileDamage.damage(&damaged, arguments[5], &random)
      let verdict = try Trial(files, truth).run(damaged, number, &random)
      FileHandle.standardOutput.write(Data("\(number) \(verdict)\n".utf8))
    }
  }
}

/// The files of a sound store, by what follows the store's own name.
struct SoundFiles {
  let kind: String
  let folder: URL

  init(_ kind: String, _ folder: String) {
    (self.kind, self.folder) = (kind, URL(fileURLWithPath: folder))
  }

  func backend(_ path: String) throws(StorageError) -> any StorageBackend {
    switch kind {
    case "lmdb", "lmdb-deep": LMDBBackend(path: path)
    #if Encryption
    case "lmdb-sealed": LMDBBackend(path: path, key: try EncryptionKey(repeatElement(7, count: EncryptionKey.byteCount)))
    case "sealed": SQLiteBackend(path: path, key: try EncryptionKey(repeatElement(7, count: EncryptionKey.byteCount)))
    #endif
    default: SQLiteBackend(path: path)
    }
  }

  /// Whether the tree has branches of branches, over more than two hundred leaves.
  var isDeep: Bool { kind == "lmdb-deep" }
  static let deepCount = 2_400

  /// The key of a side entry of a deep store: long, so that a branch has few pages below it.
  static func deepKey(_ number: Int) -> [UInt8] {
    [9, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)] + [UInt8](repeating: 1, count: 200)
  }

  /// Fills a store so that its file has holes, long values, lists in pieces, side entries and pages that are free.
  func make(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let path = folder.appendingPathComponent("store").path
    var engine = try backend(path).open(OpenOptions())
    try DamageSample.fill(engine, count: 70, &random)
    try engine.write { write in
      for i in UInt8(0)..<40 { try write.writePowers.sides?.setSide([7, i], Array(repeating: i, count: Int(i) * 60)) }
      for i in 0..<(isDeep ? SoundFiles.deepCount : 0) {
        try write.writePowers.sides?.setSide(SoundFiles.deepKey(i), Array(repeating: UInt8(i % 251), count: 100))
      }
    }
    engine.close()
    try copy(path, to: "rest")
    engine = try backend(path).open(OpenOptions())
    // A reader, and commits that are not on the disk.
    let read = try engine.beginRead()
    for i in UInt8(0)..<6 { try engine.write(i % 2 == 0 ? .relaxed : .full) { try $0.writePowers.sides?.setSide([7, i], [i, i]) } }
    try copy(path, to: "open")
    read.end()
    engine.close()
  }

  private func copy(_ path: String, to name: String) throws {
    let target = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) where file.hasPrefix("store") {
      try FileManager.default.copyItem(at: folder.appendingPathComponent(file), to: target.appendingPathComponent(file))
    }
  }

  /// The bytes of each file in a state.
  func read(_ state: String) throws -> [String: [UInt8]] {
    let source = folder.appendingPathComponent(state)
    var files: [String: [UInt8]] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: source.path) {
      files[String(file.dropFirst("store".count))] = [UInt8](try Data(contentsOf: source.appendingPathComponent(file)))
    }
    return files
  }

  /// What the store holds, and what it held some versions ago.
  func truth(_ files: [String: [UInt8]]) throws -> Truth {
    let path = try write(files, "sound")
    defer { remove("sound") }
    let engine = try backend(path).open(OpenOptions())
    defer { engine.close() }
    return try Truth(engine)
  }

  func write(_ files: [String: [UInt8]], _ name: String) throws -> String {
    let path = folder.appendingPathComponent(name).path
    for (suffix, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: path + suffix)) }
    return path
  }

  func remove(_ name: String) {
    let path = folder.appendingPathComponent(name).path
    for suffix in ["", "-lock", ".coord", ".bell", ".safe", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
  }
}
