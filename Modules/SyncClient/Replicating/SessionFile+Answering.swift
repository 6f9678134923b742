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
    case .take(let pages, let bound, let generation):
      let wall = wall ?? Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
      return .integrated(try await take(pages, bound, clockOffset: clockOffset, wall: wall), generation: generation)
    case .reset(let isNew): return .standing(try await beginAnew(as: isNew ? other ?? ReplicaStanding.drawn().replica : nil))
    default: return nil
    }
  }
}

extension SyncSessionEffect {
  /// The connection to which the effect belongs, if it is of no use after that connection.
  package var generation: UInt64? {
    switch self {
    case .integrate(_, let generation), .take(_, _, let generation): generation
    default: nil
    }
  }
}
