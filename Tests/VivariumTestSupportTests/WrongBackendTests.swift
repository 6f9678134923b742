import StorageConformance
import Testing

/// The suite is itself tested: it passes the plain engine, and finds every fault that is planted.
@Suite struct WrongBackendTests {
  @Test(arguments: WrongBackend.allCases) func theSuiteFindsTheFault(_ wrong: WrongBackend) async {
    let subject = ConformanceSubject({ wrong.backend })
    let checks = StorageConformance.allChecks.filter { $0.group == wrong.group }
    var found: String?
    for check in checks where found == nil {
      do { try await check.run(subject) } catch { found = "\(check): \(error)" }
    }
    #expect(found != nil, "no rule about \(wrong.group) failed for \(wrong)")
    if let found { print("\(wrong): \(found.prefix(200))") }
  }

  @Test func theRulesAreManyAndHaveNamesOfTheirOwn() {
    let names = StorageConformance.allChecks.map(\.name)
    #expect(names.count >= 80)
    #expect(Set(names).count == names.count)
  }
}
