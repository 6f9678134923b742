#if Sync
import SyncProtocol
import SyncServer
import Testing

@testable import SyncStorePostgres

@Suite("What a database refuses for now")
struct PostgresFailureTests {
  @Test("has clients wait, and says to the operator what helps", arguments: [
    ("53100", "disk", false), ("53200", "memory", false), ("53300", "max_connections", true), ("57P03", "starting", true),
    ("57P01", "ending", true), ("08006", "log", true), ("25006", "takes no writes", false), ("57014", "too long", false),
  ])
  func refused(state: String, remedy: String, isLost: Bool) {
    let failure = PostgresFailure(.refused(state: state), "FATAL: no more of relation base/5/16384.")
    // Only with another connection it makes sense to ask at once once more.
    #expect(failure.isLost == isLost && !failure.isConflict)
    let error = failure.error
    #expect(error.code == .unavailable && error.syncCode == .storageUnavailable && error.syncCode.reaction == .wait)
    for part in [state, "base/5/16384", remedy] { #expect(error.message.contains(part), "\(error.message)") }
    let refusal = SyncRefusal(error)
    #expect(refusal.message == SyncErrorCode.storageUnavailable.message && refusal.detail == error.message)
  }

  @Test("is the same where there is no connection, whose address is nobody's business")
  func lost() {
    let failure = PostgresFailure(.lost, "connection to server at \"db.example\" failed for user \"vivarium\".")
    #expect(failure.isLost && !failure.isOfOne)
    #expect(failure.error.message.contains("db.example") && failure.error.message.contains("connections"))
    #expect(!"\(SyncRefusal(failure.error))".contains("db.example"))
    #expect(SyncRefusal(failure.error).code == .storageUnavailable)
  }
}
#endif
