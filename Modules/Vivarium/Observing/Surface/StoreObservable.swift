import StoreValues

/// Whatever of a store can be observed: results, also bound, filtered, projected ones and those of values; lists, sets, maps and
/// inverses of an object; objects and their projections; numbers of results.
///
/// ```swift
/// token = jane.dogs.observe(options: ObservationOptions(properties: ["name"], throttle: .milliseconds(250))) { change in show(change) }
/// ```
///
/// All of them are observed in the same ways (`observe { }` in the store's context, `observe(on:)` on a queue or an actor) and
/// with the same `ObservationOptions`. The library's types conform; others cannot.
public protocol StoreObservable<ObservationChange>: SendableMetatype {
  /// What the block hears.
  associatedtype ObservationChange: StoreChange
  /// How an observation of this begins.
  var _$source: ObservationSource<ObservationChange> { get }
}

/// What observers hear: it can say why there is nothing to hear any more.
public protocol StoreChange: SendableMetatype {
  /// The last call of an observation that cannot go on.
  static func error(_ error: StoreError) -> Self
}

extension CollectionChange: StoreChange {}
extension MapChange: StoreChange {}
extension ObjectChange: StoreChange {}
extension AggregateChange: StoreChange {}
