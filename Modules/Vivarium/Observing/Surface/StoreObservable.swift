import StoreValues

/// A value of a store that can be observed: results, also bound, filtered, projected and value results; lists, sets, maps and
/// inverses of an object; objects and their projections; aggregates of results.
///
/// ```swift
/// token = jane.dogs.observe(options: ObservationOptions(properties: ["name"], throttle: .milliseconds(250))) { change in show(change) }
/// ```
///
/// All of them are observed in the same ways (`observe { }` in the store's context, `observe(on:)` on a queue or an actor) and with
/// the same `ObservationOptions`. Only the library's types conform.
public protocol StoreObservable<ObservationChange>: SendableMetatype {
  /// The type that the block receives.
  associatedtype ObservationChange: StoreChange
  /// How an observation of this value begins.
  var _$source: ObservationSource<ObservationChange> { get }
}

/// A change that observers receive, or the error that ends the observation.
public protocol StoreChange: SendableMetatype {
  /// The last call of an observation that cannot continue.
  static func error(_ error: StoreError) -> Self
}

extension CollectionChange: StoreChange {}
extension MapChange: StoreChange {}
extension ObjectChange: StoreChange {}
extension AggregateChange: StoreChange {}
