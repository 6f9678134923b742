import Foundation
import StorageInterface
import StorageMemory
import Testing
import VivariumTestSupport

/// What stands in front of an engine must take nothing away: a requirement with a default that is not passed on is answered by the
/// default, and what is tried in front of an engine would not be what the engine does alone.
@Suite struct ForwardingTests {
  /// A protocol and those it is composed of, each with its requirements, as name and labels, from the source: `X` is in `X.swift`.
  private func parts(of name: String, in folder: String) throws -> [String: Set<String>] {
    let text = try source("Modules/StorageInterface/\(folder)/\(name).swift")
    let start = try #require(text.range(of: "public protocol \(name)"))
    let header = text[start.upperBound...].prefix { $0 != "{" }
    let body = text[header.endIndex...]
    let end = try body.hasPrefix("{}") ? body.startIndex : #require(body.range(of: "\n}\n")).lowerBound
    var parts = [name: declarations(in: body[..<end])]
    for part in header.split(whereSeparator: { ": ,".contains($0) }).map(String.init) {
      let folder = part.hasSuffix("Reading") ? "Reading" : part.hasSuffix("Writing") ? "Writing" : nil
      // `AnyObject` and `Sendable` ask for nothing.
      if let folder { parts.merge(try self.parts(of: part, in: folder)) { same, _ in same } }
    }
    return parts
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
    let forwarded = declarations(in: try source("Tools/StorageForwarding/ForwardingReading.swift"))
      .union(declarations(in: try source("Tools/StorageForwarding/ForwardingEngine.swift")))
    var parts = try self.parts(of: "WriteTransaction", in: "Writing")
    parts.merge(try self.parts(of: "StorageEngine", in: "Engine")) { same, _ in same }
    #expect(parts.count == 12)
    let asked = parts.values.reduce(into: Set()) { $0.formUnion($1) }
    #expect(asked.count == 46)
    #expect(asked.subtracting(forwarded) == [])
  }

  @Test func everyPartOfTheStorageInterfaceIsSmall() throws {
    for (name, requirements) in try parts(of: "WriteTransaction", in: "Writing") {
      #expect(requirements.count <= 8, "\(name)")
    }
  }

  @Test func aTransactionInFrontOffersWhatTheOneBehindItOffers() throws {
    let engine = ForwardingEngine(
      try MemoryBackend().open(OpenOptions()), read: { PlainRead(base: $0) }, write: { PlainWrite(base: $0) })
    let read = try engine.beginRead()
    #expect(read.powers.windows != nil)
    let write = try engine.beginWrite(.after(.seconds(60)))
    #expect(write.powers.windows != nil)
    #expect(write.writePowers.sides != nil && write.writePowers.history != nil)
    write.end()
    #expect(engine.powers.syncing != nil && engine.powers.space != nil)
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
