import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import Testing
import VivariumTestSupport

/// The permissions of the files of a store.
struct FilePermissionTests {
  private static let backends: [@Sendable (String) -> any StorageBackend] = [{ LMDBBackend(path: $0) }, { SQLiteBackend(path: $0) }]

  /// The permissions of all files in a folder, of each once.
  private static func modes(_ folder: String) throws -> Set<Int> {
    let files = FileManager.default
    return Set(
      try files.contentsOfDirectory(atPath: folder).map {
        (try files.attributesOfItem(atPath: "\(folder)/\($0)")[.posixPermissions] as? NSNumber)?.intValue ?? 0
      })
  }

  @Test(arguments: backends.indices) func everyFileOfAPrivateStoreIsItsOwnersAlone(_ i: Int) async throws {
    let folder = TemporaryDirectory("private")
    await #expect(processExitsWith: .success) { [folder = folder.url.path as String, i = i as Int] in
      umask(0)
      let engine = try Self.backends[i](folder + "/store").open(OpenOptions(isPrivate: true))
      // A commit that is not synced makes a file of safe points.
      try engine.write(.relaxed) { _ in }
      let read = try engine.beginRead()
      let holder = engine.powers.announcing?.announce(read.version, label: "a reader")
      try engine.powers.copying?.writeCopy(to: folder + "/copy", .unchanged) { _ in .proceed }
      #expect(try Self.modes(folder) == [0o600])
      withExtendedLifetime(holder) { read.end() }
    }
  }

  @Test(arguments: backends.indices) func filesBesideAStoreFollowIt(_ i: Int) async throws {
    let folder = TemporaryDirectory("shared")
    await #expect(processExitsWith: .success) { [folder = folder.url.path as String, i = i as Int] in
      umask(0)
      let backend = Self.backends[i](folder + "/store")
      try backend.open(OpenOptions()).close()
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name != "store" {
        try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder + "/store")
      let engine = try backend.open(OpenOptions())
      try engine.write(.relaxed) { _ in }
      #expect(try Self.modes(folder) == [0o640])
      engine.close()
    }
  }

  @Test(arguments: backends.indices) func aCopyOfAFileThatNobodyMayWriteIsItsOwnersToWrite(_ i: Int) async throws {
    let folder = TemporaryDirectory("read")
    await #expect(processExitsWith: .success) { [folder = folder.url.path as String, i = i as Int] in
      umask(0)
      let backend = Self.backends[i](folder + "/store")
      let writer = try backend.open(OpenOptions())
      try writer.write(.full) { _ in }
      writer.close()
      let files = FileManager.default
      try files.setAttributes([.posixPermissions: 0o444], ofItemAtPath: folder + "/store")
      let engine = try backend.open(OpenOptions(isReadOnly: true))
      defer { engine.close() }
      try engine.powers.copying?.writeCopy(to: folder + "/copy", .unchanged) { _ in .proceed }
      let mode = try files.attributesOfItem(atPath: folder + "/copy")[.posixPermissions] as? NSNumber
      #expect(mode?.intValue == 0o644)
    }
  }
}
