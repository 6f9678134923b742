import Vivarium

/// The marks below rank 100 by rank: a line for each call, with its change set and the numbers of the marks.
final class Observation {
  private let store: Store
  private var token: NotificationToken?

  init(_ store: Store) {
    self.store = store
    token = store.objects(Mark.self).where { $0.rank < 100 }.sorted(by: \.rank).observe { change in
      let numbers = (change.collection?.map(\.number) ?? []).map(String.init).joined(separator: ",")
      guard case .update(_, let deletions, let insertions, let modifications) = change else {
        return WatchChild.say("||||\(numbers)")
      }
      let sets = [deletions, insertions, Array(modifications), modifications.new]
      WatchChild.say((sets.map { $0.map(String.init).joined(separator: ",") } + [numbers]).joined(separator: "|"))
    }
  }

  /// Writes a mark, where the store is.
  func add(_ number: Int) throws { try store.write { try store.add(Mark(number: number, rank: number)) } }

  func end() { token?.stop() }
}
