import Synchronization

/// A limit for the bytes of all table images in the process. Beyond it, the lanes unused for longest are dropped.
final class ImageBudget: Sendable {
  private struct Member: Sendable { weak var image: ColumnImage? }

  /// The budget of all stores in the process.
  static let process = ImageBudget(64 << 20)

  private let limit: Int
  private let used = Atomic<Int>(0)
  private let clock = Atomic<UInt64>(0)
  private let members = Mutex<[Member]>([])

  init(_ limit: Int) { self.limit = limit }

  /// The bytes in use.
  var bytes: Int { used.load(ordering: .relaxed) }

  func take(_ bytes: Int) { used.add(bytes, ordering: .relaxed) }
  func give(_ bytes: Int) { used.subtract(bytes, ordering: .relaxed) }

  /// The next number of the clock that orders uses.
  func tick() -> UInt64 { clock.add(1, ordering: .relaxed).newValue }

  func join(_ image: ColumnImage) {
    members.withLock { members in
      members.removeAll { $0.image == nil }
      members.append(Member(image: image))
    }
  }

  /// Whether there is room for more. Drops lanes last used before `tick` until there is; the bytes of lanes that readers still
  /// use count until these end.
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
