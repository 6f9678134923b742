/// The data every engine is loaded with: a million tasks in shuffled order, the same on every machine.
struct Dataset {
  /// Sixteen bytes, so that reading a row in shuffled order costs no engine more than one line of the cache.
  struct Row {
    var due: Double
    private var shortProject: Int16
    private var shortPriority: Int8
    var done: Bool
    var words: (UInt8, UInt8)

    var project: Int64 { Int64(shortProject) }
    var priority: Int64 { Int64(shortPriority) }

    init(_ random: inout SplitMix) {
      words = (UInt8(random.below(16)), UInt8(random.below(16)))
      shortPriority = Int8(random.below(10))
      done = random.below(10) < 3
      due = Double(random.next() >> 11) * 0x1p-53 * 1e9
      shortProject = Int16(random.below(1_000))
    }
  }

  static let words = [
    "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo", "lima",
    "mike", "november", "oscar", "papa",
  ]

  /// Rows by id; the ones from `count` on are for single inserts.
  private(set) var rows: [Row] = []
  /// The ids 0..<count in the order of insertion.
  private(set) var order: [Int32] = []
  let count: Int

  init(count: Int) {
    self.count = count
    var random = SplitMix(seed: 42)
    rows.reserveCapacity(count + 4_000)
    for _ in 0..<count { rows.append(Row(&random)) }
    order = (0..<Int32(count)).map { $0 }
    for i in stride(from: count - 1, to: 0, by: -1) { order.swapAt(i, random.below(i + 1)) }
    for _ in 0..<4_000 { rows.append(Row(&random)) }
  }

  /// "Task <id> <word> <word>", put together without the cost of string interpolation, which would be the largest part
  /// of loading.
  func title(_ id: Int) -> String {
    let (a, b) = rows[id].words
    return String(unsafeUninitializedCapacity: 48) { out in
      var count = 0
      func put(_ text: [UInt8]) {
        for byte in text {
          out[count] = byte
          count &+= 1
        }
      }
      put(Dataset.task)
      var (digits, rest) = (1, id / 10)
      while rest > 0 { (digits, rest) = (digits + 1, rest / 10) }
      rest = id
      for place in stride(from: digits - 1, through: 0, by: -1) {
        out[count + place] = UInt8(48 + rest % 10)
        rest /= 10
      }
      count += digits
      put(Dataset.spacedWords[Int(a)])
      put(Dataset.spacedWords[Int(b)])
      return count
    }
  }

  private static let task = Array("Task ".utf8)
  private static let spacedWords = words.map { Array((" " + $0).utf8) }

  /// `k` distinct ids, picked by a partial shuffle with a seed of its own.
  func distinctIDs(_ k: Int, seed: UInt64) -> [Int] {
    var random = SplitMix(seed: seed)
    var ids = Array(0..<count)
    let k = min(k, count)
    for i in 0..<k { ids.swapAt(i, i + random.below(count - i)) }
    return Array(ids[0..<k])
  }

  /// `k` ids, repetitions allowed.
  func randomIDs(_ k: Int, seed: UInt64) -> [Int] {
    var random = SplitMix(seed: seed)
    return (0..<k).map { _ in random.below(count) }
  }
}

/// The generator the data is defined by.
struct SplitMix {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
