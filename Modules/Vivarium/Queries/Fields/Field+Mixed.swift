#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import QueryModel
import StoreValues

/// A mixed value holds whatever it holds: comparing it with a value of another kind is no mistake, and never holds. In an order
/// say which kind is meant: `$0.extra.int > 3`.
extension Field where Root == AnyValue {
  /// The value of a key, where it is a map, or a property of the object that it links to; null elsewhere.
  @inlinable public subscript(key: String) -> Field<AnyValue> { Field<AnyValue>(body.appending(["['\(key)']"])) }
  /// The element at a position, where it is a list; null elsewhere.
  @inlinable public subscript(position: Int) -> Field<AnyValue> { Field<AnyValue>(body.appending(["[\(position)]"])) }
  /// One of the elements, where it is a list or a map.
  @inlinable public var elements: Field<AnyValue> { Field<AnyValue>(body.appending(["[*]"])) }

  /// What it is: `"int"`, `"string"`, `"list"` and the others that Docs/Predicates.md has.
  @inlinable public var typeName: Field<String> { Field<String>(body.appending(["@type"])) }

  /// As a Bool.
  @inlinable public var bool: Field<Bool?> { Field<Bool?>(body) }
  /// As an integer.
  @inlinable public var int: Field<Int?> { Field<Int?>(body) }
  /// As a number with a fraction.
  @inlinable public var double: Field<Double?> { Field<Double?>(body) }
  /// As a decimal.
  @inlinable public var decimal: Field<Decimal128?> { Field<Decimal128?>(body) }
  /// As a text.
  @inlinable public var string: Field<String?> { Field<String?>(body) }
  /// As a point in time.
  @inlinable public var date: Field<Date?> { Field<Date?>(body) }
  /// As a UUID.
  @inlinable public var uuid: Field<UUID?> { Field<UUID?>(body) }

  /// Whether it links to the object.
  @inlinable public func links(to object: some Model) -> Condition { compare(.equal, object.literal) }
}
