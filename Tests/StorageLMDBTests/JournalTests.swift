import ColumnStore
import Foundation
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

@testable import StorageLMDB

/// Durable commits that come one after the other are in the journal, and there after a crash (`PlayedCrash`).
@Suite struct JournalTests {
  private let scratch: Scratch
  private let path: String
  private var crash: PlayedCrash { PlayedCrash(path: path) }

  init() throws {
    scratch = try Scratch()
    path = scratch.file("a")
  }

  private func point() throws -> SafePoint? {
    let files = try #require(LMDBFiles(existing: path))
    return try SafePointFile(files: files, creates: false, mode: 0)?.newest()
  }

  /// The entries of a version: of each version some are new, some changed in places, some shorter or longer, and some gone.
  static func entries(_ version: UInt64) -> [(String, String?)] {
    var random = SeededGenerator(seed: version)
    var entries: [String: String?] = [:]
    for _ in 0..<6 {
      let key = random.below(40)
      if random.oneIn(8) {
        entries.updateValue(nil, forKey: "k\(key)")
        continue
      }
      let length = [10, 200, 3_000, 9_000][key % 4] + (random.oneIn(3) ? random.below(300) : 0)
      var text = [UInt8](repeating: UInt8(ascii: "a") + UInt8(key % 26), count: length)
      for _ in 0..<random.below(4) { text[random.below(length)] = UInt8(ascii: "A") + UInt8(version % 26) }
      entries.updateValue(String(decoding: text, as: UTF8.self), forKey: "k\(key)")
    }
    return entries.map { ($0.key, $0.value) }
  }

  /// What all versions up to one leave.
  static func model(_ version: UInt64) -> [String: String] {
    var model: [String: String] = [:]
    if version == 0 { return model }
    for number in 1...version { for (key, value) in entries(number) { model[key] = value } }
    return model
  }

  /// A new store with all versions up to one. The first ones are synced, and a crash leaves the file as it was behind them.
  static func write(_ path: String, through last: UInt64) throws -> LMDBStore {
    let store = try LMDBStore(path: path, keepsJournal: true)
    let points = try store.environment().safePoints
    // What the background syncs would be no loss to play.
    points.pauseBackground()
    for version in 1...last {
      try store.put(entries(version), version, .full)
      points.pauseBackground()
      if version == 8 { try PlayedCrash.keep(path) }
    }
    return store
  }

  /// That the store has a version, and nothing else.
  private func expect(_ store: LMDBStore, _ version: UInt64, _ what: Comment) throws {
    #expect(try store.latestVersion() == Version(version), what)
    let model = JournalTests.model(version)
    for key in 0..<40 { #expect(try store.text("k\(key)") == model["k\(key)"], what) }
  }

  @Test(arguments: 0..<8) func everyCommitThatReturnedIsThereAfterACrash(_ round: Int) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
      let store = try JournalTests.write(path, through: UInt64(60 + round))
      withExtendedLifetime(store) { _ = kill(getpid(), SIGKILL) }
    }
    let seed = SeededGenerator.forTest().seed
    let point = try #require(try point())
    #expect(point.isArmed && point.run != 0 && point.version == 8)
    try crash.happen(seed: seed)
    let refused = #expect(throws: StorageError.self) { _ = try LMDBStore(path: path, isReadOnly: true) }
    #expect(refused?.code == .corrupt)
    let store = try LMDBStore(path: path, keepsJournal: true)
    let last = UInt64(60 + round)
    try expect(store, last, "seed \(seed)")
    #expect(try self.point()?.isArmed == false)
    try store.put(JournalTests.entries(last + 1), last + 1, .full)
    try expect(store, last + 1, "seed \(seed)")
  }

  /// The ring goes round many times, while the point moves.
  @Test func theRingGoesRound() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try LMDBStore(path: path, keepsJournal: true)
      let environment = try store.environment()
      environment.safePoints.pauseBackground()
      for version in 1...UInt64(2_500) {
        try store.put(JournalTests.entries(version), version, .full)
        environment.safePoints.pauseBackground()
        guard version % 97 == 0 else { continue }
        environment.safePoints.refresh(environment)
        environment.safePoints.pauseBackground()
        try PlayedCrash.keep(path)
      }
      kill(getpid(), SIGKILL)
    }
    let seed = SeededGenerator.forTest().seed
    let size = try #require(try FileManager.default.attributesOfItem(atPath: path + ".safe")[.size] as? Int)
    #expect(size <= CommitJournal.start + CommitJournal.capacity)
    try crash.happen(seed: seed)
    try expect(try LMDBStore(path: path, keepsJournal: true), 2_500, "seed \(seed)")
  }

  /// Commits that are not synced are not in the journal: what was durable before them, and after them, is there.
  @Test(arguments: [40, 44]) func relaxedCommitsBetweenDoNotBreakIt(_ last: Int) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, last = last as Int] in
      let store = try LMDBStore(path: path, keepsJournal: true)
      let points = try store.environment().safePoints
      for version in 1...UInt64(8) { try store.put(JournalTests.entries(version), version, .full) }
      try PlayedCrash.keep(path)
      for version in 9...UInt64(last) {
        points.pauseBackground()
        try store.put(JournalTests.entries(version), version, version == 15 || version > 40 ? .relaxed : .full)
        // What a synced commit has written is on the disk: those after the relaxed one, until they are a row again.
        if (16...23).contains(version) { try PlayedCrash.keep(path) }
      }
      points.pauseBackground()
      kill(getpid(), SIGKILL)
    }
    let seed = SeededGenerator.forTest().seed
    try crash.happen(seed: seed)
    let store = try LMDBStore(path: path, keepsJournal: true)
    let version = try store.latestVersion().rawValue
    #expect(version >= 40 && version <= UInt64(last), "seed \(seed)")
    try expect(store, version, "seed \(seed)")
  }

  /// A record of which the disk has only a part was not waited for.
  @Test func aTornRecordIsTheEnd() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try JournalTests.write(path, through: 30)
      withExtendedLifetime(store) { _ = kill(getpid(), SIGKILL) }
    }
    let newest = try #require(try point())
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path + ".safe"))
    let files = try #require(LMDBFiles(existing: path))
    let file = try #require(try SafePointFile(files: files, creates: false, mode: 0))
    let (journal, first) = try #require(file.journal(of: newest))
    let end = try journal.end(from: first, at: 29)
    let found = try journal.record(after: try #require(end))
    let (record, offset) = try #require(found)
    #expect(record.version == 30)
    bytes[CommitJournal.start + offset + JournalRecord.headSize + record.count / 2] ^= 4
    try bytes.write(to: URL(fileURLWithPath: path + ".safe"))
    try crash.happen(seed: 7)
    try expect(try LMDBStore(path: path, keepsJournal: true), 29, "")
  }

  /// Whoever is killed between the record and LMDB's commit leaves a record that follows the same version as the next one.
  @Test(arguments: [false, true]) func aRecordWithoutItsCommitGivesWayToTheNext(_ isLonger: Bool) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, isLonger = isLonger as Bool] in
      let store = try JournalTests.write(path, through: 20)
      let environment = try store.environment()
      let hold = try #require(try environment.acquireWriter(.never))
      let plan = try #require(try environment.safePoints.journal(environment, bytes: 100, base: Version(20)))
      var lost = JournalCommit(plan, environment.safePoints, from: Version(20), to: Version(21))
      let value = [UInt8](repeating: 9, count: isLonger ? 60_000 : 10)
      [UInt8]("k1".utf8).withUnsafeBytes { key in value.withUnsafeBytes { lost.note(key, $0, nil, isSealed: true) } }
      let isWritten = lost.write()
      #expect(isWritten)
      // What another process knows of it, that has not seen it being written.
      environment.safePoints.didAppend(plan.journal.run, plan.end)
      hold.release()
      for version in 21...UInt64(25) {
        try store.put(JournalTests.entries(version), version, .full)
        environment.safePoints.pauseBackground()
      }
      kill(getpid(), SIGKILL)
    }
    try crash.happen(seed: 3)
    try expect(try LMDBStore(path: path, keepsJournal: true), 25, "")
  }

  /// Whoever copies the files after a crash, before the store is opened again, has everything too.
  @Test func aCopyOfTheFilesAfterACrashIsWhole() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try JournalTests.write(path, through: 30)
      withExtendedLifetime(store) { _ = kill(getpid(), SIGKILL) }
    }
    try crash.happen(seed: 11)
    let copy = scratch.file("b")
    for end in ["", ".safe"] { try FileManager.default.copyItem(atPath: path + end, toPath: copy + end) }
    try expect(try LMDBStore(path: copy, keepsJournal: true), 30, "")
  }

  /// A copy made while the store was in use has the point of a file that was synced, and was not synced itself.
  @Test func aCopyOfTheFilesBeginsAPointOfItsOwn() throws {
    let store = try LMDBStore(path: path, keepsJournal: true)
    for version in 1...UInt64(12) { try store.put(JournalTests.entries(version), version, .full) }
    try store.syncBatches()
    let before = try #require(try point())
    #expect(before.run != 0 && before.version == 12)
    let copy = scratch.file("b")
    for end in ["", ".safe"] { try FileManager.default.copyItem(atPath: path + end, toPath: copy + end) }
    let other = try LMDBStore(path: copy, keepsJournal: true)
    for version in 13...UInt64(22) { try other.put(JournalTests.entries(version), version, .full) }
    let files = try #require(LMDBFiles(existing: copy))
    let after = try #require(try SafePointFile(files: files, creates: false, mode: 0)?.newest())
    #expect(after.isArmed && after.run != before.run && after.isOf(files))
  }

  /// A store of 20 versions, of which somebody has the right to write, and the record of one more, before LMDB's commit.
  private struct PendingCommit {
    let store: LMDBStore
    let environment: LMDBEnvironment
    let hold: WriterHold
    let plan: SafePoints.JournalPlan
    var commit: JournalCommit

    init(_ path: String) throws {
      store = try LMDBStore(path: path, keepsJournal: true)
      environment = try store.environment()
      environment.safePoints.pauseBackground()
      for version in 1...UInt64(20) { try store.put(JournalTests.entries(version), version, .full) }
      hold = try #require(try environment.acquireWriter(.never))
      plan = try #require(try environment.safePoints.journal(environment, bytes: 100, base: Version(20)))
      var commit = JournalCommit(plan, environment.safePoints, from: Version(20), to: Version(21))
      [UInt8]("k1".utf8).withUnsafeBytes { key in commit.note(key, key, nil, isSealed: true) }
      let isWritten = commit.write()
      #expect(isWritten)
      self.commit = commit
    }
  }

  /// A commit that is in no record, after one that was killed between its record and LMDB's commit, has the same version as that.
  @Test func whatAKilledProcessLeftIsVoidBeforeAnybodyCommits() async throws {
    let pending = try PendingCommit(path)
    let (environment, plan) = (pending.environment, pending.plan)
    environment.safePoints.didAppend(plan.journal.run, plan.end)
    #expect(try plan.journal.record(after: plan.end)?.record.version == 21)
    try environment.safePoints.voidLost(environment)
    pending.hold.release()
    #expect(try plan.journal.record(after: plan.end) == nil)
    #expect(try plan.journal.end(from: CommitJournal.Place(offset: plan.first, version: 8), at: 20) == plan.end)
  }

  /// Who cannot repair what a killed process left leaves it to the next: a record of it would be taken for another commit's.
  @Test func whatCouldNotBeRepairedIsRepairedByTheNext() throws {
    let pending = try PendingCommit(path)
    let (environment, plan) = (pending.environment, pending.plan)
    pending.hold.abandon()
    // A folder in the place of the file of safe points cannot be opened as one.
    try FileManager.default.moveItem(atPath: path + ".safe", toPath: path + ".away")
    try FileManager.default.createDirectory(atPath: path + ".safe", withIntermediateDirectories: false)
    for _ in 0..<2 { #expect(throws: StorageError.self) { try environment.acquireWriter(.never) } }
    try FileManager.default.removeItem(atPath: path + ".safe")
    try FileManager.default.moveItem(atPath: path + ".away", toPath: path + ".safe")
    #expect(try plan.journal.record(after: plan.end)?.record.version == 21)
    let next = try #require(try environment.acquireWriter(.never))
    #expect(next.followsDeath)
    next.release()
    #expect(try plan.journal.record(after: plan.end) == nil)
    let last = try #require(try environment.acquireWriter(.never))
    #expect(!last.followsDeath)
  }

  /// A commit that has no room in the journal ends it first: one that was seen must not be refused.
  @Test func aCommitThatCannotEndTheJournalDoesNotComeAbout() throws {
    let store = try LMDBStore(path: path, keepsJournal: true)
    let points = try store.environment().safePoints
    points.pauseBackground()
    var random = SeededGenerator(seed: 1)
    func text(_ count: Int) -> String {
      String(decoding: (0..<count).map { _ in UInt8(ascii: "a") + UInt8(random.below(26)) }, as: UTF8.self)
    }
    // Of a large file a commit of 300 KB is a small part, and is planned to be in the journal, where it is too long.
    try store.put([("bulk", text(6_000_000))], 1, .full)
    for version in 2...UInt64(14) { try store.put(JournalTests.entries(version), version, .full) }
    let before = try #require(try point())
    #expect(before.isArmed && before.run != 0)
    let long = text(300_000)
    for refusals in [1, 2] {
      try #require(points.state.withLock { $0.file }).refusals.store(refusals, ordering: .relaxed)
      let error = #expect(throws: StorageError.self) { try store.put([("long", long)], 15, .full) }
      #expect(error?.code == .io)
      #expect(try store.latestVersion() == Version(14) && point() == before)
    }
    try store.put([("long", long)], 15, .full)
    #expect(try point()?.isArmed == false && store.text("long") == long)
  }

  /// What cannot be read is no end of the journal: a point without it would take back commits.
  @Test func aJournalThatCannotBeReadIsNotLeftBehind() throws {
    let store = try LMDBStore(path: path, keepsJournal: true)
    let points = try store.environment().safePoints
    points.pauseBackground()
    for version in 1...UInt64(20) { try store.put(JournalTests.entries(version), version, .full) }
    let newest = try #require(try point())
    var next = newest
    next.version = 20
    let files = try #require(LMDBFiles(existing: path))
    let file = try #require(try SafePointFile(files: files, creates: false, mode: 0))
    // The bytes of a folder cannot be read.
    let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY)
    defer { close(folder) }
    #expect(dup2(folder, file.descriptor) == file.descriptor)
    points.state.withLock { $0.end = nil }
    #expect(throws: StorageError.self) { try points.follow(newest, &next, file) }
    #expect(throws: StorageError.self) { try file.newest() }
  }

  /// LMDB may refuse a commit whose record the disk has: it is not there after a crash.
  @Test func aRecordIsTakenBackWithItsCommit() throws {
    var pending = try PendingCommit(path)
    let plan = pending.plan
    #expect(try plan.journal.record(after: plan.end)?.record.version == 21)
    try pending.commit.revoke()
    #expect(try plan.journal.record(after: plan.end) == nil)
    pending.hold.release()
    for version in 21...UInt64(23) { try pending.store.put(JournalTests.entries(version), version, .full) }
    #expect(try plan.journal.end(from: plan.end, at: 23) != nil)
  }

  /// Of a disk that did not take in pages nobody learns twice; so it is noted where the next opening finds it.
  @Test func afterAFailedSyncNobodyWritesUntilTheFileWasPutBack() throws {
    do {
      let store = try LMDBStore(path: path, keepsJournal: true)
      let environment = try store.environment()
      environment.safePoints.pauseBackground()
      for version in 1...UInt64(20) { try store.put(JournalTests.entries(version), version, .full) }
      #expect(throws: StorageError.self) { try environment.safePoints.fail(environment) }
      for durability in [Durability.full, .relaxed] {
        let refused = #expect(throws: StorageError.self) { try store.put(JournalTests.entries(21), 21, durability) }
        #expect(refused?.code == .io && refused?.scope == .engine)
      }
      // What was committed can be read.
      try expect(store, 20, "")
    }
    SafePoints.waitForBackground()
    #expect(try point()?.isLeftOver == true)
    let store = try LMDBStore(path: path, keepsJournal: true)
    try expect(store, 20, "")
    try store.put(JournalTests.entries(21), 21, .full)
    try expect(store, 21, "")
  }

  @Test func withoutBeingAskedForThereIsNone() throws {
    let store = try LMDBStore(path: path)
    for version in 1...UInt64(20) { try store.put(JournalTests.entries(version), version, .full) }
    #expect(!FileManager.default.fileExists(atPath: path + ".safe"))
  }

  @Test func aLargeCommitIsSyncedAndEndsThePoint() throws {
    let store = try LMDBStore(path: path, keepsJournal: true)
    for version in 1...UInt64(12) { try store.put(JournalTests.entries(version), version, .full) }
    #expect(try point()?.run != 0)
    var random = SeededGenerator(seed: 1)
    let large = String(decoding: (0..<400_000).map { _ in UInt8(ascii: "a") + UInt8(random.below(26)) }, as: UTF8.self)
    try store.put([("large", large)], 13, .full)
    #expect(try point()?.isArmed == false)
    try crash.restartSystem()
    store.close()
    let again = try LMDBStore(path: path, keepsJournal: true)
    #expect(try again.text("large") == large)
    again.close()
    SafePoints.waitForBackground()
    // The journal ended long ago, and its room goes with the last who could use it.
    #expect(try FileManager.default.attributesOfItem(atPath: path + ".safe")[.size] as? Int == 1_024)
  }

  @Test func closingGivesTheJournalsRoomBack() throws {
    do {
      let store = try LMDBStore(path: path, keepsJournal: true)
      for version in 1...UInt64(40) { try store.put(JournalTests.entries(version), version, .full) }
      #expect(try point()?.isArmed == true)
    }
    SafePoints.waitForBackground()
    #expect(try point()?.isArmed == false)
    let size = try FileManager.default.attributesOfItem(atPath: path + ".safe")[.size] as? Int
    #expect(size == 1_024)
    try crash.restartSystem()
    try expect(try LMDBStore(path: path, keepsJournal: true), 40, "")
  }

  @Test func aPlaceIsFoundWhereTheRingHasRoom() {
    let most = CommitJournal.capacity
    #expect(CommitJournal.room(for: 512, at: 0, first: 0) == 0)
    #expect(CommitJournal.room(for: most, at: 0, first: 0) == 0)
    #expect(CommitJournal.room(for: 512, at: most - 512, first: 1_024) == most - 512)
    #expect(CommitJournal.room(for: 512, at: most, first: 1_024) == 0)
    // The end would meet the first one.
    #expect(CommitJournal.room(for: 1_024, at: most, first: 1_024) == nil)
    #expect(CommitJournal.room(for: 512, at: most, first: 0) == nil)
    #expect(CommitJournal.room(for: 512, at: 512, first: 1_024) == nil)
    #expect(CommitJournal.room(for: 512, at: 512, first: 1_536) == 512)
  }
}
