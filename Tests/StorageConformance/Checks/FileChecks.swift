import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let fileChecks: [ConformanceCheck] = [
    ConformanceCheck("twoPathsToOneFileGiveOneEngine", needs: [.file]) { subject in
      let store = try ConformanceStore(subject)
      let folder = TemporaryDirectory("paths")
      let path = store.backend.location
      let link = folder.file("link").path
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
      let roundabout = parent.path + "/../" + parent.lastPathComponent + "/./" + URL(fileURLWithPath: path).lastPathComponent
      for other in [link, roundabout] {
        let engine = try openFile(subject, other, OpenOptions())
        try expect(engine === store.engine, "another engine for \(other)")
      }
    },
    ConformanceCheck("aForeignFileIsRefusedAndStaysAsItIs", needs: [.file]) { subject in
      let folder = TemporaryDirectory("foreign")
      let contents: [Data] = [
        Data("Dear diary, today I was mistaken for a database.\n".utf8), Data(repeating: 0xA5, count: 100_000),
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), Data(repeating: 0, count: 65_536), Data([1]),
      ]
      for (i, content) in contents.enumerated() {
        let url = folder.file("foreign\(i)")
        try content.write(to: url)
        let backend = try unwrap(subject.openFile?(url.path), "backend")
        try expect(!backend.isPresent(), "a foreign file is taken for a store")
        try expectError(.foreignFile, nil, "open of foreign file \(i)") { try backend.open(OpenOptions()) }
        try expectError(.foreignFile, nil, "read-only open of foreign file \(i)") { try backend.open(OpenOptions(isReadOnly: true)) }
        try expect(try Data(contentsOf: url) == content, "the foreign file \(i) was changed")
      }
    },
    ConformanceCheck("aDamagedFileIsAnErrorAtOpen", needs: [.file]) { subject in
      for damage in ["header", "half", "stub"] {
        let store = try ConformanceStore(subject)
        try store.engine.write(.full) { write in
          try store.addPeople(0..<2_000, write)
        }
        store.engine.close()
        let url = URL(fileURLWithPath: store.backend.location)
        var bytes = try Data(contentsOf: url)
        switch damage {
        case "header": bytes.replaceSubrange(0..<min(8_192, bytes.count), with: Data((0..<min(8_192, bytes.count)).map { UInt8(truncatingIfNeeded: $0 &* 97 &+ 13) }))
        case "half": bytes = bytes.prefix(bytes.count / 2)
        default: bytes = bytes.prefix(100)
        }
        try bytes.write(to: url)
        do {
          let engine = try store.backend.open(OpenOptions())
          engine.close()
          throw ConformanceFailure("a file with damage to '\(damage)' opened")
        } catch let error as StorageError {
          try expect([.corrupt, .foreignFile].contains(error.code), "damage to '\(damage)' threw \(error)")
        }
      }
    },
    ConformanceCheck("aFileOfANewerFormatIsRefused", needs: [.newerFile]) { subject in
      let store = try ConformanceStore(subject)
      store.engine.close()
      try subject.makeNewer?(store.backend)
      try expectError(.unsupportedVersion, nil, "open") { try store.backend.open(OpenOptions()) }
      try expectError(.unsupportedVersion, nil, "open for reading alone") { try store.backend.open(OpenOptions(isReadOnly: true)) }
    },
    ConformanceCheck("aPathThatCannotHoldAStoreIsAnError", needs: [.file]) { subject in
      let folder = TemporaryDirectory("odd")
      try Data("x".utf8).write(to: folder.file("plain"))
      for path in [folder.file("missing/deeper/store").path, folder.file("plain/store").path] {
        let engine: any StorageEngine
        do { engine = try openFile(subject, path, OpenOptions()) } catch let error as StorageError {
          try expect([.fileNotFound, .io, .permissionDenied].contains(error.code), "opening \(path) threw \(error)")
          continue
        }
        engine.close()
        // An engine may make the folders that are missing, and then there is a store; below a file there can be none.
        try expect(!path.contains("/plain/"), "a store was opened below a plain file")
        try openFile(subject, path, OpenOptions(createsIfMissing: false)).close()
      }
      try expectError(.fileNotFound, nil, "a path without a folder") {
        try openFile(subject, folder.file("missing/store").path, OpenOptions(createsIfMissing: false))
      }
    },
    ConformanceCheck("anOpenThatFailsLeavesNoStore", needs: [.file]) { subject in
      let folder = TemporaryDirectory("obstacle")
      // A directory where a side file has to go.
      try FileManager.default.createDirectory(at: folder.file("store.coord"), withIntermediateDirectories: false)
      let backend = try unwrap(subject.openFile?(folder.file("store").path), "backend")
      do {
        _ = try backend.open(OpenOptions())
        throw ConformanceFailure("a store opened without its side file")
      } catch is StorageError {}
      try expect(!backend.isPresent(), "the failed open left a store")
      try expectEqual(try FileManager.default.contentsOfDirectory(atPath: folder.url.path), ["store.coord"])
    },
    ConformanceCheck("removeTakesTheSideFilesToo", needs: [.file]) { subject in
      let folder = TemporaryDirectory("remove")
      let backend = try unwrap(subject.openFile?(folder.file("store").path), "backend")
      let store = try ConformanceStore(subject, backend)
      try store.write { try store.addPeople(0..<100, $0) }
      store.engine.close()
      try Data("other".utf8).write(to: folder.file("neighbour"))
      try backend.remove()
      try expectEqual(try FileManager.default.contentsOfDirectory(atPath: folder.url.path), ["neighbour"])
    },
    ConformanceCheck("anEngineMayBeOpenedAgainWhileAnOldSnapshotLives", needs: [.file]) { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<5, $0) }
      let old = try store.engine.beginRead()
      store.engine.close()
      let again = try ConformanceStore(subject, store.backend)
      try again.write { try again.addPeople(5..<9, $0) }
      try expectEqual(try old.count(store.person.id), 5)
      try expectEqual(try again.read { try $0.count(store.person.id) }, 9)
      old.end()
      try again.write { try again.addPeople(9..<10, $0) }
    },
  ]

  private static func openFile(
    _ subject: ConformanceSubject, _ path: String, _ options: OpenOptions
  ) throws -> any StorageEngine {
    try unwrap(subject.openFile?(path), "backend for a path").open(options)
  }
}
