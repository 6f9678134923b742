import SyncModel
import SyncProtocol

/// One rule of the protocol, and the exchange that shows it.
package struct Rule: Sendable, CustomStringConvertible {
  /// What some rules need beside a server and a user.
  package enum Need: String, Sendable {
    /// The token of another user.
    case anotherUser = "another user"
    /// A server that forgets entries when it is told to.
    case forgetting = "a server that forgets entries when it is told to"
  }

  /// As in Docs/SyncProtocol.md.
  let section: String
  package let name: String
  /// What it needs; nil for nothing else.
  package let need: Need?
  private let exchanges: @Sendable (Exchange) async throws -> Void

  init(_ section: String, _ name: String, needs need: Need? = nil, _ exchanges: @escaping @Sendable (Exchange) async throws -> Void) {
    (self.section, self.name, self.need, self.exchanges) = (section, name, need, exchanges)
  }

  /// Puts the rule to the server of an exchange, which has what it needs. Throws what the server does otherwise.
  package func check(_ exchange: Exchange) async throws { try await exchanges(exchange) }

  package var description: String { "\(section): \(name)" }

  /// All rules. Each needs an exchange with a path of its own.
  package static var all: [Rule] { parts + limits + order + tokens + standing + forgetting + entries + declarations + pages + errors }

  // MARK: Parts and messages

  private static var parts: [Rule] {
    [
      Rule("Parts and messages", "a message may come in several parts") { exchange in
        let (connection, _, welcome) = try await exchange.live(1)
        await connection.split(into: 70)
        let long = Exchange.creation(1, 1, time: welcome.serverTime, text: String(repeating: "long ", count: 100))
        try await connection.send(.upload(session: 1, [long]))
        try await connection.expectOwn(1)
      },
      Rule("Parts and messages", "messages may be compressed where both sides can") { exchange in
        let (connection, _, welcome) = try await exchange.live(1, features: .compression)
        guard welcome.features.contains(.compression) else { return }
        await connection.compress()
        let long = Exchange.creation(1, 1, time: welcome.serverTime, text: String(repeating: "the same ", count: 500))
        try await connection.send(.upload(session: 1, [long]))
        try await connection.expectOwn(1)
      },
      Rule("Parts and messages", "flags that mean nothing end the connection with 100") { exchange in
        try await exchange.ends([0x0B, 0x80, 0x00, 0x01, 0x00], .badFrame)
      },
      Rule("Parts and messages", "a number in a longer form than it needs ends the connection with 100") { exchange in
        try await exchange.ends([0x0B, 0x00, 0x00, 0x81, 0x00, 0x00], .badFrame)
      },
      Rule("Parts and messages", "bytes that are left over end the connection with 100") { exchange in
        try await exchange.ends([0x0B, 0x00, 0x00, 0x01, 0x00, 0x00], .badFrame)
      },
      Rule("Parts and messages", "another message between the parts of one ends the connection") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello())
        _ = try await connection.welcome()
        try await connection.send(raw: [0x04, 0x02, 0x01, 0x01])
        try await connection.send(.ping(number: 1, roundTrip: 0))
        try await connection.error(.badFrame, .outOfOrder)
        try await connection.end()
      },
      Rule("Parts and messages", "a type of C0 or more that is not known is passed over") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello())
        _ = try await connection.welcome()
        try await connection.send(raw: [0xF0, 0x00, 0x00, 0x01, 0x02, 0x03])
        try await connection.expectNone("an error", number: 5) { if case .error = $0 { true } else { false } }
      },
      Rule("Parts and messages", "any other type that is not known ends the connection with 101") { exchange in
        try await exchange.ends([0x3F, 0x00, 0x00], .unknownVersion)
      },
    ]
  }

  // MARK: Order

  private static var order: [Rule] {
    [
      Rule("Order", "'welcome' answers 'hello', with version 1 and the length of messages") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello(versions: [7, 1]))
        let welcome = try await connection.welcome()
        guard welcome.version == 1 else { throw Fault("the version is \(welcome.version)") }
        guard welcome.messageBytes >= 16 << 20 else { throw Fault("messages of \(welcome.messageBytes) bytes are taken, not 16 MiB") }
      },
      Rule("Order", "'bind' may follow 'hello' at once; 'bound' comes behind 'welcome'") { exchange in
        let (connection, bound, _) = try await exchange.live(1)
        guard bound.history.count == 16 else { throw Fault("a history has 16 bytes, and it has \(bound.history.count)") }
        guard bound.credit > 0 else { throw Fault("nothing may be uploaded") }
        await connection.close()
      },
      Rule("Order", "who has no version in common is told 101, and the connection ends") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello(versions: [999]))
        try await connection.error(.unknownVersion)
        try await connection.end()
      },
      Rule("Order", "a first message other than 'hello' ends the connection with 102") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(.ping(number: 1, roundTrip: 0))
        try await connection.error(.outOfOrder)
        try await connection.end()
      },
      Rule("Order", "a second 'hello' ends the connection with 102") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello())
        _ = try await connection.welcome()
        try await connection.send(exchange.hello())
        try await connection.error(.outOfOrder)
        try await connection.end()
      },
      Rule("Order", "'pong' answers 'ping' with its number") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello())
        _ = try await connection.welcome()
        try await connection.send(.ping(number: 77, roundTrip: 3))
        _ = try await connection.next("'pong' 77") { $0 == .pong(number: 77) }
      },
    ]
  }

  private static var standing: [Rule] {
    [
      Rule("Order", "'unbound' answers 'unbind', and the number may be bound again") { exchange in
        let (connection, _, _) = try await exchange.live(1)
        try await connection.send(.unbind(session: 1))
        _ = try await connection.next("'unbound'") { $0 == .unbound(session: 1) }
        try await connection.send(exchange.bind(1))
        _ = try await connection.bound()
      },
      Rule("Order", "one connection carries several stores") { exchange in
        let (connection, _, _) = try await exchange.live(1)
        try await connection.send(exchange.bind(2, session: 2, path: exchange.path + "-second"), .credit(session: 2, bytes: 1 << 20))
        _ = try await connection.bound(2)
        try await connection.expectNone("an error", number: 1) { if case .error = $0 { true } else { false } }
      },
      Rule("Order", "who has another history begins anew") { exchange in
        let (first, _, _) = try await exchange.live(1)
        await first.close()
        let (_, bound, _) = try await exchange.live(1, history: [UInt8](repeating: 1, count: 16))
        guard bound.mode == .reset else { throw Fault("the mode is \(bound.mode)") }
      },
      Rule("Order", "who is ahead of the server begins anew") { exchange in
        let (first, bound, _) = try await exchange.live(1)
        await first.close()
        let (_, again, _) = try await exchange.live(1, cursor: Seq(1_000), history: bound.history)
        guard again.mode == .reset else { throw Fault("the mode is \(again.mode)") }
      },
      Rule("Order", "who has a cursor gets the entries behind it, and no others") { exchange in
        let (first, bound, welcome) = try await exchange.live(1)
        try await first.send(.upload(session: 1, (1...3).map { Exchange.creation(1, $0, time: welcome.serverTime) }))
        _ = try await first.entries(mark: 1)
        let (second, again, _) = try await exchange.live(2, cursor: Seq(1), history: bound.history)
        guard again.mode == .resume else { throw Fault("the mode is \(again.mode)") }
        let entries = try await second.entries(mark: 1)
        guard entries.map(\.seq) == [Seq(2), Seq(3)] else { throw Fault("the entries are \(entries.map(\.seq))") }
      },
    ]
  }
}

extension Exchange {
  /// Sends a part behind `welcome`, which has to end the connection with an error.
  func ends(_ part: [UInt8], _ code: SyncErrorCode) async throws {
    let connection = try await connection()
    try await connection.send(hello())
    _ = try await connection.welcome()
    try await connection.send(raw: part)
    try await connection.error(code)
    try await connection.end()
  }
}
