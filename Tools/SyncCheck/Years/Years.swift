#if Sync
import Foundation
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Vivarium

/// Three years of a store in fast motion: an app gets a new schema each year, and old ones stay in use beside it. All the while as much is
/// deleted as is made, so disk and memory have to stay what they are; the server forgets what nobody needs, as its program does every
/// hour. One device falls asleep on the first day: for sixty days everything waits for it, and then no longer.
@MainActor final class Years {
  static let path = "/shared/years"
  private static let length: Int64 = 3 * 365 * 86_400_000
  private static let forgetAfter: Int64 = 60 * 86_400_000
  /// About as many changes come in an hour, if a million come in three years.
  private static let upkeepEvery = 38

  /// The server's clock, in milliseconds since 1970.
  private final class FastClock: Sendable {
    let time = Mutex(Int64(Date().timeIntervalSince1970 * 1000))
    var now: Int64 { time.withLock { $0 } }
    func advance(by milliseconds: Int64) { time.withLock { $0 += milliseconds } }
  }

  /// What a store takes at one moment.
  private struct Size {
    var server = 0
    var devices = 0
    var memory = 0
  }

  private let stores: any SyncServerStore
  private let serverBytes: @MainActor () throws -> Int
  private let folder: URL
  private let report: Report
  private let clock: FastClock
  private let host: SyncHost
  private var random: SplitMix
  private var expected = YearPeople()
  private var apps: [YearApp] = []
  private var stable = Seq.zero

  /// - Parameter serverBytes: what the server's stores take on the disk.
  init(
    stores: any SyncServerStore, serverBytes: @escaping @MainActor () throws -> Int, folder: URL, seed: UInt64, report: Report
  ) {
    (self.stores, self.serverBytes, self.folder, self.report) = (stores, serverBytes, folder, report)
    random = SplitMix(state: seed)
    let clock = FastClock()
    self.clock = clock
    host = SyncHost(stores: stores, access: OpenAccess(), clock: { clock.now })
  }

  func run(changesets: Int) async throws {
    try await fallAsleep()
    for year in 1...3 { try await live(year: year, changesets / 3, of: changesets) }
    try await rest()
    report.count("changesets", changesets)
    expected.people[-1] = YearPeople.Person(name: "asleep")
    try await join("sleeper", year: 1)
    try await rest()
    try await join("newest", year: 3)
    try await rest()
    let names = apps.map(\.name)
    for app in apps { await app.replicator.stop() }
    apps = []
    for name in names {
      compare("\(name), brought up to date without a server", try YearApp.linesAfterUpdate(of: name, in: folder), year: 3)
    }
  }

  private func join(_ name: String, year: Int) async throws {
    let app = try YearApp(name, year: year, host: HostConnector(host: host), in: folder)
    apps.append(app)
    await app.replicator.start()
  }

  /// A device that has been there writes something on the train, and wakes up three years later.
  private func fallAsleep() async throws {
    try await join("sleeper", year: 1)
    try await rest()
    guard let sleeper = apps.popLast() else { return }
    await sleeper.replicator.stop()
    try sleeper.store.write { _ = try sleeper.store.create(FirstYear.Person.self, value: ["id": -1, "name": "asleep"]) }
  }

  /// A year, with the apps of all years so far.
  private func live(year: Int, _ changesets: Int, of all: Int) async throws {
    try await join("year\(year)", year: year)
    try await rest()
    let pace = Years.length / Int64(max(1, all))
    // So few objects that those of a short life are deleted as well.
    let most = min(100, all / 20)
    var sizes: [Size] = []
    for number in 1...max(1, changesets) {
      clock.advance(by: pace)
      // One that sees nothing to write leaves it to another.
      while try apps.randomElement(using: &random)?.step(&expected, &random, most: most) == false {}
      if number.isMultiple(of: Years.upkeepEvery) { try await keepUp() }
      guard number.isMultiple(of: max(1, changesets / 10)) else { continue }
      try await rest()
      try await keepUp()
      let size = try size()
      sizes.append(size)
      let lag = (try await head()) - Int(stable.rawValue)
      report.say(
        "year \(year), \(number) changes: server \(size.server >> 10) KiB, devices \(size.devices >> 10) KiB, "
          + "memory \(size.memory >> 10) KiB, kept entries \(lag)")
    }
    judge(year, sizes)
  }

  /// What the server's program does every hour.
  private func keepUp() async throws {
    for app in apps { try await app.replicator.uploaded() }
    for app in apps { try await app.replicator.downloaded() }
    guard let path = StorePath(Years.path) else { return }
    guard let purge = try await stores.purge(path, expiry: clock.now - Years.forgetAfter) else { return }
    stable = purge.stable
    try await stores.truncateLog(path, through: purge.stable)
    report.count("purges", 1)
  }

  private func head() async throws -> Int {
    guard let path = StorePath(Years.path) else { return 0 }
    return Int(try await stores.heads([path])[path]?.rawValue ?? 0)
  }

  // MARK: judging

  private func rest() async throws {
    for app in apps {
      let replicator = app.replicator
      if await !within(.seconds(120), { try await replicator.uploaded() }) {
        report.violation("\(app.name) could not send everything: \(await replicator.state)")
      }
    }
    for app in apps {
      let replicator = app.replicator
      if await !within(.seconds(120), { try await replicator.downloaded() }) {
        report.violation("\(app.name) did not come to rest: \(await replicator.state)")
      }
    }
    for app in apps { compare(app.name, app.lines, year: app.year) }
  }

  private func compare(_ name: String, _ lines: [String], year: Int) {
    let right = expected.lines(year: year)
    report.count("comparisons", 1)
    guard lines != right else { return }
    let (more, less) = (Set(lines).subtracting(right).sorted(), Set(right).subtracting(lines).sorted())
    report.violation("\(name) shows \(more), and has to show \(less)")
  }

  /// Nothing grows while the data do not. A file grows and shrinks by itself, so what it shrinks to is compared: in a year's second half,
  /// and in the months before, without those in which the year's new app arrives. Half as much again is weather.
  private func judge(_ year: Int, _ sizes: [Size]) {
    guard sizes.count >= 4 else { return }
    let (before, after) = (sizes[sizes.count / 5..<sizes.count / 2], sizes[(sizes.count / 2)...])
    func hold(_ what: String, _ size: (Size) -> Int, allowance: Int) {
      let (old, new) = (before.map(size).min() ?? 0, after.map(size).min() ?? 0)
      guard new > old + old / 2 + allowance else { return }
      report.violation("year \(year): \(what) grew from \(old >> 10) to \(new >> 10) KiB, with no more to keep")
    }
    hold("the server's disk", \.server, allowance: 1 << 20)
    hold("the devices' disk", \.devices, allowance: 1 << 20)
    hold("memory", \.memory, allowance: 16 << 20)
  }

  private func size() throws -> Size {
    Size(server: try serverBytes(), devices: Years.bytes(in: folder), memory: OwnMemory.bytes)
  }

  /// The bytes that the files of a folder take on the disk.
  nonisolated static func bytes(in folder: URL) -> Int {
    var sum = 0
    for name in FileManager.default.enumerator(atPath: folder.path)?.compactMap({ $0 as? String }) ?? [] {
      var file = stat()
      // One that is gone meanwhile takes nothing.
      if lstat(folder.appending(path: name).path, &file) == 0 { sum += Int(file.st_blocks) * 512 }
    }
    return sum
  }
}
#endif
