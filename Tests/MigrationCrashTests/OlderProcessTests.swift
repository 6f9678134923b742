import Foundation
import MigrationSamples
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// A process of a newer program migrates the file that one of an older program has open.
@Suite struct OlderProcessTests {
  /// What an observer on a queue heard: the codes of errors, nil for everything else.
  private final class Ear: Sendable {
    let heard = Signal()
    private let calls = Mutex<[StoreError.Code?]>([])

    func hear(_ change: CollectionChange<Results<Before.Tenant>>) {
      let code: StoreError.Code? = if case .error(let error) = change { error.code } else { nil }
      calls.withLock { $0.append(code) }
      heard.fire()
    }

    var codes: [StoreError.Code?] { calls.withLock { $0 } }
  }

  @Test(arguments: ["lmdb", "sqlite"]) func itsObserversAreToldByTheBellAndItReadsOn(kind: String) throws {
    let folder = TemporaryDirectory("older-process")
    let place = folder.file("store")
    let configuration = Samples.before(Samples.backend(kind, place.path))
    try Samples.fill(configuration)
    let store = try Store(configuration, isolation: nil)
    let ear = Ear()
    let queue = DispatchQueue(label: "older")
    let token = store.objects(Before.Tenant.self).observe(on: queue) { ear.hear($0) }
    #expect(ear.heard.wait())
    #expect(try MigratingProcess(kind, place.path).number() != nil)
    #expect(ear.heard.wait())
    token.stop()
    queue.sync {}
    #expect(ear.codes == [nil, .newerSchema])
    #expect(!store.refresh() && store.schemaVersion == 0)
    #expect(store.objects(Before.Tenant.self).map(\.first) == (1...Samples.tenantCount).map { "F\($0)" })
    let refused = #expect(throws: StoreError.self) { try store.write { try store.add(Before.Relic(name: "new")) } }
    #expect(refused?.code == .newerSchema)
  }
}
