import StorageInterface
import StoreValues

extension ReadPath {
  /// Whether objects inserted or deleted at the path's end touch rows of which no property was set.
  var hasInverse: Bool { hops.contains { $0.followedBack != nil } }

  /// Whether a commit touched anything at the path's end; never true for the rows' own properties. Reads nothing.
  func mayBeTouched(by change: TableChange) -> Bool {
    guard !hops.isEmpty, table == change.table else { return false }
    if hasInverse, !change.inserted.isEmpty || !change.deleted.isEmpty { return true }
    return change.modified.contains { !$0.properties.isDisjoint(with: properties) }
  }

  /// The rows from which the path leads to something that a commit changed; none for the rows' own properties. Exactly these:
  /// at an inverse, an object whose link changed counts for its old and its new targets, but not for unchanged ones. Behind an
  /// inverse to one object, only the first source counts. Reads nothing if the commit did not touch the path's table.
  package func rows(
    touchedBy change: TableChange, from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> Set<Int64> {
    guard table == change.table, !hops.isEmpty else { return [] }
    var ends: [Int64] = []
    var repointed: [Int64] = []
    for object in change.modified where !object.properties.isDisjoint(with: properties) {
      if isRead(object.properties) { ends.append(object.key.rawValue) } else { repointed.append(object.key.rawValue) }
    }
    guard hasInverse else { return ends.isEmpty ? [] : try rows(leadingTo: ends, over: hops[...], in: to) }
    ends += change.inserted
    ends += change.deleted
    var rows = try rows(leadingTo: ends, over: hops[...], in: from)
    try rows.formUnion(self.rows(leadingTo: ends, over: hops[...], in: to))
    guard !repointed.isEmpty, let last = hops.last else { return rows }
    var targets: Set<Int64> = []
    for key in repointed { try last.append(targetsThatDiffer: ObjectKey(key), from, to, to: &targets) }
    try rows.formUnion(self.rows(leadingTo: targets, over: hops.dropLast(), in: from))
    try rows.formUnion(self.rows(leadingTo: targets, over: hops.dropLast(), in: to))
    return rows
  }

  /// Whether a value read at the end of the path is among these, other than a link that is followed back.
  private func isRead(_ changed: PropertySet) -> Bool {
    if backlinks.isEmpty { return true }
    return properties.properties.contains { changed.contains($0) && !backlinks.contains($0) }
  }

  /// The rows from which some hops lead to one of these objects in one version; each once, in no order. Objects that are not in
  /// this version are skipped. O(rows found and objects on the way, times log).
  private func rows(
    leadingTo ends: some Sequence<Int64>, over hops: ArraySlice<Hop>, in reading: any StorageReading
  ) throws(StorageError) -> Set<Int64> {
    var reached = Set(ends)
    for hop in hops.reversed() {
      if reached.isEmpty { break }
      var next: Set<Int64> = []
      for key in reached { try hop.append(originsOf: ObjectKey(key), in: reading, to: &next) }
      reached = next
    }
    return reached
  }
}

extension ReadPath.Hop {
  /// Adds the objects from which this hop leads to the object.
  fileprivate func append(
    originsOf key: ObjectKey, in reading: any StorageReading, to origins: inout Set<Int64>
  ) throws(StorageError) {
    switch self {
    case .forward(let column):
      try reading.sources(of: key, through: column) { keys in
        origins.formUnion(keys)
        return .proceed
      }
    case .inverse(let column): try origins.formUnion(targets(of: key, column, in: reading).keys)
    case .firstInverse(let column):
      for target in try targets(of: key, column, in: reading).keys
      where try reading.firstSource(of: ObjectKey(target), through: column) == key { origins.insert(target) }
    }
  }

  /// Adds the targets to which the object points a different number of times in the two versions, by the relationship that this
  /// hop follows back. For an inverse to one object: those whose first source differs.
  fileprivate func append(
    targetsThatDiffer key: ObjectKey, _ from: any StorageReading, _ to: any StorageReading, to targets: inout Set<Int64>
  ) throws(StorageError) {
    guard let column = followedBack else { return }
    let (old, new) = (try self.targets(of: key, column, in: from), try self.targets(of: key, column, in: to))
    for target in Set(old.keys).union(new.keys) where old[target] != new[target] {
      if case .firstInverse = self {
        let key = ObjectKey(target)
        if try from.firstSource(of: key, through: column) == to.firstSource(of: key, through: column) { continue }
      }
      targets.insert(target)
    }
  }

  /// The targets of the object, with their multiplicity; empty if the object is not in this version.
  private func targets(
    of key: ObjectKey, _ column: ColumnID, in reading: any StorageReading
  ) throws(StorageError) -> [Int64: Int] {
    var targets: [Int64: Int] = [:]
    guard try reading.contains(column.table, key) else { return targets }
    if reading.catalog[column]?.schema.isScalar == false {
      try reading.elements(column, key, 0..<Int.max) { batch in
        let vector = batch.columns[0]
        for row in 0..<batch.count where !vector.isNull(at: row) { targets[vector.word(at: row), default: 0] += 1 }
        return .proceed
      }
    } else if let target = try reading.word(column, key) {
      targets[target] = 1
    }
    return targets
  }
}
