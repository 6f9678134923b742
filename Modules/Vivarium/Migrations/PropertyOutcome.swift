import StoreValues

/// The effect on one property of existing objects when a file is brought to the program's models.
public struct PropertyOutcome: Sendable, Hashable {
  /// What each object gains or loses.
  public enum Change: Sendable, Hashable {
    /// The property is new, and each object gets this value.
    case added(Value)
    /// The property is new, and its default is evaluated for each object; this is the value of the first.
    case addedForEach(first: Value)
    /// The property is new and has no default, or one of objects: each object needs a value from a migration.
    case addedWithoutValue
    /// The property is renamed and keeps its values.
    case renamed(from: String)
    /// The values are converted to another type; null, and the `failures` that cannot be converted, get the default.
    case converted(from: PropertyKind, failures: Int)
    /// The property is removed. `objects` have values in it, which are lost: rejected unless the program allows it.
    case removed
  }

  /// The type, by the program's name.
  public var type: String
  /// The property, by the program's name, or by the file's if it is removed.
  public var property: String
  /// The number of affected objects.
  public var objects: Int
  /// What happens to each object.
  public var change: Change
}

extension PropertyOutcome: CustomStringConvertible {
  /// A readable description: "Person.age: 12 objects get 5".
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
