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

  @Test func aVersionThatNobodyReachesIsDamage() throws {
    let path = scratch.file("store")
    try LMDBBackend(path: path).open(OpenOptions()).close()
    var record = Array("VIVARIUM".utf8) + [1, 0, 0, 0, 0, 0, 0, 0]
    record += [UInt8](repeating: 255, count: 8)
    try putEntry(path, [0], record)
    #expect(code(path) == .corrupt)
  }
}
