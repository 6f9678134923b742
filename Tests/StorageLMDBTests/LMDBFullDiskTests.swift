#if os(Linux)
import ColumnStore
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// A volume without room: whatever a store needs and does not get is a typed error. Side files are mapped, and a touch of a
/// block that the volume does not have would be the end of the process.
struct LMDBFullDiskTests {
  /// A small volume in memory; nil where this user may not make one.
  private final class Volume {
    let path: String

    init?() {
      path = FileManager.default.temporaryDirectory.path + "/vivarium-volume-\(UUID().uuidString)"
      guard mkdir(path, 0o700) == 0 else { return nil }
      guard mount("vivarium", path, "tmpfs", 0, "size=1m") == 0 else {
        rmdir(path)
        return nil
      }
    }

    deinit {
      umount2(path, Int32(MNT_DETACH))
      rmdir(path)
    }

    /// Takes all room but that of some pages.
    static func fill(_ path: String, but pages: Int) {
      let file = open(path + "/filler", O_WRONLY | O_CREAT, 0o600)
      let page = [UInt8](repeating: 1, count: 4096)
      while write(file, page, page.count) == page.count {}
      var info = stat()
      fstat(file, &info)
      ftruncate(file, max(0, info.st_size / 4096 * 4096 - off_t(pages * 4096)))
      close(file)
    }
  }

  /// Opens, reads, writes and looks through the store at the path: what fails is for want of room. For a process of its own.
  private static func use(_ path: String, expecting text: String?) throws {
    for isReadOnly in [true, false] {
      do throws(StorageError) {
        let store = try LMDBStore(path: path, isReadOnly: isReadOnly)
        let found = try store.text("a")
        if let text { #expect(found == text) }
        let snapshot = try store.beginSnapshot()
        try store.verifyPages(snapshot) { fault in Issue.record("\(fault)") }
        snapshot.end()
        _ = try store.statistics()
        if !isReadOnly { try store.put([("b", String(repeating: "2", count: 3_000))], 9, .relaxed) }
      } catch where text == nil && error.code == .fileNotFound {
        continue
      } catch {
        #expect(error.code == .outOfDiskSpace, "\(error)")
      }
    }
  }

  @Test(arguments: [0, 1, 2, 3, 5, 8, 20, 64, 70, 80]) func aNewStoreOnAFullVolumeIsMadeOrRefused(pages: Int) async throws {
    guard let volume = Volume() else { return print("Not run: this user may not mount a volume.") }
    let path = volume.path
    await #expect(processExitsWith: .success) { [path = path as String, pages = pages as Int] in
      Volume.fill(path, but: pages)
      try LMDBFullDiskTests.use(path + "/a", expecting: nil)
    }
  }

  @Test(arguments: [0, 1, 2, 3, 5, 8, 20, 64, 70, 80], ["-lock", ".coord", ".bell"])
  func aStoreWithSparseSideFilesOnAFullVolumeIsReadOrRefused(pages: Int, suffix: String) async throws {
    guard let volume = Volume() else { return print("Not run: this user may not mount a volume.") }
    let path = volume.path
    await #expect(processExitsWith: .success) { [path = path as String, pages = pages as Int, suffix = suffix as String] in
      do { try LMDBStore(path: path + "/a").put([("a", "1")], 1, .full) }
      // As a build without reservations, or a copy, leaves it.
      var info = stat()
      stat(path + "/a" + suffix, &info)
      if suffix == ".coord" {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path + "/a.coord")).prefix(64)
        try bytes.write(to: URL(fileURLWithPath: path + "/a.coord"))
      } else {
        truncate(path + "/a" + suffix, 0)
      }
      truncate(path + "/a" + suffix, info.st_size)
      Volume.fill(path, but: pages)
      try LMDBFullDiskTests.use(path + "/a", expecting: "1")
    }
  }
}
#endif
