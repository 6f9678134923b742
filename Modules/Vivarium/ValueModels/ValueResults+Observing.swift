import Notifications
import QueryModel
import StoreValues

extension ValueResults: StoreObservable {
  /// The same deletions, insertions and modifications as of `objects`, and the values as they are now.
  ///
  /// ```swift
  /// token = store.values(Reading.self).observe { change in
  ///   if case .update(let readings, _, let insertions, _) = change { show(insertions.map { readings[$0] }) }
  /// }
  /// ```
  public var _$source: ObservationSource<CollectionChange<ValueResults<Value>>> { objects.state.source { ValueResults($0) } }
}

/// What an observer of one value hears.
public enum ValueChange<Value: ValueModel>: Sendable {
  /// The value as it is when it is first looked at; nil where there is none.
  case initial(Value?)
  /// Another value, or none: what it was when the observer was last notified, and what it is.
  case change(old: Value?, new: Value?)
  /// It cannot be observed. The last call.
  case error(StoreError)
}

extension Store {
  /// Runs `block` on this store's context with the value that has a primary key, and whenever it is another one, comes or
  /// goes. Several commits come as one call. Keep the token, and stop it in the end.
  ///
  /// ```swift
  /// token = store.observe(Reading.self, forPrimaryKey: 1) { change in
  ///   if case .change(let old, let new) = change { print(old?.celsius ?? .nan, new?.celsius ?? .nan) }
  /// }
  /// ```
  public func observe<V: ValueModel, Key: Scalar>(
    _ type: V.Type, forPrimaryKey key: Key, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, _ block: @escaping (ValueChange<V>) -> Void
  ) -> NotificationToken {
    let name = V.Live._$schema.properties.first(where: \.isPrimaryKey)?.name ?? ""
    let condition = Comparison(.path(PropertyPath([name])), .equal, .constant(key.persistedValue))
    let found = objects(V.Live.self).refined { $0.condition = .comparison(condition) }
    var known: V?
    return found.observe(isolation: isolation, fileID: fileID, line: line) { change in
      switch change {
      case .initial(let objects):
        known = objects.first.map { V($0) }
        block(.initial(known))
      case .error(let error): block(.error(error))
      case .update(let objects, _, _, _):
        let new = objects.first.map { V($0) }
        block(.change(old: known, new: new))
        known = new
      }
    }
  }
}
