import SyncModel
import SyncProtocol

extension Rule {
  /// Of a server that goes on with pages: others keep every rule of these.
  static var pages: [Rule] {
    [
      Rule("The rest of pages", "what is behind the pages that came is sent, and not these again") { exchange in
        guard let (begun, first) = try await exchange.begun() else { return }
        let (bound, objects) = try await exchange.rest(begun)
        guard bound.mode == .rest else { throw Fault("the mode is \(bound.mode)") }
        guard objects.count + first.count == Exchange.things.count, Set(objects + first) == Set(Exchange.things) else {
          throw Fault("\(first) came first, and then \(objects)")
        }
      },
      Rule("The rest of pages", "pages of another history, purge or judgement are sent again from the first on") { exchange in
        guard let (begun, _) = try await exchange.begun() else { return }
        var others = [begun, begun, begun, begun]
        others[0].history[0] ^= 1
        others[1].stable = Seq(begun.stable.rawValue + 1)
        others[2].judged = begun.judged + 1
        others[3].asOf = Seq(begun.asOf.rawValue + 1_000)
        for other in others {
          let (bound, objects) = try await exchange.rest(other)
          guard bound.mode == .snapshot else { throw Fault("the mode is \(bound.mode)") }
          guard Set(objects) == Set(Exchange.things) else { throw Fault("\(objects) came") }
        }
      },
      Rule("The rest of pages", "it is asked for before its session is bound: behind that it ends the connection with 102") { exchange in
        guard let (begun, _) = try await exchange.begun() else { return }
        let connection = try await exchange.connection()
        try await connection.send(exchange.hello(features: .rest), exchange.bind(2))
        _ = try await connection.bound()
        try await connection.send(.rest(session: 1, begun))
        try await connection.error(.outOfOrder)
        try await connection.end()
      },
    ]
  }
}

extension Exchange {
  /// What a replica made.
  fileprivate static let things = (1...3).map { ObjectIdentity("Thing", .int(Int64($0))) }

  /// The first page that another replica gets, and what it says of it on the next connection; nil if the server does not go on with
  /// pages, or has sent everything on the first.
  fileprivate func begun() async throws -> (BegunPages, [ObjectIdentity])? {
    let (one, _, welcome) = try await live(1)
    let long = String(repeating: "long ", count: 40_000)
    for number: UInt64 in 1...3 {
      try await one.send(.upload(session: 1, [Exchange.creation(1, number, time: welcome.serverTime, text: "\(number) \(long)")]))
      _ = try await one.next("'acknowledged'") { $0 == .acknowledged(session: 1, clientSeq: number) }
    }
    await one.close()
    let other = try await connection()
    try await other.send(hello(features: .rest), bind(2), .credit(session: 1, bytes: 1))
    guard try await other.welcome().features.contains(.rest) else { return nil }
    let bound = try await other.bound()
    let message = try await other.next("a page") { if case .state = $0 { true } else { false } }
    await other.close()
    guard case .state(_, let page) = message, !page.isLast, !page.next.isEmpty else { return nil }
    let begun = BegunPages(
      mode: bound.mode, history: bound.history, asOf: page.asOf, stable: page.stable, judged: bound.judged, refusal: bound.refusal,
      next: page.next)
    return (begun, page.objects.map(\.identity))
  }

  /// What the server answers to who has some pages, and the objects that it sends.
  fileprivate func rest(_ begun: BegunPages) async throws -> (Bound, [ObjectIdentity]) {
    let connection = try await connection()
    try await connection.send(hello(features: .rest), .rest(session: 1, begun), bind(2), .credit(session: 1, bytes: 1 << 24))
    let bound = try await connection.bound()
    var objects: [ObjectIdentity] = []
    while true {
      let message = try await connection.next("a page of objects") { if case .state(1, _) = $0 { true } else { false } }
      guard case .state(_, let page) = message else { continue }
      objects += page.objects.map(\.identity)
      if page.isLast { break }
    }
    await connection.close()
    return (bound, objects)
  }
}
