import SyncModel
import SyncProtocol

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SessionFile {
  /// Performs a session's effect on its file, and returns the event that answers it; nil for an effect that does not concern the file.
  ///
  /// - Parameters:
  ///   - clockOffset: by how many milliseconds the server's clock is ahead of this device's.
  ///   - wall: this device's clock, in milliseconds since 1970.
  ///   - other: the new replica of a file whose id is used up; drawn by default.
  package func answer(
    _ effect: SyncSessionEffect, clockOffset: Int64?, wall: Int64? = nil, other: ReplicaID? = nil
  ) async throws -> SyncSessionEvent? {
    switch effect {
    case .readStanding: return .standing(try await standing())
    case .readOutbox(let seq, let bytes, let reading): return .outbox(try await outbox(after: seq, bytes: bytes), reading: reading)
    case .integrate(let entries, let generation):
      return .integrated(try await integrate(entries, clockOffset: clockOffset), generation: generation)
    case .stage(let pages, let staged, let generation):
      try await stage(pages, behind: staged)
      return .staged(generation: generation)
    case .dropPages:
      try await dropPages()
      return nil
    case .take(let pages, let bound, let staged, let generation):
      let wall = wall ?? Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
      let standing = try await take(pages, bound, behind: staged, clockOffset: clockOffset, wall: wall)
      return .integrated(standing, generation: generation)
    case .reset(let cause):
      return .begunAnew(try await beginAnew(as: cause.makesNewReplica ? other ?? ReplicaStanding.drawn().replica : nil))
    default: return nil
    }
  }
}

extension SyncSessionEffect {
  /// The connection to which the effect belongs, if it is of no use after that connection. Pages are put aside for the next one.
  package var generation: UInt64? {
    switch self {
    case .integrate(_, let generation), .take(_, _, _, let generation): generation
    default: nil
    }
  }

  /// Whether the server's objects take the place of the file's, in a reset or for other reasons.
  var takesObjects: Bool { if case .take = self { true } else { false } }
}
