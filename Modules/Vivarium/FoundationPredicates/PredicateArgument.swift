#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import QueryEngine
import QueryModel
import StoreValues

/// What can stand for `%@`, `%d`, `%K`, `$0` and `$K0` in a condition's text: numbers, strings, dates (`Date`,
/// `Timestamp`), data, UUIDs, ObjectIds, decimals, enums and other types of yours that are stored as one of these, objects,
/// optionals of them, and arrays, sets, lists, results and closed ranges for `IN` and `BETWEEN`. Taken in when the condition is made:
/// what changes later changes nothing in it.
///
/// ```swift
/// people.filter("age BETWEEN %@ AND %K IN %@", 18...65, "city", ["Oslo", "Bergen"])
/// people.filter("boss == %@ OR mood == %@", boss, Mood.calm)
/// ```
public protocol PredicateArgument {
  /// The argument as the engine takes it.
  var queryArgument: QueryArgument { get }
}

extension QueryArgument: PredicateArgument {
  public var queryArgument: QueryArgument { self }

  /// The values of several arguments; nil when one is no single value.
  fileprivate static func list(of arguments: [QueryArgument]) -> QueryArgument {
    var nodes: [ExpressionNode] = []
    var values: [Value] = []
    for argument in arguments {
      switch argument {
      case .value(let value):
        nodes.append(.constant(value))
        values.append(value)
      case .object(let object): nodes.append(.object(object))
      case .values(let more):
        nodes += more.map { .constant($0) }
        values += more
      case .list(let more): nodes += more
      case .path: continue
      }
    }
    return values.count == nodes.count ? .values(values) : .list(nodes)
  }
}

extension QueryArgument {
  /// A certain object, which `people.filter("boss == %@", boss)` says too. One that is in no store equals nothing.
  public static func object<T: Model>(_ object: T) -> QueryArgument {
    .object(object.literal)
  }
}

extension Model {
  /// The object as an operand of a condition.
  @usableFromInline var literal: ObjectLiteral {
    ObjectLiteral(type: Self._$name, .key(ObjectKey(_$key)), of: store?.identity)
  }

  /// This object, for a condition that compares with it. One that is in no store equals nothing.
  public var queryArgument: QueryArgument { .object(literal) }
}

extension PersistableEnum {
  /// The case as it is stored.
  public var queryArgument: QueryArgument { .value(persistedValue) }
}

extension CustomPersistable {
  /// The value as it is stored.
  public var queryArgument: QueryArgument { .value(persistedValue) }
}

extension FailableCustomPersistable {
  /// The value as it is stored.
  public var queryArgument: QueryArgument { .value(persistedValue) }
}

extension PredicateArgument where Self: BinaryInteger {
  /// Whole numbers beyond 64 bits are decimals.
  public var queryArgument: QueryArgument {
    .value(Int64(exactly: self).map(Value.int) ?? .decimal(Decimal128("\(self)") ?? .nan))
  }
}

extension Int: PredicateArgument {}
extension Int8: PredicateArgument {}
extension Int16: PredicateArgument {}
extension Int32: PredicateArgument {}
extension Int64: PredicateArgument {}
extension UInt: PredicateArgument {}
extension UInt8: PredicateArgument {}
extension UInt16: PredicateArgument {}
extension UInt32: PredicateArgument {}
extension UInt64: PredicateArgument {}

extension Float: PredicateArgument {
  public var queryArgument: QueryArgument { .value(.float(self)) }
}
extension Double: PredicateArgument {
  public var queryArgument: QueryArgument { .value(.double(self)) }
}
extension Bool: PredicateArgument {
  public var queryArgument: QueryArgument { .value(.bool(self)) }
}
/// A value, or for `%K` a path.
extension String: PredicateArgument {
  public var queryArgument: QueryArgument { .value(.string(self)) }
}
extension Data: PredicateArgument {
  public var queryArgument: QueryArgument { .value(.data(self)) }
}
extension Date: PredicateArgument {
  public var queryArgument: QueryArgument { .value(.date(Timestamp(self))) }
}
extension Timestamp: PredicateArgument {
  public var queryArgument: QueryArgument { .value(.date(self)) }
}
extension UUID: PredicateArgument {
  public var queryArgument: QueryArgument { .value(.uuid(self)) }
}
extension ObjectId: PredicateArgument {
  public var queryArgument: QueryArgument { .value(.objectId(self)) }
}
extension Decimal128: PredicateArgument {
  public var queryArgument: QueryArgument { .value(.decimal(self)) }
}
extension Value: PredicateArgument {
  public var queryArgument: QueryArgument { .value(self) }
}

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
  public var queryArgument: QueryArgument { self?.queryArgument ?? .value(.null) }
}
extension Array: PredicateArgument where Element: PredicateArgument {
  public var queryArgument: QueryArgument { .list(of: map(\.queryArgument)) }
}
extension Set: PredicateArgument where Element: PredicateArgument {
  public var queryArgument: QueryArgument { .list(of: map(\.queryArgument)) }
}
/// The objects of now.
extension Results: PredicateArgument {
  public var queryArgument: QueryArgument { .list(of: map(\.queryArgument)) }
}
/// What is in the list now.
extension LiveList: PredicateArgument where Element: PersistableElement & PredicateArgument {
  public var queryArgument: QueryArgument { .list(of: map(\.queryArgument)) }
}
/// Both bounds, for `BETWEEN`.
extension ClosedRange: PredicateArgument where Bound: PredicateArgument {
  public var queryArgument: QueryArgument { .list(of: [lowerBound.queryArgument, upperBound.queryArgument]) }
}
