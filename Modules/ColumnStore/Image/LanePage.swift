import Synchronization

/// The slots of 64 consecutive chunks. Read by any thread without a lock, filled as chunks are read.
///
/// `@unchecked` is sound: a slot, and the address of all slots, is written once, under the lock of `owners` and before its bit
/// is set with release ordering; it is read after its bit was seen with acquire ordering, and does not change afterwards. What
/// it points to lives as long as its owner, which stays until the page goes, or in the memory of a snapshot, which its reader
/// holds.
final class LanePage<Slot: BitwiseCopyable>: @unchecked Sendable {
  typealias Owner = any AnyObject & Sendable

  /// The part that readers access.
  struct Head: ~Copyable {
    /// Bit i: slot i is filled.
    let filled = Atomic<UInt64>(0)
    /// Set before the first bit.
    var slots: UnsafeMutablePointer<Slot>?

    /// A slot if it is filled; else nil.
    @inline(__always) func slot(_ i: Int) -> UnsafePointer<Slot>? {
      guard let (filled, slots) = known(), filled &>> UInt64(i) & 1 == 1 else { return nil }
      return slots + i
    }

    /// The filled slots and their address; nil if none is filled.
    @inline(__always) func known() -> (filled: UInt64, slots: UnsafePointer<Slot>)? {
      let filled = filled.load(ordering: .acquiring)
      return filled == 0 ? nil : slots.map { (filled, UnsafePointer($0)) }
    }
  }

  let head: UnsafeMutablePointer<Head>
  private let budget: ImageBudget
  /// The owners of the slots that need one; empty if none does.
  private let owners = Mutex<[Owner?]>([])

  /// Makes a page without filled slots. Small, because a table that lost most of its rows has many.
  init(_ budget: ImageBudget) {
    self.budget = budget
    head = .allocate(capacity: 1)
    head.initialize(to: Head())
    budget.take(LanePage.byteCount)
  }

  deinit {
    if let slots = head.pointee.slots {
      slots.deallocate()
      budget.give(LanePage.slotBytes)
    }
    head.deinitialize(count: 1)
    head.deallocate()
    budget.give(LanePage.byteCount)
  }

  static var count: Int { 64 }
  private static var byteCount: Int { 160 }
  private static var slotBytes: Int { count * MemoryLayout<Slot>.stride }

  /// Fills a slot unless it is filled already.
  func fill(_ i: Int, _ slot: Slot, _ owner: Owner?) {
    owners.withLock { owners in
      if head.pointee.filled.load(ordering: .relaxed) &>> UInt64(i) & 1 == 1 { return }
      (slots() + i).initialize(to: slot)
      if let owner {
        if owners.isEmpty { owners = [Owner?](repeating: nil, count: LanePage.count) }
        owners[i] = owner
      }
      head.pointee.filled.bitwiseOr(1 << UInt64(i), ordering: .releasing)
    }
  }

  /// The slots, allocated if needed. Requires the lock.
  private func slots() -> UnsafeMutablePointer<Slot> {
    if let slots = head.pointee.slots { return slots }
    let slots = UnsafeMutablePointer<Slot>.allocate(capacity: LanePage.count)
    head.pointee.slots = slots
    budget.take(LanePage.slotBytes)
    return slots
  }

  /// A page with the same slots except some, which are left to be filled.
  func copy(without slots: UInt64) -> LanePage {
    let copy = LanePage(budget)
    owners.withLock { owners in
      let kept = head.pointee.filled.load(ordering: .relaxed) & ~slots
      guard kept != 0, let filled = head.pointee.slots else { return }
      copy.take(filled, kept, owners)
    }
    return copy
  }

  private func take(_ filled: UnsafePointer<Slot>, _ kept: UInt64, _ others: [Owner?]) {
    owners.withLock { owners in
      owners = others
      for i in owners.indices where kept &>> UInt64(i) & 1 == 0 { owners[i] = nil }
      slots().update(from: filled, count: LanePage.count)
      head.pointee.filled.store(kept, ordering: .releasing)
    }
  }
}
