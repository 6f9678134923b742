import Synchronization

/// What is known of 64 chunks whose numbers follow one another. Read by any thread without a lock, filled as chunks are read.
///
/// `@unchecked` is sound: a slot, and where all lie, is written once, under the lock of `owners` and before its bit is set,
/// releasing; it is read after its bit was seen, acquiring, and does not change from then on. What it points to lives as long
/// as its owner, which stays until the page goes, or in the memory of a snapshot, which its reader holds.
final class LanePage<Slot: BitwiseCopyable>: @unchecked Sendable {
  typealias Owner = any AnyObject & Sendable

  /// What readers look at.
  struct Head: ~Copyable {
    /// Bit i: slot i is filled.
    let filled = Atomic<UInt64>(0)
    /// Set before the first bit.
    var slots: UnsafeMutablePointer<Slot>?

    /// A slot that is filled; else nil.
    @inline(__always) func slot(_ i: Int) -> UnsafePointer<Slot>? {
      guard let (filled, slots) = known(), filled &>> UInt64(i) & 1 == 1 else { return nil }
      return slots + i
    }

    /// Which slots are filled by now, and where they lie; nil where none is.
    @inline(__always) func known() -> (filled: UInt64, slots: UnsafePointer<Slot>)? {
      let filled = filled.load(ordering: .acquiring)
      return filled == 0 ? nil : slots.map { (filled, UnsafePointer($0)) }
    }
  }

  let head: UnsafeMutablePointer<Head>
  private let budget: ImageBudget
  /// Of the slots that need one; empty where none does.
  private let owners = Mutex<[Owner?]>([])

  /// A page of which no slot is filled: small, as a table that lost most of its rows has many.
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

  /// Fills a slot, unless somebody else has.
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

  /// Under the lock.
  private func slots() -> UnsafeMutablePointer<Slot> {
    if let slots = head.pointee.slots { return slots }
    let slots = UnsafeMutablePointer<Slot>.allocate(capacity: LanePage.count)
    head.pointee.slots = slots
    budget.take(LanePage.slotBytes)
    return slots
  }

  /// Another page with the same slots but some, which are for others to fill.
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
