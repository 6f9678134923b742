import StorageInterface
import StoreValues

// One property of every object, for charts, menus and exports: without the objects.

extension Results {
  /// A property of every object, in the order of the results. Makes no objects: the values are read by column, a run of rows at
  /// a time.
  ///
  /// ```swift
  /// let names = try people.sorted(by: \.name).values(\.name)
  /// let cities = Set(try people.values(\.city))            // each once
  /// let first = try people.distinct(by: \.city).values(\.city)   // each once, in the order of the results
  /// ```
  ///
  /// An array of the version that is read, and not live. O(n) where the results are in the order of insertion, else O(n log n).
  /// Throws what is in `error`, `.unknownProperty` for a path that is no persisted property, and what the disk causes.
  public func values<V: Scalar>(_ path: KeyPath<Element, V>) throws(StoreError) -> [V] {
    let found: [V?] = try state.values(try Element.scalar(path))
    return found.map { $0 ?? V._$zero }
  }

  /// The same of an optional property.
  public func values<V: Scalar>(_ path: KeyPath<Element, V?>) throws(StoreError) -> [V?] {
    try state.values(try Element.scalar(path))
  }

  /// A property of what every object links to: `people.values(\.best, \.name)`. nil where the link is. The link may be an
  /// inverse to one object.
  public func values<Target: Model, V: Scalar>(
    _ link: KeyPath<Element, Target?>, _ path: KeyPath<Target, V>
  ) throws(StoreError) -> [V?] {
    let found: [V??] = try state.values(try Element.scalar(link), try Target.scalar(path), of: Target.self)
    return found.map { target in target.map { $0 ?? V._$zero } }
  }

  /// The same of an optional property: nil where the link is, or the property.
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

  /// What lies behind a link; nil where that is null.
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

  /// The object that each links to.
  private func ends(of keys: [Int64], _ link: Int) throws(StorageError) -> [Int64?] {
    guard let origin = context.properties[link].origin else { return try store.reading.words(context.columns[link], of: keys) }
    var ends: [Int64?] = []
    for key in keys { ends.append(try store.reading.firstSource(of: ObjectKey(key), through: origin)?.rawValue) }
    return ends
  }
}
