import StorageInterface

extension NetListChanges {
  /// The same once the observers know of some edits by themselves, which come after all that wait to be reported: what they were
  /// given is edited too, and what waits leads on from there. An element that such an edit touched counts as known the way
  /// the edit left it. O(edits · pieces).
  package func skipping(_ edits: [ListChange.Edit]) -> NetListChanges {
    if edits.isEmpty { return self }
    var both = BothLists(self)
    for edit in edits { both.apply(edit) }
    return both.changes
  }
}

/// The list that observers know and the list of now as one sequence, in which each is what is left when the other's own
/// elements are skipped.
private struct BothLists {
  /// Elements next to each other that are in the same of the two lists.
  struct Run: AlikeElements {
    var count: Int
    var isKnown: Bool
    var isNow: Bool
    var isModified = false
    /// Of elements that wait to be reported as moved, which are here twice: the position of the first in the list that was known
    /// in the beginning. Set for whatever is known alone, too.
    var origin: Int?

    func part(_ range: Range<Int>) -> Run {
      var part = self
      part.count = range.count
      part.origin = origin.map { $0 + range.lowerBound }
      return part
    }
  }

  var runs: [Run] = []

  init(_ changes: NetListChanges) {
    var next = 0
    for piece in changes.pieces {
      guard let old = piece.old, !piece.isMoved else {
        runs.append(
          Run(count: piece.count, isKnown: false, isNow: true, isModified: piece.isModified, origin: piece.old))
        continue
      }
      appendKnown(next..<old)
      runs.append(Run(count: piece.count, isKnown: true, isNow: true, isModified: piece.isModified))
      next = old + piece.count
    }
    appendKnown(next..<max(next, changes.oldCount))
  }

  private mutating func appendKnown(_ range: Range<Int>) {
    if !range.isEmpty { runs.append(Run(count: range.count, isKnown: true, isNow: false, origin: range.lowerBound)) }
  }

  mutating func apply(_ edit: ListChange.Edit) {
    switch edit {
    case .insert(let at, let count):
      let count = min(count, NetListChanges.countMax - runs.reduce(0) { $0 + $1.count })
      if count > 0 { runs.insert(Run(count: count, isKnown: true, isNow: true), at: split(before: at)) }
    case .remove(let range): remove(range.clamped(to: 0..<count))
    case .set(let at):
      guard at >= 0, at < count else { return }
      let i = split(before: at)
      _ = split(before: at + 1)
      runs[i].isModified = false
    case .move(let from, let to):
      guard from >= 0, from < count, to >= 0, to < count, from != to, var run = take(from) else { return }
      // Wherever it waited to be reported before, it is known to be here.
      run.isKnown = run.isKnown || run.origin != nil
      run.origin = nil
      runs.insert(run, at: split(before: to))
    case .clear: remove(0..<count)
    }
  }

  /// Takes elements of now out of both lists.
  private mutating func remove(_ range: Range<Int>) {
    if range.isEmpty { return }
    let first = split(before: range.lowerBound)
    var forgotten: [Range<Int>] = []
    for i in (first..<split(before: range.upperBound)).reversed() where runs[i].isNow {
      let run = runs.remove(at: i)
      if !run.isKnown, let origin = run.origin { forgotten.append(origin..<origin + run.count) }
    }
    for origins in forgotten { forget(origins) }
  }

  private var count: Int { runs.reduce(0) { $0 + ($1.isNow ? $1.count : 0) } }

  /// Takes one element of now out of both lists.
  private mutating func take(_ position: Int) -> Run? {
    let i = split(before: position)
    _ = split(before: position + 1)
    guard runs.indices.contains(i) else { return nil }
    let run = runs.remove(at: i)
    if !run.isKnown, let origin = run.origin { forget(origin..<origin + 1) }
    return run
  }

  /// Takes elements that are known alone out, by where they were in the beginning.
  private mutating func forget(_ origins: Range<Int>) {
    var kept: [Run] = []
    for run in runs {
      guard run.isKnown, !run.isNow, let start = run.origin else {
        kept.append(run)
        continue
      }
      let range = start..<start + run.count
      let gone = range.clamped(to: origins)
      for rest in gone.isEmpty ? [range] : [start..<gone.lowerBound, gone.upperBound..<range.upperBound]
      where !rest.isEmpty {
        kept.append(run.part(rest.lowerBound - start..<rest.upperBound - start))
      }
    }
    runs = kept
  }

  /// Makes a run of now begin at the position; its index, or the number of runs.
  private mutating func split(before position: Int) -> Int { runs.split(before: position, where: \.isNow) }

  /// What leads from the one list to the other.
  var changes: NetListChanges {
    var pieces: [NetListChanges.Piece] = []
    var known = 0
    /// Where elements that are known alone are now known to be, by where they were in the beginning.
    var places: [Int: Int] = [:]
    for run in runs where run.isKnown {
      if !run.isNow, let origin = run.origin {
        for i in 0..<run.count { places[origin + i] = known + i }
      }
      known += run.count
    }
    var next = 0
    for run in runs {
      if run.isNow {
        if run.isKnown {
          pieces.append(.init(old: next, count: run.count, isModified: run.isModified))
        } else if let origin = run.origin {
          for i in 0..<run.count {
            pieces.append(.init(old: places[origin + i], count: 1, isModified: run.isModified, isMoved: true))
          }
        } else {
          pieces.append(.init(old: nil, count: run.count))
        }
      }
      if run.isKnown { next += run.count }
    }
    return NetListChanges(oldCount: known, pieces)
  }
}
