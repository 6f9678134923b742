import Notifications
import StoreValues

/// Results, each object of which is shown by a projection. Live as the results are.
public struct ProjectedResults<P: ModelProjection>: RandomAccessCollection {
  /// What is shown.
  public let results: Results<P.Root>

  init(_ results: Results<P.Root>) { self.results = results }

  public var startIndex: Int { 0 }
  public var endIndex: Int { results.count }
  /// Nothing is promised: what a walk leaves out is not known before, and who makes room by this ends where there is less.
  public var underestimatedCount: Int { 0 }
  /// Why these are empty, when what was asked cannot be asked.
  public var error: StoreError? { results.error }

  /// A projection of the object at a position; outside of the bounds as with `Results`.
  public subscript(position: Int) -> P { P(results[position]) }

  /// Walks the results as they are when it is made.
  public func makeIterator() -> AnyIterator<P> {
    var objects = results.makeIterator()
    return AnyIterator { objects.next().map { P($0) } }
  }
}

extension ProjectedResults: StoreObservable {
  /// Modifications are those of what is projected alone; options name projected properties. `.unknownProperty` when one that counts is
  /// computed.
  public var _$source: ObservationSource<CollectionChange<ProjectedResults<P>>> {
    P.projecting(results.state.source { (results: Results<P.Root>) in Self(results) }) { P(P.Root(_$blank: ())) }
  }
}

extension Results {
  /// The same objects, each shown by a projection: filter and sort before.
  public func projected<P: ModelProjection>(to type: P.Type) -> ProjectedResults<P> where P.Root == Element {
    ProjectedResults(self)
  }
}
