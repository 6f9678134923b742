#if Sync
import Foundation
import StorageLMDB
import StorageSQLite
import SyncClient
import SyncProtocol
import Vivarium

/// What a device writes where rights are checked, once and for good.
@Model final class Note {
  @PrimaryKey var number = 0
  var author = ""
}

/// Every note is counted and listed here by the transaction that creates it: so one that is there in part shows.
@Model final class Board {
  @PrimaryKey var id = ""
  var count = 0
  var numbers: LiveList<Int>
}

/// A user's device with one store of the server's.
@MainActor final class RightsDevice {
  /// A write of which it is not known yet what the server has made of it.
  struct Write {
    let number: Int
    /// What was known of the right to write when it was made, and which knowledge that was.
    let may: Bool?
    let version: Int
  }

  let name: String
  let user: String
  let path: String
  private(set) var store: Store
  private(set) var replicator: Replicator
  var writes: [Write] = []
  private let open: @MainActor (Int) throws -> (Store, Replicator)
  private var life: Int
  /// How many refusals it was told of, with a reason.
  private(set) var toldOfRefusals = 0
  private var listening: Task<Void, Never>?

  /// - Parameter life: an even one keeps its file by LMDB, an odd one by SQLite.
  init(
    _ name: String, life: Int, user: String, path: String, token: String, connector: any SyncConnector, folder: URL
  ) throws {
    (self.name, self.user, self.path, self.life) = (name, user, path, life)
    let open: @MainActor (Int) throws -> (Store, Replicator) = { life in
      let file = folder.appending(path: "\(name)-\(life)")
      var configuration: Store.Configuration =
        life.isMultiple(of: 2) ? .lmdb(file, models: Note.self, Board.self) : .sqlite(file, models: Note.self, Board.self)
      configuration.replicate()
      var options = Replicator.Options()
      options.firstDelay = .milliseconds(20)
      options.longestDelay = .milliseconds(200)
      let store = try Store(configuration)
      return (store, store.replicator(path: path, connector: connector, credentials: FixedToken(token), options: options))
    }
    self.open = open
    (store, replicator) = try open(life)
  }

  func start() async {
    let notices = await replicator.notices()
    listening = Task { [weak self] in
      for await case .problem(let error) in notices where error.code.reaction == .compensate && !error.message.isEmpty {
        self?.toldOfRefusals += 1
      }
    }
    await replicator.start()
  }

  func stop() async {
    await replicator.stop()
    listening?.cancel()
  }

  /// The app chooses to forget what it had: a new file, and a new replica.
  func wipe() async throws {
    await stop()
    life += 1
    (store, replicator) = try open(life)
    writes = []
    await start()
  }

  /// Whether it has what is there from the beginning; before, it does not write.
  var hasBoard: Bool { store.object(Board.self, forPrimaryKey: "board") != nil }

  func makeBoard() throws { try store.write { _ = try store.create(Board.self, value: ["id": "board"]) } }

  func write(_ number: Int) throws {
    try store.write {
      _ = try store.create(Note.self, value: ["number": number, "author": name])
      guard let board = store.object(Board.self, forPrimaryKey: "board") else { return }
      board.increment(\.count)
      board.numbers.append(number)
    }
  }

  /// The notes that it shows, by their numbers, and who wrote each.
  var notes: [Int: String] {
    store.refresh()
    return Dictionary(uniqueKeysWithValues: store.objects(Note.self).map { ($0.number, $0.author) })
  }

  /// What is wrong with what it shows by itself.
  var fault: String? {
    store.refresh()
    let numbers = store.objects(Note.self).map(\.number).sorted()
    guard let board = store.object(Board.self, forPrimaryKey: "board") else { return numbers.isEmpty ? nil : "notes without the board" }
    if board.numbers.sorted() != numbers {
      return "\(numbers.count) notes, and listed are \(board.numbers.count): \(Set(board.numbers).symmetricDifference(numbers).sorted())"
    }
    return board.count == numbers.count ? nil : "\(numbers.count) notes, and counted are \(board.count)"
  }

  /// Waits until its session has ended, because it may not read.
  func isShutOut() async -> Bool {
    for await notice in await replicator.notices() { if case .state(.suspended) = notice { return true } }
    return false
  }
}
#endif
