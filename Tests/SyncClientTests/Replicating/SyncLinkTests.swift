import SyncModel
import SyncProtocol
import Testing

@testable import SyncClient

@Suite("A link of a session", .timeLimit(.minutes(15)))
struct SyncLinkTests {
  /// What a link says, and its other end.
  private func link() -> (SyncLink, MemoryTransport, AsyncStream<String>) {
    let (here, there) = MemoryTransport.pair(capacity: 1)
    let (news, continuation) = AsyncStream.makeStream(of: String.self)
    let link = SyncLink(here) { said in
      switch said {
      case .moved: continuation.yield("moved")
      case .message: continuation.yield("message")
      case .fault: continuation.yield("fault")
      case .end: continuation.yield("end")
      }
    }
    return (link, there, news)
  }

  /// In three parts.
  private let long = [UInt8](repeating: 1, count: 600 << 10)

  private func first(_ count: Int, of news: AsyncStream<String>) async -> [String] {
    var all: [String] = []
    for await said in news {
      all.append(said)
      if all.count == count { break }
    }
    return all
  }

  @Test("tells of each part of a long message that comes")
  func receiving() async throws {
    let (link, there, news) = link()
    try await there.send(try FrameEncoder().parts(of: ServerMessage.schema(session: 1, long).frame))
    #expect(await first(3, of: news) == ["moved", "moved", "message"])
    await link.close()
  }

  @Test("tells of each part of a long message that the connection takes, but of the last only where more waits")
  func sending() async throws {
    let (link, there, news) = link()
    link.send(.schema(session: 1, long))
    for _ in 0..<3 { _ = try await there.receive() }
    try await there.send(try FrameEncoder().parts(of: ServerMessage.pong(number: 1).frame))
    // The answer comes when all parts were taken, and may be told of before the last but one.
    #expect(await first(3, of: news).sorted() == ["message", "moved", "moved"])
    link.send(.schema(session: 1, long))
    link.send(.ping(number: 1, roundTrip: 0))
    for _ in 0..<4 { _ = try await there.receive() }
    #expect(await first(3, of: news) == ["moved", "moved", "moved"])
    await link.close()
  }
}
