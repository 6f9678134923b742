import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// A file of LMDB's with damaged first pages is opened by nobody. What can still be found of it is taken out.
@Suite struct FirstPageSalvageTests {
  private static let page = 4_096

  private let folder = TemporaryDirectory("first-pages")
  private var url: URL { folder.file("store") }

  /// A store with a commit of forty objects, and further ones of an object each.
  private func make(further: Int, _ durability: Durability = .full) throws {
    let engine = try LMDBBackend(path: url.path).open(OpenOptions())
    defer { engine.close() }
    let pup = try #require(try engine.adopt(Schema([ObjectSchema("Pup", .scalar("name", .string))]))["Pup"])
    try engine.write(.full) { write in for i in 0..<40 { try write.insert(pup, ["name": .string("pup \(i)")]) } }
    for i in 0..<further { try engine.write(durability) { write in try write.insert(pup, ["name": .string("late pup \(i)")]) } }
  }

  /// Where the newer of the first pages begins: each says the number of its transaction.
  private func newer(_ data: Data) -> Int {
    func number(_ page: Int) -> UInt64 { data[page + 144..<page + 152].reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    return number(0) > number(Self.page) ? 0 : Self.page
  }

  /// In place: a safe point is of this file alone.
  private func wipe(_ pages: [Int]) throws {
    let file = try FileHandle(forWritingTo: url)
    for page in pages {
      try file.seek(toOffset: UInt64(page))
      try file.write(contentsOf: Data(count: Self.page))
    }
    try file.close()
  }

  private func expectDamaged() throws {
    let run = try InspectProcess(["verify", url.path])
    #expect(run.status == 3 && run.complainedInOneLine && run.errors.contains("is damaged: its first pages"), "\(run)")
  }

  private func salvage(_ arguments: [String] = []) throws -> InspectProcess {
    let saved = folder.file("saved").path
    let run = try InspectProcess(["salvage", url.path, saved] + arguments)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(!names.contains { $0.contains(".new-") }, "\(names)")
    if run.status == 5 { #expect(try InspectProcess(["verify", saved] + arguments).status == 0) }
    return run
  }

  @Test(arguments: [true, false], 1...2) func whatTheSoundFirstPageLeadsToIsTakenOut(isNewerDamaged: Bool, further: Int) throws {
    try make(further: further)
    let newer = newer(try Data(contentsOf: url))
    try wipe([isNewerDamaged ? newer : Self.page - newer])
    let damaged = try Data(contentsOf: url)
    try expectDamaged()
    let run = try salvage()
    // The damaged page may have been that of a commit that nobody knows of any more.
    let count = 40 + further - (isNewerDamaged ? 1 : 0)
    #expect(run.isExit && run.status == 5 && run.errors.isEmpty, "\(run)")
    #expect(run.output.contains("of version \(count - 38),") && run.output.hasSuffix("\nPup: \(count) objects saved\n"), "\(run)")
    #expect(try Data(contentsOf: url) == damaged)
  }

  @Test func theSafePointLeadsOnWhereBothFirstPagesAreDamaged() throws {
    try make(further: 1, .relaxed)
    try wipe([0, Self.page])
    try expectDamaged()
    let run = try salvage()
    #expect(run.isExit && run.status == 5 && run.errors.isEmpty, "\(run)")
    // The background may have brought the last commit to the disk by then.
    let count = run.output.contains("of version 3,") ? 41 : 40
    #expect(run.output.hasSuffix("\nPup: \(count) objects saved\n"), "\(run)")
  }

  @Test func whereNothingIsFoundNothingIsMade() throws {
    try make(further: 1)
    try FileManager.default.removeItem(atPath: url.path + ".safe")
    try wipe([0, Self.page])
    let run = try salvage()
    #expect(run.status == 3 && run.complainedInOneLine, "\(run)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("saved").path))
  }

  #if Encryption
  @Test func anEncryptedStoreIsTakenOutWithItsKey() throws {
    let key = folder.file("key")
    try Data(repeating: 7, count: 64).write(to: key)
    try make(further: 1)
    let changed = try InspectProcess(["change-key", url.path, "--new-key-file", key.path])
    try #require(changed.status == 0, "\(changed)")
    // A store that was just made has one version alone.
    try wipe([Self.page - newer(try Data(contentsOf: url))])
    let refused = try salvage()
    #expect(refused.status == 3 && refused.complainedInOneLine, "\(refused)")
    let run = try salvage(["--key-file", key.path])
    #expect(run.isExit && run.status == 5 && run.output.hasSuffix("\nPup: 41 objects saved\n"), "\(run)")
  }
  #endif
}
