/// A walk over the elements of a collection in a store, which the store completes before it moves on.
protocol OpenWalk: AnyObject {
  /// Reads the remaining elements.
  func finish()
}

/// Walks a collection in a store as it is at the start of the walk, reading some elements at a time, so that a long list is never
/// in memory as a whole. The remaining elements are read when the store moves to another version or begins a write. Inside a write,
/// where an edit may follow each step, all are read at once.
final class StoreWalk<T>: OpenWalk {
  /// The number of elements read at a time. Shorter collections are read at once.
  private static var portion: Int { 256 }

  private let count: Int
  private let read: (Range<Int>) -> [T]
  /// Makes a replacement for an element that is counted but does not exist; nil if the walk just ends there.
  private let missing: ((Int) -> T)?
  private var elements: [T] = []
  private var position = 0
  /// The number of elements requested so far.
  private var reached = 0

  /// - Parameter count: the number of elements of the collection. The walk has as many steps, whatever exists.
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

/// A weak reference to a walk, which lives while it is used.
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
