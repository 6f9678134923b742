import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreInspection
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// The types of the kept files, as a program of today has them.
enum FirstFormat {
  @Model final class Commit {
    @PrimaryKey var hash: String = ""
    var subject: String = ""
    var author: Author?
    var parents: LiveList<Commit>
    var files: LiveList<SourceFile>
  }

  @Model final class Author {
    @PrimaryKey var mail: String = ""
    var name: String = ""
    @Inverse(\Commit.author) var commits: LinkingObjects<Commit>
  }

  @Model final class SourceFile {
    @PrimaryKey var path: String = ""
    @Inverse(\Commit.files) var commits: LinkingObjects<Commit>
  }

  @Model final class Note {
    @PrimaryKey var id: Int = 0
    var writer: String = ""
    var writtenNanoseconds: Int = 0
  }
}

/// The same types, grown by what came with the second format, and changed by a migration.
enum FirstFormatLater {
  @Model final class Commit {
    @PrimaryKey var hash: String = ""
    var subject: String = ""
    var date: Date?
    var author: Author?
    var parents: LiveList<Commit>
    var files: LiveList<SourceFile>
    var names: LiveSet<String>
    var extra: AnyValue
    var weight: Decimal128 = 0
    @Derived(\Commit.files.count) var fileCount = 0
  }

  @Model final class Author {
    @PrimaryKey var mail: String = ""
    var name: String = ""
    @Inverse(\Commit.author) var commits: LinkingObjects<Commit>
    @Derived(\Author.commits.count) var commitCount = 0
  }

  @Model final class SourceFile { @PrimaryKey var path: String = "" }

  @Model final class Note {
    @PrimaryKey var id: Int = 0
    var writtenNanoseconds = ""
  }
}

/// Files that the first builds wrote are opened, read, written and migrated by this one. They are kept as text in
/// Tests/Fixtures, their bytes without the zeroes, and were written by the demo of that time, two processes at once: the history
/// of a small git repository, and what the two sides told each other.
///
/// The commits had a date then, a Double of seconds, which no build reads any more: `first-format-dates` are those files, and
/// `first-format` the same after a migration took the dates out.
@Suite struct FirstFormatTests {
  static let engines: [Engine] = [.lmdb, .sqlite]
  private static let models: [any SchemaDescribing.Type] = [
    FirstFormat.Commit.self, FirstFormat.Author.self, FirstFormat.SourceFile.self, FirstFormat.Note.self,
  ]

  private func configuration(
    _ engine: Engine, _ folder: TemporaryDirectory, _ models: [any SchemaDescribing.Type], _ fixture: String = "first-format"
  ) throws -> Store.Configuration {
    let place = folder.file("first")
    if !FileManager.default.fileExists(atPath: place.path) {
      try SparseFile.bytes("\(fixture).\(engine.rawValue)").write(to: place)
    }
    var configuration = engine.configuration(place, models)
    configuration.schemaVersion = 1
    return configuration
  }

  @Test(arguments: engines) func aFileWhoseDatesAreDoublesIsRefusedAndLeftAsItIs(engine: Engine) throws {
    let folder = TemporaryDirectory("first")
    for _ in 0..<2 {
      let error = #expect(throws: StoreError.self) { try Store(self.configuration(engine, folder, Self.models, "first-format-dates")) }
      #expect(error?.code == .unsupportedVersion && error?.remedy?.isEmpty == false)
    }
  }

  /// Subject, author, parents and files of each commit, in the order of their keys.
  private static let commits: [(String, String, [Int], [String])] = [
    ("Commit 1: é 日本", "Ann", [], ["a.txt", "b.txt"]), ("Commit 2: é 日本", "Bob", [1], ["b.txt"]),
    ("Commit 3: é 日本", "Ann", [2], ["a.txt", "src/c.txt", "src/d.txt"]), ("Commit 4: é 日本", "Zoë", [2], ["side.txt"]),
    ("Merge", "Bob", [3, 4], []), ("Commit 6: é 日本", "Ann", [5], ["a.txt", "f6.txt"]),
    ("Commit 7: é 日本", "Ann", [6], ["a.txt", "f7.txt"]), ("Commit 8: é 日本", "Ann", [7], ["a.txt", "f8.txt"]),
    ("Commit 9: é 日本", "Ann", [8], ["a.txt", "f9.txt"]),
  ]

  @Test(arguments: engines) func aFileOfTheFirstFormatIsReadAsItWasWritten(engine: Engine) throws {
    let folder = TemporaryDirectory("first")
    let store = try Store(configuration(engine, folder, Self.models))
    // One commit more: the store has an identity since it was opened.
    #expect(store.version.rawValue == 46 && store.schemaVersion == 1)
    let commits = store.objects(FirstFormat.Commit.self).toArray()
    #expect(commits.map(\._$key) == Array(1...9))
    for (commit, wanted) in zip(commits, Self.commits) {
      #expect(commit.subject == wanted.0 && commit.author?.name == wanted.1 && commit.hash.utf8.count == 40)
      #expect(commit.parents.map { Int($0._$key) } == wanted.2 && commit.files.map(\.path) == wanted.3)
    }
    #expect(commits[0].hash == "f5094c9c3d9775d59f7a31a4db1a4abad4f4b6d6")
    let notes = store.objects(FirstFormat.Note.self)
    #expect(notes.count == 42 && notes.map(\.id) == Array(1...40) + [1_000, 1_001])
    #expect(notes.allSatisfy { ["first", "second"].contains($0.writer) && $0.writtenNanoseconds > 27_000_000_000_000 })
  }

  @Test(arguments: engines) func itsIndexesInversesAndHistoryAreUsed(engine: Engine) throws {
    let folder = TemporaryDirectory("first")
    let configuration = try configuration(engine, folder, Self.models)
    let store = try Store(configuration)
    let merged = try #require(store.object(FirstFormat.Commit.self, forPrimaryKey: "1c9c7e52ee3eed630046430083e25599869b3560"))
    #expect(merged.subject == "Merge" && store.object(FirstFormat.Author.self, forPrimaryKey: "zoe@example.org")?.commits.count == 1)
    #expect(store.object(FirstFormat.SourceFile.self, forPrimaryKey: "a.txt")?.commits.map { Int($0._$key) } == [1, 3, 6, 7, 8, 9])
    let commits = store.objects(FirstFormat.Commit.self)
    #expect(commits.filter("ANY files.path BEGINSWITH 'src/' OR author.name == 'Zoë'").map { Int($0._$key) } == [3, 4])
    let opened = try configuration.backend.open(OpenOptions())
    let read = try opened.beginRead()
    defer { read.end() }
    var versions: [UInt64] = []
    try read.history(after: Version(0)) { record in
      versions.append(record.version.rawValue)
      return .proceed
    }
    #expect(versions == Array(1...46))
    let output = StringOutput()
    try Inspector(opened, location: "first", format: .table, output: output).verify()
    #expect(output.text.contains("no faults"))
  }

  @Test(arguments: engines) func itIsWrittenAndStaysOfTheFirstFormat(engine: Engine) throws {
    let folder = TemporaryDirectory("first")
    let configuration = try configuration(engine, folder, Self.models)
    do {
      let store = try Store(configuration)
      try store.write {
        let ann = store.object(FirstFormat.Author.self, forPrimaryKey: "ann@example.org")
        let commit = FirstFormat.Commit(hash: "new", subject: "later", author: ann)
        commit.parents = [store.objects(FirstFormat.Commit.self)[8]]
        try store.add(commit)
        try store.delete(store.objects(FirstFormat.Note.self).where { $0.id > 2 })
      }
      #expect(throws: StoreError.self) { try store.write { try store.add(FirstFormat.Note(id: 1)) } }
    }
    let store = try Store(configuration)
    #expect(store.objects(FirstFormat.Note.self).count == 2 && store.objects(FirstFormat.Commit.self).count == 10)
    #expect(store.object(FirstFormat.Author.self, forPrimaryKey: "ann@example.org")?.commits.count == 7)
    if engine == .sqlite {
      // SQLite keeps the number where its `user_version` is.
      #expect(try Data(contentsOf: folder.file("first")).dropFirst(60).prefix(4).elementsEqual([0, 0, 0, 1]))
    }
  }

  @Test(arguments: engines) func itTakesWhatCameLaterAndAMigration(engine: Engine) throws {
    let folder = TemporaryDirectory("first")
    var configuration = try configuration(
      engine, folder,
      [
        FirstFormatLater.Commit.self, FirstFormatLater.Author.self, FirstFormatLater.SourceFile.self,
        FirstFormatLater.Note.self,
      ])
    configuration.schemaVersion = 2
    configuration.unlistedProperties["Note.writer"] = .remove
    configuration.migration = { migration, old in
      #expect(old == 1)
      try migration.enumerateObjects(ofType: "Commit") { old, new in
        try new?.set("names", to: [old["subject"], .string("x"), .string("x")])
        try new?.set("extra", to: .list([old["subject"], .int(1)]))
      }
    }
    for _ in 0..<2 {
      let store = try Store(configuration)
      let commits = store.objects(FirstFormatLater.Commit.self)
      #expect(commits.count == 9 && store.schemaVersion == 2)
      for (commit, wanted) in zip(commits, Self.commits) {
        #expect(commit.subject == wanted.0 && commit.author?.name == wanted.1 && commit.files.map(\.path) == wanted.3)
        #expect(commit.names.toArray() == [wanted.0, "x"] && commit.extra[0]?.string == wanted.0 && commit.weight == 0)
        #expect(commit.fileCount == wanted.3.count && commit.date == nil)
      }
      #expect(store.objects(FirstFormatLater.Author.self).map(\.commitCount) == [6, 2, 1])
      let notes = store.objects(FirstFormatLater.Note.self)
      #expect(notes.count == 42 && notes.allSatisfy { (Int($0.writtenNanoseconds) ?? 0) > 27_000_000_000_000 })
    }
    let error = #expect(throws: StoreError.self) { try Store(self.configuration(engine, folder, Self.models)) }
    #expect(error?.code == .newerSchema)
  }
}

/// A file as text: its size on the first line, then a line for each run of bytes, its offset and the bytes in base64.
enum SparseFile {
  static func bytes(_ name: String) throws -> Data {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(contentsOf: folder.appendingPathComponent("Fixtures/\(name).txt"), encoding: .utf8)
    let lines = text.split(separator: "\n")
    var data = Data(count: lines.first.flatMap { Int($0) } ?? 0)
    for line in lines.dropFirst() {
      let parts = line.split(separator: " ")
      guard parts.count == 2, let offset = Int(parts[0]), let bytes = Data(base64Encoded: String(parts[1])),
        offset + bytes.count <= data.count
      else { throw CocoaError(.fileReadCorruptFile) }
      data.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
    return data
  }
}
