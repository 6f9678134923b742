import ArgumentParser
import Foundation
import SyncModel
import SyncProtocol
import SyncWebSocket

/// Puts the rules of the protocol to a server, whoever wrote it.
@main struct SyncConformance: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-conformance",
    abstract: "Puts the rules of Docs/SyncProtocol.md to a server: a line for each, ok or failed. Ends with 1 where one failed.",
    discussion: """
      The user must be allowed to make stores of his own ('/~/…'); each rule makes one. Nothing else of the server is touched. \
      A rule that has to wait for what never comes ends after the time of '--patience'.
      """)

  @Argument(help: "The server: ws://127.0.0.1:9480.") var address: String
  @Option(help: "Who the user is there.") var token: String
  @Option(help: "Only rules whose name has this in it.") var rule = ""
  @Option(help: "Seconds for an answer.") var patience = 10
  @Flag(help: "Also where others could read along.") var plainText = false

  func run() async throws {
    #if Sync
    let connector = try WebSocketConnector(address, allowsPlainText: plainText)
    let name = "conformance-\(UInt64.random(in: 0..<1 << 40))"
    var (passed, failed) = (0, 0)
    for (number, rule) in Rule.all.enumerated() where self.rule.isEmpty || rule.name.contains(self.rule) {
      let exchange = Exchange(
        connector: connector, token: token, path: "/~/\(name)/\(number)", patience: .seconds(max(1, patience)))
      do {
        try await rule.check(exchange)
        passed += 1
        say("ok      \(rule.section): \(rule.name)")
      } catch {
        failed += 1
        say("failed  \(rule.section): \(rule.name)\n        \(error)")
      }
    }
    say("\(passed) ok, \(failed) failed")
    if failed > 0 || passed == 0 { throw ExitCode.failure }
    #else
    throw ValidationError("This build speaks no WebSocket: build it with the trait 'Sync'.")
    #endif
  }

  /// At once, for who waits.
  private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
