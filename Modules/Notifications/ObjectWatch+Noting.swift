import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

extension ObjectWatch {
  /// Notes a commit's changes of the object itself. Returns whether they may have to be reported. `steps` counts the entries of
  /// the commit that were looked at: every touched watch searches the same commit.
  func note(_ change: TableChange, of record: CommitRecord, steps: inout Int) -> Bool {
    var marks = Marks()
    if change.deleted.contains(key.rawValue) { marks.isDeleted = true }
    if let modified = change.modifiedObject(key, &steps) { marks.properties = modified.properties.intersection(watched) }
    if marks.isEmpty { return false }
    marks.sources = CommitSources(record)
    let edits = change.lists(of: key, &steps)
    let members = change.collections(of: key, &steps)
    return state.withLock { state in
      guard record.version > state.version else { return false }
      state.add(marks, edits, members)
      return true
    }
  }

  /// Notes a commit's changes behind paths.
  func noteDeep(
    _ change: TableChange, of record: CommitRecord, from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> Bool {
    var marks = Marks()
    var edits: [ListChange] = []
    var members: [RecordedCollectionChange] = []
    switch subject {
    case .properties(let filter):
      for path in filter.allPaths where try path.leads(from: key, to: change, from, to) {
        marks.leading.formUnion(path.firstProperties(from: table, to.catalog))
      }
    case .collection(let property, let filter, let target):
      guard let filter else { return false }
      let touched = try touchedElements(ColumnID(table, property), filter, target, by: change, from, to)
      if touched.isEmpty { return false }
      if to.catalog[ColumnID(table, property)]?.schema.isList == true {
        let positions = try positions(of: touched, ColumnID(table, property), to)
        edits = [ListChange(owner: key, property: property, edits: positions.map { .set(at: $0) })]
      } else {
        let changes = try memberChanges(of: touched, ColumnID(table, property), to)
        members = [RecordedCollectionChange(owner: key, property: property, members: changes)]
      }
      marks.properties.insert(property)
    }
    if marks.isEmpty { return false }
    marks.sources = CommitSources(record)
    return state.withLock { state in
      guard record.version > state.version else { return false }
      state.add(marks, edits, members)
      return true
    }
  }

  /// Records that everything up to a version was noted.
  func reached(_ version: Version) { state.withLock { $0.version = max($0.version, version) } }

  /// Records that the commits since the last notification are unknown: everything may have changed.
  func noteEverything() {
    state.withLock { state in
      var marks = Marks()
      marks.properties = watched
      marks.isLost = true
      state.add(marks, [], [])
    }
  }

  private var watched: PropertySet {
    switch subject {
    case .properties(let filter): filter.properties
    case .collection(let property, _, _): PropertySet([property])
    }
  }

  /// The changed objects that may be elements; empty if none is.
  private func touchedElements(
    _ column: ColumnID, _ filter: ResultFilter, _ target: TableID, by change: TableChange,
    _ from: any StorageReading, _ to: any StorageReading
  ) throws(StorageError) -> Set<Int64> {
    var touched: Set<Int64> = []
    if change.table == target {
      for object in change.modified where !object.properties.isDisjoint(with: filter.properties) {
        touched.insert(object.key.rawValue)
      }
    }
    for path in filter.allPaths { touched.formUnion(try path.rows(touchedBy: change, from: from, to: to)) }
    for key in touched where try isElement(key, column, to) { return touched }
    return []
  }

  /// The positions of these objects in a list, in the newest version.
  private func positions(
    of touched: Set<Int64>, _ column: ColumnID, _ to: any StorageReading
  ) throws(StorageError) -> [Int] {
    var positions: [Int] = []
    var position = 0
    try to.elements(column, key, 0..<Int.max) { batch in
      let vector = batch.columns[0]
      for row in 0..<batch.count where !vector.isNull(at: row) && touched.contains(vector.word(at: row)) {
        positions.append(position + row)
      }
      position += batch.count
      return .proceed
    }
    return positions
  }

  /// These objects as modified members of a set or values of a map.
  private func memberChanges(
    of touched: Set<Int64>, _ column: ColumnID, _ to: any StorageReading
  ) throws(StorageError) -> [MemberChange] {
    guard to.catalog[column]?.schema.isMap == true else {
      var changes: [MemberChange] = []
      for key in touched.sorted() where try to.contains(member: .link(ObjectKey(key)), in: column, self.key) {
        changes.append(MemberChange(.link(ObjectKey(key)), .modified))
      }
      return changes
    }
    var changes: [MemberChange] = []
    try to.elements(column, key, 0..<Int.max) { batch in
      let (values, keys) = (batch.columns[0], batch.columns[1])
      for row in 0..<batch.count where !values.isNull(at: row) && touched.contains(values.word(at: row)) {
        changes.append(MemberChange(.string(String(decoding: keys.bytes(at: row), as: UTF8.self)), .modified))
      }
      return .proceed
    }
    return changes
  }

  private func isElement(
    _ element: Int64, _ column: ColumnID, _ reading: any StorageReading
  ) throws(StorageError) -> Bool {
    var isElement = false
    try reading.sources(of: ObjectKey(element), through: column) { owners in
      isElement = owners.contains(key.rawValue)
      return isElement ? .stop : .proceed
    }
    guard isElement else { return false }
    return try reading.contains(column.table, key)
  }
}

extension ObjectWatch.State {
  mutating func add(_ marks: ObjectWatch.Marks, _ edits: [ListChange], _ members: [RecordedCollectionChange]) {
    pending.add(marks, edits, members)
    fresh?.add(marks, edits, members)
  }
}

extension ObjectWatch.Marks {
  fileprivate mutating func add(_ other: Self, _ edits: [ListChange], _ changed: [RecordedCollectionChange]) {
    properties.formUnion(other.properties)
    leading.formUnion(other.leading)
    isDeleted = isDeleted || other.isDeleted
    isLost = isLost || other.isLost
    sources.formUnion(other.sources)
    for list in edits where lists[list.property] != nil {
      for edit in list.edits { lists[list.property]?.add(edit) }
    }
    for collection in changed where members[collection.property] != nil {
      for change in collection.members { members[collection.property]?.add(change) }
    }
    if other.isDeleted {
      for property in lists.keys { lists[property]?.add(.clear) }
    }
    if other.isDeleted || other.isLost {
      for property in members.keys { members[property]?.lose() }
    }
  }
}

extension ReadPath {
  /// Whether the path leads from one object to something that a commit changed.
  fileprivate func leads(
    from key: ObjectKey, to change: TableChange, _ from: any StorageReading, _ to: any StorageReading
  ) throws(StorageError) -> Bool {
    try rows(touchedBy: change, from: from, to: to).contains(key.rawValue)
  }

  /// The property of the object that the path begins with; for an inverse, all inverses of the same relationship.
  fileprivate func firstProperties(from table: TableID, _ catalog: Catalog) -> PropertySet {
    switch hops.first {
    case nil: return PropertySet()
    case .forward(let column)?: return PropertySet([column.property])
    case .inverse(let column)?, .firstInverse(let column)?:
      guard let origin = catalog[column.table], let property = catalog[column]?.schema.name else { return PropertySet() }
      let kind = PropertyKind.linkingObjects(origin: origin.name, property: property)
      return PropertySet((catalog[table]?.columns ?? []).filter { $0.schema.kind == kind }.map(\.id))
    }
  }
}

extension TableChange {
  /// The changes of an object. O(log n): they ascend by key.
  func modifiedObject(_ key: ObjectKey) -> ModifiedObject? {
    var steps = 0
    return modifiedObject(key, &steps)
  }

  fileprivate func modifiedObject(_ key: ObjectKey, _ steps: inout Int) -> ModifiedObject? {
    modified.run(of: key, &steps) { $0.key }.first
  }

  /// The edits of an object's lists. O(log n + result): they ascend by owner.
  fileprivate func lists(of key: ObjectKey, _ steps: inout Int) -> [ListChange] {
    Array(lists.run(of: key, &steps) { $0.owner })
  }

  /// The changes of an object's sets and maps. O(log n + result): they ascend by owner.
  fileprivate func collections(of key: ObjectKey, _ steps: inout Int) -> [RecordedCollectionChange] {
    Array(collections.run(of: key, &steps) { $0.owner })
  }
}

extension Array {
  /// The elements of one object, of elements that ascend by their object. `steps` counts the elements looked at.
  fileprivate func run(of key: ObjectKey, _ steps: inout Int, by owner: (Element) -> ObjectKey) -> ArraySlice<Element> {
    var low = 0
    var high = count
    while low < high {
      steps += 1
      let middle = (low + high) / 2
      if owner(self[middle]) < key { low = middle + 1 } else { high = middle }
    }
    var end = low
    while end < count, owner(self[end]) == key { end += 1 }
    steps += end - low
    return self[low..<end]
  }
}

extension PropertySet {
  fileprivate func intersection(_ other: PropertySet) -> PropertySet {
    PropertySet(properties.filter { other.contains($0) })
  }
}
