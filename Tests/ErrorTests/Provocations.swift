import Foundation
import StorageInterface
import StorageLMDB
import StorageMemory
import StorageSQLite
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// For each code a mistake, a fault or a limit that ends with it. Each throws.
enum Provocations {
  typealias Provocation = @Sendable (Ground) throws -> Void

  static let all: [String: Provocation] =
    opening.merging(running) { first, _ in first }.merging(objects) { first, _ in first }.merging(queries) { first, _ in first }
    .merging(storage) { first, _ in first }.merging(companions) { first, _ in first }.merging(encryption) { first, _ in first }

  /// What is provoked by a test of its own, as it needs a process, a server or more: the file among the tests, in which the code or its
  /// text is.
  static let elsewhere: [String: (file: String, text: String)] = [
    "StoreError.forked": ("ErrorTests/ErrorCodeTests.swift", "aCodeOfAForkedProcess"),
    "StorageError.forked": ("StorageSQLiteTests/ForkTests.swift", "code == .forked"),
    "StoreError.messageTimeout": ("StoreMessagesTests/SendingTests.swift", "code == .messageTimeout"),
    "StoreError.attemptsExhausted": ("StoreMessagesTests/HandlerStateTests.swift", "StoreError.Code.attemptsExhausted"),
    "StoreError.replicatedMessage": ("SyncEventsTests/AnswerTests.swift", "code == .replicatedMessage"),
    "StoreError.writeInBatch": ("ResultsControlTests/BatchTests.swift", "refused == .writeInBatch"),
    "StorageError.stagedPagesDamaged": ("SyncClientTests/Replicating/StagedPagesTests.swift", "Code.stagedPagesDamaged"),
    "StoreError.syncRequired": ("SyncClientTests/CaptureTests.swift", "== .syncRequired"),
    "StorageError.syncRequired": ("SyncClientTests/CaptureTests.swift", "== \"syncRequired\""),
    "StorageError.schemaMismatch": ("SyncClientTests/IntegrationTests.swift", "== \"schemaMismatch\""),
    "StorageError.deleteDenied": ("VivariumTests/OwnershipTests.swift", "code == .deleteDenied"),
  ]

  private struct Stop: Error {}

  // MARK: Opening

  private static let opening: [String: Provocation] = [
    "StoreError.fileNotFound": { ground in
      var configuration = ground.configuration()
      configuration.options.createsIfMissing = false
      _ = try Store(configuration)
    },
    "StoreError.permissionDenied": { ground in
      // Nobody makes files there, root neither.
      if geteuid() == 0 { _ = try Store(ground.configuration(SQLiteBackend(path: "/sys/kernel/store"))) }
      chmod(ground.folder.url.path, 0o500)
      defer { chmod(ground.folder.url.path, 0o700) }
      _ = try ground.store()
    },
    "StoreError.foreignFile": { ground in
      try Data(String(repeating: "This is a text. ", count: 500).utf8).write(to: URL(fileURLWithPath: ground.path))
      _ = try ground.store()
    },
    "StoreError.corrupt": { ground in
      _ = try ground.closedFile()
      try ground.patch(100, [UInt8](repeating: 0xA5, count: 3_996))
      _ = try ground.store()
    },
    "StoreError.unsupportedVersion": { ground in
      _ = try ground.closedFile()
      try ground.patch(60, [0, 0, 0, 99])
      _ = try ground.store()
    },
    "StoreError.alreadyOpen": { ground in
      _ = try ground.closedFile()
      let reader = try SQLiteBackend(path: ground.path).open(OpenOptions(isReadOnly: true))
      defer { reader.close() }
      _ = try ground.store()
    },
    "StoreError.hardLinked": { ground in
      _ = try ground.closedFile()
      #expect(link(ground.path, ground.path + "-again") == 0)
      _ = try ground.store()
    },
    "StoreError.fileExists": { ground in try ground.store().writeCopy(to: ground.path) },
    "StoreError.unsupported": { ground in
      try Store(ground.configuration(MemoryBackend())).writeCopy(to: ground.path)
    },
    "StoreError.schemaMismatch": { ground in
      do {
        let store = try ground.store()
        try store.write { try store.add(Pet(tag: "a")) }
      }
      _ = try Store(ground.configuration(models: [Otherwise.Pet.self]))
    },
    "StoreError.newerSchema": { ground in
      var configuration = ground.configuration()
      configuration.schemaVersion = 2
      _ = try Store(configuration)
      configuration.schemaVersion = 1
      _ = try Store(configuration)
    },
    "StoreError.migrationFailed": { ground in
      _ = try ground.store()
      var configuration = ground.configuration()
      configuration.schemaVersion = 1
      configuration.migration = { _, _ in throw Stop() }
      _ = try Store(configuration)
    },
  ]

  // MARK: Running

  private static let running: [String: Provocation] = [
    "StoreError.io": { ground in try failToCommit(ground, StorageError(.io, .transaction, "The disk failed.")) },
    "StoreError.misuse": { ground in try failToCommit(ground, StorageError(.misuse, .transaction, "No savepoint is open.")) },
    "StoreError.sqlite.error": { ground in try failToCommit(ground, StorageError(.sqlite, .transaction, "Could not commit.")) },
    "StoreError.unsynced": { ground in try failToCommit(ground, StorageError(.unsynced, .transaction, "The disk did not confirm it.")) },
    "StoreError.outOfDiskSpace": { ground in
      var backend = SQLiteBackend(path: ground.path)
      backend.pagesMax = 200
      let store = try Store(ground.configuration(backend))
      try store.write { try store.add(Pet(tag: String(repeating: "long ", count: 400_000))) }
    },
    "StoreError.readOnly": { ground in
      _ = try ground.closedFile()
      var configuration = ground.configuration()
      configuration.options.isReadOnly = true
      _ = try Store(configuration)
    },
    "StoreError.writeTimeout": { ground in
      var configuration = ground.configuration()
      configuration.writeTimeout = .milliseconds(1)
      let store = try Store(configuration)
      let engine = try configuration.backend.open(OpenOptions())
      let write = try engine.beginWrite(.never)
      defer { write.end() }
      try store.write {}
    },
    "StoreError.tooManyReaders": { ground in
      let store = try Store(ground.configuration(CrowdedBackend(base: SQLiteBackend(path: ground.path))))
      for tag in ["a", "b"] { try store.write { try store.add(Pet(tag: tag)) } }
    },
    "StoreError.tooManyVersions": { ground in
      let old = try ground.store()
      defer { withExtendedLifetime(old) {} }
      var configuration = ground.configuration()
      configuration.versions.maximumCount = 2
      let writer = try Store(configuration)
      for number in 0..<9 { try writer.write { try writer.add(Pet(tag: "\(number)")) } }
    },
    "StoreError.replaced": { ground in
      let store = try ground.store()
      try FileManager.default.removeItem(atPath: ground.path)
      try store.write { try store.add(Pet()) }
    },
    "StoreError.addressSpace": { ground in
      let store = try Store(ground.configuration(SmallMapBackend(location: ground.path)))
      try store.write { try store.add(Pet(tag: String(repeating: "long ", count: 2_000_000))) }
    },
    "StoreError.closed": { ground in
      let store = try ground.store()
      try ground.configuration().backend.open(OpenOptions()).close()
      try store.write { try store.add(Pet()) }
    },
    "StoreError.snapshotExpired": { ground in
      _ = try ground.closedFile()
      for name in [".coord", ".bell"] { try FileManager.default.removeItem(atPath: ground.path + name) }
      let engine = try SQLiteBackend(path: ground.path).open(OpenOptions(isReadOnly: true))
      defer { engine.close() }
      let read = try engine.beginRead()
      guard let table = read.catalog["Pet"] else { return }
      // As another program does that writes the file alone.
      try ground.patch(1 << 20, [0])
      do throws(StorageError) { _ = try read.count(table.id) } catch {
        throw StoreError(StoreError.Code(rawValue: error.code.rawValue), error.message, remedy: error.remedy)
      }
    },
    "StoreError.historyTrimmed": { ground in _ = try ground.store().commits(since: Version(1_000)) },
    "StoreError.needsFullCopy": { ground in
      try ground.store().writeCopy(to: ground.path + ".increment", since: Version(1_000))
    },
    "StoreError.wrongIncrement": { ground in
      let store = try ground.store()
      let base = try store.writeCopy(to: ground.path + ".full")
      try store.write { try store.add(Pet()) }
      let next = try store.writeCopy(to: ground.path + ".1", since: base)
      try store.writeCopy(to: ground.path + ".2", since: next)
      let lost = ground.configuration(SQLiteBackend(path: ground.path + ".new"))
      try Store.restore(lost, from: ground.path + ".full", increments: [ground.path + ".2"])
    },
    "StoreError.cancelled": { ground in try ground.store().writeCopy(to: ground.path + ".copy") { _ in false } },
    "StoreError.alreadyInWrite": { ground in
      let store = try ground.store()
      try store.write { try store.write {} }
    },
    "StoreError.notInWrite": { ground in try ground.store().add(Pet()) },
    "StoreError.readOnlyOperation": { ground in
      try ground.store().file.freeze().read { store in try store.write { try store.add(Pet()) } }
    },
    "StoreError.wrongContext": { ground in
      let queue = DispatchQueue(label: "errors")
      let refused: StoreError? = try queue.sync {
        let store = try Store(ground.configuration(), queue: queue)
        return DispatchQueue(label: "elsewhere").sync {
          do throws(StoreError) {
            try store.beginWrite()
            return nil
          } catch {
            return error
          }
        }
      }
      if let refused { throw refused }
    },
    "StoreError.writeInObserver": { ground in
      let (store, owner) = try ground.owned()
      var refused: StoreError?
      let token = owner.observe(\.age, options: [.prior]) { _, _ in
        do throws(StoreError) { try store.commitWrite() } catch { refused = error }
      }
      defer { token.stop() }
      try store.write { owner.age = 2 }
      if let refused { throw refused }
    },
  ]

  private static func failToCommit(_ ground: Ground, _ error: StorageError) throws {
    let store = try Store(ground.failing(error))
    try store.write { try store.add(Pet()) }
  }
}
