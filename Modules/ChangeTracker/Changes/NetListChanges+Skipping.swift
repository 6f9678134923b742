import StorageInterface

extension NetListChanges {
  /// The changes once the observers already know the result of some edits, which follow all pending ones: the base is edited
  /// too, and pending changes continue from there. An element that such an edit touched is known in its new state. O(edits ·
  /// pieces).
  package func skipping(_ edits: [ListChange.Edit]) -> NetListChanges {
    if edits.isEmpty { return self }
    var both = BothLists(self)
    for edit in edits { both.apply(edit) }
    return both.changes
  }
}

/// The list that observers know and the current list as one merged sequence: each is what remains without the other's own
/// elements.
private struct BothLists {
  /// Adjacent elements that are in the same of the two lists.
  struct Run: AlikeElements {
    var count: Int
    var isKnown: Bool
    var isNow: Bool
    var isModified = false
    /// For elements with a pending move, which occur twice: the position of the first in the originally known list. Also set
    /// for all elements that are only in the known list.
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
      // Wherever its pending move began, the observers now know it here.
      run.isKnown = run.isKnown || run.origin != nil
      run.origin = nil
      runs.insert(run, at: split(before: to))
    case .clear: remove(0..<count)
    }
  }

  /// Removes elements of the current list from both lists.
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

  /// Removes one element of the current list from both lists.
  private mutating func take(_ position: Int) -> Run? {
    let i = split(before: position)
    _ = split(before: position + 1)
    guard runs.indices.contains(i) else { return nil }
    let run = runs.remove(at: i)
    if !run.isKnown, let origin = run.origin { forget(origin..<origin + 1) }
    return run
  }

  /// Removes elements that are only in the known list, by their original positions.
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

  /// Splits so that a run of the current list begins at the position; returns its index, or the number of runs.
  private mutating func split(before position: Int) -> Int { runs.split(before: position, where: \.isNow) }

  /// The changes from the known list to the current one.
  var changes: NetListChanges {
    var pieces: [NetListChanges.Piece] = []
    var known = 0
    /// The new known positions of elements that are only in the known list, by their original positions.
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
