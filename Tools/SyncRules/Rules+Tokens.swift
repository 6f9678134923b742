import SyncModel
import SyncProtocol

extension Rule {
  // MARK: Tokens

  static var tokens: [Rule] {
    [
      Rule("Order", "'authenticated' answers 'authenticate', and the sessions go on") { exchange in
        let (connection, _, welcome) = try await exchange.live(1)
        try await connection.send(.authenticate(token: exchange.token))
        _ = try await connection.next("'authenticated'") { $0 == .authenticated }
        // Once more, now that the first was answered.
        try await connection.send(.authenticate(token: exchange.token))
        _ = try await connection.next("'authenticated'") { $0 == .authenticated }
        try await connection.send(.upload(session: 1, [Exchange.creation(1, 1, time: welcome.serverTime)]))
        try await connection.expectOwn(1)
      },
      Rule("Order", "'authenticate' with a token that is none ends the connection with 201") { exchange in
        let (connection, _, _) = try await exchange.live(1)
        try await connection.send(.authenticate(token: "none"))
        try await connection.error(.tokenInvalid, .tokenExpired)
        try await connection.end()
      },
      Rule("Order", "'authenticate' with the token of another user ends the connection with 201", needs: .anotherUser) { exchange in
        let (connection, _, _) = try await exchange.live(1)
        try await connection.send(.authenticate(token: exchange.otherToken ?? ""))
        try await connection.error(.tokenInvalid)
        try await connection.end()
      },
      Rule("Order", "'authenticate' before 'hello' ends the connection with 102") { exchange in
        let connection = try await exchange.connection()
        try await connection.send(.authenticate(token: exchange.token))
        try await connection.error(.outOfOrder)
        try await connection.end()
      },
    ]
  }

  // MARK: Forgotten entries

  static var forgetting: [Rule] {
    [
      Rule("Order", "who lacks forgotten entries gets the objects that changed since, then entries", needs: .forgetting) { exchange in
        let (one, bound, welcome) = try await exchange.live(1)
        try await one.send(.upload(session: 1, (1...3).map { Exchange.creation(1, $0, time: welcome.serverTime) }))
        _ = try await one.entries(mark: 1)
        let (early, resumed, _) = try await exchange.live(2, cursor: Seq(1), history: bound.history)
        guard resumed.mode == .resume else { throw Fault("the mode is \(resumed.mode) before anything is forgotten") }
        await early.close()
        try await exchange.forgetLog()
        let (late, again, _) = try await exchange.begun(2, cursor: Seq(1), history: bound.history)
        guard again.mode == .delta else { throw Fault("the mode is \(again.mode)") }
        let pages = try await late.pages()
        let objects = pages.flatMap(\.objects).map(\.identity)
        let changed = [2, 3].map { ObjectIdentity("Thing", .int($0)) }
        guard objects.count == 2, Set(objects) == Set(changed) else { throw Fault("the objects are \(objects)") }
        try await one.send(.upload(session: 1, [Exchange.creation(1, 4, time: welcome.serverTime)]))
        _ = try await one.entries(mark: 2)
        let entries = try await late.entries(mark: 1)
        let isBehind = entries.allSatisfy { entry in pages.allSatisfy { entry.seq > $0.asOf } }
        guard isBehind, case .changeset(_, let changeset)? = entries.last?.body, changeset.clientSeq == 4 else {
          throw Fault("the entries are \(entries)")
        }
      },
      Rule("Order", "who has not seen his refusals gets all objects, and no delta", needs: .forgetting) { exchange in
        let (one, bound, welcome) = try await exchange.live(1)
        try await one.send(.upload(session: 1, (1...3).map { Exchange.creation(1, $0, time: welcome.serverTime) }))
        _ = try await one.entries(mark: 1)
        let (early, _, _) = try await exchange.live(2, cursor: Seq(1), history: bound.history)
        try await early.send(.upload(session: 1, [Exchange.baseless(2, 1, time: welcome.serverTime)]))
        _ = try await early.entries(mark: 1)
        await early.close()
        try await exchange.forgetLog()
        let (late, again, _) = try await exchange.begun(2, cursor: Seq(1), history: bound.history)
        guard again.mode == .snapshot, again.refused == [1] else { throw Fault("the mode is \(again.mode), refused are \(again.refused)") }
        let objects = try await late.pages().flatMap(\.objects).map(\.identity)
        let all = [1, 2, 3].map { ObjectIdentity("Thing", .int($0)) }
        guard Set(objects).isSuperset(of: all) else { throw Fault("the objects are \(objects)") }
      },
    ]
  }
}
