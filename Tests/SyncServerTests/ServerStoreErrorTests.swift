import SyncProtocol
import SyncServer
import Testing

@Suite("An error of a server's store")
struct ServerStoreErrorTests {
  @Test("ends a session by a code after which the client does not go on with it", arguments: ServerStoreError.Code.allCases)
  func sessionCodes(code: ServerStoreError.Code) {
    #expect(ServerStoreError(code, "It is a test.").syncCode.reaction != .compensate)
  }
}
