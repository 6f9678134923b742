import ChangeTracker
import Foundation
import StorageInterface
import StoreValues
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

  @Test(arguments: FileKind.allCases) func aStoreIsRestoredOfABackupAndWhatChangedSince(kind: FileKind) throws {
    let shop = try Shop(kind, count: 500)
    let paths = ["full", "1", "2", "restored"].map { shop.directory.file($0).path }
    func version(_ run: InspectProcess) -> String { String(run.output.split(separator: ":")[0].dropFirst(8)) }
    let full = try InspectProcess(["backup", shop.url.path, paths[0]])
    try shop.change()
    let first = try InspectProcess(["backup", shop.url.path, paths[1], "--since", version(full)])
    #expect(full.status == 0 && first.status == 0 && first.output.hasSuffix(" bytes written\n"), "\(first)")
    try shop.change()
    let second = try InspectProcess(["backup", shop.url.path, paths[2], "--since", version(first)])
    let restored = try InspectProcess(["restore", paths[0], paths[3], paths[1], paths[2]])
    #expect(restored.status == 0 && restored.output == "version \(version(second)) restored\n", "\(restored)")
    #expect(try InspectProcess(["digest", paths[3]]).output == InspectProcess(["digest", shop.url.path]).output)
    #expect(try InspectProcess(["verify", paths[3]]).status == 0)
    let shown = try InspectProcess(["increment", paths[2]])
    #expect(shown.status == 0 && shown.output.hasPrefix("version \(version(first)) to \(version(second)) of "), "\(shown)")
    for (arguments, status) in [
      (["restore", paths[0], paths[3]], 2), (["restore", paths[0], paths[0] + "-new", paths[2]], 2), (["increment", paths[0]], 3),
      (["restore", paths[1], paths[0] + "-new"], 3), (["restore", paths[0], paths[0] + "-new", paths[0]], 3),
      (["backup", shop.url.path, paths[0] + "-new", "--since", "100000"], 2),
    ] as [([String], Int32)] {
      let run = try InspectProcess(arguments)
      #expect(run.status == status && run.complainedInOneLine, "\(arguments): \(run)")
    }
  }

  #if Encryption
  private func file(_ name: String, _ content: String, _ shop: Shop) throws -> String {
    let url = shop.directory.file(name)
    try Data(content.utf8).write(to: url)
    return url.path
  }

  @Test(arguments: FileKind.allCases) func aKeyIsChangedWhereTheStoreIs(kind: FileKind) throws {
    let shop = try Shop(kind, count: 500)
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
  }

  @Test(arguments: FileKind.allCases) func anEncryptedStoreIsReadWithItsKeyAlone(kind: FileKind) throws {
    let shop = try Shop(kind, count: 500)
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
    let withKey = try InspectProcess(["info", shop.url.path, "--key-file", key])
    #expect(withKey.status == 3 && withKey.complainedInOneLine && withKey.errors.contains("not encrypted"))
    #expect(try InspectProcess(["verify", sealed, "--key-file", key]).status == 0)
    #expect(try InspectProcess(["backup", sealed, plain, "--key-file", key, "--plain"]).status == 0)
    let digest = try InspectProcess(["digest", shop.url.path]).output
    #expect(try InspectProcess(["digest", sealed, "--key-file", key]).output == digest)
    #expect(try InspectProcess(["digest", plain]).output == digest)
  }
  #endif
}

extension Shop {
  /// Adds an item, renames the first one and takes the last one away, with a record that says so.
  fileprivate func change() throws {
    let write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
    defer { write.end() }
    let table = try #require(write.transaction.catalog["Item"])
    let number = Int64(write.transaction.version.rawValue)
    let row = RowBuffer(table)
    row.set(0, word: 100_000 + number)
    row.set(1, .string("item of version \(number)"))
    let key = try write.insert(row)
    _ = try write.set(table.column(named: "name"), ObjectKey(1), .string("renamed in version \(number)"))
    try write.delete(table.id, ObjectKey(key.rawValue - 1))
    _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
  }
}
