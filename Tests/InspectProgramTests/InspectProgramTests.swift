import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// A file backend by name, so that tests can be repeated over both.
enum FileKind: String, CaseIterable {
  case lmdb, sqlite

  func backend(_ url: URL) -> any StorageBackend {
    switch self {
    case .lmdb: LMDBBackend(path: url.path)
    case .sqlite: SQLiteBackend(path: url.path)
    }
  }
}

/// A store on disk with `count` numbered things.
struct Shop {
  let directory = TemporaryDirectory()
  let url: URL
  let engine: any StorageEngine

  init(_ kind: FileKind, count: Int = 3) throws {
    url = directory.url.appending(path: "shop.\(kind.rawValue)")
    engine = try kind.backend(url).open(OpenOptions())
    let write = try engine.beginWrite(.never)
    defer { write.end() }
    let schema = Schema([
      ObjectSchema(
        name: "Item",
        properties: [
          PropertySchema(name: "number", kind: .scalar(.int64), isPrimaryKey: true),
          PropertySchema(name: "name", kind: .scalar(.string)),
        ])
    ])
    try write.setCatalog(write.catalog.adopting(schema).catalog)
    let table = try #require(write.catalog["Item"])
    let row = RowBuffer(table)
    for number in 0..<count {
      row.reset()
      row.set(0, word: Int64(number) - 1)
      row.set(1, .string("item \(number)"))
      _ = try write.insert(row)
    }
    _ = try write.commit(CommitRecord(), .relaxed)
  }
}

@Suite struct InspectProgramTests {
  @Test(arguments: FileKind.allCases) func theCommandsReadAFileOfEitherKind(kind: FileKind) throws {
    let shop = try Shop(kind)
    shop.engine.close()
    let path = shop.url.path
    let info = try InspectProcess(["info", path])
    #expect(info.status == 0 && info.errors.isEmpty)
    #expect(info.output.contains("backend   \(kind.rawValue)\n") && info.output.contains("Item        3"))
    #expect(try InspectProcess(["count", path, "Item"]).output == "3\n")
    #expect(try InspectProcess(["schema", path, "--format", "csv"]).output.contains("Item,number,int64,false,,true,true,true\r\n"))
    #expect(
      try InspectProcess(["dump", path, "--limit", "1", "--format", "ndjson"]).output
        == "{\"$id\":\"Item--1\",\"number\":-1,\"name\":\"item 0\"}\n")
    #expect(try InspectProcess(["get", path, "Item", "--format", "csv", "--", "-1"]).output.hasSuffix("\r\n1,-1,item 0\r\n"))
    #expect(try InspectProcess(["get", path, "Item", "#3"]).output.contains("item 2"))
  }

  @Test(arguments: FileKind.allCases) func infoNamesWhoHoldsWhichVersion(kind: FileKind) throws {
    let shop = try Shop(kind)
    let read = try shop.engine.beginRead()
    defer { read.end() }
    let holder = shop.engine.powers.announcing?.announce(read.version, label: "list window")
    defer { withExtendedLifetime(holder) {} }
    let info = try InspectProcess(["info", shop.url.path])
    let process = ProcessInfo.processInfo.processIdentifier
    #expect(info.output.contains("reader    version 1 held by process \(process), 'list window', for "))
    #expect(info.output.contains(" bytes on disk; "))
    let json = try InspectProcess(["info", shop.url.path, "--format", "ndjson"]).output
    #expect(json.contains(#""label":"list window","milliseconds":"#))
    #expect(!json.contains(#""liveBytes":0,"#))
  }

  @Test(arguments: FileKind.allCases) func compactGivesSpaceBackAndChangesNoData(kind: FileKind) throws {
    let shop = try Shop(kind, count: 6_000)
    let digest = try InspectProcess(["digest", shop.url.path]).output
    let table = try #require(try shop.engine.beginRead().catalog["Item"])
    try shop.engine.write { write in for key in 1...5_990 { try write.delete(table.id, ObjectKey(Int64(key))) } }
    shop.engine.close()
    let (before, left) = (try InspectProcess(["digest", shop.url.path]).output, try InspectProcess(["count", shop.url.path, "Item"]).output)
    let compact = try InspectProcess(["compact", shop.url.path])
    #expect(compact.status == 0 && compact.output.contains(" bytes given back; ") && !compact.output.hasPrefix("0 "))
    #expect(left == "10\n" && before != digest)
    #expect(try InspectProcess(["digest", shop.url.path]).output == before)
    #expect(try InspectProcess(["verify", shop.url.path]).status == 0)
  }

  @Test(arguments: FileKind.allCases) func aStoreInUseIsReadAsItWasCommitted(kind: FileKind) throws {
    let shop = try Shop(kind)
    let write = try shop.engine.beginWrite(.never)
    defer { write.end() }
    let table = try #require(write.catalog["Item"])
    try write.delete(table.id, ObjectKey(1))
    let during = try InspectProcess(["count", shop.url.path, "Item"])
    #expect(during.output == "3\n" && during.errors.isEmpty)
    _ = try write.commit(CommitRecord(), .relaxed)
    #expect(try InspectProcess(["count", shop.url.path, "Item"]).output == "2\n")
  }

  @Test(arguments: FileKind.allCases) func inspectingLeavesTheFilesAsTheyWere(kind: FileKind) throws {
    let shop = try Shop(kind)
    shop.engine.close()
    let before = try Data(contentsOf: shop.url)
    for command in [["info"], ["schema"], ["count"], ["dump"]] { _ = try InspectProcess(command + [shop.url.path]) }
    #expect(try Data(contentsOf: shop.url) == before)
  }

  @Test(arguments: FileKind.allCases) func whatIsNotThereHasStatusOne(kind: FileKind) throws {
    let shop = try Shop(kind)
    for arguments in [["get", shop.url.path, "Item", "99"], ["get", shop.url.path, "Cat", "1"], ["count", shop.url.path, "Cat"]] {
      let run = try InspectProcess(arguments)
      #expect(run.status == 1 && run.complainedInOneLine, "\(arguments): \(run)")
    }
  }

  @Test(arguments: FileKind.allCases) func syncSaysOfAFileThatIsNotReplicatedThatItIsNone(kind: FileKind) throws {
    let shop = try Shop(kind)
    for format in [[], ["--format", "json"], ["--format", "csv"]] {
      let run = try InspectProcess(["sync", shop.url.path] + format)
      #expect(run.status == 1 && run.complainedInOneLine, "\(format): \(run)")
      #expect(run.errors == "inspect: The store is not replicated.\n")
    }
  }

  @Test func badArgumentsHaveStatusTwo() throws {
    let shop = try Shop(.sqlite)
    let path = shop.url.path
    for arguments in [
      [], ["look"], ["info"], ["info", path, "more"], ["info", path, "--format", "xml"], ["dump", path, "--limit", "many"],
      ["dump", path, "--limit", "-1"], ["dump", path, "--format"], ["get", path, "Item"], ["get", path, "Item", "one"],
      ["get", path, "Item", "#one"], ["info", path, "--nonsense"],
    ] where !arguments.isEmpty {
      let run = try InspectProcess(arguments)
      #expect(run.status == 2 && run.complainedInOneLine, "\(arguments): \(run)")
    }
  }

  @Test func whatIsNoStoreHasStatusThree() throws {
    let directory = TemporaryDirectory()
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
      let url = directory.url.appending(path: name)
      try Data(bytes).write(to: url)
      return url.path
    }
    var random = SeededGenerator.forTest()
    let noise = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    for path in [
      directory.url.appending(path: "missing").path, directory.url.path, try file("empty", []), try file("text", Array("hello\n".utf8)),
      try file("noise", noise), try file("sqlite", Array("SQLite format 3\0".utf8)), "/dev/null",
    ] {
      for command in ["info", "dump"] {
        let run = try InspectProcess([command, path])
        #expect(run.status == 3 && run.isExit && run.complainedInOneLine, "\(path): \(run)")
      }
    }
  }

  @Test(arguments: FileKind.allCases) func aFileCutShortNeverEndsInASignal(kind: FileKind) throws {
    let shop = try Shop(kind, count: 5_000)
    shop.engine.close()
    let whole = try Data(contentsOf: shop.url)
    let directory = TemporaryDirectory()
    let url = directory.url.appending(path: "cut")
    let lengths = [1, 16, 100, 4_095, 4_096, 8_192, 12_288, whole.count / 2, whole.count - 4_096, whole.count - 1]
    for length in lengths where length < whole.count {
      try whole.prefix(length).write(to: url)
      let run = try InspectProcess(["dump", url.path, "--format", "ndjson"])
      #expect(run.isExit && [0, 3, 4].contains(run.status), "\(length) of \(whole.count): \(run.status) \(run.errors)")
      #expect(run.errors.isEmpty == (run.status == 0) && run.errors.count { $0 == "\n" } <= 1, "\(length): \(run.errors)")
    }
  }

  @Test func aReaderThatGoesAwayIsNoFault() throws {
    let shop = try Shop(.lmdb, count: 20_000)
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let run = try InspectProcess(["dump", shop.url.path], output: pipe.fileHandleForWriting)
    #expect(run.isExit && run.status == 0 && run.errors.isEmpty, "\(run)")
  }

  #if os(Linux)
  @Test func aFullDiskHasStatusFour() throws {
    let shop = try Shop(.sqlite)
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let run = try InspectProcess(["dump", shop.url.path], output: full)
    #expect(run.isExit && run.status == 4 && run.complainedInOneLine, "\(run)")
  }
  #endif

  @Test func helpTellsTheCommandsAndTheExitStatus() throws {
    let help = try InspectProcess(["--help"])
    #expect(help.status == 0 && help.errors.isEmpty)
    for word in ["info", "schema", "count", "get", "dump", "Exit status"] { #expect(help.output.contains(word)) }
    #expect(try InspectProcess(["dump", "--help"]).output.contains("--limit"))
  }

  @Test(arguments: ["lmdb", "sqlite"]) func anImportThatFailsLeavesNothing(kind: String) throws {
    let folder = TemporaryDirectory("import")
    let (path, json) = (folder.file("new").path, folder.file("export.json"))
    for text in ["nothing", #"{"format":"vivarium-export","formatVersion":1,"catalog":{"nextIndex":1,"nextTable":1,"tables":[]},"objects":{"A":[]}}"#] {
      try Data(text.utf8).write(to: json)
      for _ in 0..<2 {
        let refused = try InspectProcess(["import", path, "--to", kind, "--from", json.path])
        #expect(refused.isExit && refused.status == 2 && refused.complainedInOneLine, "\(refused.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["export.json"])
      }
    }
  }
}
