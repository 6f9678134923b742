/// Sorting by 64-bit numbers, digit by digit from the lowest up. Stable: elements of equal numbers keep their order.
package enum RadixSort {
  /// O(n · digits in which the numbers differ), with room for as many elements again. A few dozen elements are sorted sooner
  /// by comparing.
  @inlinable package static func sort<Element: BitwiseCopyable>(
    _ elements: UnsafeMutableBufferPointer<Element>, by number: (Element) -> UInt64
  ) {
    let count = elements.count
    guard count > 1, let first = elements.baseAddress else { return }
    var (any, all) = (UInt64(0), UInt64.max)
    for i in 0..<count {
      let number = number(first[i])
      any |= number
      all &= number
    }
    let different = any ^ all
    if different == 0 { return }
    // Few elements take small digits: their counts are added up once a digit.
    let digitBits = count < 8_192 ? 8 : 11
    let size = 1 << digitBits
    let digits = (64 - different.leadingZeroBitCount + digitBits - 1) / digitBits
    let scratch = UnsafeMutablePointer<Element>.allocate(capacity: count)
    defer { scratch.deallocate() }
    withUnsafeTemporaryAllocation(of: Int.self, capacity: size * digits) { counts in
      counts.initialize(repeating: 0)
      for i in 0..<count {
        var rest = number(first[i])
        for digit in 0..<digits {
          counts[digit &* size &+ Int(truncatingIfNeeded: rest) & (size &- 1)] &+= 1
          rest &>>= UInt64(truncatingIfNeeded: digitBits)
        }
      }
      var (source, target) = (first, scratch)
      for digit in 0..<digits where (different >> UInt64(digit * digitBits)) & UInt64(size - 1) != 0 {
        let places = UnsafeMutableBufferPointer(rebasing: counts[digit * size..<(digit + 1) * size])
        makePlaces(of: places)
        let shift = UInt64(digit * digitBits)
        for i in 0..<count {
          let element = source[i]
          let code = Int(truncatingIfNeeded: number(element) &>> shift) & (size &- 1)
          target[places[code]] = element
          places[code] &+= 1
        }
        swap(&source, &target)
      }
      if source != first { first.update(from: source, count: count) }
    }
  }

  /// How many elements have each code becomes where the first of them goes.
  @inlinable package static func makePlaces(of counts: UnsafeMutableBufferPointer<Int>) {
    var sum = 0
    for code in counts.indices {
      let count = counts[code]
      counts[code] = sum
      sum &+= count
    }
  }
}
