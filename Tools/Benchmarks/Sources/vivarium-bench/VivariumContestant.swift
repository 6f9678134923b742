import StorageEncryption
import StorageLMDB
import StorageMemory
import StorageSQLite
import Vivarium

/// The benchmark's model, as a user would write it.
@Model final class TaskItem {
  @PrimaryKey var id: Int64 = 0
  var title = ""
  var priority: Int64 = 0
  var done = false
  var due = 0.0
  @Indexed var project: Int64 = 0
}

/// What W21 observes.
@Model final class Board {
  var tasks: LiveList<TaskItem>
}

/// Vivarium through its public API, on one of its engines.
class VivariumContestant: LiveContestant {
  let data: Dataset
  let configuration: Store.Configuration
  private(set) var store: Store

  var note: String { "public API: unmanaged objects added one by one; durability full" }

  required convenience init(path: String, data: Dataset) throws {
    throw SQLiteFailure(description: "choose an engine")
  }

  init(_ configuration: Store.Configuration, data: Dataset) throws {
    self.configuration = configuration
    self.data = data
    store = try Store(configuration)
  }

  private func object(_ id: Int) -> TaskItem {
    let row = data.rows[id]
    return TaskItem(
      id: Int64(id), title: data.title(id), priority: row.priority, done: row.done, due: row.due,
      project: row.project)
  }

  func load() throws { try store.write { for id in data.order { try store.add(object(Int(id))) } } }

  func reopen() throws { store = try Store(configuration) }

  /// Writes the newest version to a new file.
  func copy(to path: String) throws { try store.writeCopy(to: path) }

  func first() throws -> Int64 { store.objects(TaskItem.self).first?.id ?? -1 }

  /// How many there are, by counting.
  func countAll() throws -> Int { store.objects(TaskItem.self).count }

  func lookUps(_ ids: [Int]) throws -> Int64 {
    var sum: Int64 = 0
    for id in ids { sum += store.object(TaskItem.self, forPrimaryKey: Int64(id))?.priority ?? 0 }
    return sum
  }

  private var all: Results<TaskItem> { store.objects(TaskItem.self) }

  func sumPriority() throws -> Int64 { Int64(try all.sum(of: \.priority)) }
  func maxDue() throws -> Double { try all.max(of: \.due) ?? .nan }
  func averageDue() throws -> Double { try all.average(of: \.due) ?? .nan }

  func readEverything() throws -> Int64 {
    var sum: Int64 = 0
    var due = 0.0
    for task in all {
      sum += Int64(task.title.utf8.count) + task.priority + (task.done ? 1 : 0)
      due += task.due
    }
    return due > 0 ? sum : 0
  }

  func countOpenUrgent() throws -> Int { all.where { $0.priority >= 7 && $0.done == false }.count }
  func countTitles(containing text: String) throws -> Int { all.where { $0.title.contains(text) }.count }
  func countTitles(beginningWith text: String) throws -> Int { all.where { $0.title.starts(with: text) }.count }

  func firstTitles(ofProject project: Int64) throws -> [String] {
    all.where { $0.project == project && $0.done == false }.sorted(by: \.due).prefix(100).map(\.title)
  }

  func firstTitlesByPriority(limited: Bool) throws -> [String] {
    let sorted = all.sorted(by: [SortKey(\TaskItem.priority, ascending: false), SortKey(\TaskItem.due)])
    return limited ? sorted.limited(to: 100).map(\.title) : sorted.prefix(100).map(\.title)
  }

  func count(ofProject project: Int64) throws -> Int { all.where { $0.project == project }.count }

  func insertOne(_ id: Int, durable: Bool) throws {
    try store.write(durability: durable ? .full : .relaxed) { try store.add(object(id)) }
  }

  func updatePriorities(_ ids: [Int]) throws {
    try store.write {
      for id in ids {
        guard let task = store.object(TaskItem.self, forPrimaryKey: Int64(id)) else { continue }
        task.priority = (task.priority + 1) % 10
      }
    }
  }

  func observe(_ question: LiveObserver.Question) throws -> LiveObserver { try LiveObserver(configuration, question) }

  func moveDues(_ ids: [Int], _ random: inout SplitMix, begin: () -> Void) throws -> Version {
    try store.beginWrite()
    for id in ids {
      store.object(TaskItem.self, forPrimaryKey: Int64(id))?.due = Double(random.next() >> 11) * 0x1p-53 * 1e9
    }
    begin()
    try store.commitWrite()
    return store.version
  }

  func rename(_ ids: [Int], _ random: inout SplitMix, begin: () -> Void) throws -> Version {
    try store.beginWrite()
    for id in ids {
      store.object(TaskItem.self, forPrimaryKey: Int64(id))?.title = data.title(random.below(data.count))
    }
    begin()
    try store.commitWrite()
    return store.version
  }

  func deleteDone() throws -> Int {
    let done = all.where { $0.done == true }
    let count = done.count
    try store.write { try store.delete(done) }
    return count
  }
}

final class LMDBContestant: VivariumContestant {
  required convenience init(path: String, data: Dataset) throws {
    try self.init(.lmdb(path: path, models: TaskItem.self, Board.self), data: data)
  }
}

final class JournaledLMDBContestant: VivariumContestant {
  required convenience init(path: String, data: Dataset) throws {
    let backend = LMDBBackend(path: path, keepsJournal: true)
    try self.init(Store.Configuration(backend: backend, models: [TaskItem.self, Board.self]), data: data)
  }
}

final class SQLiteContestant: VivariumContestant {
  required convenience init(path: String, data: Dataset) throws {
    try self.init(.sqlite(path, models: TaskItem.self, Board.self), data: data)
  }
}

final class SealedLMDBContestant: VivariumContestant {
  required convenience init(path: String, data: Dataset) throws {
    try self.init(.lmdb(path: path, key: EncryptionKey.ofBenchmark(), models: TaskItem.self, Board.self), data: data)
  }
}

final class SealedSQLiteContestant: VivariumContestant {
  required convenience init(path: String, data: Dataset) throws {
    try self.init(.sqlite(path, key: EncryptionKey.ofBenchmark(), models: TaskItem.self, Board.self), data: data)
  }
}

extension EncryptionKey {
  /// The same in the processes that the benchmark starts.
  fileprivate static func ofBenchmark() throws -> EncryptionKey { try EncryptionKey((0..<byteCount).map { UInt8($0) }) }
}

final class MemoryContestant: VivariumContestant {
  required convenience init(path: String, data: Dataset) throws {
    try self.init(.memory(path, models: TaskItem.self, Board.self), data: data)
  }
}
