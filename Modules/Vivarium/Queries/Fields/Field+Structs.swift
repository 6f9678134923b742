import QueryModel
import StoreValues

extension Field where Root: PersistableStruct {
  /// A field of a struct that is one attribute: `$0.address.city == "Ghent"`. For a computed property, and a field whose stored
  /// name cannot be determined, the query fails and names it in `error`.
  public subscript<V>(dynamicMember path: KeyPath<Root, V>) -> Field<V> {
    Field<V>(body.appendingField(of: path))
  }

  /// The value stored under a coding key of the struct, as a mixed value; also for lists and structs that are not
  /// `PersistableStruct`.
  public subscript(key: String) -> Field<AnyValue> { Field<AnyValue>(body.appending(["['\(key)']"])) }
}

extension Field {
  /// A field of an optional struct: null if the struct is nil.
  public subscript<S: PersistableStruct, V>(dynamicMember path: KeyPath<S, V>) -> Field<V?> where Root == S? {
    Field<V?>(body.appendingField(of: path))
  }

  /// An optional field of an optional struct: null if the struct or the field is nil.
  public subscript<S: PersistableStruct, V>(dynamicMember path: KeyPath<S, V?>) -> Field<V?> where Root == S? {
    Field<V?>(body.appendingField(of: path))
  }
}

extension FieldBody {
  fileprivate func appendingField<S: PersistableStruct, V>(of path: KeyPath<S, V>) -> FieldBody {
    guard let name = StructFields.codingKey(of: path) else { return .path(["\(path)"]) }
    return appending([name])
  }
}
