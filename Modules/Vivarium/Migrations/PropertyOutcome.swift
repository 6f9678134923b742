import StoreValues

/// What becomes of one property of the objects that are there when a file is brought to the program's models.
public struct PropertyOutcome: Sendable, Hashable {
  /// What each object gets, or loses.
  public enum Change: Sendable, Hashable {
    /// The property is new, and each object gets this value.
    case added(Value)
    /// The property is new, and its default is evaluated for each object: this is the first one's.
    case addedForEach(first: Value)
    /// The property is new and has no default: each object needs a value from a migration.
    case addedWithoutValue
    /// The property has another name, and its values.
    case renamed(from: String)
    /// The values become those of another type; null, and so many that cannot be converted, get the default.
    case converted(from: PropertyKind, failures: Int)
    /// The property goes. `objects` have values in it, which go too: refused unless the program says so.
    case removed
  }

  /// The type, as the program calls it.
  public var type: String
  /// The property, as the program calls it, or as the file does where it goes.
  public var property: String
  /// How many objects it concerns.
  public var objects: Int
  /// What happens to each.
  public var change: Change
}

extension PropertyOutcome: CustomStringConvertible {
  /// For people: "Person.age: 12 objects get 5".
  public var description: String {
    let who = "\(type).\(property): \(objects) \(objects == 1 ? "object" : "objects")"
    return switch change {
    case .added(let value): "\(who) \(objects == 1 ? "gets" : "get") \(value)"
    case .addedForEach(let first): "\(who) \(objects == 1 ? "gets" : "get") a value each, the first \(first)"
    case .addedWithoutValue: "\(who) \(objects == 1 ? "needs" : "need") a value from a migration"
    case .renamed(let name): "\(who) \(objects == 1 ? "keeps" : "keep") what was '\(name)'"
    case .converted(let kind, let failures):
      "\(who), from \(kind.label)" + (failures > 0 ? "; \(failures) cannot be converted" : "")
    case .removed: "\(who) \(objects == 1 ? "loses" : "lose") a value"
    }
  }
}
