import ColumnStore
import Dispatch
import Foundation
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

@testable import StorageLMDB

/// What a crash of the system leaves of commits that are not synced (`PlayedCrash`).
struct SafePointTests {
  private let scratch: Scratch
  private let path: String

  init() throws {
    scratch = try Scratch()
    path = scratch.file("a")
  }

  /// After the background, which may have been the last to hold the environment, has let go of it.
  private func pointOfClosedStore() throws -> SafePoint? {
    SafePoints.waitForBackground()
    return try point()
  }

  private func point() throws -> SafePoint? {
    let files = try #require(LMDBFiles(existing: path))
    return try SafePointFile(files: files, creates: false, mode: 0)?.newest()
  }

  /// Makes the newest point one of an earlier run of the system; `asOlderBuild`: without what older builds did not write.
  private func restartSystem(asOlderBuild: Bool = false) throws {
    try PlayedCrash(path: path).restartSystem { point in
      guard asOlderBuild else { return }
      point.store = .unknown
      point.version = 0
    }
  }

  /// As after a crash of the system, also where the store was closed.
  private func rearm(asOlderBuild: Bool = false) throws {
    try restartSystem(asOlderBuild: asOlderBuild)
    let files = try #require(LMDBFiles(existing: path))
    try SafePointFile(files: files, creates: false, mode: 0)?.update { newest in
      var point = newest
      point?.isArmed = true
      return point
    }
  }

  /// Other content in the same file, as `cp` makes it.
  private func overwrite(with content: Data) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: content)
    try file.close()
  }

  private static func value(_ version: Int, _ key: Int) -> String {
    String(repeating: "\(version).\(key) ", count: 20 + (version &* 31 &+ key) % 900)
  }

  @Test(arguments: 0..<6) func aCrashOfTheSystemGoesBackToAWholeVersion(_ round: Int) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try LMDBStore(path: path)
      for version in 1...20 {
        try store.put((0..<20).map { ("k\($0)", SafePointTests.value(version, $0)) }, UInt64(version), .full)
      }
      // What the background syncs would be no loss to play.
      try store.environment().safePoints.pauseBackground()
      try store.syncBatches()
      SafePoints.waitForBackground()
      try PlayedCrash.keep(path)
      for version in 21...60 {
        try store.put((0..<20).map { ("k\($0)", SafePointTests.value(version, $0)) }, UInt64(version), .relaxed)
      }
      kill(getpid(), SIGKILL)
    }
    let seed = SeededGenerator.forTest().seed
    try PlayedCrash(path: path).loseWrites(since: Data(contentsOf: URL(fileURLWithPath: path + ".before")), seed: seed)
    try restartSystem(asOlderBuild: round % 2 == 1)
    let refused = #expect(throws: StorageError.self) { _ = try LMDBStore(path: path, isReadOnly: true) }
    #expect(refused?.code == .corrupt)
    let store = try LMDBStore(path: path)
    let version = try Int(store.latestVersion().rawValue)
    #expect(version == 20, "seed \(seed)")
    for key in 0..<20 { #expect(try store.text("k\(key)") == SafePointTests.value(version, key), "seed \(seed)") }
    try store.put([("k0", "on")], UInt64(version + 1), .full)
    #expect(try store.text("k0") == "on")
  }

  @Test func aKilledProcessLosesNothing() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try LMDBStore(path: path)
      for version in 1...30 { try store.put([("a", "\(version)")], UInt64(version), .relaxed) }
      kill(getpid(), SIGKILL)
    }
    #expect(try LMDBStore(path: path).text("a") == "30")
  }

  @Test func syncedCommitsAreNeverPutBack() throws {
    do {
      let store = try LMDBStore(path: path)
      try store.put([("a", "1")], 1, .relaxed)
      #expect(try point()?.isArmed == true)
      try store.put([("a", "2")], 2, .full)
      #expect(try point()?.isArmed == false)
      #expect(try store.statistics().pins.isEmpty)
    }
    try restartSystem()
    #expect(try LMDBStore(path: path).text("a") == "2")
  }

  @Test func closingMakesEverythingSafe() throws {
    do {
      let store = try LMDBStore(path: path)
      for version in 1...5 { try store.put([("a", "\(version)")], UInt64(version), .relaxed) }
    }
    SafePoints.waitForBackground()
    try restartSystem()
    #expect(try LMDBStore(path: path).text("a") == "5")
  }

  @Test func storesThatAlwaysSyncHaveNoSafePoint() throws {
    let store = try LMDBStore(path: path)
    for version in 1...3 { try store.put([("a", "\(version)")], UInt64(version), .full) }
    #expect(!FileManager.default.fileExists(atPath: path + ".safe"))
  }

  @Test func theBackgroundMovesThePointAndLetsGoOfSpace() throws {
    let store = try LMDBStore(path: path)
    let environment = try store.environment()
    // Its turns are taken by hand here: on a slow machine its own could come at any moment.
    environment.safePoints.pauseBackground()
    try store.put([("a", "1")], 1, .relaxed)
    for version in 2...5 { try store.put([("a", "\(version)")], UInt64(version), .relaxed) }
    let before = try #require(try point())
    #expect(environment.safePoints.pinned == before.transaction)
    environment.safePoints.refresh(environment)
    let after = try #require(try point())
    #expect(after.transaction == before.transaction + 5)
    #expect(environment.safePoints.pinned == nil)
    environment.safePoints.pauseBackground()
    try store.put([("a", "6")], 6, .relaxed)
    #expect(environment.safePoints.pinned == after.transaction)
  }

  @Test("A point that could not be moved while somebody wrote is moved afterwards, though nobody commits")
  func theBackgroundTriesAgain() throws {
    let store = try LMDBStore(path: path)
    let environment = try store.environment()
    let other = try LMDBStore(path: path)
    environment.safePoints.pauseBackground()
    try store.put([("a", "1")], 1, .relaxed)
    let before = try #require(environment.safePoints.pinned)
    // The turn that the commit asked for comes while another writes, for longer than it waits.
    let hold = try #require(try other.environment().acquireWriter(.never))
    environment.safePoints.refresh(environment, due: DispatchTime(uptimeNanoseconds: 1))
    #expect(environment.safePoints.pinned == before)
    hold.release()
    // Nobody commits; the next turn comes by itself.
    while environment.safePoints.pinned != nil { sched_yield() }
    #expect(try #require(try point()).transaction > before)
  }

  @Test func aPointOfAnotherFileIsIgnored() throws {
    do { try LMDBStore(path: path).put([("a", "old")], 1, .relaxed) }
    let other = scratch.file("b")
    do { try LMDBStore(path: other).put([("a", "new")], 1, .full) }
    try rearm()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: other, toPath: path)
    #expect(try LMDBStore(path: path).text("a") == "new")
    #expect(try point()?.isArmed == false)
  }

  @Test func aFileThatCannotBeReadIsNotTakenForAnotherStores() throws {
    let store = try LMDBStore(path: path)
    // The point is of what was there before the commit that is not synced.
    try store.put([("a", "1")], 1, .full)
    try store.put([("a", "2")], 2, .relaxed)
    let point = try #require(try point())
    let file = open(path, O_RDONLY)
    defer { close(file) }
    #expect(try point.belongs(to: file, path))
    // The bytes of a folder cannot be read.
    let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY)
    defer { close(folder) }
    let error = #expect(throws: StorageError.self) { try point.belongs(to: folder, path) }
    #expect(error?.code == .io || error?.underlyingCode == EISDIR)
    var walk = LMDBPageWalk(file: folder, pageSize: 4_096, pageCount: 100)
    let isWhole = walk.isWhole(3, depth: 0)
    #expect(!isWhole && walk.readError == EISDIR)
    store.close()
  }

  /// A disk says once that it did not take something in. Until it was written again nobody knows what there would be after a crash.
  @Test func aPointThatTheDiskRefusedIsNotTakenForNone() throws {
    let store = try LMDBStore(path: path)
    let points = try store.environment().safePoints
    points.pauseBackground()
    try store.put([("a", "1")], 1, .full)
    try store.put([("a", "2")], 2, .relaxed)
    let files = try #require(LMDBFiles(existing: path))
    let file = try #require(try SafePointFile(files: files, creates: false, mode: 0))
    file.refusals.store(2, ordering: .relaxed)
    // As a process that has not seen the point yet.
    points.state.withLock { $0.file = file }
    for _ in 0..<2 {
      let error = #expect(throws: StorageError.self) { try store.put([("a", "3")], 3, .full) }
      #expect(error?.code == .io)
    }
    #expect(try store.latestVersion() == Version(2) && point()?.isArmed == true)
    try store.put([("a", "3")], 3, .full)
    #expect(try store.text("a") == "3" && point()?.isArmed == false)
  }

  @Test func closingDisarmsThePoint() throws {
    do {
      let store = try LMDBStore(path: path)
      for version in 1...5 { try store.put([("a", "\(version)")], UInt64(version), .grouped(within: .seconds(60))) }
      #expect(try point()?.isArmed == true)
    }
    #expect(try pointOfClosedStore()?.isArmed == false)
  }

  @Test func whatAKilledProcessLeftArmedIsDisarmedByTheNextThatCloses() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      try LMDBStore(path: path).put([("a", "1")], 1, .relaxed)
      let store = try LMDBStore(path: path)
      try store.put([("a", "2")], 2, .relaxed)
      kill(getpid(), SIGKILL)
    }
    #expect(try point()?.isArmed == true)
    do { #expect(try LMDBStore(path: path).text("a") == "2") }
    #expect(try pointOfClosedStore()?.isArmed == false)
  }

  @Test(arguments: [false, true]) func anotherStoreCopiedOverTheFileIsLeftAlone(_ asOlderBuild: Bool) throws {
    do {
      let store = try LMDBStore(path: path)
      // Trees that the other file does not have.
      for version in 1...3 {
        try store.put((0..<200).map { ("k\($0)", SafePointTests.value(version, $0)) }, UInt64(version), .relaxed)
      }
    }
    let other = scratch.file("b")
    do {
      let store = try LMDBStore(path: other)
      for version in 1...50 { try store.put([("a", "new")], UInt64(version), .full) }
    }
    let content = try Data(contentsOf: URL(fileURLWithPath: other))
    try rearm(asOlderBuild: asOlderBuild)
    try overwrite(with: content)
    let store = try LMDBStore(path: path)
    #expect(try store.text("a") == "new")
    #expect(try store.latestVersion() == Version(50))
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
    #expect(try point()?.isArmed == false)
  }

  @Test func aSmallStoreCopiedOverASmallOneIsLeftAlone() throws {
    for (name, text) in [("a", "old"), ("b", "new")] {
      let store = try LMDBStore(path: scratch.file(name))
      // The same pages in both.
      for version in 1...4 { try store.put([("a", text)], UInt64(version), version == 2 ? .relaxed : .full) }
    }
    try rearm()
    try overwrite(with: Data(contentsOf: URL(fileURLWithPath: scratch.file("b"))))
    let store = try LMDBStore(path: path)
    #expect(try store.text("a") == "new")
    #expect(try store.latestVersion() == Version(4))
  }

  @Test func anotherStateOfTheSameStoreIsLeftAlone() throws {
    let safe = URL(fileURLWithPath: path + ".safe")
    let data = URL(fileURLWithPath: path)
    var saved = Data()
    var old = Data()
    do {
      let store = try LMDBStore(path: path)
      try store.put([("a", "1")], 1, .full)
      old = try Data(contentsOf: data)
      for version in 2...4 { try store.put([("a", "\(version)")], UInt64(version), .relaxed) }
      saved = try Data(contentsOf: safe)
    }
    do {
      let store = try LMDBStore(path: path)
      for version in 5...30 { try store.put([("a", "\(version)")], UInt64(version), .full) }
    }
    try saved.write(to: safe)
    try rearm()
    #expect(try LMDBStore(path: path).text("a") == "30")
    try saved.write(to: safe)
    try rearm()
    try overwrite(with: old)
    #expect(try LMDBStore(path: path).text("a") == "1")
  }

  @Test func aPointThatBeganAnewIsNotEndedByOneThatWasBeingMoved() throws {
    let store = try LMDBStore(path: path)
    let environment = try store.environment()
    environment.safePoints.pauseBackground()
    try store.put([("a", "1")], 1, .grouped(within: .seconds(100)))
    try environment.safePoints.move(environment, .never) { () throws(StorageError) in
      try store.put([("a", "2")], 2, .full)
      try store.put([("a", "3")], 3, .grouped(within: .seconds(100)))
    }
    let held = try #require(try point())
    #expect(held.isArmed && held.version == 2)
    #expect(environment.safePoints.pinned == held.transaction)
    try store.syncBatches()
    #expect(try point()?.version == 3)
    #expect(environment.safePoints.pinned == nil)
  }

  @Test func damagedPointsAreNoPoints() throws {
    var bytes = SafePoint(
      sequence: 7, isArmed: true, system: .current, inode: 3, transaction: 9,
      meta: [UInt8](repeating: 5, count: SafePoint.metaSize)
    ).bytes
    #expect(SafePoint(bytes[...])?.sequence == 7)
    for position in bytes.indices {
      bytes[position] ^= 1
      #expect(SafePoint(bytes[...]) == nil)
      bytes[position] ^= 1
    }
  }
}
