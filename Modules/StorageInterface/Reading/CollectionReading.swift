import StoreValues

/// Reading lists, sets and maps.
///
/// Called once per read of a collection: for its count, for a run of its elements, or for one member or key. Queries over
/// collections call `elements` for each object they test. On one thread at a time.
public protocol CollectionReading: VersionReading {
  /// The number of elements of a list, members of a set or keys of a map. O(1) or close to it.
  func elementCount(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int

  /// Elements of a list, members of a set or values of a map, in order, in batches without object keys; `range` is in positions
  /// of that order and clamped. `columns[0]` has the elements; for a map `columns[1]` has their keys (UTF-8 bytes, never null).
  func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError)

  /// The position of a member of a set, or (as a string) of a key of a map, in iteration order; nil if it is not present. A set
  /// compares by `Value.order(to:)`. O(log n) if the engine can, else O(n).
  func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int?

  /// Whether a set has the member. O(log n). Engines with a faster way than `position` implement it.
  func contains(member: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool

  /// The value of a key of a map; nil if the map does not have the key, `.null` if its value is null. O(log n). Engines with a
  /// faster way than `position` implement it.
  func value(forKey key: String, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Value?
}

extension CollectionReading {
  /// The elements of a list, members of a set or values of a map, as `Value`s.
  public func values(_ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>) throws(StorageError) -> [Value] {
    let type = try collectionType(column)
    var result: [Value] = []
    try elements(column, owner, range) { batch in
      let vector = batch.columns[0]
      for row in 0..<batch.count { result.append(vector.value(at: row, as: type)) }
      return .proceed
    }
    return result
  }

  /// The keys and values of a map, as `Value`s, in key order.
  public func entries(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>
  ) throws(StorageError) -> [ValueMap.Entry] {
    guard let entry = catalog[column], case .map(let type) = entry.schema.kind else {
      throw StorageError(.misuse, .statement, "There is no map column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    var result: [ValueMap.Entry] = []
    try elements(column, owner, range) { batch in
      let (values, keys) = (batch.columns[0], batch.columns[1])
      for row in 0..<batch.count {
        result.append(
          ValueMap.Entry(String(decoding: keys.bytes(at: row), as: UTF8.self), values.value(at: row, as: type)))
      }
      return .proceed
    }
    return result
  }

  private func collectionType(_ column: ColumnID) throws(StorageError) -> ValueType {
    guard let schema = catalog[column]?.schema, schema.isCollection, let type = schema.valueType else {
      throw StorageError(
        .misuse, .statement, "There is no collection column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    return type
  }

  /// Implemented by `position`.
  public func contains(member: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    guard catalog[column]?.schema.isSet == true else {
      throw StorageError(.misuse, .statement, "There is no set column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    return try position(of: member, in: column, owner) != nil
  }

  /// Implemented by `position` and `elements`.
  public func value(
    forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> Value? {
    guard catalog[column]?.schema.isMap == true else {
      throw StorageError(.misuse, .statement, "There is no map column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    guard let position = try position(of: .string(key), in: column, owner) else { return nil }
    return try values(column, owner, position..<position + 1).first
  }
}
