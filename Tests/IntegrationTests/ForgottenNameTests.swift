import Foundation
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

private enum Before {
  @Model final class Painter {
    var name = ""
    var works: LiveList<String>
    var teacher: Painter?
  }
}

private enum After {
  @Model final class Artist {
    var name = ""
    var works: LiveList<String>
    var teacher: Artist?
  }

  @Model final class Critic {
    var name = ""
    var works: LiveSet<String>
    var teacher: Artist?
  }
}

/// A class with another name is another type. Opening goes on, because programs may list other types than the file has, but says what it
/// looks like.
@Suite struct ForgottenNameTests {
  static let files: [Engine] = [.lmdb, .sqlite]

  private func fill(_ file: URL, _ engine: Engine, count: Int = 2) throws {
    let store = try Store(engine.configuration(file, [Before.Painter.self]))
    try store.write { for _ in 0..<count { try store.add(Before.Painter()) } }
  }

  /// What opening logs.
  private func said(_ configuration: Store.Configuration) throws -> [String] {
    final class Heard: Sendable { let lines = Mutex<[String]>([]) }
    let heard = Heard()
    try StoreLog.$listener.withValue({ line in heard.lines.withLock { $0.append(line) } }) { _ = try Store(configuration) }
    return heard.lines.withLock { $0 }
  }

  @Test(arguments: files) func aClassThatIsCalledOtherwiseIsToldOnce(engine: Engine) throws {
    let directory = TemporaryDirectory("names")
    try fill(directory.file(), engine)
    let renamed = engine.configuration(directory.file(), [After.Artist.self, After.Critic.self])
    let lines = try said(renamed)
    #expect(lines.count == 1, "\(lines)")
    for word in ["'Artist'", "'Painter' has the same properties and 2 objects", "'renamedTypes'", "'schemaVersion'"] {
      #expect(lines.first?.contains(word) == true, "\(lines): \(word)")
    }
    #expect(try said(renamed).isEmpty)
  }

  @Test(arguments: files) func whoSaysSoHearsNothingAndHasTheObjects(engine: Engine) throws {
    let directory = TemporaryDirectory("names")
    try fill(directory.file(), engine)
    var renamed = engine.configuration(directory.file(), [After.Artist.self])
    renamed.schemaVersion = 1
    renamed.renamedTypes = ["Painter": "Artist"]
    #expect(try said(renamed).isEmpty)
    #expect(try Store(renamed).objects(After.Artist.self).count == 2)
  }

  @Test(arguments: files) func whatOnlyAddsIsNoNews(engine: Engine) throws {
    // All of the types, and a type without objects.
    for (count, models) in [
      (2, [After.Critic.self, Before.Painter.self, After.Artist.self] as [any SchemaDescribing.Type]), (0, [After.Artist.self]),
    ] {
      let directory = TemporaryDirectory("names")
      try fill(directory.file(), engine, count: count)
      #expect(try said(engine.configuration(directory.file(), models)).isEmpty)
    }
  }

  /// As the warning says.
  @Test(arguments: files) func aFileThatHasBothTypesIsMendedByAMigration(engine: Engine) throws {
    let directory = TemporaryDirectory("names")
    try fill(directory.file(), engine)
    #expect(try said(engine.configuration(directory.file(), [After.Artist.self])).count == 1)
    var mended = engine.configuration(directory.file(), [After.Artist.self])
    mended.schemaVersion = 1
    mended.migration = { migration, _ in
      try migration.enumerateObjects(ofType: "Painter") { old, _ in try migration.create("Artist", ["name": old["name"]]) }
      try migration.deleteData(forType: "Painter")
    }
    #expect(try said(mended).isEmpty)
    #expect(try Store(mended).objects(After.Artist.self).count == 2)
  }
}
