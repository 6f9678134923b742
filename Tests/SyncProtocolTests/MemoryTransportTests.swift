import SyncProtocol
import Testing

@Suite("A connection within the process")
struct MemoryTransportTests {
  @Test("carries parts in order, and waits where nobody takes them")
  func order() async throws {
    let (a, b) = MemoryTransport.pair(capacity: 2)
    let sending = Task { try await a.send((0..<100).map { [UInt8($0)] }) }
    for number in 0..<100 { #expect(try await b.receive() == [UInt8(number)]) }
    try await sending.value
    try await b.send([[7]])
    #expect(try await a.receive() == [7])
  }

  @Test("takes at once what it has room for, and nothing once it is closed")
  func offers() async throws {
    let (a, b) = MemoryTransport.pair(capacity: 2)
    #expect([[1], [2], [3]].map { a.offer($0) } == [true, true, false])
    #expect(try await b.receive() == [1])
    #expect(a.offer([4]))
    await b.close()
    #expect(!a.offer([5]))
  }

  @Test("delivers what was sent before it was closed, and then says that it is")
  func closing() async throws {
    let (a, b) = MemoryTransport.pair()
    try await a.send([[1], [2]])
    await a.close()
    #expect(try await b.receive() == [1])
    #expect(try await b.receive() == [2])
    #expect(try await b.receive() == nil)
    await #expect(throws: TransportError.self) { try await b.send([[3]]) }
  }

  @Test("ends who waits for a part, and who waits for room")
  func waiters() async throws {
    let (a, b) = MemoryTransport.pair(capacity: 1)
    let receiving = Task { try await a.receive() }
    let sending = Task { try await a.send([[1], [2], [3]]) }
    await b.close()
    #expect(try await receiving.value == nil)
    await #expect(throws: TransportError.self) { try await sending.value }
  }
}
