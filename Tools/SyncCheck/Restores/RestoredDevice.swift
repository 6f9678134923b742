#if Sync
import Foundation
import StorageLMDB
import StorageSQLite
import SyncClient
import SyncProtocol
import SyncWebSocket
import Vivarium

/// A device whose server is restored from a back-up now and then.
@MainActor final class RestoredDevice {
  let name: String
  let number: Int
  let mode: ResetMode
  let wire: Wire
  private let store: Store
  private let replicator: Replicator
  private let mine: Tally
  private let starts: Starts
  private var listening: Task<Void, Never>?
  /// The last number that it wrote.
  private(set) var written = 0
  /// What has to be in its list: it was there when all was at rest, or the server had it before the back-up.
  private var kept: Set<Int> = []
  /// The last number of the last rest.
  private var rested = 0
  /// What the server had not answered when it died, and what was written since.
  private(set) var unsent: Set<Int> = []
  /// The last number that the server can have got before it died.
  private var atDeath = 0

  /// How often it began anew.
  private actor Starts {
    private(set) var count = 0
    func add() { count += 1 }
  }

  init(_ number: Int, _ mode: ResetMode, token: String, wire: Wire, in folder: URL) throws {
    let name = "device\(number)"
    (self.name, self.number, self.mode, self.wire) = (name, number, mode, wire)
    let file = folder.appending(path: name)
    let store = try Store.checked(number.isMultiple(of: 2) ? .lmdb(file, models: Tally.self) : .sqlite(file, models: Tally.self))
    self.store = store
    var options = Replicator.Options()
    options.firstDelay = .milliseconds(20)
    options.longestDelay = .milliseconds(200)
    options.resetMode = mode
    let starts = Starts()
    options.beforeReset = { _ in await starts.add() }
    self.starts = starts
    replicator = store.replicator(
      path: "/~/numbers", connector: try WebSocketConnector("ws://127.0.0.1:\(wire.port)"), credentials: FixedToken(token),
      options: options)
    mine = try store.write { try store.create(Tally.self, value: ["device": name]) }
  }

  func start() async {
    let notices = await replicator.notices()
    listening = Task { [replicator] in
      // An app that asks its user, who wants to keep what he has written.
      for await notice in notices { if case .resetNeeded = notice { await replicator.reset(.recover) } }
    }
    await replicator.start()
  }

  func stop() async {
    await replicator.stop()
    listening?.cancel()
  }

  /// A number at the end of its own list and of everybody's, and both counted, in one transaction.
  func write() throws {
    let number = written + 1
    try store.write {
      mine.increment(\.count)
      mine.entries.append(number)
      let all = store.object(Tally.self, forPrimaryKey: "all")
      all?.increment(\.count)
      all?.entries.append(self.number * 1_000_000 + number)
    }
    written = number
  }

  /// Makes the list of everybody; the first device does.
  func makeCommonList() throws { try store.write { _ = try store.create(Tally.self, value: ["device": "all"]) } }

  func sendEverything(within limit: Duration) async -> Bool {
    let replicator = replicator
    return await within(limit) { try await replicator.uploaded() }
  }

  func takeEverything(within limit: Duration) async -> Bool {
    let replicator = replicator
    return await within(limit) { try await replicator.downloaded() }
  }

  var state: SyncState { get async { await replicator.state } }
  var beginnings: Int { get async { await starts.count } }

  /// The server had all of this before the back-up.
  func keepWritten(upTo last: Int) { if rested < last { kept.formUnion(rested + 1...last) } }

  /// Notes what may have reached the server, which has just died.
  func noteDeath() { atDeath = written }

  /// Notes what the server, which is dead, has not answered.
  func noteUnsent() throws {
    let count = try store.file.read { try ReplicaReport($0)?.waiting.count } ?? 0
    unsent = Set(written - count + 1..<written + 1)
  }

  /// All is well, and what it shows is what has to be there from now on.
  func rest() { (kept, rested, unsent) = (Set(shown), written, []) }

  // MARK: looking

  var picture: [String] { store.picture }

  /// The numbers in its list, as it shows them.
  private var shown: [Int] {
    store.refresh()
    return mine.isInvalidated ? [] : Array(mine.entries)
  }

  /// What is wrong with its own list, and with its part of everybody's.
  var faults: [String] {
    store.refresh()
    if mine.isInvalidated { return ["\(name): its object is gone"] }
    let numbers = Array(mine.entries)
    var faults: [String] = []
    if numbers != Set(numbers).sorted() { faults.append("\(name): its list is in disorder, or has something twice: \(numbers)") }
    if mine.count != numbers.count { faults.append("\(name): counted \(mine.count), listed \(numbers.count)") }
    let lost = kept.subtracting(numbers)
    if !lost.isEmpty { faults.append("\(name): was safe, and is not there: \(lost.sorted())") }
    let unsentThere = unsent.intersection(numbers)
    if mode == .discard {
      // What the server had before the back-up without an answer is its own by now.
      let kept = unsentThere.filter { $0 > atDeath }
      if !kept.isEmpty { faults.append("\(name): was to be given up, and is there: \(kept.sorted())") }
    } else if unsentThere != unsent {
      faults.append("\(name): had not been sent, and is not there: \(unsent.subtracting(numbers).sorted())")
    }
    guard let all = store.object(Tally.self, forPrimaryKey: "all") else { return faults + ["the list of everybody is gone"] }
    let part = all.entries.filter { $0 / 1_000_000 == number }.map { $0 % 1_000_000 }
    if part != numbers { faults.append("\(name): its part of everybody's list is \(part), its own list \(numbers)") }
    if all.count != all.entries.count { faults.append("everybody: counted \(all.count), listed \(all.entries.count)") }
    return faults
  }
}
#endif
