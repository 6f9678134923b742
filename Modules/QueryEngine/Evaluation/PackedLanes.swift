/// The numbers of several lanes packed into one, as far as 64 bits allow.
struct PackedLanes {
  var entries: ContiguousArray<SortEntry>
  /// The width of the widest number.
  let bits: Int
  /// Whether rows with the same number are equal in every lane.
  let isExact: Bool

  /// Gives each lane the bits its range needs, the first lane the highest ones.
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

/// How one lane's numbers become a field of the packed number: as offsets from the least number, with null adjacent to the
/// others instead of far below.
struct PackedField {
  let lane: SortLane
  private let null: UInt64
  private let least: UInt64
  /// The codes of null and of the least other number.
  private let nullCode: UInt64
  private let leastCode: UInt64
  let width: Int
  /// The number of low bits that did not fit.
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
    // Null adds one number to the range. There is room, because null itself lies outside least...greatest.
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
