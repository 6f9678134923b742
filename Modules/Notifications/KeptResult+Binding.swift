import ChangeTracker
import StorageInterface
import StoreValues

// A question that depends on other objects' properties is another one when they change: the result is made anew, on the notifier's
// queue, and to each token the difference from what it has is reported.

extension KeptResult {
  /// Whether some commits made it another question.
  func isRebound(by records: [CommitRecord], in reading: any StorageReading) throws(StorageError) -> Bool {
    guard let binding = recipe.binding, records.contains(where: binding.isTouched) else { return false }
    return try binding.values(in: reading) != boundTo
  }

  /// Takes it over commits that made it another question.
  func rebind(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading
  ) throws(StorageError) {
    let knowing = observations.filter { observation in
      let ignored = observation.ignoredAuthors
      guard !ignored.isEmpty, observation.known?.isEmpty == true else { return false }
      return records.allSatisfy { $0.author.map(ignored.contains) ?? false }
    }
    // The old question knows which of its rows were touched over links.
    if let step = try step(records, from: from, to: to) { try add(step, by: records, (from, to)) }
    try rebuild(in: to, by: records)
    rebase(knowing, at: to.version)
  }

  /// Some of its tokens know what it is now.
  func rebase(_ knowing: [ResultObservation], at version: Version) {
    for observation in observations where knowing.contains(where: { $0 === observation }) {
      observation.noteMove()
      observation.rebase(on: currentState(), at: version)
    }
  }
}
