import ChangeTracker

/// Change sets recorded from another engine, played on a collection of numbered elements: what the recorded steps
/// make of it is compared with the start, and must give the recorded rows.
///
/// The recorded sets list every step's rows, also moved ones among deletions and insertions; ours never list a moved
/// or inserted row as modified. That difference is translated here. Which rows moved is not compared: ours are as few
/// as possible. A recorded set that no edits of a collection make (the recording engine keeps some inside, whose moves are no
/// deletion and insertion) is listed with that reason.
enum ChangeSetCases {
  static func run(_ document: JSONValue, into report: inout FileReport) {
    let kinds: [(String, (JSONValue) -> CaseResult)] = [
      ("merge", merge), ("calculate", calculate), ("finalize", finalize), ("incremental", incremental),
    ]
    for (kind, run) in kinds {
      for (number, item) in (document[kind]?.array ?? []).enumerated() { report.add("\(kind) \(number): \(item)", run(item)) }
    }
  }

  /// One recorded change set.
  private struct Positions {
    let deletions: [Int]
    let insertions: [Int]
    let modifications: [Int]
    let moves: [(from: Int, to: Int)]
    let modificationsInNew: [Int]?

    init?(_ json: JSONValue?) {
      guard let json, let deletions = json["deletions"]?.ints, let insertions = json["insertions"]?.ints,
        let modifications = json["modifications"]?.ints
      else { return nil }
      self.deletions = deletions
      self.insertions = insertions
      self.modifications = modifications
      modificationsInNew = json["modifications_new"]?.ints
      moves = (json["moves"]?.array ?? []).compactMap { pair in
        pair.ints.flatMap { $0.count == 2 ? (from: $0[0], to: $0[1]) : nil }
      }
    }
  }

  /// A collection that recorded change sets are played on.
  private struct Played {
    var elements: [Int64]
    private var next: Int64 = 1_000
    private(set) var moved: Set<Int64> = []
    var modified: Set<Int64> = []

    init(count: Int) { elements = Array(0..<Int64(count)) }

    /// False when the positions do not fit, or a move is not also a deletion and an insertion.
    mutating func play(_ set: Positions) -> Bool {
      let before = elements
      guard set.moves.allSatisfy({ set.deletions.contains($0.from) && set.insertions.contains($0.to) }) else { return false }
      for position in set.deletions.reversed() {
        guard elements.indices.contains(position) else { return false }
        elements.remove(at: position)
      }
      for position in set.insertions {
        guard position <= elements.count else { return false }
        if let move = set.moves.first(where: { $0.to == position }) {
          elements.insert(before[move.from], at: position)
          moved.insert(before[move.from])
        } else {
          next += 1
          elements.insert(next, at: position)
        }
      }
      for position in set.modifications {
        guard elements.indices.contains(position) else { return false }
        modified.insert(elements[position])
      }
      return true
    }

    mutating func move(from: Int, to: Int) {
      let element = elements.remove(at: from)
      elements.insert(element, at: to)
      moved.insert(element)
    }

    func changes(from count: Int) -> ChangeSet {
      ChangeSet.between(Array(0..<Int64(count)), elements, candidates: moved, modified: modified)
    }
  }

  private static let wrongForm = CaseResult.failed(expected: "a vector", got: "a vector of another form")
  private static let noEdits = CaseResult.inexpressible("moves that are no deletion and insertion: no edits of a collection make them")

  /// How many rows a collection needs for all positions of the sets, with some to spare behind them.
  private static func room(_ sets: Positions...) -> Int {
    let positions = sets.flatMap { [$0.deletions, $0.insertions, $0.modifications, $0.moves.flatMap { [$0.from, $0.to] }].flatMap(\.self) }
    return 30 + min(positions.max() ?? 0, 10_000) + sets.reduce(0) { $0 + $1.deletions.count }
  }

  /// Before it is finished, a recorded set lists modified rows among the inserted ones too.
  private static func compare(_ ours: ChangeSet, _ expected: Positions) -> CaseResult {
    let modifications = expected.modifications.filter { !expected.insertions.contains($0) }
    return .check(
      ours.deletions == expected.deletions && ours.insertions == expected.insertions
        && ours.modificationsInNew == modifications,
      expected: "deletions \(expected.deletions), insertions \(expected.insertions), modifications \(modifications)",
      got: "\(ours)")
  }

  private static func merge(_ item: JSONValue) -> CaseResult {
    guard let first = Positions(item["first"]), let second = Positions(item["second"]), let expected = Positions(item["expect"])
    else { return wrongForm }
    let count = room(first, second, expected)
    var played = Played(count: count)
    guard played.play(first), played.play(second) else { return noEdits }
    return compare(played.changes(from: count), expected)
  }

  private static func finalize(_ item: JSONValue) -> CaseResult {
    guard let first = Positions(item["first"]), let expected = Positions(item["expect"]) else { return wrongForm }
    let count = room(first, expected)
    var played = Played(count: count)
    guard played.play(first) else { return noEdits }
    let ours = played.changes(from: count)
    return .check(
      ours.deletions == expected.deletions && ours.insertions == expected.insertions
        && ours.modifications == expected.modifications && ours.modificationsInNew == expected.modificationsInNew,
      expected: "\(item["expect"] ?? .null)", got: "\(ours)")
  }

  private static func calculate(_ item: JSONValue) -> CaseResult {
    guard let prev = item["prev"]?.ints, let next = item["next"]?.ints, let modified = item["modified"]?.ints,
      let expected = Positions(item["expect"])
    else { return wrongForm }
    // -1 is an object that is gone: any of them, all different.
    let old = prev.enumerated().map { $1 == -1 ? -100 - Int64($0) : Int64($1) }
    let new = next.map { Int64($0) }
    if Set(old).count != old.count || Set(new).count != new.count {
      return compare(ChangeSet.between(repeating: old, new, modified: Set(modified.map { Int64($0) })), expected)
    }
    let ours = ChangeSet.between(
      old, new, modified: Set(modified.map { Int64($0) }), isSorted: item["order"]?.string == "sorted")
    return compare(ours, expected)
  }

  private static func incremental(_ item: JSONValue) -> CaseResult {
    guard let before = Positions(item["before"]), let expected = Positions(item["expect"]),
      let args = item["args"]?.ints, let op = item["op"]?.string
    else { return wrongForm }
    // A set that is cleared says how many rows there were; else there are more than any position needs.
    let count =
      op == "clear" ? max(0, (args.first ?? 0) + before.deletions.count - before.insertions.count) : room(before, expected)
    var played = Played(count: count)
    guard played.play(before) else { return noEdits }
    let rows = played.elements.indices
    switch (op, args.count) {
    case ("insert", 2...) where (0...rows.count).contains(args[0]) && (0...1_000).contains(args[1]):
      played.elements.insert(contentsOf: (0..<args[1]).map { 2_000 + Int64($0) }, at: args[0])
    case ("erase", 1...) where rows.contains(args[0]): played.elements.remove(at: args[0])
    case ("modify", 1...) where rows.contains(args[0]): played.modified.insert(played.elements[args[0]])
    case ("move", 2...) where rows.contains(args[0]) && rows.contains(args[1]): played.move(from: args[0], to: args[1])
    case ("clear", _): played.elements = []
    case ("insert", _), ("erase", _), ("modify", _), ("move", _): return wrongForm
    default: return .inexpressible("'\(op)' works on the inner state of a builder, which only the recording engine has")
    }
    return compare(played.changes(from: count), expected)
  }
}
