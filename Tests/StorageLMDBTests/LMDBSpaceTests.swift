import ColumnStore
import Dispatch
import Foundation
import StorageInterface
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

@testable import StorageLMDB

/// LMDB's file never gets shorter; its free pages can be given back all the same.
struct LMDBSpaceTests {
  private let scratch: Scratch
  private let store: LMDBStore

  init() throws {
    scratch = try Scratch()
    store = try LMDBStore(path: scratch.file("a"))
  }

  private func value(_ number: Int, _ round: Int) -> String { String(repeating: "\(number) in \(round) ", count: 600) }

  /// About 12 MB in 1,000 entries, of which every tenth is left.
  private func fillAndThin() throws {
    try store.put((0..<1_000).map { ("k\($0)", value($0, 1)) }, 1)
    try store.put((0..<1_000).filter { $0 % 10 != 0 }.map { ("k\($0)", nil) }, 2)
    try store.put([("last", "3")], 3)
  }

  private func checkWhole() throws {
    let snapshot = try store.beginSnapshot()
    for number in stride(from: 0, to: 1_000, by: 10) { #expect(try snapshot.text("k\(number)") == value(number, 1)) }
    var faults: [StoreFault] = []
    try store.verifyPages(snapshot) { faults.append($0) }
    #expect(faults.isEmpty)
  }

  @Test func deletedSpaceIsGivenBackToTheSystemAndFilledAgain() throws {
    try fillAndThin()
    let before = try store.statistics()
    #expect(before.freeBytes > 5_000_000 && before.liveBytes < 3_000_000)
    let given = try store.reclaimSpace(.never)
    let after = try store.statistics()
    #expect(given > 5_000_000)
    #expect(after.fileBytes <= before.fileBytes - given)
    #expect(after.fileBytes <= 2 * after.liveBytes + 1_000_000)
    try checkWhole()
    #expect(try store.reclaimSpace(.never) == 0)
    // The pages are used again as if nothing had been.
    try store.put((0..<900).map { ("n\($0)", value($0, 4)) }, 4)
    for number in 0..<900 { #expect(try store.text("n\(number)") == value(number, 4)) }
    try checkWhole()
    store.close()
    #expect(try LMDBStore(path: scratch.file("a")).text("k10") == value(10, 1))
  }

  @Test func spaceIsGivenBackHoweverLittleTimeASliceHas() throws {
    try fillAndThin()
    // The walk over the lists of free pages takes longer than this, as the usual slice is too short on a slow machine.
    #expect(try store.environment().reclaimSpace(.never, slice: .zero) > 5_000_000)
    #expect(try store.reclaimSpace(.never) == 0)
    try checkWhole()
  }

  @Test func whatAReaderHoldsIsNotGivenBack() throws {
    try store.put((0..<500).map { ("k\($0)", value($0, 1)) }, 1)
    let held = try store.beginSnapshot()
    try store.put((0..<500).map { ("k\($0)", nil) }, 2)
    for version in 3...6 { try store.put([("a", "\(version)")], UInt64(version)) }
    _ = try store.reclaimSpace(.never)
    for number in 0..<500 { #expect(try held.text("k\(number)") == value(number, 1)) }
    held.end()
    #expect(try store.reclaimSpace(.never) > 2_000_000)
  }

  @Test func whatAReaderOfAnotherProcessHoldsIsNotGivenBack() async throws {
    let path = scratch.path
    try store.put((0..<300).map { ("k\($0)", value($0, 1)) }, 1)
    let child = ExitingChild(output: path + "/output")
    let written = child.whenMade(path + "/reads") { [store] in
      // Also where this fails, so that the child ends.
      defer { try? Data().write(to: URL(fileURLWithPath: path + "/given")) }
      try store.put((0..<300).map { ("k\($0)", nil) }, 2)
      try store.put([("a", "3")], 3)
      _ = try store.reclaimSpace(.never)
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      ExitingChild.redirectOutput(to: path + "/output")
      let store = try LMDBStore(path: path + "/a")
      let held = try store.beginSnapshot()
      try Data().write(to: URL(fileURLWithPath: path + "/reads"))
      while !FileManager.default.fileExists(atPath: path + "/given") { sched_yield() }
      for number in 0..<300 {
        #expect(try held.text("k\(number)") == String(repeating: "\(number) in 1 ", count: 600))
      }
      held.end()
    }
    child.end()
    try await written.value
  }

  @Test func aFileFarLargerThanItsContentGivesBackByItself() throws {
    try fillAndThin()
    for version in 4...200 { try store.put([("last", "\(version)")], UInt64(version), .full) }
    // The version to which a crash would put the store back may hold the space for up to a second; then it is looked at again.
    var statistics = try store.statistics()
    while statistics.fileBytes > 2 * statistics.liveBytes + (5 << 20) {
      LMDBStore.waitForSpace()
      sched_yield()
      statistics = try store.statistics()
    }
    try checkWhole()
  }

  @Test func aWriterNeverWalksTheFreePagesItself() throws {
    try fillAndThin()
    let environment = try store.environment()
    try LMDBEnvironment.whileSpaceWaits {
      let walks = environment.spaceWalks.load(ordering: .relaxed)
      for version in 4...200 { try store.put([("last", "\(version)")], UInt64(version), .full) }
      #expect(environment.spaceWalks.load(ordering: .relaxed) == walks)
    }
    LMDBStore.waitForSpace()
    #expect(environment.spaceWalks.load(ordering: .relaxed) > 0)
  }

  @Test func whatAReaderHeldIsGivenBackWhenItLetsGoThoughNobodyCommits() throws {
    try store.put((0..<1_000).map { ("k\($0)", value($0, 1)) }, 1, .full)
    let held = try store.beginSnapshot()
    try store.put((0..<1_000).map { ("k\($0)", value($0, 2)) }, 2, .full)
    try store.put((0..<1_000).map { ("k\($0)", nil) }, 3, .full)
    for version in 4...70 { try store.put([("last", "\(version)")], UInt64(version), .full) }
    LMDBStore.waitForSpace()
    let statistics = try store.statistics()
    #expect(statistics.heldBytes > 8_000_000 && statistics.fileBytes > 8_000_000)
    #expect(try held.text("k7") == value(7, 1))
    held.end()
    // Nobody commits from here on. The look comes by itself, within some seconds.
    let bound = ContinuousClock.now + .seconds(120)
    while try store.statistics().fileBytes > 6 << 20, ContinuousClock.now < bound { LMDBStore.waitForSpace() }
    #expect(try store.statistics().fileBytes <= 6 << 20)
    #expect(try store.statistics().heldBytes == 0)
    #expect(try store.text("last") == "70")
  }

  @Test func whatAReaderHeldAsTheLastWriterLeftIsGivenBackAtTheNextOpening() throws {
    try store.put((0..<1_000).map { ("k\($0)", value($0, 1)) }, 1, .full)
    let reader = try LMDBStore(path: scratch.file("a"))
    let held = try reader.beginSnapshot()
    try store.put((0..<1_000).map { ("k\($0)", nil) }, 2, .full)
    try store.put([("last", "3")], 3, .full)
    held.end()
    reader.close()
    store.close()
    let again = try LMDBStore(path: scratch.file("a"))
    LMDBStore.waitForSpace()
    #expect(try again.statistics().fileBytes <= 6 << 20)
    #expect(try again.text("last") == "3")
  }

  @Test func aStoreThatOnlyTheBackgroundStillHoldsCanBeRemoved() throws {
    let path = scratch.file("b")
    let letsGo = DispatchSemaphore(value: 0)
    func leaveToTheBackground() throws {
      let store = try LMDBStore(path: path)
      try store.put([("a", "1")], 1, .full)
      let environment = try store.environment()
      LMDBEnvironment.spaceQueue.async { withExtendedLifetime(environment) { letsGo.wait() } }
      store.close()
    }
    try leaveToTheBackground()
    // Later than the first look; if not, the store is removed at the first.
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { letsGo.signal() }
    try LMDBBackend(path: path).remove()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func spaceIsNotGivenBackUnderASafePoint() throws {
    // Not synced: after a crash of the system the store would go back, and needs the pages of then.
    try store.put((0..<300).map { ("k\($0)", value($0, 1)) }, 1, .full)
    try store.put((0..<300).map { ("k\($0)", nil) }, 2, .relaxed)
    try store.put([("a", "3")], 3, .relaxed)
    #expect(try store.reclaimSpace(.never) > 0)
    // Everything was synced first, and the point has nothing to put back any more.
    try store.put([("a", "4")], 4, .full)
    #expect(try store.text("a") == "4")
  }

  @Test func aReadOnlyStoreGivesNothingBack() throws {
    try store.put([("a", "1")], 1)
    let error = #expect(throws: StorageError.self) {
      store.close()
      _ = try LMDBStore(path: scratch.file("a"), isReadOnly: true).reclaimSpace(.never)
    }
    #expect(error?.code == .readOnly)
  }
}
