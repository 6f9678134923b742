import StorageInterface
import StoreValues

// Reads one property of every object, for charts, menus and exports, without creating the objects.

extension Results {
  /// The values of a property for every object, in the order of the results. Creates no objects: reads the values by column, a run
  /// of rows at a time.
  ///
  /// ```swift
  /// let names = try people.sorted(by: \.name).values(\.name)
  /// let cities = Set(try people.values(\.city))            // each once
  /// let first = try people.distinct(by: \.city).values(\.city)   // each once, in the order of the results
  /// ```
  ///
  /// The array belongs to the version that is read and is not live. O(n) if the results are in insertion order, otherwise O(n log
  /// n). Throws `error`, `.unknownProperty` for a path that is not a persisted property, and errors of the disk.
  public func values<V: Scalar>(_ path: KeyPath<Element, V>) throws(StoreError) -> [V] {
    let found: [V?] = try state.values(try Element.scalar(path))
    return found.map { $0 ?? V._$zero }
  }

  /// The values of an optional property.
  public func values<V: Scalar>(_ path: KeyPath<Element, V?>) throws(StoreError) -> [V?] {
    try state.values(try Element.scalar(path))
  }

  /// The values of a property of the linked objects: `people.values(\.best, \.name)`. nil where the link is nil. The link may be an
  /// inverse to one object.
  public func values<Target: Model, V: Scalar>(
    _ link: KeyPath<Element, Target?>, _ path: KeyPath<Target, V>
  ) throws(StoreError) -> [V?] {
    let found: [V??] = try state.values(try Element.scalar(link), try Target.scalar(path), of: Target.self)
    return found.map { target in target.map { $0 ?? V._$zero } }
  }

  /// The values of an optional property of the linked objects: nil where the link or the property is nil.
  public func values<Target: Model, V: Scalar>(
    _ link: KeyPath<Element, Target?>, _ path: KeyPath<Target, V?>
  ) throws(StoreError) -> [V?] {
    let found: [V??] = try state.values(try Element.scalar(link), try Target.scalar(path), of: Target.self)
    return found.map { $0 ?? nil }
  }
}

extension Model {
  fileprivate static func scalar(_ path: AnyKeyPath) throws(StoreError) -> Int {
    guard let ordinal = ordinal(of: path) else { throw .notAProperty(path, _$name) }
    return ordinal
  }
}

extension ResultsState {
  fileprivate func values<V: Scalar>(_ ordinal: Int) throws(StoreError) -> [V?] {
    let keys = try checkedKeys().array
    return try storing { () throws(StorageError) in try context.values(of: keys, ordinal) }
  }

  /// The values behind a link; nil where the link is null.
  fileprivate func values<Target: Model, V: Scalar>(
    _ link: Int, _ ordinal: Int, of target: Target.Type
  ) throws(StoreError) -> [V??] {
    let keys = try checkedKeys().array
    let targets = store.context(target)
    if store.tracksReads { targets.didReadResults() }
    return try storing { () throws(StorageError) in
      let ends = try ends(of: keys, link)
      let found: [V?] = try targets.values(of: ends.compactMap { $0 }, ordinal)
      var next = 0
      return ends.map { end -> V?? in
        guard end != nil else { return .none }
        defer { next += 1 }
        return .some(found[next])
      }
    }
  }

  /// The key of each linked object.
  private func ends(of keys: [Int64], _ link: Int) throws(StorageError) -> [Int64?] {
    guard let origin = context.properties[link].origin else { return try store.reading.words(context.columns[link], of: keys) }
    var ends: [Int64?] = []
    for key in keys { ends.append(try store.reading.firstSource(of: ObjectKey(key), through: origin)?.rawValue) }
    return ends
  }
}
