import SyncModel
import SyncProtocol

extension Rule {
  // MARK: Entries

  static var entries: [Rule] {
    [
      Rule("Order", "an upload is acknowledged, comes back as the own one's number, and to others whole") { exchange in
        let (one, _, welcome) = try await exchange.live(1)
        let (other, _, _) = try await exchange.live(2)
        let changeset = Exchange.creation(1, 1, time: welcome.serverTime)
        try await one.send(.upload(session: 1, [changeset]))
        _ = try await one.next("'acknowledged'") { $0 == .acknowledged(session: 1, clientSeq: 1) }
        guard try await one.entries(mark: 1).map(\.body) == [.own(clientSeq: 1)] else { throw Fault("it did not come back as the own one") }
        let theirs = try await other.entries(mark: 1)
        guard theirs.count == 1, case .changeset(_, changeset) = theirs[0].body else { throw Fault("the other got \(theirs)") }
      },
      Rule("Order", "what comes twice counts once") { exchange in
        let (one, _, welcome) = try await exchange.live(1)
        let changeset = Exchange.creation(1, 1, time: welcome.serverTime)
        try await one.send(.upload(session: 1, [changeset]), .upload(session: 1, [changeset]))
        let entries = try await one.entries(mark: 1)
        guard entries.count == 1 else { throw Fault("there are \(entries.count) entries") }
        await one.close()
        let (again, bound, _) = try await exchange.live(1, cursor: Seq(1), history: history(of: exchange))
        guard bound.judged == 1 else { throw Fault("\(bound.judged) is said to have been judged last") }
        try await again.send(.upload(session: 1, [changeset]))
        guard try await again.entries(mark: 2).isEmpty else { throw Fault("it counted again") }
      },
      Rule("Order", "a number that is left out ends the session with 102") { exchange in
        let (one, _, welcome) = try await exchange.live(1)
        try await one.send(.upload(session: 1, [Exchange.creation(1, 2, time: welcome.serverTime)]))
        try await one.error(.outOfOrder)
      },
      Rule("Order", "the changesets of a transaction are taken in together") { exchange in
        let (one, _, welcome) = try await exchange.live(1)
        let (other, _, _) = try await exchange.live(2)
        try await one.send(.upload(session: 1, [Exchange.creation(1, 1, time: welcome.serverTime, isContinued: true)]))
        guard try await other.entries(mark: 1).isEmpty else { throw Fault("the first half was told before the second came") }
        try await one.send(.upload(session: 1, [Exchange.creation(1, 2, time: welcome.serverTime)]))
        _ = try await one.next("'acknowledged' 2") { $0 == .acknowledged(session: 1, clientSeq: 2) }
        guard try await other.entries(mark: 2).count == 2 else { throw Fault("not both came") }
      },
    ] + refusals + credit
  }

  private static var refusals: [Rule] {
    [
      Rule("Order", "after a refusal nothing of the replica is looked at until it has said that it has seen it") { exchange in
        let (one, _, welcome) = try await exchange.live(1)
        let (wrong, right) = (Exchange.baseless(1, 1, time: welcome.serverTime), Exchange.creation(1, 2, time: welcome.serverTime))
        try await one.send(.upload(session: 1, [wrong, right]))
        let entries = try await one.entries(mark: 1)
        guard entries.count == 1, case .refusal(1, .unknownReference, _, _) = entries[0].body else {
          throw Fault("the entries are \(entries)")
        }
        let seen = Acknowledgement(cursor: entries[0].seq, pendingBase: .zero, refusalSeen: entries[0].seq)
        try await one.send(.acknowledge(session: 1, seen), .upload(session: 1, [right]))
        guard try await one.entries(mark: 2).map(\.body) == [.own(clientSeq: 2)] else { throw Fault("what is right was not taken in then") }
      },
      Rule("Order", "a void is answered with the state of what it names") { exchange in
        let (one, _, welcome) = try await exchange.live(1)
        try await one.send(.upload(session: 1, [Exchange.baseless(1, 1, time: welcome.serverTime)]))
        guard let refusal = try await one.entries(mark: 1).last else { throw Fault("no refusal came") }
        let object = ObjectIdentity("Thing", .int(2))
        try await one.send(
          .acknowledge(session: 1, Acknowledgement(cursor: refusal.seq, pendingBase: .zero, refusalSeen: refusal.seq)),
          .void(session: 1, clientSeq: 2, objects: [object]))
        guard case .refusal(2, _, _, let states)? = try await one.entries(mark: 2).last?.body, Array(states.keys) == [object] else {
          throw Fault("it was not answered")
        }
      },
    ]
  }

  private static var credit: [Rule] {
    [
      Rule("Credit", "nothing is sent that was not granted, and it comes when it is") { exchange in
        let (one, bound, welcome) = try await exchange.live(1)
        let other = try await exchange.connection()
        try await other.send(exchange.hello(), exchange.bind(2, cursor: .zero, history: bound.history))
        _ = try await other.bound()
        try await one.send(.upload(session: 1, [Exchange.creation(1, 1, time: welcome.serverTime)]))
        _ = try await one.entries(mark: 1)
        try await other.expectNone("an entry without credit", number: 9) { if case .changes = $0 { true } else { false } }
        try await other.send(.credit(session: 1, bytes: 1))
        _ = try await other.next("the entry") { if case .changes(1, let entries) = $0 { entries.count == 1 } else { false } }
      },
      Rule("Credit", "what was uploaded is granted again") { exchange in
        let (one, bound, welcome) = try await exchange.live(1)
        let text = String(repeating: "x", count: min(Int(clamping: bound.credit), 1 << 20) / 2 + 1_000)
        try await one.send(.upload(session: 1, [Exchange.creation(1, 1, time: welcome.serverTime, text: text)]))
        _ = try await one.next("'credit'") { if case .credit(1, let bytes) = $0 { bytes > 0 } else { false } }
      },
    ]
  }

  private static func history(of exchange: Exchange) async throws -> [UInt8] {
    let (connection, bound, _) = try await exchange.live(3)
    await connection.close()
    return bound.history
  }

  // MARK: Errors

  static var errors: [Rule] {
    [
      Rule("Errors", "a token that is none is told 201, and the connection ends") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello(token: "none"))
        try await connection.error(.tokenInvalid, .tokenExpired)
        try await connection.end()
      },
      Rule("Errors", "a path that is none is told 210, and the connection goes on") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello(), exchange.bind(1, path: "/no//path"))
        try await connection.error(.unknownStore)
        try await connection.expectNone("an error", number: 1) { if case .error = $0 { true } else { false } }
      },
      Rule("Errors", "who does not know a replica's secret is told 250") { exchange in
        let (first, _, _) = try await exchange.live(1)
        await first.close()
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello(), exchange.bind(1, secret: 99))
        try await connection.error(.replicaTaken)
      },
      Rule("Errors", "stamps too far ahead are told 240") { exchange in
        let (one, _, welcome) = try await exchange.live(1)
        try await one.send(.upload(session: 1, [Exchange.creation(1, 1, time: welcome.serverTime + 400 * 86_400_000)]))
        try await one.error(.clockSkew)
      },
      Rule("Errors", "a session that is not bound ends the connection with 102") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello(), .mark(session: 9, number: 1))
        try await connection.error(.outOfOrder)
        try await connection.end()
      },
    ]
  }
}
