import StorageInterface
import StoreValues

/// The changes of an open write, kept so that recording one is O(1) and the net effect is computed at the end. A savepoint begins with
/// none, and adds what came to what was before when it is released (`add`).
struct PendingChanges {
  fileprivate struct Table {
    /// Keys ascend, so an object is new in this write exactly if its key is not below the first inserted one.
    var firstInserted = Int64.max
    var inserted = KeyRuns()
    /// New objects that were deleted again.
    var withdrawn: Set<Int64> = []
    /// In deletion order.
    var deleted: [Int64] = []
    var modified = Modifications()
    /// By owner, so that deleting one drops its lists without visiting others.
    var lists: [Int64: [PropertyID: [ListChange.Edit]]] = [:]

    var isEmpty: Bool {
      deleted.isEmpty && modified.isEmpty && lists.isEmpty && inserted.count == withdrawn.count
    }
  }

  /// A few, in the order of their first change; searched from the last, which mostly is the right one.
  private var tables: [(id: TableID, table: Table)] = []
  /// Consecutively inserted objects of one table that are not in `tables` yet, so that a bulk load looks nothing up.
  private var run: (table: TableID, first: Int64, last: Int64)?

  /// The objects changed or deleted since tracking began; nil if not tracked.
  var touched: Set<ObjectPlace>?

  var isEmpty: Bool { run == nil && tables.allSatisfy { $0.table.isEmpty } }

  @inline(__always) mutating func insert(_ table: TableID, _ key: ObjectKey) {
    if let last = run, last.table == table, last.last &+ 1 == key.rawValue {
      run = (table, last.first, key.rawValue)
      return
    }
    settle()
    run = (table, key.rawValue, key.rawValue)
  }

  /// Moves the run to its table. Call before accessing a table.
  private mutating func settle() {
    guard let added = run else { return }
    run = nil
    let i = place(of: added.table)
    tables[i].table.insert(added.first...added.last)
  }

  /// The index of a table's changes, added if missing.
  @inline(__always) private mutating func place(of id: TableID) -> Int {
    if let last = tables.last, last.id == id { return tables.count - 1 }
    if let i = tables.firstIndex(where: { $0.id == id }) { return i }
    tables.append((id, Table()))
    return tables.count - 1
  }

  mutating func delete(_ table: TableID, _ key: ObjectKey) {
    settle()
    touched?.insert(ObjectPlace(table: table, key: key.rawValue))
    let i = place(of: table)
    tables[i].table.delete(key.rawValue)
  }

  mutating func delete(_ table: TableID, _ keys: [Int64]) {
    if keys.isEmpty { return }
    settle()
    if touched != nil { for key in keys { touched?.insert(ObjectPlace(table: table, key: key)) } }
    let i = place(of: table)
    tables[i].table.delete(keys)
  }

  mutating func modify(_ column: ColumnID, _ key: ObjectKey) {
    settle()
    touched?.insert(ObjectPlace(table: column.table, key: key.rawValue))
    let i = place(of: column.table)
    tables[i].table.modify(key.rawValue, column.property)
  }

  mutating func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ListChange.Edit) {
    settle()
    touched?.insert(ObjectPlace(table: column.table, key: owner.rawValue))
    let i = place(of: column.table)
    tables[i].table.edit(owner.rawValue, column.property, edit)
  }

  /// Adds what happened later. O(later).
  mutating func add(_ later: PendingChanges) {
    settle()
    var later = later
    later.settle()
    for (id, table) in later.tables {
      let i = place(of: id)
      tables[i].table.add(table)
    }
    if let more = later.touched { touched?.formUnion(more) }
  }

  /// The net changes, in the order of a commit record.
  func tableChanges() -> [TableChange] {
    var settled = self
    settled.settle()
    return settled.tables.sorted { $0.id < $1.id }.compactMap { id, table in
      let change = table.change(of: id)
      return change.isEmpty ? nil : change
    }
  }
}

extension PendingChanges.Table {
  fileprivate mutating func insert(_ keys: ClosedRange<Int64>) {
    firstInserted = min(firstInserted, keys.lowerBound)
    inserted.append(keys)
  }

  fileprivate mutating func delete(_ key: Int64) {
    if key >= firstInserted {
      withdrawn.insert(key)
      return
    }
    deleted.append(key)
    lists[key] = nil
  }

  fileprivate mutating func delete(_ keys: [Int64]) {
    if firstInserted < .max || !lists.isEmpty {
      for key in keys { delete(key) }
    } else if deleted.isEmpty {
      deleted = keys
    } else {
      deleted += keys
    }
  }

  /// Adds what happened later, to objects that were there or not.
  fileprivate mutating func add(_ later: Self) {
    for run in later.inserted.runs { insert(run) }
    withdrawn.formUnion(later.withdrawn)
    modified.add(later.modified, below: firstInserted)
    delete(later.deleted)
    for (owner, properties) in later.lists where owner < firstInserted {
      for (property, edits) in properties { lists[owner, default: [:]][property, default: []] += edits }
    }
  }

  fileprivate mutating func modify(_ key: Int64, _ property: PropertyID) {
    if key < firstInserted { modified.add(key, property) }
  }

  fileprivate mutating func edit(_ owner: Int64, _ property: PropertyID, _ edit: ListChange.Edit) {
    guard owner < firstInserted else { return }
    modified.add(owner, property)
    lists[owner, default: [:]][property, default: []].append(edit)
  }

  fileprivate func change(of id: TableID) -> TableChange {
    let kept = withdrawn.isEmpty ? inserted : KeyRuns(inserted.lazy.filter { !withdrawn.contains($0) })
    let deleted = KeyRuns(deleted)
    return TableChange(
      table: id, inserted: kept, deleted: deleted,
      modified: deleted.isEmpty ? modified.objects : modified.objects.filter { !deleted.contains($0.key.rawValue) },
      lists: lists.sorted { $0.key < $1.key }.flatMap { owner, lists in
        lists.sorted { $0.key < $1.key }.map { ListChange(owner: ObjectKey(owner), property: $0.key, edits: $0.value) }
      })
  }
}
