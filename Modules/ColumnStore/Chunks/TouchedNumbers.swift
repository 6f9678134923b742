/// The numbers that an open write has touched in a unique index. Exact. A slot holds a group of 64 adjacent numbers:
/// consecutive keys cost two bits each and stay in the cache, scattered ones sixteen bytes. Open addressing.
struct TouchedNumbers {
  private struct Slot {
    var group: UInt64
    /// Never 0 in a used slot.
    var bits: UInt64
  }

  private var slots: [Slot] = []
  private var used = 0

  @inline(__always) func contains(_ word: UInt64) -> Bool {
    guard used > 0 else { return false }
    return slots.withUnsafeBufferPointer { slots in
      slots[TouchedNumbers.place(of: word &>> 6, in: slots)].bits &>> (word & 63) & 1 == 1
    }
  }

  @inline(__always) mutating func insert(_ word: UInt64) {
    if used &* 2 >= slots.count { grow() }
    let isNew = slots.withUnsafeMutableBufferPointer { slots in
      let i = TouchedNumbers.place(of: word &>> 6, in: UnsafeBufferPointer(slots))
      let isNew = slots[i].bits == 0
      slots[i].group = word &>> 6
      slots[i].bits |= 1 &<< (word & 63)
      return isNew
    }
    if isNew { used &+= 1 }
  }

  /// The slot of a group, or the free slot for it. There is one, because at least half of the slots are free.
  @inline(__always) private static func place(of group: UInt64, in slots: UnsafeBufferPointer<Slot>) -> Int {
    let mask = slots.count &- 1
    var i = Int(truncatingIfNeeded: FingerprintSet.fingerprint(group)) & mask
    while slots[i].bits != 0, slots[i].group != group { i = (i &+ 1) & mask }
    return i
  }

  private mutating func grow() {
    var larger = [Slot](repeating: Slot(group: 0, bits: 0), count: max(64, slots.count * 2))
    larger.withUnsafeMutableBufferPointer { larger in
      for slot in slots where slot.bits != 0 {
        larger[TouchedNumbers.place(of: slot.group, in: UnsafeBufferPointer(larger))] = slot
      }
    }
    slots = larger
  }
}
