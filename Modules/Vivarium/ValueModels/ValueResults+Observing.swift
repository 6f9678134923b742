import Notifications
import QueryModel
import StoreValues

extension ValueResults: StoreObservable {
  /// Reports the same deletions, insertions and modifications as `objects`, with the current values.
  ///
  /// ```swift
  /// token = store.values(Reading.self).observe { change in
  ///   if case .update(let readings, _, let insertions, _) = change { show(insertions.map { readings[$0] }) }
  /// }
  /// ```
  public var _$source: ObservationSource<CollectionChange<ValueResults<Value>>> { objects.state.source { ValueResults($0) } }
}

/// The notification that an observer of one value receives.
public enum ValueChange<Value: ValueModel>: Sendable {
  /// The value at the first notification; nil if there is none.
  case initial(Value?)
  /// The value changed, appeared or disappeared: its state at the previous notification, or as a commit that skipped the observer made
  /// it, and now. If the store moved over such a commit of another store and a later one at once, `old` is the state before both.
  case change(old: Value?, new: Value?)
  /// The value cannot be observed. The last call.
  case error(StoreError)
}

extension Store {
  /// Runs `block` on this store's context with the value that has a primary key, and whenever it changes, appears or disappears.
  /// Several commits may cause one call. Keep the token, and stop it in the end.
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
    // The old value comes from the version that the observer knows: a commit that skips it moves that version, and calls nobody.
    return found.observe(
      options: ObservationOptions(includingOldValues: true), isolation: isolation, fileID: fileID, line: line
    ) { change in
      switch change {
      case .initial(let objects): block(.initial(objects.first.map { V($0) }))
      case .error(let error): block(.error(error))
      case .update(let objects, _, _, let rows):
        let old: [Frozen<V.Live>] = rows.details.map { $0.modifiedObjects() + $0.deletedObjects() } ?? []
        block(.change(old: old.first.map { V($0.unmanagedCopy()) }, new: objects.first.map { V($0) }))
      }
    }
  }
}
