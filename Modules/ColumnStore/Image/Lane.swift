/// The decoded slots of all chunks of a table in one version, of their rows or of one column, in pages that versions share.
///
/// Two versions share a page unless a commit between them wrote one of its chunks, so a chunk that is read in one of them is
/// read for both.
final class Lane<Slot: BitwiseCopyable>: Sendable {
  typealias Page = LanePage<Slot>

  private let pages: [Page]
  /// The addresses of the pages: reading through them counts no reference.
  let view: LaneView<Slot>

  private init(_ pages: [Page]) {
    self.pages = pages
    view = LaneView(pages.map(\.head))
  }

  /// A lane with empty pages.
  convenience init(pages: Int, _ budget: ImageBudget) { self.init((0..<pages).map { _ in Page(budget) }) }

  deinit { view.deallocate() }

  /// The number of pages for chunks up to a number; nil for more than lanes support.
  static func pageCount(upTo number: Int64) -> Int? {
    number >= 0 && number < LaneLimits.chunksMax ? Int(number) / Page.count + 1 : nil
  }

  /// The lane of another version, without the given chunks, which may differ. O(pages), plus copying the pages with such
  /// chunks.
  func without(_ chunks: [ClosedRange<Int64>], pages count: Int, _ budget: ImageBudget) -> Lane {
    if chunks.isEmpty, count <= pages.count { return self }
    var pages = pages
    var masks = [UInt64](repeating: 0, count: pages.count)
    let last = Int64(pages.count * Page.count) - 1
    // A record that names nonexistent keys yields nonexistent chunks.
    for run in chunks where run.lowerBound <= last && run.upperBound >= 0 {
      for number in max(run.lowerBound, 0)...min(run.upperBound, last) {
        masks[Int(number) / Page.count] |= 1 << UInt64(Int(number) % Page.count)
      }
    }
    for (i, mask) in masks.enumerated() where mask != 0 { pages[i] = pages[i].copy(without: mask) }
    while pages.count < count { pages.append(Page(budget)) }
    return Lane(pages)
  }

  /// Fills the slot of a chunk within the lane's range.
  func fill(_ number: Int64, _ slot: Slot, _ owner: Page.Owner?) {
    pages[Int(number) / Page.count].fill(Int(number) % Page.count, slot, owner)
  }
}

enum LaneLimits {
  /// Tables with more chunks, some billion rows, are read without lanes.
  static let chunksMax: Int64 = 1 << 20
}

/// The slots of a lane. Raw memory that lives as long as the lane, which `TableLanes`, the source of views, retains.
///
/// `@unchecked` is sound: only `init` writes the addresses, before anyone else has the view; each page synchronises its readers
/// and writers itself (`LanePage`); and only the lane's `deinit` frees.
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

  /// The slot of a chunk; nil if it is not filled.
  @inline(__always) subscript(number: Int64) -> UnsafePointer<Slot>? {
    guard hasRoom(for: number) else { return nil }
    return heads[Int(number) / LanePage<Slot>.count].pointee.slot(Int(number) % LanePage<Slot>.count)
  }

  /// The filled slots of a chunk's page; nil if there are none.
  @inline(__always) fileprivate func known(_ number: Int64) -> (filled: UInt64, slots: UnsafePointer<Slot>)? {
    hasRoom(for: number) ? heads[Int(number) / LanePage<Slot>.count].pointee.known() : nil
  }
}

/// Reads a lane in order, as scans do, and looks at each completely filled page once.
struct LaneCursor<Slot: BitwiseCopyable> {
  let view: LaneView<Slot>
  /// The number of the first chunk of the page that was looked at last.
  private var first: Int64 = -64
  private var filled: UInt64 = 0
  private var slots: UnsafePointer<Slot>?

  init(_ view: LaneView<Slot>) { self.view = view }

  /// The slot of a chunk; nil if it is not filled.
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
