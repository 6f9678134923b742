import QueryModel

/// A regular expression that takes time linear in the text, whatever the expression: all ways to match are
/// followed at once, a code point at a time, so that no pattern of a user can stall a query.
///
/// The syntax is Swift's and ICU's common ground without what needs going back: literals, `.`, classes, `\d \w \s`
/// and their negations, `\b`-free groups, `|`, `* + ? {m,n}`, `^ $`. The whole text must match.
struct LinearRegex: Sendable {
  /// One instruction; `next` of most is the one that follows.
  enum Step: Sendable {
    case scalars(ScalarSet)
    case split(Int, Int)
    case jump(Int)
    case atStart
    case atEnd
    case accept
  }

  let steps: [Step]
  private let ignoresCase: Bool

  /// Steps after counted repetitions are written out.
  static let stepsLimit = 4096

  init(_ pattern: String, ignoresCase: Bool) throws(QueryError) {
    var compiler = RegexCompiler(pattern, ignoresCase: ignoresCase)
    steps = try compiler.compile()
    self.ignoresCase = ignoresCase
  }

  /// O(text · steps).
  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var current = StepSet(steps.count)
    var next = StepSet(steps.count)
    add(0, to: &current, isStart: true, isEnd: bytes.isEmpty)
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var consumed = 0
    decoding: while true {
      let scalar: Unicode.Scalar
      switch decoder.decode(&iterator) {
      case .scalarValue(let value): scalar = value
      case .error: scalar = "\u{FFFD}"
      case .emptyInput: break decoding
      }
      consumed += UTF8.width(scalar)
      let folded = ignoresCase ? TextFolding.simpleCase(scalar) : scalar
      next.removeAll()
      for step in current.members {
        if case .scalars(let set) = steps[step], set.contains(folded) {
          add(step + 1, to: &next, isStart: false, isEnd: consumed >= bytes.count)
        }
      }
      swap(&current, &next)
      if current.members.isEmpty { return false }
    }
    return current.members.contains { if case .accept = steps[$0] { true } else { false } }
  }

  /// Adds a step and what follows from it without reading. With a stack of its own: patterns may be long.
  private func add(_ step: Int, to set: inout StepSet, isStart: Bool, isEnd: Bool) {
    var pending = [step]
    while let step = pending.popLast() {
      guard set.insert(step) else { continue }
      switch steps[step] {
      case .split(let a, let b):
        pending.append(b)
        pending.append(a)
      case .jump(let target): pending.append(target)
      case .atStart: if isStart { pending.append(step + 1) }
      case .atEnd: if isEnd { pending.append(step + 1) }
      case .scalars, .accept: break
      }
    }
  }
}

/// Numbers of steps, each at most once, in order of arrival.
private struct StepSet {
  private(set) var members: [Int] = []
  private var has: [Bool]

  init(_ count: Int) { has = [Bool](repeating: false, count: count) }

  mutating func insert(_ step: Int) -> Bool {
    if has[step] { return false }
    has[step] = true
    members.append(step)
    return true
  }

  mutating func removeAll() {
    for step in members { has[step] = false }
    members.removeAll(keepingCapacity: true)
  }
}

/// Scalars by ranges, or all others.
struct ScalarSet: Sendable {
  var ranges: [ClosedRange<UInt32>] = []
  var isNegated = false

  func contains(_ scalar: Unicode.Scalar) -> Bool { ranges.contains { $0.contains(scalar.value) } != isNegated }

  static let digits = ScalarSet(ranges: [48...57])
  static let words = ScalarSet(ranges: [
    48...57, 65...90, 95...95, 97...122, 0xAA...0xAA, 0xB5...0xB5, 0xBA...0xBA, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF,
    0x370...0x1FFF, 0x3040...0xD7FF,
  ])
  static let spaces = ScalarSet(ranges: [9...13, 32...32, 0x85...0x85, 0xA0...0xA0, 0x2000...0x200A, 0x2028...0x2029, 0x3000...0x3000])
  /// Everything but line ends.
  static let any = ScalarSet(ranges: [10...13, 0x85...0x85, 0x2028...0x2029], isNegated: true)

  /// The ranges of what is not in it.
  var complement: [ClosedRange<UInt32>] {
    var result: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
      next = max(next, range.upperBound + 1)
    }
    if next <= 0x10FFFF { result.append(next...0x10FFFF) }
    return result
  }
}
