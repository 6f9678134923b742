import StorageInterface
import StoreValues

// A setter does not know whether a field or the whole was set: what a program knows of a stored value is replaced, and nothing else.

extension PersistableStruct {
  public func _$set(_ context: ModelContext, _ key: Int64, _ ordinal: Int) {
    do throws(StoreError) {
      let place = "\(context.schema.name).\(context.properties[ordinal].schema.name)"
      context.set(key, ordinal, try merged(into: context.value(key, ordinal), at: place))
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

  /// As a mixed value; `.typeMismatch` with what its own `encode(to:)` throws.
  func encoded() throws(StoreError) -> Value {
    do { return try ValueEncoder.value(of: self) } catch {
      throw StoreError(.typeMismatch, "A value of '\(Self.self)' cannot be stored: \(error)", underlying: error)
    }
  }

  /// The stored value with what the struct knows of it replaced. `.typeMismatch` for one that cannot be read: nobody could say what is
  /// in it.
  func merged(into stored: Value, at place: String) throws(StoreError) -> Value {
    let new = try encoded()
    if stored.isNull { return new }
    guard let old = Self(persisted: stored) else {
      throw StoreError(
        .typeMismatch, "What is stored in '\(place)' cannot be read as '\(Self.self)', and is not written over.",
        remedy: "Mend it in a migration, or replace it by 'setValue(_:forKey:)'.", details: ["property": place, "value": "\(stored)"])
    }
    return stored.replacing(try old.encoded(), with: new)
  }
}

extension Value {
  /// This value, of which somebody knows `known`, with that replaced by `new`. What is in it besides stays: fields of maps, and those of
  /// elements of lists that are still there.
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

  /// Elements that are as before are found again, wherever they stand now; of a list as long as before, the others are the ones that stood
  /// in their places.
  private static func replacing(_ stored: [Value], _ known: [Value], with new: [Value]) -> [Value] {
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
