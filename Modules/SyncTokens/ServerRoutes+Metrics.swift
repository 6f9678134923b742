#if Sync
import SyncModel
import SyncProtocol
import SyncServer

// `/metrics`: numbers in Prometheus' text format.

extension ServerRoutes {
  func metrics() async -> String {
    let (numbers, sessions) = (host.counts.numbers, await host.sessions())
    var text = MetricsText()
    text.add("vivarium_connections", .gauge, "Connections that there are.", [("", UInt64(await host.connectionCount))])
    text.add("vivarium_connections_total", .counter, "Connections that were taken.", [("", numbers.connections)])
    text.add("vivarium_sessions", .gauge, "Stores that are bound on connections.", [("", UInt64(sessions.count))])
    text.add("vivarium_uploads_total", .counter, "Changesets that became entries.", [("", numbers.accepted)])
    text.add(
      "vivarium_refusals_total", .counter, "What was refused, by the code of the protocol.",
      numbers.refusals.sorted { $0.key.rawValue < $1.key.rawValue }.map { ("code=\"\($0.key.rawValue)\"", $0.value) })
    text.add("vivarium_received_bytes_total", .counter, "Bytes of parts that came.", [("", numbers.bytesIn)])
    text.add("vivarium_sent_bytes_total", .counter, "Bytes of parts that went.", [("", numbers.bytesOut)])
    text.add(
      "vivarium_backlog_bytes", .gauge, "Bytes of uploads that wait to be judged.",
      [("", sessions.reduce(0) { $0 + UInt64($1.backlog) })])
    text.add("vivarium_login_failures_total", .counter, "Log-ins that were refused.", [("", UInt64(await accounts.failures))])
    var (shown, count): (Set<StorePath>, [(String, UInt64)]) = (Set(sessions.compactMap { StorePath($0.path) }), [])
    if let stores = try? await host.stores.stores().filter({ !$0.isOfServer }) {
      count = [("", UInt64(stores.count))]
      if stores.count <= storesInMetrics { shown.formUnion(stores) }
    }
    text.add("vivarium_stores", .gauge, "Stores that there are, without the server's own.", count)
    return text.text + (await metrics(of: shown)) + (await more())
  }

  /// The numbers of some stores. `/metrics` has those of bound stores, and of all if there are few: each takes some reads, and is taken
  /// into the memory of a server over a folder.
  package func metrics(of paths: Set<StorePath>) async -> String {
    var text = MetricsText()
    var (heads, lags, handlers): ([(String, UInt64)], [(String, UInt64)], [(String, UInt64)]) = ([], [], [])
    for path in paths.sorted() {
      guard let head = try? await host.stores.heads([path])[path] else { continue }
      heads.append(("store=\"\(path.text)\"", head.rawValue))
      let standings = (try? await host.stores.handlers(path)) ?? [:]
      for (name, standing) in standings.sorted(by: { $0.key < $1.key }) {
        handlers.append(("store=\"\(path.text)\",handler=\"\(name)\"", head.rawValue - min(head.rawValue, standing.cursor.rawValue)))
      }
      guard let page = try? await host.stores.objects(path, changedAfter: head, behind: nil, limitBytes: 1) else { continue }
      lags.append(("store=\"\(path.text)\"", head.rawValue - min(head.rawValue, page.stable.rawValue)))
    }
    text.add("vivarium_log_head", .gauge, "The last entry of a store.", heads)
    text.add("vivarium_stable_lag", .gauge, "Entries of it whose deletions cannot be forgotten yet.", lags)
    text.add("vivarium_handler_lag", .gauge, "Entries of it that a handler of events has not processed.", handlers)
    return text.text
  }
}
#endif
