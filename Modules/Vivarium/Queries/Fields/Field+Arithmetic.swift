import QueryModel
import StoreValues

/// A property that supports arithmetic: an integer, a `Float`, a `Double`, a `Decimal128`, and an optional of one.
public protocol NumberProperty {
  /// The number type without the optional.
  associatedtype Number: Scalar
}

extension Int: NumberProperty { public typealias Number = Int }
extension Int8: NumberProperty { public typealias Number = Int8 }
extension Int16: NumberProperty { public typealias Number = Int16 }
extension Int32: NumberProperty { public typealias Number = Int32 }
extension Int64: NumberProperty { public typealias Number = Int64 }
extension Float: NumberProperty { public typealias Number = Float }
extension Double: NumberProperty { public typealias Number = Double }
extension Decimal128: NumberProperty { public typealias Number = Decimal128 }
extension Optional: NumberProperty where Wrapped: NumberProperty & Scalar { public typealias Number = Wrapped }

// Integer division yields an integer, 64-bit arithmetic wraps on overflow, and any null operand makes the result null.

extension Field where Root: NumberProperty {
  /// The sum of two numbers.
  @inlinable public static func + (a: Self, b: Self) -> Self { a.computed(.add, b) }
  /// The sum of a property and a constant.
  @inlinable public static func + (a: Self, b: Root.Number) -> Self { a.computed(.add, constant(b)) }
  /// The sum of a constant and a property.
  @inlinable public static func + (a: Root.Number, b: Self) -> Self { constant(a).computed(.add, b) }
  /// The difference of two numbers.
  @inlinable public static func - (a: Self, b: Self) -> Self { a.computed(.subtract, b) }
  /// The difference of a property and a constant.
  @inlinable public static func - (a: Self, b: Root.Number) -> Self { a.computed(.subtract, constant(b)) }
  /// The difference of a constant and a property.
  @inlinable public static func - (a: Root.Number, b: Self) -> Self { constant(a).computed(.subtract, b) }
  /// The product of two numbers.
  @inlinable public static func * (a: Self, b: Self) -> Self { a.computed(.multiply, b) }
  /// The product of a property and a constant.
  @inlinable public static func * (a: Self, b: Root.Number) -> Self { a.computed(.multiply, constant(b)) }
  /// The product of a constant and a property.
  @inlinable public static func * (a: Root.Number, b: Self) -> Self { constant(a).computed(.multiply, b) }
  /// The quotient of two numbers. For division by 0 see "Numbers" in Docs/Predicates.md.
  @inlinable public static func / (a: Self, b: Self) -> Self { a.computed(.divide, b) }
  /// The quotient of a property and a constant.
  @inlinable public static func / (a: Self, b: Root.Number) -> Self { a.computed(.divide, constant(b)) }
  /// The quotient of a constant and a property.
  @inlinable public static func / (a: Root.Number, b: Self) -> Self { constant(a).computed(.divide, b) }

  /// The number to a power.
  @inlinable public func power(_ exponent: Root.Number) -> Self { computed(.power, Self.constant(exponent)) }

  /// The number for use with another number type: `$0.age.number(as: Double.self) < $0.height`. Converts nothing: numbers compare
  /// by value.
  @inlinable public func number<T: NumberProperty>(as type: T.Type) -> Field<T> { Field<T>(body) }

  @usableFromInline func computed(_ sign: ArithmeticOperator, _ other: Self) -> Self { Self(body.computed(sign, other.body)) }
  @inlinable static func constant(_ number: Root.Number) -> Self { Self(.constant(number.persistedValue)) }
}
