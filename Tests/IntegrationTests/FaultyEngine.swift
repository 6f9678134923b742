import StorageInterface
import StoreValues
import Synchronization
import VivariumTestSupport

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
  func delete(_ table: TableID, all keys: [Int64]) throws(StorageError) -> [Int64] {
    try pass()
    return try base.delete(table, all: keys)
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
  func insert(member: Value, into column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try pass()
    return try base.insert(member: member, into: column, owner)
  }
  func remove(member: Value, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try pass()
    return try base.remove(member: member, from: column, owner)
  }
  func set(
    _ value: Value, forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> MemberChange.Kind? {
    try pass()
    return try base.set(value, forKey: key, in: column, owner)
  }
  func remove(key: String, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try pass()
    return try base.remove(key: key, from: column, owner)
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
