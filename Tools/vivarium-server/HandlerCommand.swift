#if Sync
import ArgumentParser
import Foundation
import SyncModel
import SyncServer

/// `vivarium-server handler …`
struct HandlerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "handler", abstract: "Who handles the events of stores, and how far each is.",
    discussion: """
      Of a folder, the server has to be ended before; one that runs answers GET and DELETE /admin/v1/handlers. Of a database, servers may \
      run.
      """,
    subcommands: [List.self, Remove.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints each store and handler, the entry up to which it has handled events, and how many came since.",
      discussion: "With 'leased' a process has the handler now, for so many seconds or longer.")
    @OptionGroup var option: PlaceOption
    @Argument(help: "Only this store.") var path: String?

    func run() async throws {
      let path = try path.map { try HandlerCommand.store($0) }
      let now = HandlerCommand.now
      let reports = try await option.place.withStores { stores -> [HandlerReport] in
        guard let path else { return try await stores.handlerReports(of: stores.storesOfHandlers(), at: now) }
        guard try await stores.heads([path])[path] != nil else { throw Trouble("There is no store '\(path)'.") }
        return try await stores.handlerReports(of: [path], at: now)
      }
      for report in reports {
        let lease = report.leasedUntil.map { " leased=\(($0 - now) / 1000)" } ?? ""
        print("\(report.path) \(report.name) cursor=\(report.cursor.rawValue) lag=\(report.lag)\(lease)")
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes a handler that is not run any more: for it a store keeps all that has come since its last event.",
      discussion: """
        End its processes first: one that is at work is seen, and nothing is removed; one that waits for events is not, and handles \
        nothing more until it is started again. Removed from all stores, the handler begins with what comes when it is run again, as a new \
        one does.
        """)
    @OptionGroup var option: PlaceOption
    @Flag(help: "No error if it is gone already: for scripts that may be run again.") var ifThere = false
    @Argument(help: "The store: '/ann/orders', or '*' for all, and for the name that the server knows.") var path: String
    @Argument var name: String

    func run() async throws {
      let (name, path) = try (name, path == "*" ? nil : HandlerCommand.store(path))
      guard !HandlerNames.isOfServer(name) else { throw Trouble("The server itself runs the handler '\(name)'.") }
      let removal = try await option.place.withStores { try await $0.removeHandler(name, from: path, at: HandlerCommand.now) }
      switch removal {
      case .removed(let count): print("\(count) stores")
      case .isUnknown where ifThere: print("0 stores")
      case .isUnknown: throw Trouble("There is no handler '\(name)'\(path.map { " at '\($0)'" } ?? "").")
      case .isHeld(let report):
        throw Trouble("A process has the handler '\(name)' at '\(report.path)': end the processes that run it first.")
      }
    }
  }

  /// Milliseconds since 1970.
  private static var now: Int64 { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }

  private static func store(_ text: String) throws -> StorePath {
    guard let path = StorePath(text), path != HandlerNames.path else { throw Trouble("'\(text)' is no path of a store that has handlers.") }
    return path
  }
}
#endif
