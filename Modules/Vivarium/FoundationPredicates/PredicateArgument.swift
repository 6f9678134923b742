#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import QueryEngine
import QueryModel
import StoreValues

/// An argument for `%@`, `%d`, `%K`, `$0` and `$K0` in a predicate format: numbers, strings, dates (`Date`, `Timestamp`), data,
/// UUIDs, ObjectIds, decimals, mixed values, enums and custom types stored as one of these, objects, optionals of them, and arrays,
/// sets, lists, results and closed ranges for `IN` and `BETWEEN`. Captured when the condition is made: later changes have no effect
/// on it.
///
/// ```swift
/// people.filter("age BETWEEN %@ AND %K IN %@", 18...65, "city", ["Oslo", "Bergen"])
/// people.filter("boss == %@ OR mood == %@", boss, Mood.calm)
/// ```
public protocol PredicateArgument {
  /// The argument in the query engine's form.
  var queryArgument: QueryArgument { get }
}

extension QueryArgument: PredicateArgument {
  public var queryArgument: QueryArgument { self }

  /// The values of several arguments; a list of expressions if one is not a single value.
  fileprivate static func list(of arguments: [QueryArgument]) -> QueryArgument {
    var nodes: [ExpressionNode] = []
    var values: [Value] = []
    for argument in arguments {
      switch argument {
      case .value(let value):
        nodes.append(.constant(value))
        values.append(value)
      case .object(let object): nodes.append(.object(object))
      case .mixed(let mixed): nodes.append(.mixed(mixed))
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
  /// An object, the same as in `people.filter("boss == %@", boss)`. An unmanaged one equals nothing.
  public static func object<T: Model>(_ object: T) -> QueryArgument {
    .object(object.literal)
  }
}

extension Model {
  /// The object as an operand of a condition.
  @usableFromInline var literal: ObjectLiteral {
    ObjectLiteral(type: Self._$name, .key(ObjectKey(_$key)), of: store?.identity)
  }

  /// The object, for a condition that compares with it. An unmanaged one equals nothing.
  public var queryArgument: QueryArgument { .object(literal) }
}

extension PersistableEnum {
  /// The stored form of the case.
  public var queryArgument: QueryArgument { .value(persistedValue) }
}

extension CustomPersistable {
  /// The stored form of the value.
  public var queryArgument: QueryArgument { .value(persistedValue) }
}

extension FailableCustomPersistable {
  /// The stored form of the value.
  public var queryArgument: QueryArgument { .value(persistedValue) }
}

extension PredicateArgument where Self: BinaryInteger {
  /// Integers beyond 64 bits are decimals.
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
/// A value, or a path for `%K`.
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
/// A value that links to objects of another store is rejected, as such an object is.
extension AnyValue: PredicateArgument {
  public var queryArgument: QueryArgument { linkedStore.map { QueryArgument.mixed(MixedLiteral(value, of: $0)) } ?? .value(value) }
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
/// The current objects.
extension Results: PredicateArgument {
  public var queryArgument: QueryArgument { .list(of: map(\.queryArgument)) }
}
/// The current elements of the list.
extension LiveList: PredicateArgument where Element: PersistableElement & PredicateArgument {
  public var queryArgument: QueryArgument { .list(of: map(\.queryArgument)) }
}
/// Both bounds, for `BETWEEN`.
extension ClosedRange: PredicateArgument where Bound: PredicateArgument {
  public var queryArgument: QueryArgument { .list(of: [lowerBound.queryArgument, upperBound.queryArgument]) }
}
