import Values

// Syntax cannot judge every type. These overloads give the compiler a sentence to say at the property. They
// are unavailable: no program that builds can reach one, so their bodies never run.

extension RawContext {
  @available(
    *, unavailable,
    message:
      "this type cannot be persisted: use a scalar, a PersistableEnum, an optional of these, LiveList, an optional model, or mark the property @Transient"
  )
  public func load<T>(_ key: Int64, _ ordinal: Int) -> T { fatalError("unreachable") }

  @available(*, unavailable, message: "a to-one link must be optional: write 'Type?'")
  public func load<T: Model>(_ key: Int64, _ ordinal: Int) -> T { fatalError("unreachable") }

  @available(*, unavailable, message: "not a persistable type")
  public func store<T>(_ key: Int64, _ ordinal: Int, _ value: T) { fatalError("unreachable") }
}

extension PropertySchema {
  @available(*, unavailable, message: "not a persistable type")
  public static func _property<Root, Property>(
    _ name: String, _ path: KeyPath<Root, Property>, isPrimaryKey: Bool = false, isIndexed: Bool = false,
    isUnique: Bool = false
  ) -> PropertySchema { fatalError("unreachable") }
}

extension Adoption {
  @available(*, unavailable, message: "not a persistable type")
  public func put<T>(_ value: T, _ ordinal: Int) { fatalError("unreachable") }

  @available(*, unavailable, message: "not a persistable type")
  public func put<T>(required value: T?, _ ordinal: Int) throws(StoreError) { fatalError("unreachable") }
}

@available(*, unavailable, message: "not a persistable type")
public func required<T>(_ value: T?) -> T { fatalError("unreachable") }
