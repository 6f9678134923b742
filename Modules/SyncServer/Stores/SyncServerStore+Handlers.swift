import SyncModel

/// Where a server keeps which names of handlers it knows, and of which stores: as cursors in an otherwise empty store.
package enum HandlerNames {
  /// No user has this path: see `UserRecord.isName`.
  // The text is a valid path; StorePathTests checks it.
  package static let path = StorePath("/__server/handlers").unsafelyUnwrapped

  /// The cursor that says that a name is known. No handler's name has a colon.
  package static func known(_ name: String) -> String { name + ":known" }

  /// The cursor that is there while a name is registered, until all of that is done.
  package static func unfinished(_ name: String) -> String { name + ":unfinished" }

  /// The cursor that says of which stores a known name is. A name has one; for a moment two, if it is registered for others.
  package static func pattern(_ pattern: PathPattern, of name: String) -> String { patterns(of: name) + pattern.description }

  private static func patterns(of name: String) -> String { name + ":of:" }

  /// The cursors among those of the server that say of which stores a name is.
  package static func patterns(of name: String, in cursors: some Sequence<String>) -> [String] {
    cursors.filter { $0.hasPrefix(patterns(of: name)) }.sorted()
  }

  /// The handlers that a new store has from its first entry on.
  ///
  /// - Parameter cursors: those of the server.
  package static func handlers(of path: StorePath, in cursors: Set<String>) -> Set<String> {
    if path == self.path { return [] }
    var names: Set<String> = []
    for cursor in cursors {
      let name = String(cursor.prefix { $0 != ":" })
      guard cursor.hasPrefix(patterns(of: name)), cursors.contains(known(name)) else { continue }
      if PathPattern(String(cursor.dropFirst(patterns(of: name).count)))?.matches(path) == true { names.insert(name) }
    }
    return names
  }

  /// Whether it is the name of a handler that a server runs itself.
  package static func isOfServer(_ name: String) -> Bool { name.hasPrefix("__") }
}

/// How far a handler is at one store.
package struct HandlerReport: Hashable, Sendable {
  package let path: StorePath
  package let name: String
  package let cursor: Seq
  /// The entries of the log that the handler has not processed.
  package let lag: UInt64
  /// When the lease ends, in milliseconds since 1970; nil if no process has the handler.
  package let leasedUntil: Int64?
}

/// What came of the wish to remove a handler.
package enum HandlerRemoval: Hashable, Sendable {
  /// It was removed from this many stores.
  case removed(stores: Int)
  /// A process has it: nothing was removed.
  case isHeld(HandlerReport)
  /// There is no such handler.
  case isUnknown
}

extension SyncServerStore {
  /// The handlers of some stores, by path and name. A store that does not exist, or not any more, has none. O(stores).
  package func handlerReports(of paths: [StorePath], at time: Int64) async throws(ServerStoreError) -> [HandlerReport] {
    var reports: [HandlerReport] = []
    for path in paths.sorted() {
      do throws(ServerStoreError) {
        let found = try await handlers(path)
        // Read after the cursors, so that none is ahead of it.
        guard !found.isEmpty, let head = try await heads([path])[path] else { continue }
        for (name, standing) in found.sorted(by: { $0.key < $1.key }) {
          reports.append(
            HandlerReport(
              path: path, name: name, cursor: standing.cursor, lag: head.rawValue - min(head.rawValue, standing.cursor.rawValue),
              leasedUntil: standing.leaseEnd > time ? standing.leaseEnd : nil))
        }
      } catch { guard error.code == .unknownStore else { throw error } }
    }
    return reports
  }

  /// The stores that may have handlers: all but the one with the handlers' names.
  package func storesOfHandlers() async throws(ServerStoreError) -> [StorePath] {
    try await stores().filter { $0 != HandlerNames.path }
  }

  /// Removes a handler that no process has: from one store, or from all, with its name. One whose name the server has forgotten begins
  /// with what comes when it runs again; at a single store that it was removed from it begins with the log's first entry.
  ///
  /// A process that runs the handler and has nothing to do has no lease, and cannot be told from one that was ended.
  package func removeHandler(
    _ name: String, from path: StorePath?, at time: Int64
  ) async throws(ServerStoreError) -> HandlerRemoval {
    let paths = if let path { [path] } else { try await storesOfHandlers() }
    var found = try await handlerReports(of: paths, at: time).filter { $0.name == name }
    if let held = found.first(where: { $0.leasedUntil != nil }) { return .isHeld(held) }
    var isKnown = false
    if path == nil {
      // The name comes first: a process that dies in between leaves cursors without a name, which a handler goes on from. A store that was
      // made while the name was there is looked for once it is gone: one that was missed would keep its log for ever.
      isKnown = try await forgetHandlerName(name)
      found = try await handlerReports(of: storesOfHandlers(), at: time).filter { $0.name == name }
    }
    for report in found {
      do throws(ServerStoreError) { try await removeHandler(report.path, name) } catch {
        guard error.code == .unknownStore else { throw error }
      }
    }
    return found.isEmpty && !isKnown ? .isUnknown : .removed(stores: found.count)
  }

  /// Returns whether the name was known.
  private func forgetHandlerName(_ name: String) async throws(ServerStoreError) -> Bool {
    do throws(ServerStoreError) {
      let cursors = try await handlers(HandlerNames.path)
      let patterns = HandlerNames.patterns(of: name, in: cursors.keys)
      for kept in [HandlerNames.known(name)] + patterns + [HandlerNames.unfinished(name), name] {
        try await removeHandler(HandlerNames.path, kept)
      }
      return cursors[HandlerNames.known(name)] != nil
    } catch {
      // No handler was ever registered.
      guard error.code == .unknownStore else { throw error }
      return false
    }
  }
}
