import StorageInterface
import StoreValues

// A setter does not know whether one field or the whole struct was set. So it replaces the known parts of the stored value only.

extension PersistableStruct {
  public func _$set(_ context: ModelContext, _ key: Int64, _ ordinal: Int) {
    do throws(StoreError) {
      context.set(key, ordinal, try merged(into: context.value(key, ordinal), at: context.place(ordinal)))
    } catch {
      context.store.refuse(error)
    }
  }

  public static func _$put(_ adoption: Adoption, _ ordinal: Int, _ value: Self) {
    do throws(StoreError) {
      adoption.row.set(adoption.slots[ordinal], try value.encoded())
      adoption.willMerge(ordinal) { (stored, place) throws(StoreError) in try value.merged(into: stored, at: place) }
    } catch {
      adoption.refuse(error)
    }
  }

  public static func _$putOptional(_ adoption: Adoption, _ ordinal: Int, _ value: Self?) {
    if let value { _$put(adoption, ordinal, value) } else { adoption.row.setNull(adoption.slots[ordinal]) }
  }

  public func _$elementValue(_ store: Store) throws(StoreError) -> Value { try encoded() }

  public static func _$pending(_ elements: [Self]) -> PendingElements { .structs(elements) }

  /// The mixed value; throws `.typeMismatch` with the error of the struct's own `encode(to:)`.
  func encoded() throws(StoreError) -> Value {
    do { return try ValueEncoder.value(of: self) } catch {
      throw StoreError(.typeMismatch, "A value of '\(Self.self)' cannot be stored: \(error)", underlying: error)
    }
  }

  /// The stored value with the parts that the struct knows replaced. Throws `.typeMismatch` for a stored value that cannot be read,
  /// because its content is unknown.
  func merged(into stored: Value, at place: String) throws(StoreError) -> Value {
    let new = try encoded()
    if stored.isNull { return new }
    return stored.replacing(try Self.known(of: stored, at: place), with: new)
  }

  /// The same for structs that take the places of stored ones in a list. Equal ones take over what the program does not know of them,
  /// wherever they were; so do those at the same positions, if there are as many.
  static func merged(_ elements: [Any], into stored: [Value], at place: String) throws(StoreError) -> [Value] {
    var new: [Value] = []
    for case let element as Self in elements { new.append(try element.encoded()) }
    if new.isEmpty || stored.isEmpty { return new }
    var known: [Value] = []
    for value in stored { known.append(value.isNull ? .null : try Self.known(of: value, at: place)) }
    return Value.replacing(stored, known, with: new)
  }

  /// The part of a stored value that the struct knows.
  private static func known(of stored: Value, at place: String) throws(StoreError) -> Value {
    guard let old = Self(persisted: stored) else { throw unreadable(stored, in: place) }
    return try old.encoded()
  }
}

extension Value {
  /// This value with its part `known` replaced by `new`. The rest stays: other fields of maps, also in those elements of lists that
  /// remain.
  fileprivate func replacing(_ known: Value, with new: Value) -> Value {
    if known == new { return self }
    switch (self, known, new) {
    case (.map(let stored), .map(let known), .map(let new)):
      let kept = stored.entries.filter { known[$0.key] == nil && new[$0.key] == nil }
      let changed = new.entries.map { entry in
        guard let before = stored[entry.key], let old = known[entry.key] else { return entry }
        return ValueMap.Entry(entry.key, before.replacing(old, with: entry.value))
      }
      return .map(ValueMap(kept + changed))
    case (.list(let stored), .list(let known), .list(let new)) where stored.count == known.count:
      return .list(Value.replacing(stored, known, with: new))
    default: return new
    }
  }

  /// Matches equal elements to the former ones, wherever they are now; if the list is as long as before, the others match the
  /// former elements at their positions.
  fileprivate static func replacing(_ stored: [Value], _ known: [Value], with new: [Value]) -> [Value] {
    var places: [Value: [Int]] = [:]
    for at in known.indices.reversed() { places[known[at], default: []].append(at) }
    var origins: [Int?] = new.map { places[$0]?.popLast() }
    if new.count == known.count {
      let found = Set(origins.compactMap(\.self))
      for at in new.indices where origins[at] == nil && !found.contains(at) { origins[at] = at }
    }
    return zip(new, origins).map { element, origin in
      origin.map { stored[$0].replacing(known[$0], with: element) } ?? element
    }
  }
}
