import StorageInterface
import StoreValues

// A getter cannot throw: for a stored value that cannot be read as the struct it gives nil or `init()`, and the log says so.

extension PersistableStruct {
  public static func _$load(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self { _$loadOptional(raw, key, ordinal) ?? Self() }

  public static func _$loadOptional(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self? {
    assert(raw.reportsReadElsewhere())
    let context = raw.context
    guard let stored = stored(raw, context, key, ordinal), !stored.isNull else { return nil }
    if let made = Self(persisted: stored) { return made }
    context.store.misuse(unreadable(stored, in: context.place(ordinal), of: key))
    return nil
  }

  /// nil if it is null, or there is no object.
  private static func stored(_ raw: RawContext, _ context: ModelContext, _ key: Int64, _ ordinal: Int) -> Value? {
    let window = raw.windows + ordinal
    var row = window.pointee.row(of: key)
    if row == nil {
      switch context.locate(key, ordinal) {
      case .window(let found): row = found
      case .point: return context.value(key, ordinal)
      case .nothing: return nil
      }
    }
    guard let row, !window.pointee.vector.isNull(at: row) else { return nil }
    return window.pointee.vector.value(at: row, as: .mixed)
  }

  public static func _$element(_ vector: ColumnVector, _ row: Int, _ store: Store) -> Self? {
    vector.isNull(at: row) ? nil : _$element(vector.value(at: row, as: .mixed), store)
  }

  public static func _$element(_ value: Value, _ store: Store) -> Self? {
    if value.isNull { return nil }
    if let made = Self(persisted: value) { return made }
    store.misuse(unreadable(value, in: nil))
    return nil
  }

  /// The error for a stored value that is no such struct.
  /// - Parameter place: the property; nil for an element of an unknown collection.
  static func unreadable(_ stored: Value, in place: String?, of key: Int64? = nil) -> StoreError {
    let place = place.map { "'\($0)'\(key.map { " of #\($0)" } ?? "")" } ?? "a collection"
    return StoreError(
      .typeMismatch, "What is stored in \(place) cannot be read as '\(Self.self)', and is not written over.",
      remedy: "Mend it in a migration, or replace it by 'setValue(_:forKey:)'.", details: ["property": place, "value": "\(stored)"])
  }
}

extension ModelContext {
  /// A property's name for messages.
  func place(_ ordinal: Int) -> String { "\(schema.name).\(properties[ordinal].schema.name)" }
}
