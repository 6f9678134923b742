import Vivarium

/// What became of the changes that waited when a file began anew.
package struct RecoveryReport: Hashable, Sendable {
  /// Whether the file begins anew as another replica.
  package var isAsNewReplica = false
  /// Writes that were redone, as a whole or in part.
  package var recovered = 0
  /// Writes of which nothing was redone, and something is lost.
  package var dropped = 0
  /// The objects of what is lost, with their keys in the file before.
  package var objects: Set<ObjectID> = []

  package init() {}

  /// With what was discarded before.
  func joined(_ earlier: RecoveryReport?) -> RecoveryReport {
    guard let earlier else { return self }
    var all = self
    all.recovered += earlier.recovered
    all.dropped += earlier.dropped
    all.objects.formUnion(earlier.objects)
    return all
  }
}
