import SyncModel

/// The objects of a store in order, in runs: a page costs what it contains, and an insert costs one run.
struct ObjectOrder: Sendable {
  private var runs: [[ObjectIdentity]] = []
  private static let longest = 512

  init() {}

  /// Creates the order from objects in any order, each once.
  init(_ objects: some Collection<ObjectIdentity>) {
    let sorted = objects.sorted()
    runs = stride(from: 0, to: sorted.count, by: ObjectOrder.longest / 2).map {
      Array(sorted[$0..<min($0 + ObjectOrder.longest / 2, sorted.count)])
    }
  }

  /// The index of the run that holds an object, or would: the last that does not begin after it.
  private func run(for object: ObjectIdentity) -> Int {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if object < runs[middle][0] { high = middle } else { low = middle + 1 }
    }
    return max(low - 1, 0)
  }

  /// The first index in a run whose object is not before the given one.
  private func place(of object: ObjectIdentity, in run: [ObjectIdentity]) -> Int {
    var (low, high) = (0, run.count)
    while low < high {
      let middle = (low + high) / 2
      if run[middle] < object { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Inserts an object, unless it is already there.
  mutating func insert(_ object: ObjectIdentity) {
    guard !runs.isEmpty else {
      runs = [[object]]
      return
    }
    let at = run(for: object)
    let place = place(of: object, in: runs[at])
    if place < runs[at].count, runs[at][place] == object { return }
    runs[at].insert(object, at: place)
    guard runs[at].count > ObjectOrder.longest else { return }
    let rest = Array(runs[at][(ObjectOrder.longest / 2)...])
    runs[at].removeSubrange((ObjectOrder.longest / 2)...)
    runs.insert(rest, at: at + 1)
  }

  mutating func remove(_ object: ObjectIdentity) {
    guard !runs.isEmpty else { return }
    let at = run(for: object)
    let place = place(of: object, in: runs[at])
    guard place < runs[at].count, runs[at][place] == object else { return }
    runs[at].remove(at: place)
    if runs[at].isEmpty { runs.remove(at: at) }
  }

  /// Visits the objects after the given one, or all, until the body returns false.
  func forEach(behind last: ObjectIdentity?, _ body: (ObjectIdentity) -> Bool) {
    guard !runs.isEmpty else { return }
    let first = last.map { run(for: $0) } ?? 0
    for at in first..<runs.count {
      for object in runs[at] where at > first || last.map({ $0 < object }) ?? true {
        guard body(object) else { return }
      }
    }
  }
}
