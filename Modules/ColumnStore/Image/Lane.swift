/// What is known of all chunks of a table as one version has them, of their rows or of one column, in pages that versions share.
///
/// Two versions have a page in common unless a commit between them wrote one of its chunks: so whoever reads a chunk in one of
/// them reads it for both.
final class Lane<Slot: BitwiseCopyable>: Sendable {
  typealias Page = LanePage<Slot>

  private let pages: [Page]
  /// Where the pages lie: reading through these counts no reference.
  let view: LaneView<Slot>

  private init(_ pages: [Page]) {
    self.pages = pages
    view = LaneView(pages.map(\.head))
  }

  /// A lane of which nothing is known.
  convenience init(pages: Int, _ budget: ImageBudget) { self.init((0..<pages).map { _ in Page(budget) }) }

  deinit { view.deallocate() }

  /// How many pages there are to be for chunks up to a number; nil for more than lanes are laid out for.
  static func pageCount(upTo number: Int64) -> Int? {
    number >= 0 && number < LaneLimits.chunksMax ? Int(number) / Page.count + 1 : nil
  }

  /// The lane of another version, which differs in some chunks at most. O(pages), and what is copied of those with such.
  func without(_ chunks: [ClosedRange<Int64>], pages count: Int, _ budget: ImageBudget) -> Lane {
    if chunks.isEmpty, count <= pages.count { return self }
    var pages = pages
    var masks = [UInt64](repeating: 0, count: pages.count)
    let last = Int64(pages.count * Page.count) - 1
    // Records that name keys there cannot be name chunks there are not.
    for run in chunks where run.lowerBound <= last && run.upperBound >= 0 {
      for number in max(run.lowerBound, 0)...min(run.upperBound, last) {
        masks[Int(number) / Page.count] |= 1 << UInt64(Int(number) % Page.count)
      }
    }
    for (i, mask) in masks.enumerated() where mask != 0 { pages[i] = pages[i].copy(without: mask) }
    while pages.count < count { pages.append(Page(budget)) }
    return Lane(pages)
  }

  /// Fills the slot of a chunk that the lane has room for.
  func fill(_ number: Int64, _ slot: Slot, _ owner: Page.Owner?) {
    pages[Int(number) / Page.count].fill(Int(number) % Page.count, slot, owner)
  }
}

enum LaneLimits {
  /// Tables with more chunks, of some billion rows, are read without lanes.
  static let chunksMax: Int64 = 1 << 20
}

/// The slots of a lane. Raw memory, which lives as long as the lane: `TableLanes`, which hands views out, holds it.
///
/// `@unchecked` is sound: `init` alone writes where the pages lie, before anybody else has the view; each page orders its readers and
/// writers itself (`LanePage`); and the lane's `deinit` alone frees.
struct LaneView<Slot: BitwiseCopyable>: @unchecked Sendable {
  private let heads: UnsafeMutablePointer<UnsafeMutablePointer<LanePage<Slot>.Head>>
  private let slotCount: Int64

  fileprivate init(_ all: [UnsafeMutablePointer<LanePage<Slot>.Head>]) {
    slotCount = Int64(all.count * LanePage<Slot>.count)
    heads = .allocate(capacity: max(all.count, 1))
    for (i, head) in all.enumerated() { (heads + i).initialize(to: head) }
  }

  fileprivate func deallocate() { heads.deallocate() }

  @inline(__always) func hasRoom(for number: Int64) -> Bool { number >= 0 && number < slotCount }

  /// What is known of a chunk; nil where nothing is.
  @inline(__always) subscript(number: Int64) -> UnsafePointer<Slot>? {
    guard hasRoom(for: number) else { return nil }
    return heads[Int(number) / LanePage<Slot>.count].pointee.slot(Int(number) % LanePage<Slot>.count)
  }

  /// What is known of the chunks whose page a chunk is in; nil where nothing is.
  @inline(__always) fileprivate func known(_ number: Int64) -> (filled: UInt64, slots: UnsafePointer<Slot>)? {
    hasRoom(for: number) ? heads[Int(number) / LanePage<Slot>.count].pointee.known() : nil
  }
}

/// Goes through a lane in order, as scans do, and looks at each page once where all of it is known.
struct LaneCursor<Slot: BitwiseCopyable> {
  let view: LaneView<Slot>
  /// The number of the first chunk of the page that was looked at last.
  private var first: Int64 = -64
  private var filled: UInt64 = 0
  private var slots: UnsafePointer<Slot>?

  init(_ view: LaneView<Slot>) { self.view = view }

  /// What is known of a chunk; nil where nothing is.
  @inline(__always) mutating func slot(_ number: Int64) -> UnsafePointer<Slot>? {
    let i = UInt64(bitPattern: number &- first)
    if i < 64, filled &>> i & 1 == 1, let slots { return slots + Int(i) }
    return look(number)
  }

  @inline(never) private mutating func look(_ number: Int64) -> UnsafePointer<Slot>? {
    guard let known = view.known(number) else { return nil }
    first = number & ~63
    (filled, slots) = (known.filled, known.slots)
    let i = number & 63
    return filled &>> UInt64(i) & 1 == 1 ? known.slots + Int(i) : nil
  }
}
