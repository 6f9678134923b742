import QueryModel

/// Reads a pattern and writes the steps of a `LinearRegex`.
struct RegexCompiler {
  private let scalars: [Unicode.Scalar]
  private let ignoresCase: Bool
  private var at = 0
  private var depth = 0

  init(_ pattern: String, ignoresCase: Bool) {
    scalars = Array(pattern.unicodeScalars)
    self.ignoresCase = ignoresCase
  }

  mutating func compile() throws(QueryError) -> [LinearRegex.Step] {
    let steps = try alternatives()
    guard at == scalars.count else { throw fault("A bracket closes that was not opened.") }
    return steps + [.accept]
  }

  private func fault(_ message: String) -> QueryError {
    QueryError(
      .badArgument, "The regular expression '\(String(String.UnicodeScalarView(scalars)).prefix(80))' cannot be used: \(message)",
      remedy: "Use literals, classes, groups, |, * + ? {m,n}, ^ and $.")
  }

  private func peek(_ scalar: Unicode.Scalar) -> Bool { at < scalars.count && scalars[at] == scalar }
  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek(scalar) else { return false }
    at += 1
    return true
  }

  private typealias Steps = [LinearRegex.Step]

  /// Steps are relative to their own beginning; joining moves them.
  private func moved(_ steps: Steps, by distance: Int) -> Steps {
    steps.map { step in
      switch step {
      case .split(let a, let b): .split(a + distance, b + distance)
      case .jump(let target): .jump(target + distance)
      default: step
      }
    }
  }

  private func joined(_ a: Steps, _ b: Steps) throws(QueryError) -> Steps {
    guard a.count + b.count <= LinearRegex.stepsLimit else { throw fault("It is too long.") }
    return a + moved(b, by: a.count)
  }

  private mutating func alternatives() throws(QueryError) -> [LinearRegex.Step] {
    depth += 1
    defer { depth -= 1 }
    guard depth <= 100 else { throw fault("Its groups nest too deep.") }
    var result = try sequence()
    while take("|") {
      let other = try sequence()
      // split to either; the first jumps over the second.
      var steps: Steps = [.split(1, result.count + 2)]
      steps = try joined(steps, moved(result, by: 0))
      steps.append(.jump(result.count + 2 + other.count))
      result = try joined(steps, other)
    }
    return result
  }

  private mutating func sequence() throws(QueryError) -> Steps {
    var result: Steps = []
    while at < scalars.count, !peek("|"), !peek(")") {
      result = try joined(result, try repeated(try atom()))
    }
    return result
  }

  private mutating func repeated(_ atom: Steps) throws(QueryError) -> Steps {
    var bounds: (least: Int, most: Int?)
    if take("*") { bounds = (0, nil) } else if take("+") { bounds = (1, nil) } else if take("?") { bounds = (0, 1) } else if take("{") {
      bounds = try counts()
    } else {
      return atom
    }
    // Reluctant or not, the same texts match as a whole.
    if take("?") {} else if peek("+") || peek("*") || peek("{") { throw fault("A repetition is repeated.") }
    var result: Steps = []
    for _ in 0..<bounds.least { result = try joined(result, atom) }
    if let most = bounds.most {
      for _ in bounds.least..<max(most, bounds.least) {
        result = try joined(result, try joined([.split(1, atom.count + 1)], moved(atom, by: 0)))
      }
    } else {
      let loop = try joined([.split(1, atom.count + 2)], atom)
      result = try joined(result, loop + [.jump(0)])
    }
    return result
  }

  private mutating func counts() throws(QueryError) -> (Int, Int?) {
    guard let least = number() else { throw fault("A repetition has no number.") }
    var most: Int? = least
    if take(",") { most = number() }
    guard take("}") else { throw fault("The braces of a repetition are not closed.") }
    guard least <= 1000, most ?? 0 <= 1000, most ?? .max >= least else { throw fault("The numbers of a repetition are out of range.") }
    return (least, most)
  }

  private mutating func number() -> Int? {
    let start = at
    while at < scalars.count, (48...57).contains(scalars[at].value), at - start < 5 { at += 1 }
    return Int(String(String.UnicodeScalarView(scalars[start..<at])))
  }

  private mutating func atom() throws(QueryError) -> Steps {
    let scalar = scalars[at]
    at += 1
    switch scalar {
    case "(":
      if take("?") {
        guard take(":") else { throw fault("Only plain groups and (?:…) are known.") }
      }
      let inner = try alternatives()
      guard take(")") else { throw fault("A bracket is not closed.") }
      return inner
    case "[": return [.scalars(folded(try characterClass()))]
    case ".": return [.scalars(.any)]
    case "^": return [.atStart]
    case "$": return [.atEnd]
    case "*", "+", "?", "{": throw fault("A repetition has nothing to repeat.")
    case "\\": return [.scalars(folded(try escape()))]
    default: return [.scalars(folded(ScalarSet(ranges: [scalar.value...scalar.value])))]
    }
  }

  private mutating func escape() throws(QueryError) -> ScalarSet {
    guard at < scalars.count else { throw fault("It ends in a backslash.") }
    let scalar = scalars[at]
    at += 1
    switch scalar {
    case "d": return .digits
    case "D": return ScalarSet(ranges: ScalarSet.digits.complement)
    case "w": return .words
    case "W": return ScalarSet(ranges: ScalarSet.words.complement)
    case "s": return .spaces
    case "S": return ScalarSet(ranges: ScalarSet.spaces.complement)
    case "n": return one(10)
    case "t": return one(9)
    case "r": return one(13)
    case "f": return one(12)
    default:
      guard !scalar.properties.isAlphabetic, scalar.properties.numericType == nil else { throw fault("'\\\(scalar)' is not known.") }
      return one(scalar.value)
    }
  }

  private func one(_ value: UInt32) -> ScalarSet { ScalarSet(ranges: [value...value]) }

  private mutating func characterClass() throws(QueryError) -> ScalarSet {
    var result = ScalarSet()
    result.isNegated = take("^")
    var isFirst = true
    while isFirst || !peek("]") {
      isFirst = false
      guard at < scalars.count else { throw fault("A class is not closed.") }
      if peek("[") { throw fault("A class stands in a class.") }
      let start = scalars[at]
      at += 1
      var low = one(start.value)
      if start == "\\" { low = try escape() }
      if peek("-"), at + 1 < scalars.count, scalars[at + 1] != "]", low.ranges.count == 1, let first = low.ranges.first, first.count == 1 {
        at += 1
        var high = scalars[at].value
        at += 1
        if high == 92 { high = try escape().ranges.first?.lowerBound ?? 0 }
        guard high >= first.lowerBound else { throw fault("A range of a class runs backwards.") }
        result.ranges.append(first.lowerBound...high)
      } else {
        result.ranges += low.ranges
      }
    }
    at += 1
    return result
  }

  /// The set that the folded text is tested against: with each scalar its folded form.
  private func folded(_ set: ScalarSet) -> ScalarSet {
    guard ignoresCase else { return set }
    var result = set
    for range in set.ranges where range.count <= 0x1000 {
      for value in range {
        guard let scalar = Unicode.Scalar(value) else { continue }
        let folded = TextFolding.simpleCase(scalar).value
        if folded != value { result.ranges.append(folded...folded) }
      }
    }
    return result
  }
}
