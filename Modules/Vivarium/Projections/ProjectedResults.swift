import Notifications
import StoreValues

/// Results that show each object by a projection. Live like the results.
public struct ProjectedResults<P: ModelProjection>: RandomAccessCollection {
  /// The results that are shown.
  public let results: Results<P.Root>

  init(_ results: Results<P.Root>) { self.results = results }

  public var startIndex: Int { 0 }
  public var endIndex: Int { results.count }
  /// Always 0: iteration skips objects deleted meanwhile, and callers that reserve space by this number trap if fewer follow.
  public var underestimatedCount: Int { 0 }
  /// The error that makes these results empty; nil if the query is valid.
  public var error: StoreError? { results.error }

  /// A projection of the object at a position; outside the bounds as in `Results`.
  public subscript(position: Int) -> P { P(results[position]) }

  /// Iterates over the results as they are when the iterator is made.
  public func makeIterator() -> AnyIterator<P> {
    var objects = results.makeIterator()
    return AnyIterator { objects.next().map { P($0) } }
  }
}

extension ProjectedResults: StoreObservable {
  /// Reports modifications of projected properties only; options name projected properties. Throws `.unknownProperty` if a relevant
  /// one is computed.
  public var _$source: ObservationSource<CollectionChange<ProjectedResults<P>>> {
    P.projecting(results.state.source { (results: Results<P.Root>) in Self(results) }) { P(P.Root(_$blank: ())) }
  }
}

extension Results {
  /// The objects, each shown by a projection: filter and sort before.
  public func projected<P: ModelProjection>(to type: P.Type) -> ProjectedResults<P> where P.Root == Element {
    ProjectedResults(self)
  }
}
