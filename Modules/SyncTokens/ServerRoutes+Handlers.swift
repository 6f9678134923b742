#if Sync
import SyncModel
import SyncProtocol
import SyncServer

// `/admin/v1/handlers…`: the handlers of events, and the removal of those that are not run any more.

extension ServerRoutes {
  private struct ShownHandler: Encodable {
    let path: String
    let name: String
    let cursor: UInt64
    let lag: UInt64
    /// In milliseconds since 1970; left out if no process has the handler.
    let leasedUntil: Int64?

    init(_ report: HandlerReport) {
      (path, name, leasedUntil) = (report.path.text, report.name, report.leasedUntil)
      (cursor, lag) = (report.cursor.rawValue, report.lag)
    }
  }

  /// - Parameter text: the path of a store; nil: of all.
  func handlers(of text: String?) async throws(SyncRefusal) -> WebAnswer {
    let path = try text.map { text throws(SyncRefusal) in try handledStore(text) }
    let time = clock()
    let reports = try await asked { () throws(ServerStoreError) -> [HandlerReport]? in
      guard let path else { return try await host.stores.handlerReports(of: host.stores.storesOfHandlers(), at: time) }
      guard try await host.stores.heads([path])[path] != nil else { return nil }
      return try await host.stores.handlerReports(of: [path], at: time)
    }
    guard let reports else { throw SyncRefusal(.unknownStore, "There is no store '\(text ?? "")'.") }
    return .json(reports.map { ShownHandler($0) })
  }

  /// - Parameter text: the path of a store; nil: all, and the name.
  func removeHandler(_ name: String, from text: String?, _ ifThere: Bool) async throws(SyncRefusal) -> WebAnswer {
    let path = try text.map { text throws(SyncRefusal) in try handledStore(text) }
    guard !HandlerNames.isOfServer(name) else { throw SyncRefusal(.badFrame, "The server itself runs the handler '\(name)'.") }
    let time = clock()
    let removal = try await asked { () throws(ServerStoreError) in
      try await host.stores.removeHandler(name, from: path, at: time)
    }
    switch removal {
    case .removed: return WebAnswer(status: 204)
    case .isUnknown where ifThere: return WebAnswer(status: 204)
    case .isUnknown: throw SyncRefusal(.unknownStore, "There is no handler '\(name)'\(path.map { " at '\($0)'" } ?? "").")
    case .isHeld(let report):
      let refusal = SyncRefusal(.badFrame, "A process has the handler '\(name)' at '\(report.path)': end the processes that run it first.")
      return WebAnswer(refusal, status: 409)
    }
  }

  private func handledStore(_ text: String) throws(SyncRefusal) -> StorePath {
    guard let path = StorePath(text), path != HandlerNames.path else {
      throw SyncRefusal(.unknownStore, "'\(text)' is no path of a store that has handlers.")
    }
    return path
  }
}
#endif
