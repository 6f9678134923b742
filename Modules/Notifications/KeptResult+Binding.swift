import ChangeTracker
import StorageInterface
import StoreValues

// A question that depends on other objects' properties becomes a different one when they change: the notifier's queue evaluates
// the result again, and each token is notified of the difference from the result it has.

extension KeptResult {
  /// Whether some commits changed the question.
  func isRebound(by records: [CommitRecord], in reading: any StorageReading) throws(StorageError) -> Bool {
    guard let binding = recipe.binding, records.contains(where: binding.isTouched) else { return false }
    return try binding.values(in: reading) != boundTo
  }

  /// Advances the result over commits that changed the question.
  func rebind(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading, _ answer: Answer? = nil
  ) throws(StorageError) {
    let knowing = observations.filter { observation in
      let ignored = observation.ignoredAuthors
      guard !ignored.isEmpty, observation.known?.isEmpty == true else { return false }
      return records.allSatisfy { $0.author.map(ignored.contains) ?? false }
    }
    // The old question knows which of its rows were touched over links.
    if let step = try step(records, from: from, to: to, answer) { try add(step, by: records, (from, to)) }
    try rebuild(in: to, by: records, answer)
    rebase(knowing, at: to.version)
  }

  /// Records that some tokens know the current result.
  func rebase(_ knowing: [ResultObservation], at version: Version) {
    for observation in observations where knowing.contains(where: { $0 === observation }) {
      observation.noteMove()
      observation.rebase(on: currentState(), at: version)
    }
  }
}
