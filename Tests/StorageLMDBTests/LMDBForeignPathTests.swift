import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// What lies where a store's files are expected and is none: a typed error at once, and it stays as it was.
struct LMDBForeignPathTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func code(_ path: String, isReadOnly: Bool = false) -> StorageError.Code? {
    do throws(StorageError) {
      _ = try LMDBBackend(path: path).open(OpenOptions(isReadOnly: isReadOnly))
      return nil
    } catch {
      return error.code
    }
  }

  @Test func aPipeIsNoStoreAndNobodyWaitsForIt() throws {
    let path = scratch.file("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    #expect(code(path) == .foreignFile)
    #expect(code(path, isReadOnly: true) == .foreignFile)
    #expect(!LMDBBackend(path: path).isPresent())
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["pipe"])
  }

  @Test(arguments: ["-lock", ".coord", ".bell", ".safe"]) func aLinkInPlaceOfASideFileIsRefused(_ suffix: String) throws {
    let path = scratch.file("store")
    try LMDBBackend(path: path).open(OpenOptions()).close()
    let victim = scratch.file("victim")
    try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
    try? FileManager.default.removeItem(atPath: path + suffix)
    try FileManager.default.createSymbolicLink(atPath: path + suffix, withDestinationPath: victim)
    #expect(code(path) == .foreignFile)
    try FileManager.default.removeItem(atPath: path + suffix)
    try #require(mkfifo(path + suffix, 0o600) == 0)
    #expect(code(path) == .foreignFile)
    #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("precious".utf8))
    try FileManager.default.removeItem(atPath: path + suffix)
    #expect(code(path) == nil)
  }

  /// LMDB itself writes to whatever has the name, and looks at nothing before.
  @Test(arguments: [false, true]) func aForeignFileUnderTheNameOfTheLockFileStaysAsItWas(isThere: Bool) throws {
    func zeroes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
    let contents: [[UInt8]] = [
      Array("Dear diary".utf8), Array(String(repeating: "some letter ", count: 30_000).utf8), zeroes(300_000) + [1],
      zeroes(8) + Array("a short one".utf8), zeroes(4) + [1] + zeroes(300_000),
    ]
    for (number, content) in contents.enumerated() {
      let path = scratch.file("notes \(number)")
      if isThere {
        try LMDBBackend(path: path).open(OpenOptions()).close()
        try FileManager.default.removeItem(atPath: path + "-lock")
      }
      try Data(content).write(to: URL(fileURLWithPath: path + "-lock"))
      #expect(code(path) == .foreignFile, "\(number)")
      #expect(code(path, isReadOnly: true) == (isThere ? .foreignFile : .fileNotFound), "\(number)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-lock")) == Data(content), "\(number)")
      #expect(FileManager.default.fileExists(atPath: path) == isThere)
      try FileManager.default.removeItem(atPath: path + "-lock")
      #expect(code(path) == nil, "\(number)")
    }
  }

  /// As a process leaves it that is killed between making the table and writing the number by which it is known.
  @Test func aLockFileThatWasNotFinishedIsTaken() throws {
    let first = scratch.file("first")
    try LMDBBackend(path: first).open(OpenOptions()).close()
    var table = [UInt8](try Data(contentsOf: URL(fileURLWithPath: first + "-lock")))
    // Without the number and the layout behind it. The locks stay.
    for i in 0..<8 { table[i] = 0 }
    #expect(table.contains { $0 != 0 })
    let zeroes = [UInt8](repeating: 0, count: table.count)
    for (number, content) in [table, zeroes, Array(zeroes.prefix(100)), zeroes + zeroes, []].enumerated() {
      let path = scratch.file("store \(number)")
      try Data(content).write(to: URL(fileURLWithPath: path + "-lock"))
      #expect(code(path) == nil, "\(number)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-lock")).prefix(4) == Data([0xDE, 0xC0, 0xEF, 0xBE]))
    }
  }

  @Test(arguments: ["-lock", ".coord", ".bell", ".safe", ".sync"]) func removingAStoreLeavesForeignFiles(_ suffix: String) throws {
    let path = scratch.file("store")
    let text = Data("Dear diary".utf8)
    try text.write(to: URL(fileURLWithPath: path + suffix))
    // Who is refused takes back what it made, and not what it found.
    if suffix != ".sync" { #expect(code(path) == .foreignFile) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + suffix)) == text)
    try FileManager.default.removeItem(atPath: path + suffix)
    try LMDBBackend(path: path).open(OpenOptions()).close()
    try? FileManager.default.removeItem(atPath: path + suffix)
    try text.write(to: URL(fileURLWithPath: path + suffix))
    try LMDBBackend(path: path).remove()
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["store" + suffix])
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + suffix)) == text)
  }

  @Test func aVersionThatNobodyReachesIsDamage() throws {
    let path = scratch.file("store")
    try LMDBBackend(path: path).open(OpenOptions()).close()
    var record = Array("VIVARIUM".utf8) + [1, 0, 0, 0, 0, 0, 0, 0]
    record += [UInt8](repeating: 255, count: 8)
    try putEntry(path, [0], record)
    #expect(code(path) == .corrupt)
  }
}
