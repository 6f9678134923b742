import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

/// Rules of copies of a file (`FileCopying`), where an engine writes any.
extension StorageConformance {
  static let copyChecks: [ConformanceCheck] = [
    ConformanceCheck("aCopyIsTheNewestVersionWithItsHistory", needs: [.file]) { subject in
      let store = try ConformanceStore(subject)
      guard store.engine.powers.copying != nil else { return }
      for part in 0..<3 { try store.write { write in try store.addPeople(part * 1_000..<part * 1_000 + 1_000, write) } }
      try store.write { write in try write.delete(store.person, idsBelow: 500) }
      let copy = try copied(store, to: "copy")
      defer { copy.engine.close() }
      let (expected, version) = try store.read { read in (try Picture(read), read.version) }
      let records = try history(store)
      try expect(records.count >= 4, "the history has \(records)")
      try copy.read { read in
        try expectEqual(read.version, version)
        try expect(try Picture(read) == expected, "the copy has other data")
        try expectNoFaults(copy, read)
      }
      try expectEqual(try history(copy), records)
      // It is a store like any other.
      try copy.write { write in try store.addPeople(9_000..<9_100, write) }
      try expectEqual(try copy.read { try $0.count(store.person.id) }, 2_600)
      try expectEqual(try store.read { try $0.count(store.person.id) }, 2_500)
    },
    ConformanceCheck("aCopyHasNoFreeSpace", needs: [.file]) { subject in
      let store = try ConformanceStore(subject)
      guard store.engine.powers.copying != nil else { return }
      try store.write { write in try store.addPeople(0..<20_000, write) }
      try store.write { write in try write.delete(store.person, idsBelow: 18_000) }
      let before = try store.engine.statistics().fileBytes
      let copy = try copied(store, to: "copy")
      defer { copy.engine.close() }
      copy.engine.close()
      let bytes = try FileManager.default.attributesOfItem(atPath: copy.backend.location)[.size] as? Int ?? 0
      try expect(bytes * 2 < before, "\(bytes) bytes of \(before)")
    },
    ConformanceCheck("aCopyIsWholeWhileOthersWrite", needs: [.file]) { subject in
      let store = try ConformanceStore(subject)
      guard store.engine.powers.copying != nil else { return }
      try store.write { write in try store.addPeople(0..<5_000, write) }
      let first = Int(try store.read { $0.version.rawValue })
      let writing = Background {
        // Each commit has as many people as its number says.
        for id in 5_000..<5_200 { try store.write { write in try store.addPeople(id..<id + 1, write) } }
      }
      for number in 0..<4 {
        let copy = try copied(store, to: "copy\(number)")
        try copy.read { read in
          try expect(try read.count(store.person.id) == 5_000 + Int(read.version.rawValue) - first, "half a commit")
          try expectNoFaults(copy, read)
        }
        copy.engine.close()
      }
      try writing.wait()
    },
    ConformanceCheck("aCopyOverwritesNothing", needs: [.file]) { subject in
      let store = try ConformanceStore(subject)
      guard let copying = store.engine.powers.copying else { return }
      let folder = TemporaryDirectory("copies")
      let path = folder.file("there").path
      try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
      try expectError(.fileExists, nil, "a copy over a file") { try copying.writeCopy(to: path, .unchanged) { _ in .proceed } }
      try expectError(.fileExists, nil, "a copy over itself") {
        try copying.writeCopy(to: store.backend.location, .unchanged) { _ in .proceed }
      }
      try expectError(.fileNotFound, nil, "a copy into no folder") {
        try copying.writeCopy(to: folder.file("none/copy").path, .unchanged) { _ in .proceed }
      }
      try expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine".utf8), "the file was changed")
      try expectEqual(try FileManager.default.contentsOfDirectory(atPath: folder.url.path), ["there"])
    },
    ConformanceCheck("aCopyThatIsStoppedLeavesNothing", needs: [.file]) { subject in
      let store = try ConformanceStore(subject)
      guard let copying = store.engine.powers.copying else { return }
      try store.write { write in try store.addPeople(0..<1_000, write) }
      let folder = TemporaryDirectory("copies")
      try expectError(.cancelled, nil, "a stopped copy") {
        try copying.writeCopy(to: folder.file("copy").path, .unchanged) { _ in .stop }
      }
      try expectEqual(try FileManager.default.contentsOfDirectory(atPath: folder.url.path), [])
      var last = CopyProgress(bytesWritten: 0, bytesExpected: 0)
      try copying.writeCopy(to: folder.file("copy").path, .unchanged) { progress in
        last = progress
        return .proceed
      }
      try expect(last.fraction == 1 && last.bytesWritten > 0, "ended at \(last)")
      try expectEqual(try FileManager.default.contentsOfDirectory(atPath: folder.url.path), ["copy"])
    },
  ]

  /// A copy of the store, opened.
  private static func copied(_ store: ConformanceStore, to name: String) throws -> ConformanceStore {
    let path = URL(fileURLWithPath: store.backend.location).deletingLastPathComponent()
      .appendingPathComponent("\(name)-\(UUID().uuidString)").path
    let copying = try unwrap(store.engine.powers.copying, "the power to copy")
    try copying.writeCopy(to: path, .unchanged) { _ in .proceed }
    return try ConformanceStore(store.subject, try unwrap(store.subject.openFile?(path), "backend"))
  }

  private static func history(_ store: ConformanceStore) throws -> [Version] {
    let kept = try unwrap(store.engine.statistics().historyVersions, "a history")
    var versions: [Version] = []
    try store.read { read in
      try read.history(after: Version(kept.lowerBound - 1)) { record in
        versions.append(record.version)
        return .proceed
      }
    }
    return versions
  }
}

extension WriteTransaction {
  /// Deletes the people whose id, which is as high as their key, is below a number.
  fileprivate func delete(_ table: TableEntry, idsBelow count: Int) throws {
    let ids = try allRows(table, ["id"]).filter { row in if case .int(let id) = row.values[0] { id < count } else { false } }
    for (key, _) in ids { try delete(table.id, ObjectKey(key)) }
  }
}
