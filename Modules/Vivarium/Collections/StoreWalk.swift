/// A walk over the elements of a collection in a store, which the store finishes before it moves on.
protocol OpenWalk: AnyObject {
  /// Reads what is left.
  func finish()
}

/// Walks a collection in a store as it is when the walk begins, and reads some elements at a time: a long list is never in memory whole.
/// What is left when the store moves to another version, or begins a write, is read then; in a write, where an edit may follow each
/// step, at once.
final class StoreWalk<T>: OpenWalk {
  /// Shorter collections are read at once.
  private static var portion: Int { 256 }

  private let count: Int
  private let read: (Range<Int>) -> [T]
  /// Stands for an element that is counted and not there; nil where a walk just ends.
  private let missing: ((Int) -> T)?
  private var elements: [T] = []
  private var position = 0
  /// How many were asked for.
  private var reached = 0

  /// - Parameter count: of the collection: as many are walked, whatever is there.
  init(_ store: Store, count: Int, missing: ((Int) -> T)?, _ read: @escaping (Range<Int>) -> [T]) {
    (self.count, self.read, self.missing) = (max(count, 0), read, missing)
    if store.writing != nil || count <= Self.portion { finish() } else { store.add(self) }
  }

  func next() -> T? {
    if position == elements.count {
      if reached == count { return nil }
      take(reached..<min(reached + Self.portion, count))
      if elements.isEmpty { return nil }
    }
    defer { position += 1 }
    return elements[position]
  }

  func finish() {
    if reached == count { return }
    let rest = Array(elements[position...])
    take(reached..<count)
    elements = rest + elements
  }

  private func take(_ range: Range<Int>) {
    elements = read(range)
    position = 0
    reached = range.upperBound
    if elements.count > range.count { elements.removeLast(elements.count - range.count) }
    guard elements.count < range.count else { return }
    guard let missing else { return reached = count }
    for at in range.dropFirst(elements.count) { elements.append(missing(at)) }
  }
}

/// Keeps a walk while somebody takes its steps.
struct WeakWalk {
  weak var walk: (any OpenWalk)?
}

extension Store {
  func add(_ walk: some OpenWalk) {
    reader.walks.removeAll { $0.walk == nil }
    reader.walks.append(WeakWalk(walk: walk))
  }

  func finishWalks() {
    let open = reader.walks
    reader.walks = []
    for walk in open { walk.walk?.finish() }
  }
}
