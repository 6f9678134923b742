import Vivarium

/// An observer that knows the results by its change sets alone.
@MainActor final class ReplayedResults {
  private let results: Results<Thing>
  private var token: NotificationToken?
  private var known: [(id: Int, text: String)] = []
  private(set) var calls = 0

  init(_ store: Store) {
    results = store.objects(Thing.self).sorted(by: \.id)
    token = results.observe { [unowned self] change in MainActor.assumeIsolated { hear(change) } }
    store.refresh()
    known = current()
  }

  private func current() -> [(id: Int, text: String)] { results.map { ($0.id, Self.text($0)) } }

  private static func text(_ thing: Thing) -> String {
    "\(thing.x ?? "-") \(thing.n) \(thing.link?.id ?? 0) \(Array(thing.texts)) \(thing.friends.map(\.id)) \(thing.numbers.map { $0 })"
  }

  private func hear(_ change: CollectionChange<Results<Thing>>) {
    guard case .update(let things, let deletions, let insertions, let modifications) = change else { return }
    calls += 1
    for position in deletions.reversed() { known.remove(at: position) }
    for position in insertions { known.insert((things[position].id, Self.text(things[position])), at: position) }
    for position in modifications.new { known[position].text = Self.text(things[position]) }
  }

  /// Hears nothing more.
  func stop() { token?.stop() }

  /// Throws where it knows something else than there is.
  func check(_ what: String) throws {
    let now = current()
    guard known.map(\.id) == now.map(\.id), known.map(\.text) == now.map(\.text) else {
      throw Divergence("\(what), an observer knows \(known) and not \(now)")
    }
  }
}
