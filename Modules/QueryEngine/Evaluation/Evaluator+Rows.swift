import QueryModel
import StorageInterface
import StoreValues

extension Evaluator {
  /// Whether one object passes. The object must exist.
  func matches(_ condition: Condition, _ key: ObjectKey) throws(StorageError) -> Bool {
    switch condition {
    case .constant(let value): return value
    case .not(let inner): return try !matches(inner, key)
    case .and(let parts):
      for part in parts where try !matches(part, key) { return false }
      return true
    case .or(let parts):
      for part in parts where try matches(part, key) { return true }
      return false
    case .own(let own): return try matches(own.test, own.column, own.type, key)
    case .pair(let pair):
      let (left, right) = (try storage.value(pair.left, key), try storage.value(pair.right, key))
      let comparator: ComparisonOperator =
        switch pair.comparator {
        case .equal: .equal
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        }
      return Semantics.holds(left, comparator, right)
    case .row(let test): return try matches(test, key)
    }
  }

  func matches(_ test: RowTest, _ key: ObjectKey) throws(StorageError) -> Bool {
    switch test {
    case .path(let path, let test):
      guard let owner = try follow(path.links, from: key) else { return test.matchesNull }
      do throws(StorageError) { return try matches(test, path.end, path.type, owner) } catch {
        if error.code == .objectDeleted, !path.isOwn { return test.matchesNull }
        throw error
      }
    case .compare(let left, let comparator, let right):
      return Semantics.holds(try value(left, key), comparator, try value(right, key))
    case .many(let comparison): return try matches(comparison, key)
    }
  }

  private func matches(
    _ test: ScalarTest, _ column: ColumnID, _ type: ValueType, _ key: ObjectKey
  ) throws(StorageError) -> Bool {
    if type.isWord { return test.matches(word: try storage.word(column, key), type: type) }
    var result = false
    try storage.bytes(column, key) { result = test.matches(bytes: $0) }
    return result
  }

  /// The object at the end of the links; nil if a link is null or an object on the way is deleted. The object at `key` must
  /// exist; whether the returned one does shows when it is read.
  func follow(_ links: [ColumnID], from key: ObjectKey) throws(StorageError) -> ObjectKey? {
    guard let first = links.first else { return key }
    guard var next = try storage.word(first, key) else { return nil }
    for link in links.dropFirst() {
      do throws(StorageError) {
        guard let word = try storage.word(link, ObjectKey(next)) else { return nil }
        next = word
      } catch {
        if error.code == .objectDeleted { return nil }
        throw error
      }
    }
    return ObjectKey(next)
  }

  /// Whether the links of a path lead to an existing object.
  func reaches(_ path: BoundPath, _ key: ObjectKey) throws(StorageError) -> Bool {
    guard let owner = try follow(path.links, from: key) else { return false }
    return try storage.contains(path.end.table, owner)
  }

  func value(_ operand: Operand, _ key: ObjectKey) throws(StorageError) -> Value {
    switch operand {
    case .constant(let value): return value
    case .path(let path): return try value(path, key)
    }
  }

  func value(_ path: BoundPath, _ key: ObjectKey) throws(StorageError) -> Value {
    guard let owner = try follow(path.links, from: key) else { return .null }
    do throws(StorageError) { return try storage.value(path.end, owner) } catch {
      if error.code == .objectDeleted, !path.isOwn { return .null }
      throw error
    }
  }

  /// The word at the end of a path; nil is null.
  func word(_ path: BoundPath, _ key: ObjectKey) throws(StorageError) -> Int64? {
    guard let owner = try follow(path.links, from: key) else { return nil }
    do throws(StorageError) { return try storage.word(path.end, owner) } catch {
      if error.code == .objectDeleted, !path.isOwn { return nil }
      throw error
    }
  }

  /// Lends the bytes at the end of a path; nil is null. `body` runs once unless the call throws.
  func bytes(_ path: BoundPath, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError) {
    guard let owner = try follow(path.links, from: key) else { return body(nil) }
    do throws(StorageError) { try storage.bytes(path.end, owner, body) } catch {
      if error.code == .objectDeleted, !path.isOwn { return body(nil) }
      throw error
    }
  }
}
