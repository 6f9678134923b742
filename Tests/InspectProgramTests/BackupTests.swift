import Foundation
import StorageInterface
import Testing
import VivariumTestSupport

/// Copies of a file, and keys, as the program takes them.
@Suite struct BackupTests {
  @Test(arguments: FileKind.allCases) func aBackupIsTheSameStoreAndOverwritesNothing(kind: FileKind) throws {
    let shop = try Shop(kind, count: 500)
    let copy = shop.directory.file("copy").path
    let backup = try InspectProcess(["backup", shop.url.path, copy])
    #expect(backup.status == 0 && backup.output.hasSuffix(" bytes written\n"))
    #expect(try InspectProcess(["digest", copy]).output == InspectProcess(["digest", shop.url.path]).output)
    #expect(try InspectProcess(["verify", copy]).status == 0)
    let again = try InspectProcess(["backup", shop.url.path, copy])
    #expect(again.status == 2 && again.complainedInOneLine)
  }

  #if Encryption
  private func file(_ name: String, _ content: String, _ shop: Shop) throws -> String {
    let url = shop.directory.file(name)
    try Data(content.utf8).write(to: url)
    return url.path
  }

  @Test func aKeyIsChangedWhereTheStoreIs() throws {
    let shop = try Shop(.sqlite, count: 500)
    let key = try file("key", String(repeating: "0a", count: 64) + "\n", shop)
    let digest = try InspectProcess(["digest", shop.url.path]).output
    #expect(try InspectProcess(["change-key", shop.url.path, "--new-key-file", key]).status == 3, "it is open here")
    shop.engine.close()
    for arguments in [[], ["--plain", "--new-key-file", key], ["--new-key-file", key + "-none"]] {
      let run = try InspectProcess(["change-key", shop.url.path] + arguments)
      #expect([2, 3].contains(run.status) && run.complainedInOneLine, "\(arguments): \(run)")
    }
    #expect(try InspectProcess(["change-key", shop.url.path, "--new-key-file", key]).status == 0)
    #expect(try InspectProcess(["digest", shop.url.path]).status == 3)
    #expect(try InspectProcess(["digest", shop.url.path, "--key-file", key]).output == digest)
    #expect(try InspectProcess(["change-key", shop.url.path, "--key-file", key, "--plain"]).status == 0)
    #expect(try InspectProcess(["digest", shop.url.path]).output == digest)
    let lmdb = try Shop(.lmdb)
    lmdb.engine.close()
    #expect(try InspectProcess(["change-key", lmdb.url.path, "--new-key-file", key]).status == 3)
  }

  @Test func anEncryptedStoreIsReadWithItsKeyAlone() throws {
    let shop = try Shop(.sqlite, count: 500)
    let key = try file("key", String(repeating: "0a", count: 64) + "\n", shop)
    let other = try file("other", String(repeating: "x", count: 64), shop)
    let (sealed, plain) = (shop.directory.file("sealed").path, shop.directory.file("plain").path)
    #expect(try InspectProcess(["backup", shop.url.path, sealed, "--new-key-file", key]).status == 0)
    for arguments in [[], ["--key-file", other], ["--key-file", sealed + "-none"]] {
      let run = try InspectProcess(["info", sealed] + arguments)
      #expect(run.status == 3 && run.complainedInOneLine, "\(arguments): \(run)")
    }
    #expect(try InspectProcess(["info", sealed, "--key-file", file("short", "abc", shop)]).status == 2)
    // As many bytes as a key has digits, and fewer characters.
    let wide = try InspectProcess(["info", sealed, "--key-file", file("wide", String(repeating: "a", count: 125) + "\u{FF41}", shop)])
    #expect(wide.isExit && wide.status == 2 && wide.complainedInOneLine, "\(wide)")
    #expect(try InspectProcess(["info", shop.url.path, "--key-file", key]).status == 3)
    let lmdb = try Shop(.lmdb)
    let withKey = try InspectProcess(["info", lmdb.url.path, "--key-file", key])
    #expect(withKey.status == 3 && withKey.complainedInOneLine && withKey.errors.contains("not encrypted"))
    #expect(try InspectProcess(["verify", sealed, "--key-file", key]).status == 0)
    #expect(try InspectProcess(["backup", sealed, plain, "--key-file", key, "--plain"]).status == 0)
    let digest = try InspectProcess(["digest", shop.url.path]).output
    #expect(try InspectProcess(["digest", sealed, "--key-file", key]).output == digest)
    #expect(try InspectProcess(["digest", plain]).output == digest)
  }
  #endif
}
