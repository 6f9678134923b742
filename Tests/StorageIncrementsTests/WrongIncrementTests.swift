import CVivariumSQLite
import ChangeTracker
import Foundation
import StorageIncrements
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

/// What is no increment of a store, or not the next one, is refused, and nothing is written.
@Suite struct WrongIncrementTests {
  private func restore(_ chain: Chain, _ increments: [String]) -> String? {
    let path = chain.folder.file("restored").path
    let before = restorations(chain)
    let result = code { try chain.restore(to: path, increments) }
    #expect(restorations(chain) == before)
    return result
  }

  /// The files of restored stores, and of restorations under way.
  private func restorations(_ chain: Chain) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: chain.folder.url.path)
    return (names ?? []).filter { $0.hasPrefix("restored") }.sorted()
  }

  @Test(arguments: HistoryEngine.files) func incrementsAreAppliedInTheirOrderAlone(_ kind: HistoryEngine) throws {
    let chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 3)
    let (a, b, c) = (chain.increments[0], chain.increments[1], chain.increments[2])
    for wrong in [[b], [b, a], [a, c], [a, a], [a, b, b], [c, b, a]] { #expect(restore(chain, wrong) == "wrongIncrement") }
    #expect(restore(chain, [a, b, c + "-none"]) == "fileNotFound")
    #expect(restore(chain, [a, chain.copy]) == "foreignFile")
    #expect(restore(chain, [a, chain.folder.url.path]) == "foreignFile")
  }

  @Test(arguments: HistoryEngine.files) func anotherStoresIncrementIsRefused(_ kind: HistoryEngine) throws {
    let random = SeededGenerator.forTest(kind.rawValue)
    let chain = try Chain(kind, random, increments: 1)
    // The same commits of another store.
    let other = try Chain(kind, random, increments: 1)
    #expect(restore(chain, other.increments) == "wrongIncrement")
    #expect(restore(other, chain.increments) == "wrongIncrement")
  }

  @Test(arguments: HistoryEngine.files) func anIncrementOfACopyThatWentOnByItselfIsRefused(_ kind: HistoryEngine) throws {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 1)
    let restored = try chain.restored(0)
    defer { restored.close() }
    // The same store by its identity, at the same version as the source, with another past.
    while try restored.latestVersion() <= chain.versions[1] {
      try chain.history.commit(restored) { history, write in for _ in 0..<50 { _ = try write.insert(RowBuffer(history.leaf)) } }
    }
    let path = chain.folder.file("fork").path
    _ = try IncrementWriter.write(restored, since: chain.versions[1], to: path, .unchanged) { _ in .proceed }
    #expect(restore(chain, [chain.increments[0], path]) == "wrongIncrement")
  }

  @Test(arguments: HistoryEngine.allCases) func aStoreThatAnIncrementDoesNotFitStaysAsItIs(_ kind: HistoryEngine) throws {
    let chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 2)
    let engine = chain.source
    let before = try Contents(engine, recordsAfter: chain.versions[0])
    var applier = try IncrementApplier(engine)
    for path in chain.increments {
      #expect(code { try applier.apply(IncrementFile(path, key: nil)) } == "wrongIncrement")
    }
    #expect(try Contents(engine, recordsAfter: chain.versions[0]) == before)
  }

  // MARK: Damage

  @Test(arguments: HistoryEngine.files) func eachChangedByteIsFound(_ kind: HistoryEngine) throws {
    let chain = try small(kind)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: chain.increments[0]))
    let damaged = chain.folder.file("damaged").path
    let engine = try chain.restored(0)
    defer { engine.close() }
    let before = try Contents(engine, recordsAfter: chain.versions[0])
    let expected: Set<String> = ["corrupt", "foreignFile"]
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 1 << UInt8(place % 8)
      try changed.write(to: URL(fileURLWithPath: damaged))
      let result = apply(damaged, engine)
      #expect(result.map { expected.contains($0) } == true, "byte \(place): \(result ?? "nothing")")
    }
    #expect(try Contents(engine, recordsAfter: chain.versions[0]) == before)
    #expect(apply(chain.increments[0], engine) == nil)
  }

  @Test(arguments: HistoryEngine.files) func eachCutIsFoundAndWhatFollowsToo(_ kind: HistoryEngine) throws {
    let chain = try small(kind)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: chain.increments[0]))
    let damaged = chain.folder.file("damaged").path
    let engine = try chain.restored(0)
    defer { engine.close() }
    for count in 0..<bytes.count {
      try bytes.prefix(count).write(to: URL(fileURLWithPath: damaged))
      #expect(apply(damaged, engine) == (count < 8 ? "foreignFile" : "corrupt"), "\(count) bytes")
    }
    try (bytes + [0]).write(to: URL(fileURLWithPath: damaged))
    #expect(apply(damaged, engine) == "corrupt")
    #expect(restore(chain, [damaged]) == "corrupt")
  }

  private func small(_ kind: HistoryEngine) throws -> Chain {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 0)
    chain.history.isSmall = true
    for _ in 0..<2 { try chain.history.commit(chain.source) { history, write in try history.insertNode(write) } }
    try chain.add()
    return chain
  }

  private func apply(_ path: String, _ engine: any StorageEngine) -> String? {
    code {
      var applier = try IncrementApplier(engine)
      try applier.apply(IncrementFile(path, key: nil))
    }
  }

  // MARK: What cannot be an increment

  @Test(arguments: HistoryEngine.files) func aVersionThatTheHistoryDoesNotReachNeedsAFullCopy(_ kind: HistoryEngine) throws {
    let folder = TemporaryDirectory("increments")
    let engine = try kind.backend(folder.file("source").path).open(OpenOptions(historyLimit: 3))
    defer { engine.close() }
    var history = try RandomHistory(engine, SeededGenerator.forTest(kind.rawValue))
    for _ in 0..<600 { try history.commit(engine) { history, write in _ = try write.insert(RowBuffer(history.leaf)) } }
    let latest = try engine.latestVersion()
    #expect(write(engine, since: Version(2), folder) == "needsFullCopy")
    #expect(write(engine, since: Version(0), folder) == "needsFullCopy")
    #expect(write(engine, since: latest.next, folder) == "needsFullCopy")
    #expect(write(engine, since: Version(.max), folder) == "needsFullCopy")
    #expect(write(engine, since: Version(latest.rawValue - 1), folder) == nil)
  }

  @Test(arguments: HistoryEngine.allCases) func changedTypesNeedAFullCopy(_ kind: HistoryEngine) throws {
    let chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 0)
    try chain.source.adopt(Schema([ObjectSchema("Other", .scalar("name", .string))]))
    #expect(write(chain.source, since: chain.versions[0], chain.folder) == "needsFullCopy")
    #expect(write(chain.source, since: try chain.source.latestVersion(), chain.folder) == nil)
  }

  @Test(arguments: HistoryEngine.files) func whatAnotherProgramWroteAndAReplicasFileNeedAFullCopy(_ kind: HistoryEngine) throws {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 0)
    try chain.source.write { try $0.insert(chain.history.leaf) }
    #expect(write(chain.source, since: chain.versions[0], chain.folder) == "needsFullCopy")
    let version = try chain.source.latestVersion()
    try chain.history.commit(chain.source)
    try chain.source.write(record: CommitRecord(origin: 7)) { try #require($0.writePowers.sides).setSide([1], [1]) }
    #expect(write(chain.source, since: version, chain.folder) == "needsFullCopy")
  }

  /// Its rows are there from the moment it wrote them, and no version tells of them until somebody else writes.
  @Test func whatAnotherProgramWroteAndNobodyHasLoggedNeedsAFullCopy() throws {
    var chain = try Chain(.sqlite, SeededGenerator.forTest(), increments: 0)
    try chain.history.commit(chain.source)
    let version = try chain.source.latestVersion()
    #expect(write(chain.source, since: chain.versions[0], chain.folder) == nil)
    try runOtherProgram("INSERT INTO Leaf (text) VALUES ('foreign')", chain.folder.file("source").path)
    #expect(try chain.source.latestVersion() == version)
    for base in [chain.versions[0], version] { #expect(write(chain.source, since: base, chain.folder) == "needsFullCopy") }
    // Logged, it is a version that no increment can have in it, but others can follow.
    try chain.history.commit(chain.source)
    #expect(write(chain.source, since: version, chain.folder) == "needsFullCopy")
    let later = try chain.source.latestVersion()
    try chain.history.commit(chain.source)
    #expect(write(chain.source, since: later, chain.folder) == nil)
  }

  private func runOtherProgram(_ text: String, _ path: String) throws {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    try #require(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    try #require(sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK)
  }

  /// Of more objects than can be counted, of which there is none; the first megabytes are written before that is found.
  @Test(arguments: HistoryEngine.files) func aHistoryThatNamesMoreThanThereCanBeIsDamaged(_ kind: HistoryEngine) throws {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 0)
    let (node, leaf) = (chain.history.node, chain.history.leaf)
    try chain.history.commit(chain.source) { history, write in try history.insertNode(write) }
    let version = try chain.source.latestVersion()
    let read = try chain.source.beginRead()
    let owner = try #require(try read.firstKey(node))
    read.end()
    let blob = node.column(named: "blob")
    let named = [
      TableChange(table: node.id, modified: [ModifiedObject(key: owner, properties: PropertySet([blob.property]))]),
      TableChange(table: leaf.id, inserted: KeyRuns(runs: [100_000...100_000 + 1 << 39])),
    ]
    try chain.source.write(record: CommitRecord(origin: 7, tables: named)) { write in
      try write.set(blob, owner, .data(Data(count: 32 << 20)))
    }
    #expect(write(chain.source, since: version, chain.folder) == "corrupt")
  }

  @Test(arguments: HistoryEngine.files) func aUniqueFlagThatChangedNeedsAFullCopy(_ kind: HistoryEngine) throws {
    let folder = TemporaryDirectory("increments")
    let engine = try kind.backend(folder.file("source").path).open(OpenOptions())
    defer { engine.close() }
    let catalog = try engine.adopt(Schema([ObjectSchema("Flag", .scalar("on", .bool, unique: true), .scalar("text", .string))]))
    let table = try #require(catalog["Flag"])
    let version = try engine.latestVersion()
    var key = ObjectKey(0)
    func commit(_ body: (RecordedTransaction) throws -> Void) throws {
      let write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
      defer { write.end() }
      try body(write)
      _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
    }
    try commit { write in key = try write.insert(RowBuffer(table)) }
    #expect(write(engine, since: version, folder) == nil)
    let later = try engine.latestVersion()
    try commit { write in _ = try write.set(table.column(named: "on"), key, .bool(true)) }
    #expect(write(engine, since: later, folder) == "needsFullCopy")
  }

  private func write(_ engine: any StorageEngine, since version: Version, _ folder: TemporaryDirectory) -> String? {
    let path = folder.file("increment-\(UUID().uuidString)").path
    let result = code { _ = try IncrementWriter.write(engine, since: version, to: path, .unchanged) { _ in .proceed } }
    #expect(FileManager.default.fileExists(atPath: path) == (result == nil))
    return result
  }
}
