import SyncModel
import SyncProtocol

extension Rule {
  /// Of a server that takes declarations: others keep every rule of these.
  static var declarations: [Rule] {
    [
      Rule("Declarations", "'schema' answers 'schema' with all that was declared") { exchange in
        guard let connection = try await exchange.declaring(1) else { return }
        try await connection.send(.schema(session: 1, SyncSchema(["Thing": ["name": "string"]]).encoded))
        let both = SyncSchema(["Thing": ["name": "string", "size": "int"]])
        try await connection.send(.schema(session: 1, SyncSchema(["Thing": ["size": "int"]]).encoded))
        _ = try await connection.next("'schema' with both properties") { $0 == .schema(session: 1, both.encoded) }
      },
      Rule("Declarations", "one that differs ends the session with 230, and what follows is ignored") { exchange in
        guard let first = try await exchange.declaring(1), let second = try await exchange.declaring(2) else { return }
        try await first.send(.schema(session: 1, SyncSchema(["Thing": ["name": "string"]]).encoded))
        _ = try await first.next("'schema'") { if case .schema = $0 { true } else { false } }
        let other = SyncSchema(["Thing": ["name": "int"]])
        let creation = Exchange.creation(2, 1, time: 1)
        try await second.send(.schema(session: 1, other.encoded), .upload(session: 1, [creation]))
        try await second.error(.schemaConflict)
        guard try await first.entries(mark: 1).isEmpty else { throw Fault("the upload behind it was taken") }
      },
      Rule("Declarations", "bytes that are no declaration end the connection with 100") { exchange in
        guard let connection = try await exchange.declaring(1) else { return }
        try await connection.send(.schema(session: 1, [7]))
        try await connection.error(.badFrame)
        try await connection.end()
      },
    ]
  }
}

extension Exchange {
  /// A bound connection; nil if the server takes no declarations.
  fileprivate func declaring(_ replica: UInt64) async throws -> RuleConnection? {
    let (connection, _, welcome) = try await live(replica, features: .declarations)
    return welcome.features.contains(.declarations) ? connection : nil
  }
}
