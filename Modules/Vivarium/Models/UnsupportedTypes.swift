import StoreValues

// Syntax alone cannot judge every type. These overloads give the compiler a message to show at the property.

private func unbuildable() -> Never {
  // Called only by unavailable declarations, which no program that builds can reach.
  fatalError("an unavailable declaration was called")
}

extension RawContext {
  /// Unavailable: no program that builds can call it; exists for its compiler message.
  @available(
    *, unavailable,
    message: "not persistable: make an enum PersistableEnum, a struct PersistableStruct, others CustomPersistable, or it @Transient")
  public func load<T>(_ key: Int64, _ ordinal: Int) -> T { unbuildable() }

  @available(*, unavailable, message: "a to-one link must be optional: write 'Type?'")
  public func load<T: Model>(_ key: Int64, _ ordinal: Int) -> T { unbuildable() }

  /// Unavailable: no program that builds can call it; exists for its compiler message.
  @available(
    *, unavailable,
    message: "not persistable: make an enum PersistableEnum, a struct PersistableStruct, others CustomPersistable, or it @Transient")
  public func store<T>(_ key: Int64, _ ordinal: Int, _ value: T) { unbuildable() }

  @available(*, unavailable, message: "a to-one link must be optional: write 'Type?'")
  public func store<T: Model>(_ key: Int64, _ ordinal: Int, _ value: T) { unbuildable() }
}

extension PropertySchema {
  @available(
    *, unavailable,
    message: "not persistable: make an enum PersistableEnum, a struct PersistableStruct, others CustomPersistable, or it @Transient")
  public static func _property<Root, Property>(
    _ name: String, _ path: KeyPath<Root, Property>, isPrimaryKey: Bool = false, isIndexed: Bool = false,
    isUnique: Bool = false, isFullText: Bool = false
  ) -> PropertySchema { unbuildable() }

  @available(
    *, unavailable,
    message: "not persistable: make an enum PersistableEnum, a struct PersistableStruct, others CustomPersistable, or it @Transient")
  public static func _property<Root, Property>(
    _ name: String, _ path: KeyPath<Root, Property>, isPrimaryKey: Bool = false, isIndexed: Bool = false,
    isUnique: Bool = false, isFullText: Bool = false, default value: Property
  ) -> PropertySchema { unbuildable() }

  @available(*, unavailable, message: "a to-one link must be optional: write 'Type?'")
  public static func _property<Root, Property: Model>(
    _ name: String, _ path: KeyPath<Root, Property>, isPrimaryKey: Bool = false, isIndexed: Bool = false,
    isUnique: Bool = false, isFullText: Bool = false
  ) -> PropertySchema { unbuildable() }
}

extension PropertySchema {
  @available(*, unavailable, message: "only a relationship, a link or a collection of objects, has a delete rule")
  public static func _property<Root, Property>(
    _ name: String, _ path: KeyPath<Root, Property>, deleteRule: DeleteRule
  ) -> PropertySchema { unbuildable() }
}

extension Adoption {
  /// Unavailable: no program that builds can call it; exists for its compiler message.
  @available(
    *, unavailable,
    message: "not persistable: make an enum PersistableEnum, a struct PersistableStruct, others CustomPersistable, or it @Transient")
  public func put<T>(_ value: T, _ ordinal: Int) { unbuildable() }

  @available(*, unavailable, message: "a to-one link must be optional: write 'Type?'")
  public func put<T: Model>(_ value: T, _ ordinal: Int) { unbuildable() }

  @available(*, unavailable, message: "a to-one link must be optional: write 'Type?'")
  public func put<T: Model>(required value: T?, _ ordinal: Int) throws(StoreError) { unbuildable() }

  /// Unavailable: no program that builds can call it; exists for its compiler message.
  @available(
    *, unavailable,
    message: "not persistable: make an enum PersistableEnum, a struct PersistableStruct, others CustomPersistable, or it @Transient")
  public func put<T>(required value: T?, _ ordinal: Int) throws(StoreError) { unbuildable() }
}

/// Unavailable: no program that builds can call it; exists for its compiler message.
@available(
  *, unavailable,
  message: "not persistable: make an enum PersistableEnum, a struct PersistableStruct, others CustomPersistable, or it @Transient")
public func required<T>(_ value: T?) -> T { unbuildable() }

@available(*, unavailable, message: "a to-one link must be optional: write 'Type?'")
public func required<T: Model>(_ value: T?) -> T { unbuildable() }
