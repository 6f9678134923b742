/// A row and the number it is sorted by.
struct SortEntry {
  var number: UInt64
  var row: Int32
}

/// LSD radix sort by 64-bit numbers. Stable.
enum RadixSort {
  /// Few entries use small digits, because the counts of every digit must be summed.
  private static func digitBits(_ count: Int) -> Int { count < 8_192 ? 8 : 11 }

  /// O(n · differing digits). Fewer than 64 entries are sorted by comparison.
  static func sort(_ entries: inout ContiguousArray<SortEntry>, bits: Int) {
    let count = entries.count
    if count < 2 || bits == 0 { return }
    let digitBits = digitBits(count)
    let digits = (bits + digitBits - 1) / digitBits
    if count < 64 {
      entries.sort { ($0.number, $0.row) < ($1.number, $1.row) }
      return
    }
    let size = 1 << digitBits
    let histogram = UnsafeMutablePointer<Int32>.allocate(capacity: size * digits)
    histogram.initialize(repeating: 0, count: size * digits)
    let other = UnsafeMutablePointer<SortEntry>.allocate(capacity: count)
    defer {
      histogram.deallocate()
      other.deallocate()
    }
    entries.withUnsafeMutableBufferPointer { entries in
      guard let first = entries.baseAddress else { return }
      for i in 0..<count {
        var number = first[i].number
        for digit in 0..<digits {
          histogram[digit &* size &+ Int(truncatingIfNeeded: number) & (size &- 1)] &+= 1
          number &>>= UInt64(digitBits)
        }
      }
      var (source, target) = (first, other)
      for digit in 0..<digits {
        let counts = histogram + digit * size
        let shift = UInt64(digit * digitBits)
        let sample = Int(truncatingIfNeeded: source[0].number &>> shift) & (size &- 1)
        if Int(counts[sample]) == count { continue }  // all rows have the same digit
        var sum: Int32 = 0
        for i in 0..<size {
          let next = sum &+ counts[i]
          counts[i] = sum
          sum = next
        }
        for i in 0..<count {
          let entry = source[i]
          let slot = Int(truncatingIfNeeded: entry.number &>> shift) & (size &- 1)
          target[Int(counts[slot])] = entry
          counts[slot] &+= 1
        }
        swap(&source, &target)
      }
      if source != first { first.update(from: source, count: count) }
    }
  }
}
