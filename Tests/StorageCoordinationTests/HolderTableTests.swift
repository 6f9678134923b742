import Foundation
import StorageCoordination
import StorageInterface
import StoreValues
import Testing

/// Who holds which version, told to all processes.
struct HolderTableTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test func aHolderIsListedUntilItIsDropped() throws {
    let path = scratch.file("a.coord")
    #expect(HolderTable.holders(path: path).isEmpty)
    let (one, two) = (try HolderTable(path: path), try HolderTable(path: path))
    var first = one.announce(Version(7), label: "list window")
    let second = two.announce(Version(8), label: "sync")
    let holders = HolderTable.holders(path: path)
    #expect(holders.map(\.label) == ["list window", "sync"])
    #expect(holders.map(\.version) == [Version(7), Version(8)])
    #expect(holders.allSatisfy { $0.processID == getpid() && $0.sinceMilliseconds > 0 })
    first?.move(to: Version(9))
    #expect(HolderTable.holders(path: path).map(\.version) == [Version(9), Version(8)])
    first = nil
    #expect(HolderTable.holders(path: path).map(\.label) == ["sync"])
    withExtendedLifetime(second) {}
  }

  @Test func aLineOfAKilledProcessIsFreeAtOnce() async throws {
    let path = scratch.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let table = try HolderTable(path: path + "/a.coord")
      let holder = table.announce(Version(1), label: "dead")
      #expect(HolderTable.holders(path: path + "/a.coord").count == 1)
      kill(getpid(), SIGKILL)
      withExtendedLifetime(holder) {}
    }
    #expect(HolderTable.holders(path: path + "/a.coord").isEmpty)
    let holder = try HolderTable(path: path + "/a.coord").announce(Version(2), label: "alive")
    #expect(HolderTable.holders(path: path + "/a.coord").map(\.label) == ["alive"])
    withExtendedLifetime(holder) {}
  }

  @Test func aFullTableAnnouncesNoMoreAndLongLabelsAreCutAtACharacter() throws {
    let table = try HolderTable(path: scratch.file("a.coord"))
    let label = String(repeating: "文", count: 60)
    var holders = (0..<48).map { table.announce(Version(UInt64($0)), label: label) }
    #expect(!holders.contains { $0 == nil })
    #expect(table.announce(Version(99), label: "one too many") == nil)
    #expect(HolderTable.holders(path: scratch.file("a.coord")).count == 48)
    let found = try #require(HolderTable.holders(path: scratch.file("a.coord")).first).label
    #expect(!found.isEmpty && label.hasPrefix(found) && found.utf8.count <= 96)
    holders.removeLast(40)
    #expect(table.announce(Version(99), label: "room again") != nil)
  }

  @Test func aFileOfAnOlderBuildGrowsAndKeepsItsContent() throws {
    let path = scratch.file("a.coord")
    do { try FileWriterLock(path: path).acquire(.never).release() }
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.truncate(atOffset: 4096)
    #expect(HolderTable.holders(path: path).isEmpty)
    let table = try HolderTable(path: path)
    let holder = table.announce(Version(3), label: "new")
    #expect(HolderTable.holders(path: path).map(\.version) == [Version(3)])
    let hold = try FileWriterLock(path: path).acquire(.after(.zero))
    #expect(!hold.followsDeath)
    hold.release()
    withExtendedLifetime(holder) {}
  }

  @Test func pinsTakeTheNamesOfTheirHolders() {
    let pins = [VersionPin(version: Version(1), processID: 5), VersionPin(version: Version(1), processID: 6)]
    let holders = [
      HolderTable.Holder(processID: 6, version: Version(1), sinceMilliseconds: 10, label: "six"),
      HolderTable.Holder(processID: 7, version: Version(2), sinceMilliseconds: 20, label: "seven"),
    ]
    #expect(pins.named(by: holders, isComplete: true).map(\.label) == [nil, "six"])
    #expect(pins.named(by: holders, isComplete: false).map(\.label) == [nil, "six", "seven"])
  }
}
