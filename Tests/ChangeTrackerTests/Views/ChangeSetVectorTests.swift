import ChangeTracker
import Foundation
import Testing

/// Change sets recorded from Realm's engine, see `Tests/Fixtures/changesets.json`. Every vector is run, or counted
/// with the reason why it cannot be expressed.
@Suite struct ChangeSetVectorTests {
  private struct Vectors: Decodable {
    var merge: [Merge]
    var calculate: [Calculate]
    var finalize: [Finalize]
    var incremental: [Incremental]
  }
  private struct Positions: Decodable {
    var deletions: [Int]
    var insertions: [Int]
    var modifications: [Int]
    var moves: [[Int]]
    var modifications_new: [Int]?
  }
  private struct Merge: Decodable {
    var first: Positions
    var second: Positions
    var expect: Positions
  }
  private struct Calculate: Decodable {
    var order: String
    var prev: [Int64]
    var next: [Int64]
    var modified: [Int64]
    var expect: Positions
  }
  private struct Finalize: Decodable {
    var first: Positions
    var expect: Positions
  }
  private struct Incremental: Decodable {
    var op: String
    var args: [Int]
    var before: Positions
    var expect: Positions
  }

  private let vectors: Vectors

  init() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    vectors = try JSONDecoder().decode(
      Vectors.self, from: Data(contentsOf: tests.appendingPathComponent("Fixtures/changesets.json")))
  }

  /// A collection of numbered elements that a recorded change set is played on.
  private struct Played {
    var elements: [Int64]
    var next: Int64 = 1_000
    var moved: Set<Int64> = []
    var modified: Set<Int64> = []

    /// False when the positions do not fit.
    mutating func play(_ set: Positions) -> Bool {
      let before = elements
      if let last = set.deletions.last, last >= before.count { return false }
      let isWhole = set.moves.allSatisfy { set.deletions.contains($0[0]) && set.insertions.contains($0[1]) }
      if !isWhole { return false }
      for position in set.deletions.reversed() { elements.remove(at: position) }
      for position in set.insertions {
        guard position <= elements.count else { return false }
        if let move = set.moves.first(where: { $0[1] == position }) {
          elements.insert(before[move[0]], at: position)
          moved.insert(before[move[0]])
        } else {
          next += 1
          elements.insert(next, at: position)
        }
      }
      for position in set.modifications {
        guard position < elements.count else { return false }
        modified.insert(elements[position])
      }
      return true
    }
  }

  /// Before it is finished, a recorded set lists modified rows among the inserted ones too; ours never does.
  private func matches(_ ours: ChangeSet, _ expected: Positions) -> Bool {
    ours.deletions == expected.deletions && ours.insertions == expected.insertions
      && ours.modificationsInNew == expected.modifications.filter { !expected.insertions.contains($0) }
  }

  @Test func netChangesOfTwoSetsAreAsRecorded() {
    let old = Array(Int64(0)..<30)
    for vector in vectors.merge {
      var played = Played(elements: old)
      let fits = played.play(vector.first) && played.play(vector.second)
      #expect(fits)
      let set = ChangeSet.between(old, played.elements, candidates: played.moved, modified: played.modified)
      #expect(matches(set, vector.expect), "\(vector) \(set)")
    }
    #expect(vectors.merge.count == 134)
  }

  @Test func modificationsGetTheirOldPositionsAsRecorded() {
    for vector in vectors.finalize {
      let old = Array(Int64(0)..<100)
      var played = Played(elements: old)
      let fits = played.play(vector.first)
      #expect(fits)
      let set = ChangeSet.between(old, played.elements, candidates: played.moved, modified: played.modified)
      #expect(set.deletions == vector.expect.deletions && set.insertions == vector.expect.insertions)
      #expect(set.modifications == vector.expect.modifications, "\(vector) \(set)")
      #expect(set.modificationsInNew == vector.expect.modifications_new, "\(vector) \(set)")
    }
  }

  @Test func comparedCollectionsGiveTheRecordedRows() {
    for vector in vectors.calculate {
      // -1 is an object that is gone: any of them, all different.
      let prev = vector.prev.enumerated().map { $1 == -1 ? -100 - Int64($0) : $1 }
      let isRepeated = Set(prev).count != prev.count || Set(vector.next).count != vector.next.count
      let set =
        isRepeated
        ? ChangeSet.between(repeating: prev, vector.next, modified: Set(vector.modified))
        : ChangeSet.between(prev, vector.next, modified: Set(vector.modified), isSorted: vector.order == "sorted")
      #expect(matches(set, vector.expect), "\(vector) \(set)")
    }
  }

  @Test func singleEditsAreAsRecorded() {
    let old = Array(Int64(0)..<30)
    var listed = 0
    for vector in vectors.incremental {
      var played = Played(elements: old)
      guard played.play(vector.before) else {
        listed += 1  // Moves of a row that is not deleted and inserted: an inner state that nobody is given.
        continue
      }
      let args = vector.args
      switch vector.op {
      case "insert":
        played.elements.insert(contentsOf: (0..<args[1]).map { 2_000 + Int64($0) }, at: args[0])
      case "erase": played.elements.remove(at: args[0])
      case "modify": played.modified.insert(played.elements[args[0]])
      case "clear": played.elements = []
      case "move":
        let element = played.elements.remove(at: args[0])
        played.elements.insert(element, at: args[1])
        played.moved.insert(element)
      default:
        listed += 1  // Work on the inner state of a builder that we do not have.
        continue
      }
      let set = ChangeSet.between(old, played.elements, candidates: played.moved, modified: played.modified)
      #expect(matches(set, vector.expect), "\(vector) \(set)")
    }
    print("recorded edits that cannot be expressed: \(listed) of \(vectors.incremental.count)")
    #expect(listed <= 4)
  }
}
