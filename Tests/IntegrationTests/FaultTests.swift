import Foundation
import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// The disk fills up, or too many read, in the middle of anything: a typed error, and a store that is usable and shows
/// what is on the disk.
@Suite struct FaultTests {
  @Test(arguments: Engine.allCases, [Fault.full, .broken, .crowded])
  func afterAFaultTheStoreShowsWhatIsThere(engine: Engine, fault: Fault) throws {
    var calls = 1
    var faults = 0
    while calls < 200 {
      let (configuration, directory) = engine.place()
      defer { withExtendedLifetime(directory) {} }
      let keeper = try Store(configuration)
      let plan = FaultPlan(fault)
      var faulty = configuration
      faulty.backend = ForwardingBackend(configuration.backend) { FaultyEngine($0, plan) }
      let store = try Store(faulty)
      plan.arm(at: calls)
      var code: StoreError.Code?
      do {
        try work(store)
      } catch {
        code = (error as? StoreError)?.code
      }
      // The last round went through without meeting the fault.
      let wasMet = plan.disarm()
      if !wasMet { break }
      faults += 1
      #expect(code == nil || code == fault.code, "call \(calls): \(String(describing: code))")
      #expect(!store.isInWriteTransaction)
      keeper.refresh()
      store.refresh()
      #expect(picture(store) == picture(keeper), "call \(calls)")
      try store.write { try store.add(Author(name: "after")) }
      keeper.refresh()
      #expect(picture(store) == picture(keeper) && store.object(Author.self, forPrimaryKey: "after") != nil, "call \(calls)")
      calls += 1
    }
    // Each call of the work was hit once. A read begins where a write ends: three.
    #expect(faults >= (fault == .crowded ? 3 : 15), "\(faults)")
  }

  /// Writes of every kind, one that is undone, one with a savepoint.
  private func work(_ store: Store) throws {
    let author = Author(name: "A")
    author.books = LiveList((0..<3).map { Book(title: "\($0)", pages: $0) })
    try store.write { try store.add(author) }
    try store.write {
      author.books[0].title = "changed"
      author.books.remove(at: 1)
      try store.savepoint { try store.add(Book(title: "in a savepoint")) }
      try store.delete(store.objects(Book.self).where { $0.pages == 2 })
    }
    try? store.write {
      try store.add(Book(title: "undone"))
      throw CancellationError()
    }
    try store.write { try store.add(Author(name: "B", born: .distantPast)) }
  }

  private func picture(_ store: Store) -> [String] {
    store.objects(Author.self).map { "\($0.name) \($0.books.map(\.title)) \(String(describing: $0.born))" }
      + store.objects(Book.self).map { "\($0.title) \($0.pages) \($0.authors.count)" }
  }

  /// What a call fails with.
  enum Fault: Sendable, CaseIterable {
    case full, broken, crowded

    var error: StorageError {
      switch self {
      case .full: StorageError(.outOfDiskSpace, .transaction, "The disk is full.")
      case .broken: StorageError(.io, .statement, "The disk is broken.")
      case .crowded: StorageError(.tooManyReaders, .statement, "Too many read.")
      }
    }

    var code: StoreError.Code { StoreError.Code(rawValue: error.code.rawValue) }
  }
}

/// Which call of an engine fails. Counts reads that begin for `.crowded`, and what writes for the others.
final class FaultPlan: Sendable {
  let fault: FaultTests.Fault
  /// Calls that are left; nil: not armed.
  private let left = Mutex<Int?>(nil)

  init(_ fault: FaultTests.Fault) { self.fault = fault }

  func arm(at call: Int) { left.withLock { $0 = call } }

  /// Whether the fault has happened.
  func disarm() -> Bool {
    left.withLock { left in
      defer { left = nil }
      return (left ?? 1) <= 0
    }
  }

  func pass(isRead: Bool) throws(StorageError) {
    guard isRead == (fault == .crowded) else { return }
    let isDue = left.withLock { left -> Bool in
      guard let count = left else { return false }
      left = count - 1
      return count == 1
    }
    if isDue { throw fault.error }
  }
}

final class FaultyEngine: EngineInFront {
  let base: any StorageEngine
  private let plan: FaultPlan

  init(_ base: any StorageEngine, _ plan: FaultPlan) {
    self.base = base
    self.plan = plan
  }

  func beginRead() throws(StorageError) -> any ReadTransaction {
    try plan.pass(isRead: true)
    return try base.beginRead()
  }
  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    try plan.pass(isRead: false)
    return FaultyWrite(try base.beginWrite(deadline), plan)
  }
}

private final class FaultyWrite: ForwardingWrite {
  let base: any WriteTransaction
  private let plan: FaultPlan
  /// After an error of that scope only the end is allowed.
  private var isSpoiled = false

  init(_ base: any WriteTransaction, _ plan: FaultPlan) {
    self.base = base
    self.plan = plan
  }

  private func pass() throws(StorageError) {
    if isSpoiled { throw plan.fault.error }
    do throws(StorageError) { try plan.pass(isRead: false) } catch {
      isSpoiled = error.scope != .statement
      throw error
    }
  }

  func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    try pass()
    return try base.insert(row)
  }
  func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    try pass()
    try base.delete(table, key)
  }
  func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool {
    try pass()
    return try base.set(column, key, word: word)
  }
  func set(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool {
    try pass()
    return try base.set(column, key, bytes: bytes)
  }
  func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    try pass()
    try base.edit(column, owner, edit)
  }
  func beginSavepoint() throws(StorageError) {
    try pass()
    try base.beginSavepoint()
  }
  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    do throws(StorageError) { try pass() } catch {
      base.end()
      throw error
    }
    return try base.commit(record, durability)
  }
}
