import Storage
import Values

/// The changes of an open write as they come in, kept so that recording one is O(1) and the net effect falls
/// out at the end. A value: a savepoint is a copy.
struct PendingChanges {
  fileprivate struct ListID: Hashable {
    let owner: Int64
    let property: PropertyID
  }

  fileprivate struct Table {
    /// Keys are given out ascending, so an object is new in this write exactly when its key is not below the
    /// first one inserted.
    var firstInserted = Int64.max
    var inserted = KeyRuns()
    /// New objects that are gone again.
    var withdrawn: Set<Int64> = []
    var deleted: Set<Int64> = []
    var modified: [Int64: PropertySet] = [:]
    var lists: [ListID: [ListChange.Edit]] = [:]

    var isEmpty: Bool {
      deleted.isEmpty && modified.isEmpty && lists.isEmpty && inserted.count == withdrawn.count
    }
  }

  private var tables: [TableID: Table] = [:]

  var isEmpty: Bool { tables.values.allSatisfy(\.isEmpty) }

  mutating func insert(_ table: TableID, _ key: ObjectKey) {
    tables[table, default: Table()].insert(key.rawValue)
  }

  mutating func delete(_ table: TableID, _ key: ObjectKey) {
    tables[table, default: Table()].delete(key.rawValue)
  }

  mutating func modify(_ column: ColumnID, _ key: ObjectKey) {
    tables[column.table, default: Table()].modify(key.rawValue, column.property)
  }

  mutating func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ListChange.Edit) {
    tables[column.table, default: Table()].edit(owner.rawValue, column.property, edit)
  }

  /// The net changes, in the order a commit record wants.
  func tableChanges() -> [TableChange] {
    tables.sorted { $0.key < $1.key }.compactMap { id, table in
      let change = table.change(of: id)
      return change.isEmpty ? nil : change
    }
  }
}

extension PendingChanges.Table {
  fileprivate mutating func insert(_ key: Int64) {
    firstInserted = min(firstInserted, key)
    inserted.append(key)
  }

  fileprivate mutating func delete(_ key: Int64) {
    if key >= firstInserted {
      withdrawn.insert(key)
      return
    }
    deleted.insert(key)
    modified[key] = nil
    if !lists.isEmpty { lists = lists.filter { $0.key.owner != key } }
  }

  fileprivate mutating func modify(_ key: Int64, _ property: PropertyID) {
    if key < firstInserted { modified[key, default: PropertySet()].insert(property) }
  }

  fileprivate mutating func edit(_ owner: Int64, _ property: PropertyID, _ edit: ListChange.Edit) {
    guard owner < firstInserted else { return }
    modified[owner, default: PropertySet()].insert(property)
    lists[.init(owner: owner, property: property), default: []].append(edit)
  }

  fileprivate func change(of id: TableID) -> TableChange {
    let kept = withdrawn.isEmpty ? inserted : KeyRuns(inserted.lazy.filter { !withdrawn.contains($0) })
    return TableChange(
      table: id, inserted: kept, deleted: KeyRuns(deleted),
      modified: modified.sorted { $0.key < $1.key }
        .map { ModifiedObject(key: ObjectKey($0.key), properties: $0.value) },
      lists: lists.sorted { ($0.key.owner, $0.key.property) < ($1.key.owner, $1.key.property) }
        .map { ListChange(owner: ObjectKey($0.key.owner), property: $0.key.property, edits: $0.value) })
  }
}
