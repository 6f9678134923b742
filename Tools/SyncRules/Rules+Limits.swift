import SyncModel
import SyncProtocol

extension Rule {
  /// What is longer than was agreed, or packed as it must not be. The last part sent is always the one that is too much: what a server has
  /// not read when it ends a connection can take its reason away.
  static var limits: [Rule] {
    [
      Rule("Parts and messages", "before 'welcome', a message of more than 256 KiB ends the connection with 103") { exchange in
        let connection = try await exchange.connection()
        for flag in [2, 0] as [UInt8] { try await connection.send(raw: [0x01, flag, 0x00] + [UInt8](repeating: 0, count: 200_000)) }
        try await connection.error(.limitExceeded)
        try await connection.end()
      },
      Rule("Parts and messages", "a message that is longer than 'welcome' allows ends the connection with 103") { exchange in
        let (connection, welcome) = try await exchange.welcomed()
        guard welcome.messageBytes <= 256 << 20 else { return }
        let part: [UInt8] = [0x0A, 0x02, 0x01] + [UInt8](repeating: 0, count: 1 << 17)
        for _ in 0...welcome.messageBytes >> 17 { try await connection.send(raw: part) }
        try await connection.error(.limitExceeded)
        try await connection.end()
      },
      Rule("Parts and messages", "a message that becomes more than 64 times as long unpacked ends the connection with 103") { exchange in
        let (connection, welcome) = try await exchange.welcomed(.compression)
        guard welcome.features.contains(.compression) else { return }
        let zeros = SyncFrame(type: SyncFrame.optionalTypes, body: [UInt8](repeating: 0, count: 1 << 20))
        let packing = FrameEncoder(FrameLimits(inflationMax: 1 << 20), compresses: true)
        for part in try packing.parts(of: zeros) { try await connection.send(raw: part) }
        try await connection.error(.limitExceeded)
        try await connection.end()
      },
      Rule("Parts and messages", "a compressed message that is no zlib stream ends the connection with 104") { exchange in
        let (connection, welcome) = try await exchange.welcomed(.compression)
        guard welcome.features.contains(.compression) else { return }
        try await connection.send(raw: [SyncFrame.optionalTypes, 0x01, 0x00, 0x01, 0x02, 0x03])
        try await connection.error(.badCompression)
        try await connection.end()
      },
      Rule("Parts and messages", "a compressed message that was not agreed to ends the connection with 100") { exchange in
        try await exchange.ends([SyncFrame.optionalTypes, 0x01, 0x00, 0x01, 0x02, 0x03], .badFrame)
      },
      Rule("Order", "more than 64 marks that wait end the connection with 103") { exchange in
        let (one, bound, welcome) = try await exchange.live(1)
        try await one.send(.upload(session: 1, [Exchange.creation(1, 1, time: welcome.serverTime)]))
        _ = try await one.entries(mark: 1)
        // Without credit the entry is not sent, and no mark is answered.
        let (other, _) = try await exchange.welcomed()
        try await other.send(exchange.bind(2, cursor: .zero, history: bound.history))
        _ = try await other.bound()
        for number in 1...64 as ClosedRange<UInt64> { try await other.send(.mark(session: 1, number: number)) }
        try await other.expectNone("an answer", number: 1) { if case .pong = $0 { false } else { true } }
        try await other.send(.mark(session: 1, number: 65))
        try await other.error(.limitExceeded)
        try await other.end()
      },
    ]
  }
}
