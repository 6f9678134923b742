import StorageInterface

/// The fences of all blocks of one index in one or more versions: block i holds the entries from fence i up to fence i + 1.
/// Read from the keys of the blocks, cached by the engine as long as no block is added or removed.
///
/// `@unchecked`: the memory of `words` is written before `init` returns, only read afterwards, and freed by `deinit`.
final class IndexFences: @unchecked Sendable {
  /// The commit that last added or removed a block.
  let version: UInt64
  /// The first eight bytes of each fence, zero-padded, at a fixed address.
  let words: FenceWords
  /// The second eight bytes.
  let seconds: [UInt64]
  private let starts: [Int]
  private let bytes: [UInt8]

  var count: Int { words.count }

  deinit { words.deallocate() }

  init(version: UInt64, snapshot: any KeyValueSnapshot, index: IndexReference) throws(StorageError) {
    let prefix = EntryKey.blockPrefix(index).bytes
    var words: [UInt64] = []
    var seconds: [UInt64] = []
    var starts = [0]
    var bytes: [UInt8] = []
    try prefix.lend { from throws(StorageError) in
      try snapshot.visitKeys(within: from) { key in
        let fence = key.dropFirst(from.count)
        words.append(IndexFences.number(fence.prefix(8)))
        seconds.append(IndexFences.number(fence.dropFirst(8).prefix(8)))
        bytes.append(contentsOf: fence)
        starts.append(bytes.count)
        return .proceed
      }
    }
    self.version = version
    self.words = FenceWords(words)
    self.seconds = seconds
    self.starts = starts
    self.bytes = bytes
  }

  /// The fences of an older version with the changes of a merge. O(blocks), copying a few words each.
  init(version: UInt64, _ old: IndexFences, removed: [[UInt8]], added: [[UInt8]]) {
    let changes = (removed.map { ($0, false) } + added.map { ($0, true) }).sorted {
      $0.0.lexicographicallyPrecedes($1.0)
    }
    var (words, seconds, starts, bytes): ([UInt64], [UInt64], [Int], [UInt8]) = ([], [], [0], [])
    words.reserveCapacity(old.count + added.count)
    seconds.reserveCapacity(old.count + added.count)
    starts.reserveCapacity(old.count + added.count + 1)
    var next = 0
    func take(upTo end: Int) {
      guard next < end else { return }
      let shift = bytes.count - old.starts[next]
      words += old.words.all[next..<end]
      seconds += old.seconds[next..<end]
      for start in old.starts[next + 1...end] { starts.append(start + shift) }
      bytes += old.bytes[old.starts[next]..<old.starts[end]]
      next = end
    }
    for (fence, isAdded) in changes {
      take(upTo: max(next, old.firstFence(notBelow: fence)))
      if !isAdded {
        next += 1
        continue
      }
      words.append(IndexFences.number(fence.prefix(8)))
      seconds.append(IndexFences.number(fence.dropFirst(8).prefix(8)))
      bytes += fence
      starts.append(bytes.count)
    }
    take(upTo: old.count)
    self.version = version
    self.words = FenceWords(words)
    self.seconds = seconds
    self.starts = starts
    self.bytes = bytes
  }

  private func firstFence(notBelow bound: [UInt8]) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if fence(middle).lexicographicallyPrecedes(bound) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func number(_ bytes: some Collection<UInt8>) -> UInt64 {
    var result: UInt64 = 0
    for byte in bytes { result = result << 8 | UInt64(byte) }
    return bytes.isEmpty ? 0 : result << UInt64(64 - 8 * bytes.count)
  }

  func fence(_ i: Int) -> ArraySlice<UInt8> { bytes[starts[i]..<starts[i + 1]] }

  /// The block of an entry (word, object), whether or not it is stored; 0 if there are none. O(log n).
  @inline(__always) func block(ofWord word: UInt64, object: Int64) -> Int {
    let object = object < 0 ? 0 : UInt64(bitPattern: object)
    return seconds.withUnsafeBufferPointer { seconds in
      var (low, high) = (0, words.count)
      while low < high {
        let middle = (low &+ high) &>> 1
        let isNotAbove = words[middle] < word || (words[middle] == word && seconds[middle] <= object)
        if isNotAbove { low = middle &+ 1 } else { high = middle }
      }
      return max(0, low &- 1)
    }
  }

  /// The block of a word in an index of distinct words.
  @inline(__always) func block(ofWord word: UInt64) -> Int { words.block(ofWord: word) }

  /// The block that contains the first entry after a cut.
  func block(of cut: IndexCut, isWord: Bool) -> Int {
    if isWord {
      let bound = cut.wordBound
      return block(ofWord: bound.word, object: bound.object)
    }
    return lastFence { fence in
      fence.withUnsafeBytes { cut.isAbove($0) || compareToCut($0, cut) }
    }
  }

  /// A fence that equals the cut's bytes is not above the cut.
  private func compareToCut(_ fence: UnsafeRawBufferPointer, _ cut: IndexCut) -> Bool {
    cut.bytes.withUnsafeBytes { compareBytes(fence, $0) == 0 }
  }

  /// The block of an entry with these bytes (key, then object), whether or not it is stored.
  func block(ofEntry entry: UnsafeRawBufferPointer) -> Int {
    lastFence { fence in fence.withUnsafeBytes { compareBytes($0, entry) <= 0 } }
  }

  private func lastFence(where isNotAbove: (ArraySlice<UInt8>) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isNotAbove(fence(middle)) { low = middle + 1 } else { high = middle }
    }
    return max(0, low - 1)
  }
}
