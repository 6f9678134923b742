import Foundation
import StorageInterface
import StorageMemory
import Testing
import VivariumTestSupport

/// What stands in front of an engine must take nothing away: a requirement with a default that is not passed on is answered by the
/// default, and what is tried in front of an engine would not be what the engine does alone.
@Suite struct ForwardingTests {
  /// The requirements of a protocol, as name and labels, from its source.
  private func requirements(of name: String, in path: String) throws -> Set<String> {
    let text = try source("Modules/StorageInterface/" + path)
    let start = try #require(text.range(of: "public protocol \(name)"))
    let end = try #require(text.range(of: "\n}\n", range: start.upperBound..<text.endIndex))
    return declarations(in: text[start.lowerBound..<end.lowerBound])
  }

  private func source(_ path: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// `count(_:)`, `powers`: a function by its first parameters' types too, as several have the same labels.
  private func declarations(in text: some StringProtocol) -> Set<String> {
    let pattern = #/(?:^|\n)  (?:public )?(?:func (?<function>\w+)\((?<parameters>[^)]*(?:\([^)]*\)[^)]*)*)\)|var (?<property>\w+):)/#
    return Set(
      String(text).matches(of: pattern).map { match in
        if let property = match.output.property { return String(property) }
        let parameters = (match.output.parameters ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return "\(match.output.function ?? "")(\(parameters))"
      })
  }

  @Test func everyRequirementIsPassedOn() throws {
    let forwarded = declarations(in: try source("Tests/VivariumTestSupport/Forwarding/ForwardingReading.swift"))
      .union(declarations(in: try source("Tests/VivariumTestSupport/Forwarding/ForwardingEngine.swift")))
    let asked = try requirements(of: "StorageReading", in: "Reading/StorageReading.swift")
      .union(requirements(of: "WriteTransaction", in: "Writing/WriteTransaction.swift"))
      .union(requirements(of: "StorageEngine", in: "Engine/StorageEngine.swift"))
    #expect(asked.count > 40)
    #expect(asked.subtracting(forwarded) == [])
  }

  @Test func aTransactionInFrontOffersWhatTheOneBehindItOffers() throws {
    let engine = ForwardingEngine(
      try MemoryBackend().open(OpenOptions()), read: { PlainRead(base: $0) }, write: { PlainWrite(base: $0) })
    let read = try engine.beginRead()
    #expect(read.powers.windows != nil)
    let write = try engine.beginWrite(.after(.seconds(60)))
    #expect(write.powers.windows != nil)
    write.end()
  }
}

private final class PlainRead: ForwardingRead {
  let base: any ReadTransaction
  init(base: any ReadTransaction) { self.base = base }
}

private final class PlainWrite: ForwardingWrite {
  let base: any WriteTransaction
  init(base: any WriteTransaction) { self.base = base }
}
