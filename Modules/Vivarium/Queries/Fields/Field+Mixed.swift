#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import QueryModel
import StoreValues

/// A mixed value can have any type. Comparing it with a value of another type is not an error; the comparison never holds. In a
/// sort, name the type: `$0.extra.int > 3`.
extension Field where Root == AnyValue {
  /// The value of a key if it is a map, or a property of the linked object; otherwise null.
  @inlinable public subscript(key: String) -> Field<AnyValue> { Field<AnyValue>(body.appending(["['\(key)']"])) }
  /// The element at a position if it is a list; otherwise null.
  @inlinable public subscript(position: Int) -> Field<AnyValue> { Field<AnyValue>(body.appending(["[\(position)]"])) }
  /// Any element if it is a list or a map.
  @inlinable public var elements: Field<AnyValue> { Field<AnyValue>(body.appending(["[*]"])) }

  /// The name of its type: `"int"`, `"string"`, `"list"` and the others in Docs/Predicates.md.
  @inlinable public var typeName: Field<String> { Field<String>(body.appending(["@type"])) }

  /// As a Bool.
  @inlinable public var bool: Field<Bool?> { Field<Bool?>(body) }
  /// As an integer.
  @inlinable public var int: Field<Int?> { Field<Int?>(body) }
  /// As a number with a fraction.
  @inlinable public var double: Field<Double?> { Field<Double?>(body) }
  /// As a decimal.
  @inlinable public var decimal: Field<Decimal128?> { Field<Decimal128?>(body) }
  /// As a string.
  @inlinable public var string: Field<String?> { Field<String?>(body) }
  /// As a point in time.
  @inlinable public var date: Field<Date?> { Field<Date?>(body) }
  /// As a UUID.
  @inlinable public var uuid: Field<UUID?> { Field<UUID?>(body) }

  /// Whether it links to the object.
  @inlinable public func links(to object: some Model) -> Condition { compare(.equal, object.literal) }
}
