import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing

/// What a server makes of the bytes of a program with handlers of events.
@Suite(.timeLimit(.minutes(5))) struct HandlerConnectionTests {
  private let stores = MemoryServerStore()

  private func begun(
    _ host: SyncHost, _ hello: Hello = Hello(versions: [2], features: .compression, token: "handlers")
  ) async throws -> any SyncTransport {
    let (here, there) = MemoryTransport.pair(capacity: 64)
    Task { await host.serve(there) }
    try await here.send(try FrameEncoder().parts(of: HandlerMessage.hello(hello)))
    return here
  }

  private func host(_ change: (inout ServerConnectionConfiguration) -> Void = { _ in }) -> SyncHost {
    var configuration = ServerConnectionConfiguration()
    change(&configuration)
    return SyncHost(stores: stores, access: OpenAccess(), configuration: configuration)
  }

  private func next(_ transport: any SyncTransport) async throws -> SyncFrame? {
    var decoder = FrameDecoder()
    while let part = try await transport.receive() { if let frame = try decoder.take(part) { return frame } }
    return nil
  }

  private func refusal(_ transport: any SyncTransport) async throws -> SyncErrorCode? {
    guard let frame = try await next(transport), case .error(0, let code, _, _) = try ServerMessage(frame) else { return nil }
    #expect(try await next(transport) == nil)
    return code
  }

  @Test func aProgramIsLetInAndAnswered() async throws {
    let program = try await begun(host())
    let welcome = try #require(try await next(program))
    #expect(welcome.type == HandlerMessage.begun && welcome.body == [2, 1, 30])
    try await program.send(try FrameEncoder().parts(of: HandlerCall.stores.frame(number: 77)))
    let answer = try #require(try await next(program))
    #expect(answer.session == 77 && answer.body == [0, 0])
  }

  @Test func anotherVersionIsRefused() async throws {
    let program = try await begun(host(), Hello(versions: [1], features: [], token: "handlers"))
    #expect(try await refusal(program) == .unknownVersion)
  }

  @Test func whatIsNoCallEndsTheConnection() async throws {
    let program = try await begun(host())
    _ = try await next(program)
    try await program.send([[HandlerMessage.call, 0, 1, 99]])
    #expect(try await refusal(program) == .badFrame)
  }

  @Test func aReplicasMessageDoesNotBelongThere() async throws {
    let program = try await begun(host())
    _ = try await next(program)
    try await program.send(try FrameEncoder().parts(of: ClientMessage.ping(number: 1, roundTrip: 0).frame))
    #expect(try await refusal(program) == .outOfOrder)
  }

  @Test func aGreetingThatDoesNotEndIsNotWaitedForLong() async throws {
    let host = host { $0.greetingTime = 20 }
    let (here, there) = MemoryTransport.pair()
    let serving = Task { await host.serve(there) }
    // Another part follows, as its flag says.
    try await here.send([[HandlerMessage.begin, 2, 0, 1]])
    #expect(try await refusal(here) == .outOfOrder)
    await serving.value
    #expect(await host.connectionCount == 0)
  }

  @Test func aLongGreetingIsRefused() async throws {
    let host = host { $0.limits.partBytes = 100 }
    let program = try await begun(host, Hello(versions: [2], features: [], token: String(repeating: "x", count: 200)))
    #expect(try await refusal(program) == .limitExceeded)
  }

  @Test func whatItFollowedIsLetGoWithIt() async throws {
    let followers = FollowedStores()
    let host = SyncHost(stores: followers, access: OpenAccess())
    let (here, there) = MemoryTransport.pair(capacity: 64)
    let serving = Task { await host.serve(there) }
    try await here.send(try FrameEncoder().parts(of: HandlerMessage.hello(Hello(versions: [2], features: [], token: "handlers"))))
    _ = try await next(here)
    let path = try #require(StorePath("/shared/shop"))
    for number in 1...3 {
      try await here.send(try FrameEncoder().parts(of: HandlerCall.follow([path]).frame(number: UInt32(number))))
      _ = try await next(here)
    }
    try await here.send(try FrameEncoder().parts(of: HandlerCall.unfollow([path]).frame(number: 4)))
    _ = try await next(here)
    #expect(followers.count.load(ordering: .relaxed) == 2)
    await here.close()
    await serving.value
    #expect(followers.count.load(ordering: .relaxed) == 0)
  }
}
