import Synchronization

/// The bytes that images of tables may take together, in one process. Beyond it what nobody has asked for longest is let go of.
final class ImageBudget: Sendable {
  private struct Member: Sendable { weak var image: ColumnImage? }

  /// For all stores of the process.
  static let process = ImageBudget(64 << 20)

  private let limit: Int
  private let used = Atomic<Int>(0)
  private let clock = Atomic<UInt64>(0)
  private let members = Mutex<[Member]>([])

  init(_ limit: Int) { self.limit = limit }

  /// Bytes that are taken now.
  var bytes: Int { used.load(ordering: .relaxed) }

  func take(_ bytes: Int) { used.add(bytes, ordering: .relaxed) }
  func give(_ bytes: Int) { used.subtract(bytes, ordering: .relaxed) }

  /// The next of the numbers that say who was asked before whom.
  func tick() -> UInt64 { clock.add(1, ordering: .relaxed).newValue }

  func join(_ image: ColumnImage) {
    members.withLock { members in
      members.removeAll { $0.image == nil }
      members.append(Member(image: image))
    }
  }

  /// Whether there is room for more. Lets go of what was last asked for before `tick` while there is none: what
  /// readers still use takes its bytes until they end.
  func hasRoom(before tick: UInt64) -> Bool {
    if bytes < limit { return true }
    let images = members.withLock { $0.compactMap(\.image) }
    while bytes >= limit {
      let oldest = images.compactMap { image in image.oldestUse.map { (image, $0) } }.min { $0.1 < $1.1 }
      guard let (image, use) = oldest, use < tick else { return false }
      image.forget(lastUsed: use)
    }
    return true
  }
}
