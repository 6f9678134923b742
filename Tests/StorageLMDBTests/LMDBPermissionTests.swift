import ColumnStore
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing

/// What a user may do with files of another. The children give up what rights the test was started with.
struct LMDBPermissionTests {
  private let scratch: Scratch
  private let path: String

  init() throws {
    scratch = try Scratch()
    path = scratch.file("a")
    try LMDBStore(path: path).put([("a", "1")], 1, .full)
  }

  private func setMode(_ mode: Int, _ paths: String...) throws {
    for path in paths { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path) }
  }

  /// Becomes nobody, if the process is root's.
  static func dropRights() -> Bool { getuid() != 0 || setuid(65534) == 0 }

  @Test func aStoreInADirectoryNobodyMayWriteIsReadable() async throws {
    try setMode(0o444, path, path + "-lock", path + ".coord", path + ".bell")
    try setMode(0o555, scratch.path)
    await #expect(processExitsWith: .success) { [path = path as String] in
      #expect(LMDBPermissionTests.dropRights())
      let store = try LMDBStore(path: path, isReadOnly: true)
      #expect(try store.text("a") == "1")
      #expect(try store.latestVersion() == Version(1))
      store.close()
      let error = #expect(throws: StorageError.self) { _ = try LMDBStore(path: path) }
      #expect(error?.code == .permissionDenied)
    }
    try setMode(0o755, scratch.path)
  }

  /// A name that was not synced may be gone after a power cut, with every commit to the file: who may not open the folder cannot sync it.
  @Test func inAFolderThatMayBeWrittenAndNotReadNothingIsMade() async throws {
    let folder = scratch.file("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    if getuid() == 0 { #expect(chown(folder, 65_534, 65_534) == 0) }
    try setMode(0o300, folder)
    try setMode(0o644, path, path + ".coord", path + ".bell")
    try setMode(0o666, path + "-lock")
    await #expect(processExitsWith: .success) { [path = path as String, folder = folder as String] in
      #expect(LMDBPermissionTests.dropRights())
      let store = try LMDBStore(path: path, isReadOnly: true)
      let snapshot = try store.beginSnapshot()
      let error = #expect(throws: StorageError.self) {
        try store.writeCopy(of: snapshot, to: folder + "/copy", .unchanged, isPrivate: false) { _ in .proceed }
      }
      #expect(error?.code == .permissionDenied)
      let other = #expect(throws: StorageError.self) { _ = try LMDBStore(path: folder + "/new") }
      #expect(other?.code == .permissionDenied)
      #expect(chmod(folder, 0o700) == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
      // And where it may be read, both are made.
      try store.writeCopy(of: snapshot, to: folder + "/copy", .unchanged, isPrivate: false) { _ in .proceed }
      #expect(try LMDBStore(path: folder + "/copy").text("a") == "1")
      _ = try LMDBStore(path: folder + "/new")
    }
  }

  @Test func aLoneDataFileNobodyMayWriteIsReadable() async throws {
    for side in ["-lock", ".coord", ".bell"] { try FileManager.default.removeItem(atPath: path + side) }
    try setMode(0o444, path)
    try setMode(0o555, scratch.path)
    await #expect(processExitsWith: .success) { [path = path as String] in
      #expect(LMDBPermissionTests.dropRights())
      let store = try LMDBStore(path: path, isReadOnly: true)
      #expect(try store.text("a") == "1")
    }
    try setMode(0o755, scratch.path)
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
    #expect(names == ["a"])
  }

  #if canImport(Darwin)
  @Test func aReaderThatCannotBeProtectedIsKeptFromAStoreInUse() async throws {
    try setMode(0o644, path, path + "-lock", path + ".coord")
    let writer = try LMDBStore(path: path)
    try setMode(0o444, path + "-lock")
    await #expect(processExitsWith: .success) { [path = path as String] in
      #expect(LMDBPermissionTests.dropRights())
      // To who is not root from the start the files belong: the mode keeps their owner out of the lock file all the same.
      let error = #expect(throws: StorageError.self) { _ = try LMDBStore(path: path, isReadOnly: true) }
      #expect(error?.code == .permissionDenied)
    }
    #expect(try writer.text("a") == "1")
  }
  #endif

  @Test func readersOfAWritableLockFileAreProtectedBesideAWriter() async throws {
    try setMode(0o666, path + "-lock")
    try setMode(0o644, path, path + ".coord", path + ".bell")
    let writer = try LMDBStore(path: path)
    try writer.put([("a", "2")], 2, .full)
    await #expect(processExitsWith: .success) { [path = path as String] in
      #expect(LMDBPermissionTests.dropRights())
      let store = try LMDBStore(path: path, isReadOnly: true)
      #expect(try store.text("a") == "2")
    }
  }

  @Test func anUnreadableFileIsATypedError() async throws {
    try setMode(0o000, path)
    await #expect(processExitsWith: .success) { [path = path as String] in
      #expect(LMDBPermissionTests.dropRights())
      for isReadOnly in [false, true] {
        let error = #expect(throws: StorageError.self) { _ = try LMDBStore(path: path, isReadOnly: isReadOnly) }
        #expect(error?.code == .permissionDenied)
      }
    }
  }
}
