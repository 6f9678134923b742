/// A row with the number it is sorted by.
struct SortEntry {
  var number: UInt64
  var row: Int32
}

/// The numbers of several lanes packed into one, as far as 64 bits go.
struct PackedLanes {
  var entries: ContiguousArray<SortEntry>
  /// The width of the widest number.
  let bits: Int
  /// Whether rows with the same number are equal in every lane.
  let isExact: Bool

  /// Each lane takes the bits its range needs, the first lane the highest ones.
  init(_ lanes: [SortLane], count: Int) {
    var fields: [PackedField] = []
    var left = 64
    var isExact = true
    for lane in lanes {
      let field = PackedField(lane, bits: left)
      if field.width > 0 { fields.append(field) }
      left -= field.width
      if field.dropped > 0 || lane.isInexact {
        isExact = false
        break
      }
    }
    bits = 64 - left
    self.isExact = isExact
    entries = ContiguousArray(unsafeUninitializedCapacity: count) { buffer, initialized in
      for row in 0..<count { buffer[row] = SortEntry(number: 0, row: Int32(truncatingIfNeeded: row)) }
      initialized = count
    }
    entries.withUnsafeMutableBufferPointer { entries in for field in fields { field.add(to: entries) } }
  }
}

/// How one lane's numbers become a few bits of the packed number: counted from the least of them, null next to
/// the others instead of far below.
struct PackedField {
  let lane: SortLane
  private let null: UInt64
  private let least: UInt64
  /// What null becomes, and what the least other number does.
  private let nullCode: UInt64
  private let leastCode: UInt64
  let width: Int
  /// Low bits that found no room.
  let dropped: Int

  init(_ lane: SortLane, bits: Int) {
    self.lane = lane
    let null = lane.nullNumber
    self.null = null
    var (least, greatest, hasNull) = (UInt64.max, UInt64.min, false)
    lane.numbers.withUnsafeBufferPointer { numbers in
      for number in numbers {
        if number == null { hasNull = true } else {
          least = min(least, number)
          greatest = max(greatest, number)
        }
      }
    }
    self.least = least
    let range = greatest >= least ? greatest - least : 0
    // With a null there is one number more: there is room, because null itself is outside least...greatest.
    leastCode = hasNull && lane.isAscending ? 1 : 0
    nullCode = lane.isAscending ? 0 : range + 1 - (hasNull ? 0 : 1)
    let top = hasNull && greatest >= least ? range + 1 : range
    let needed = 64 - top.leadingZeroBitCount
    width = min(needed, bits)
    dropped = needed - width
  }

  func add(to entries: UnsafeMutableBufferPointer<SortEntry>) {
    let (width, dropped) = (UInt64(width), UInt64(dropped))
    let (null, nullCode, least) = (null, nullCode, least &- leastCode)
    lane.numbers.withUnsafeBufferPointer { numbers in
      for row in 0..<entries.count {
        let code = (numbers[row] == null ? nullCode : numbers[row] &- least) &>> dropped
        entries[row].number = width == 64 ? code : entries[row].number &<< width | code
      }
    }
  }
}

/// Sorting by 64-bit numbers, least digit first. Stable: equal numbers keep their order.
enum RadixSort {
  /// Few entries take small digits: their counts are added up once a digit.
  private static func digitBits(_ count: Int) -> Int { count < 8_192 ? 8 : 11 }

  /// O(n · digits that differ); the smallest inputs are sorted by comparing.
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
        if Int(counts[sample]) == count { continue }  // all rows agree in this digit
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
