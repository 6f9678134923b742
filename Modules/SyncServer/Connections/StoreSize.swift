import SyncModel
import SyncProtocol

/// How many bytes a store has, as far as a host knows: what it had when it was counted, and what has been taken since.
struct StoreSize: Hashable, Sendable {
  var bytes: Int
  /// The least that it had when it was counted.
  var lowest: Int
  /// When it was counted, and how long that took, in milliseconds.
  var at: Int64
  var took: Int64 = 0
  /// Whether refusals came since: what they store of the objects is not known here.
  var isUnsure = false

  /// The milliseconds after which a store is counted again whatever was uploaded here: other servers take uploads too, and purges forget.
  private static let longest: Int64 = 60_000

  /// Whether it is time to count the store again. To count a large one costs a database much, so it does little else meanwhile.
  ///
  /// - Parameter isUrgent: whether something is to be refused by this size.
  func isOld(_ now: Int64, isUrgent: Bool) -> Bool {
    let pause = max(SyncHost.countTime, 10 * took)
    return now - at >= (isUrgent || isUnsure ? pause : max(StoreSize.longest, pause))
  }

  /// How many of some uploads the store has room for.
  ///
  /// - What adds something is taken as long as all of it fits below the limit.
  /// - If the device sends, behind that, what only takes something away, everything up to there may exceed the limit by 1/32: otherwise a
  ///   device could not make room that has written too much and deleted it again.
  /// - What only takes something away may exceed the limit by 1/16, because deletions take some bytes too until they are forgotten. Of a
  ///   store that had more than the limit when it was counted first, it is that size which they may exceed.
  ///
  /// - Parameter behind: what the device has sent after them.
  func room(for parts: [StoreDemand], behind: [StoreDemand] = [], limit: Int) -> StoreRoom {
    func room(_ parts: some Sequence<StoreDemand>) -> StoreRoom {
      StoreRoom(count: parts.reduce(0) { $0 + $1.count }, bytes: parts.reduce(0) { $0 + $1.bytes }, size: self)
    }
    if fits(parts, most: limit) { return room(parts) }
    let all = parts + behind
    if let last = all.lastIndex(where: { !$0.adds }), mayFit(all[...last], limit: limit) { return room(parts.prefix(last + 1)) }
    let most = StoreSize.sum(max(limit, lowest), limit / 16)
    var (taken, sum) = (0, bytes)
    for part in parts {
      sum = StoreSize.sum(sum, part.bytes)
      guard !part.adds, sum <= most else { break }
      taken += 1
    }
    return room(parts.prefix(taken))
  }

  /// Whether the store has room for uploads if the device goes on with what takes away.
  func mayFit(_ parts: some Sequence<StoreDemand>, limit: Int) -> Bool {
    fits(parts, most: StoreSize.sum(limit, limit / 32))
  }

  private func fits(_ parts: some Sequence<StoreDemand>, most: Int) -> Bool {
    parts.reduce(bytes) { StoreSize.sum($0, $1.bytes) } <= most
  }

  private static func sum(_ a: Int, _ b: Int) -> Int {
    let (sum, isPast) = a.addingReportingOverflow(b)
    return isPast ? .max : sum
  }
}

/// What a store has room for of some uploads.
struct StoreRoom: Hashable, Sendable {
  /// How many of them, and their bytes.
  var count: Int
  var bytes: Int
  /// The size of which that is true.
  var size: StoreSize
}

/// A count of a store that is under way.
struct StoreSizeCount: Sendable {
  let task: Task<Result<StoreSize, ServerStoreError>, Never>
  /// What was taken since it began.
  var added = 0
  var isUnsure = false
}

/// What a transaction would take in a store.
struct StoreDemand: Hashable, Sendable {
  /// The number of its uploads.
  var count: Int
  var bytes: Int
  /// Whether it adds or replaces something; false if it only takes away.
  var adds: Bool

  /// The demands of some uploads, one for each transaction.
  ///
  /// - Parameter mayWrite: false for those of a user who may not: all of them will be refused.
  static func all(of uploads: [Upload], mayWrite: Bool) -> [StoreDemand] {
    var all: [StoreDemand] = []
    var isInside = false
    for upload in uploads {
      if !isInside { all.append(StoreDemand(count: 0, bytes: 0, adds: false)) }
      let last = all.count - 1
      all[last].count += 1
      all[last].bytes += mayWrite ? upload.bytes : upload.bytesRefused
      all[last].adds = all[last].adds || mayWrite && upload.adds
      isInside = upload.isContinued
    }
    return all
  }
}

extension Upload {
  /// About how many bytes its entry has if it is accepted; of a void if it is answered.
  var bytes: Int { if case .changeset(let changeset) = self { changeset.encoded().count } else { bytesRefused } }

  /// How many bytes the answer has at least if it is refused; what the server knows of the objects comes in addition.
  var bytesRefused: Int {
    switch self {
    case .changeset(let changeset): 64 + 32 * changeset.objects.count
    case .void(_, let objects): 64 + 32 * objects.count
    }
  }

  /// Whether it adds or replaces something; false if it only takes away.
  var adds: Bool {
    guard case .changeset(let changeset) = self else { return false }
    return changeset.operations.contains { operation in
      switch operation.action {
      case .delete, .remove, .erase, .eraseMember, .eraseEntry, .clear: false
      case .create, .set, .add, .make, .insert, .setElement, .move, .insertMember, .setEntry: true
      }
    }
  }
}
