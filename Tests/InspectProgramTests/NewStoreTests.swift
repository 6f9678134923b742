import Foundation
import StorageInterface
import Testing
import VivariumTestSupport

/// The stores that `inspect` makes: who may read them, how they are encrypted, and what a killed command leaves.
@Suite struct NewStoreTests {
  private func mode(_ path: String) throws -> Int? {
    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
  }

  private func setMode(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: NSNumber(value: mode)], ofItemAtPath: path)
  }

  @Test(arguments: FileKind.allCases) func whatIsMadeOfAPrivateFileIsPrivateToo(kind: FileKind) throws {
    let shop = try Shop(kind)
    let json = shop.directory.file("export.json")
    try Data(InspectProcess(["export", shop.url.path]).output.utf8).write(to: json)
    for path in [shop.url.path, json.path] { try setMode(0o600, path) }
    let made = shop.directory.file("made").path
    for arguments in [
      ["copy", shop.url.path, made, "--to", kind.rawValue], ["salvage", shop.url.path, made], ["backup", shop.url.path, made],
      ["import", made, "--to", kind.rawValue, "--from", json.path],
    ] {
      let run = try InspectProcess(arguments)
      #expect(run.status == 0, "\(run)")
      #expect(try mode(made) == 0o600, "\(arguments[0])")
      try FileManager.default.removeItem(atPath: made)
    }
  }

  @Test func whatIsMadeOfAFileThatOthersMayReadIsReadableToo() throws {
    let shop = try Shop(.lmdb)
    // The owner may write the copy, for all that.
    try setMode(0o400, shop.url.path)
    let made = shop.directory.file("made").path
    #expect(try InspectProcess(["copy", shop.url.path, made, "--to", "sqlite"]).status == 0)
    #expect(try mode(made) == 0o600)
    try FileManager.default.removeItem(atPath: made)
    try setMode(0o644, shop.url.path)
    #expect(try InspectProcess(["salvage", shop.url.path, made]).status == 0)
    // As a new file that all may read: 0644, unless this process was told to keep its files to itself.
    let plain = shop.directory.file("plain").path
    let file = open(plain, O_WRONLY | O_CREAT, 0o644)
    try #require(file >= 0)
    close(file)
    #expect(try mode(made) == mode(plain))
  }

  @Test func whatComesThroughAPipeIsForItsOwnerAlone() throws {
    let shop = try Shop(.lmdb)
    let export = Data(try InspectProcess(["export", shop.url.path]).output.utf8)
    let pipe = Pipe()
    // A few objects, which a pipe takes at once.
    try pipe.fileHandleForWriting.write(contentsOf: export)
    try pipe.fileHandleForWriting.close()
    let made = shop.directory.file("made").path
    #expect(try InspectProcess(["import", made, "--to", "sqlite"], input: pipe.fileHandleForReading).status == 0)
    #expect(try mode(made) == 0o600)
    #expect(try InspectProcess(["digest", made]).output == InspectProcess(["digest", shop.url.path]).output)
  }

  @Test(arguments: FileKind.allCases) func aCommandWithoutRoomForItsWorkLeavesNothing(kind: FileKind) throws {
    let shop = try Shop(kind, count: 10_000)
    let made = shop.directory.file("made").path
    let copy = ["copy", shop.url.path, made, "--to", kind.rawValue]
    func left() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: shop.directory.url.path).filter { $0.hasPrefix("made") }
    }
    // No file gets longer than this.
    let failed = try InspectProcess(copy, fileBytesMax: 64 << 10)
    #expect(failed.isExit && failed.status == 4, "\(failed)")
    #expect(try left().isEmpty)
    #expect(try InspectProcess(copy).status == 0)
    #expect(try left() == ["made"])
  }

  #if Encryption
  @Test(arguments: FileKind.allCases) func whatIsMadeOfAnEncryptedStoreIsEncryptedUnlessItIsToldNotToBe(kind: FileKind) throws {
    let shop = try Shop(kind, count: 100)
    let folder = shop.directory
    func file(_ name: String, _ digits: String) throws -> String {
      try Data(String(repeating: digits, count: 64).utf8).write(to: folder.file(name))
      return folder.file(name).path
    }
    let (key, other, sealed) = (try file("key", "0a"), try file("other", "0b"), folder.file("sealed").path)
    #expect(try InspectProcess(["backup", shop.url.path, sealed, "--new-key-file", key]).status == 0)
    let digest = try InspectProcess(["digest", shop.url.path]).output
    for (command, to) in [("copy", ["--to", "sqlite"]), ("salvage", [String]())] {
      func make(_ name: String, _ options: [String]) throws -> (path: String, run: InspectProcess) {
        let path = folder.file("\(command) \(name)").path
        return (path, try InspectProcess([command, sealed, path, "--key-file", key] + options))
      }
      let same = try make("same", to)
      #expect(same.run.status == 0, "\(same.run)")
      #expect(try InspectProcess(["digest", same.path]).status == 3)
      #expect(try InspectProcess(["digest", same.path, "--key-file", key]).output == digest)
      let new = try make("new", to + ["--new-key-file", other])
      #expect(try InspectProcess(["digest", new.path, "--key-file", other]).output == digest)
      for (name, options) in [("plain", to + ["--plain"]), ("lmdb", ["--to", "lmdb", "--plain"])] {
        let plain = try make(name, options)
        #expect(try InspectProcess(["digest", plain.path]).output == digest, "\(plain.run)")
      }
      let otherKind = try make("as lmdb", ["--to", "lmdb"])
      #expect(try InspectProcess(["digest", otherKind.path]).status == 3)
      #expect(try InspectProcess(["digest", otherKind.path, "--key-file", key]).output == digest, "\(otherKind.run)")
      let refused = try make("refused", to + ["--plain", "--new-key-file", other])
      #expect(refused.run.status == 2 && refused.run.complainedInOneLine, "\(refused.run)")
      #expect(!FileManager.default.fileExists(atPath: refused.path))
    }
  }

  @Test(arguments: FileKind.allCases) func anExportIsImportedWithAKey(kind: FileKind) throws {
    let shop = try Shop(.sqlite, count: 100)
    let (json, key, made) = (shop.directory.file("export.json"), shop.directory.file("key"), shop.directory.file("made").path)
    try Data(InspectProcess(["export", shop.url.path]).output.utf8).write(to: json)
    try Data(String(repeating: "0a", count: 64).utf8).write(to: key)
    let options = ["--from", json.path, "--new-key-file", key.path]
    #expect(try InspectProcess(["import", made, "--to", kind.rawValue] + options).status == 0)
    #expect(try InspectProcess(["digest", made]).status == 3)
    let digest = try InspectProcess(["digest", made, "--key-file", key.path]).output
    #expect(try digest == InspectProcess(["digest", shop.url.path]).output)
  }
  #endif
}
