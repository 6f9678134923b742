import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

/// What is whole of a damaged store is taken into a new one, and what was lost is said.
@Suite struct SalvageTests {
  private let folder = TemporaryDirectory("salvage")

  private static let schema = Schema([
    ObjectSchema(
      "Pup", .scalar("name", .string, indexed: true), .scalar("age", .int64, primaryKey: true), .link("friend", to: "Pup"),
      .list("others", ofLinksTo: "Pup"), .set("tags", of: .string), .scalar("any", .mixed)),
    ObjectSchema("Cat", .scalar("x", .int64)),
  ])

  private func make(_ kind: FileKind, _ count: Int) throws -> URL {
    let url = folder.file("store.\(kind.rawValue)")
    let engine = try kind.backend(url).open(OpenOptions())
    defer { engine.close() }
    let catalog = try engine.adopt(SalvageTests.schema)
    let (pup, cat) = (try #require(catalog["Pup"]), try #require(catalog["Cat"]))
    try engine.write(.full) { write in
      for i in 0..<count {
        let key = try write.insert(pup, ["name": .string("a name that stands out \(i)."), "age": .int(Int64(i))])
        // Everybody's friend is the first, and their other the one before.
        try write.set(pup.column(named: "friend"), key, .link(ObjectKey(1)))
        try write.set(pup.column(named: "any"), key, .object(ObjectLink(pup.id, ObjectKey(1))))
        if i > 0 { try write.edit(pup.column(named: "others"), key, .insert(at: 0, [.link(ObjectKey(Int64(i)))])) }
        _ = try write.insert(member: .string("tag \(i % 5)"), into: pup.column(named: "tags"), key)
      }
      for i in 0..<30 { try write.insert(cat, ["x": .int(Int64(i))]) }
    }
    return url
  }

  /// Damages the first object's name wherever it stands: among the values, and in older pages.
  private static func damageFirst(_ url: URL) throws {
    var data = try Data(contentsOf: url)
    var from = data.startIndex
    while let range = data.range(of: Data("stands out 0.".utf8), in: from..<data.endIndex) {
      data[range.lowerBound] ^= 1
      from = range.upperBound
    }
    try data.write(to: url)
  }

  @Test(arguments: FileKind.allCases) func aSoundStoreIsTakenWhole(kind: FileKind) throws {
    let url = try make(kind, 200)
    let saved = folder.file("saved").path
    let run = try InspectProcess(["salvage", url.path, saved])
    #expect(run.status == 0 && run.errors.isEmpty && run.output == "Pup: 200 objects saved\nCat: 30 objects saved\n", "\(run)")
    #expect(try InspectProcess(["digest", url.path]).output == InspectProcess(["digest", saved]).output)
    #expect(try InspectProcess(["verify", saved]).status == 0)
    #expect(try InspectProcess(["salvage", url.path, saved]).status == 2)
  }

  @Test func aDamagedChunkLosesItsObjectsAndNoOther() throws {
    let url = try make(.lmdb, 3_000)
    try SalvageTests.damageFirst(url)
    let verified = try InspectProcess(["verify", url.path])
    #expect(verified.status == 5 && verified.output.contains("is not what was written") && verified.isExit, "\(verified)")
    let saved = folder.file("saved").path
    let run = try InspectProcess(["salvage", url.path, saved])
    #expect(run.status == 5 && run.errors.isEmpty && run.isExit, "\(run)")
    #expect(run.output.contains("'Pup.name'") && run.output.contains("Cat: 30 objects saved"), "\(run)")
    #expect(try InspectProcess(["verify", saved]).status == 0)
    let engine = try LMDBBackend(path: saved).open(OpenOptions(isReadOnly: true))
    defer { engine.close() }
    let read = try engine.beginRead()
    defer { read.end() }
    let pup = try #require(read.catalog["Pup"])
    let count = try read.count(pup.id)
    #expect(count > 1_000 && count < 3_000)
    #expect(run.output.contains("Pup: \(count) objects saved, \(3_000 - count) lost"), "\(run)")
    // The last is there, and its friend is not.
    #expect(try read.value(pup.column(named: "name"), ObjectKey(3_000)) == .string("a name that stands out 2999."))
    #expect(try read.value(pup.column(named: "friend"), ObjectKey(3_000)) == .null)
    #expect(try read.value(pup.column(named: "any"), ObjectKey(3_000)) == .null)
    #expect(try read.values(pup.column(named: "others"), ObjectKey(3_000), 0..<Int.max) == [.link(ObjectKey(2_999))])
  }

  @Test(arguments: FileKind.allCases) func whoDoesNotReadTheReportGetsTheCopyForAllThat(kind: FileKind) throws {
    let url = try make(kind, 200)
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let saved = folder.file("saved").path
    let unread = try InspectProcess(["salvage", url.path, saved], output: pipe.fileHandleForWriting)
    #expect(unread.isExit && unread.status == 0, "\(unread)")
    #expect(try InspectProcess(["digest", url.path]).output == InspectProcess(["digest", saved]).output)
    let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
    let backup = try InspectProcess(["backup", url.path, folder.file("backup").path], output: full)
    #expect(backup.isExit && backup.status == 4 && backup.complainedInOneLine, "\(backup)")
    #expect(try InspectProcess(["verify", folder.file("backup").path]).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(!names.contains { $0.contains(".new-") }, "\(names)")
  }

  @Test func whoDoesNotReadTheFaultsLearnsByTheStatusThatThereAreSome() throws {
    let url = try make(.lmdb, 3_000)
    try SalvageTests.damageFirst(url)
    for format in ["table", "json", "ndjson", "csv"] {
      let pipe = Pipe()
      try pipe.fileHandleForReading.close()
      let run = try InspectProcess(["verify", url.path, "--format", format], output: pipe.fileHandleForWriting)
      #expect(run.isExit && run.status == 5 && run.errors.isEmpty, "\(format): \(run)")
    }
  }

  @Test(arguments: FileKind.allCases) func damagedFilesAreSalvagedOrRefused(kind: FileKind) throws {
    let url = try make(kind, 400)
    let whole = [UInt8](try Data(contentsOf: url))
    var random = SeededGenerator.forTest()
    for round in 0..<environmentNumber("VIVARIUM_SALVAGES", default: 10) {
      var bytes = whole
      let page = (1 + random.below(bytes.count / 4_096 - 1)) * 4_096
      for i in page..<page + 4_096 where random.oneIn(3) { bytes[i] ^= UInt8(truncatingIfNeeded: random.next()) }
      let file = folder.file("damaged \(round)")
      try Data(bytes).write(to: file)
      let saved = folder.file("saved \(round)").path
      let run = try InspectProcess(["salvage", file.path, saved])
      #expect(run.isExit && [0, 3, 4, 5].contains(run.status), "round \(round): \(run)")
      // What is made is sound; what cannot be made leaves nothing.
      #expect(FileManager.default.fileExists(atPath: saved) == (run.status == 0 || run.status == 5), "round \(round): \(run)")
      if run.status == 5 { #expect(try InspectProcess(["verify", saved]).status == 0, "round \(round)") }
    }
  }
}
