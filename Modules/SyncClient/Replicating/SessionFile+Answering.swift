import SyncModel
import SyncProtocol

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SessionFile {
  /// Does what a session asks of its file, and gives the event that answers it; nil for what is not the file's.
  ///
  /// - Parameters:
  ///   - clockOffset: what the server's clock is ahead of this one, in milliseconds.
  ///   - wall: milliseconds since 1970 by this clock.
  ///   - other: who the file becomes where its number is spent; drawn by default.
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
  /// Of which connection it is, where it is of no use after that.
  package var generation: UInt64? {
    switch self {
    case .integrate(_, let generation), .take(_, _, let generation): generation
    default: nil
    }
  }
}
