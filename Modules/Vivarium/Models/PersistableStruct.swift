import Foundation
import StorageInterface
import StoreValues

/// A `Codable` struct stored as one attribute: a mixed value, a map of its fields, so that conditions can test the fields.
///
/// ```swift
/// struct Address: PersistableStruct {
///   var street = ""
///   var city = ""
/// }
/// @Model final class Company { var address = Address() }
/// try store.objects(Company.self).filter("address.city == %@", "Ghent")
/// ```
///
/// In conditions a field has the name of its coding key and follows the rules of mixed values. Every field needs a default: a field
/// missing in a stored value reads as its default, and a property that was never set reads as `init()`.
///
/// Fields that the struct does not know, from a newer program, stay when the property or a field of it is set. A stored value that
/// cannot be read as the struct reads as nil if the property is optional, otherwise as `init()`. Each such read of an object in a
/// store is logged. The value is not overwritten: setting the property fails with `.typeMismatch` until a migration repairs the
/// value, or `setValue(_:forKey:)` or nil replaces it. Setting also fails if the value's own `encode(to:)` throws; that error is the
/// underlying one.
public protocol PersistableStruct: Codable, Scalar {
  /// The value of a property that was never set.
  init()
}

extension PersistableStruct {
  public static var _$type: ValueType { .mixed }
  /// Like every mixed property: null, if nothing was stored, reads as `init()`.
  public static var _$isOptional: Bool { true }
  public static var _$zero: Self { Self() }

  public static func _$decode(_ vector: ColumnVector, _ row: Int) -> Self? {
    Self(persisted: vector.value(at: row, as: .mixed))
  }

  public func _$put(_ row: RowBuffer, _ slot: Int) { row.set(slot, persistedValue) }

  public init?(persisted value: Value) {
    if value.isNull { return nil }
    if let made = try? ValueDecoder.decode(Self.self, from: value) {
      self = made
      return
    }
    // An older value: its fields over the defaults. Or JSON: this is how a migration turns a string into a struct.
    guard let fields = Self.fields(of: value), case .map(let defaults) = Self().persistedValue,
      let made = try? ValueDecoder.decode(Self.self, from: .map(ValueMap(defaults.entries + fields.entries)))
    else { return nil }
    self = made
  }

  private static func fields(of value: Value) -> ValueMap? {
    switch value {
    case .map(let fields): return fields
    case .string(let text):
      guard let node = try? JSONNode(Data(text.utf8)), case .map(let fields) = Value(mixed: node) else { return nil }
      return fields
    default: return nil
    }
  }

  /// The value that conditions compare with. An empty map if the struct's own `encode(to:)` throws; a store rejects such a value.
  public var persistedValue: Value { (try? ValueEncoder.value(of: self)) ?? .map(ValueMap()) }
}
