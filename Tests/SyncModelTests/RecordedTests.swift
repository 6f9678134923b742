import Foundation
import StoreValues
import SyncModel
import Testing
import VivariumTestSupport

/// Cases from a model of the same merge that somebody else wrote in another language: `Fixtures/SyncModel/record.py` says how.
@Suite struct RecordedTests {
  private struct Recorded: Decodable {
    let k: String
    let o: Int64
    let e: [UInt64]?
    let s: [UInt64]
    let p: String?
    let ce: [UInt64]?
    let via: [UInt64]?
    let key: Int?
    let id: [UInt64]?
    let pos: [[Step]]?
    let v: Literal?
    let link: Int64?
    let le: [UInt64]?
    let dflt: Bool?
  }

  /// A part of a position: a number or a stamp.
  private enum Step: Decodable {
    case number(Int64)
    case stamp([UInt64])
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      self = if let x = try? container.decode(Int64.self) { .number(x) } else { .stamp(try container.decode([UInt64].self)) }
    }
    var number: Int64 { if case .number(let x) = self { x } else { 0 } }
    var stamp: [UInt64] { if case .stamp(let x) = self { x } else { [0, 0, 0] } }
  }

  private enum Literal: Decodable {
    case number(Int64)
    case text(String)
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      self = if let x = try? container.decode(Int64.self) { .number(x) } else { .text(try container.decode(String.self)) }
    }
    var value: CellValue {
      switch self {
      case .number(let x): .int(x)
      case .text(let x): .string(x)
      }
    }
  }

  private func stamp(_ parts: [UInt64]) -> Stamp {
    parts.allSatisfy { $0 == 0 } ? .zero : Stamp(milliseconds: parts[0], counter: UInt16(parts[1]), replica: ReplicaID(parts[2]))
  }

  private func stamped(_ line: Recorded) -> Stamped? {
    let value = line.link.map { CellValue.link(LinkTarget(object($0), epoch: stamp(line.le ?? [0, 0, 0]))) } ?? line.v?.value ?? .null
    let name = Name(line.p ?? "")
    let inner = PathStep(.embedded("E"), epoch: stamp(line.via ?? line.ce ?? [0, 0, 0]))
    func container(_ place: PathStep.Place) -> [PathStep] { [PathStep(place, epoch: stamp(line.ce ?? [0, 0, 0]))] }
    let id = ElementID(ReplicaID(line.id?.first ?? 0), line.id?.last ?? 0)
    let position = ListPosition(
      (line.pos ?? []).map { .init(gap: $0[0].number, bunch: stamp($0[1].stamp), offset: $0[2].number) })
    let key = Name("\(line.key ?? 0)")
    let (path, action): ([PathStep], SyncModel.Operation.Action)
    switch line.k {
    case "create": (path, action) = ([], .create)
    case "delete": (path, action) = ([], .delete)
    case "set": (path, action) = (line.via == nil ? [] : [inner], .set(name, value, isDefault: line.dflt ?? false))
    case "add":
      guard case .number(let delta) = line.v else { return nil }
      (path, action) = ([], .add(name, delta))
    case "emake": (path, action) = ([inner], .make)
    case "enull": (path, action) = ([inner], .remove)
    case "clear": (path, action) = (container([.list("L"), .set("S"), .map("M")][["L", "S", "M"].firstIndex(of: line.p) ?? 0]), .clear)
    case "sins": (path, action) = (container(.set("S")), .insertMember(value))
    case "sdel": (path, action) = (container(.set("S")), .eraseMember(value))
    case "mset": (path, action) = (container(.map("M")), .setEntry(key, value))
    case "mdel": (path, action) = (container(.map("M")), .eraseEntry(key))
    case "lins": (path, action) = (container(.list("L")), .insert(id, at: position, value))
    case "lset": (path, action) = (container(.list("L")), .setElement(id, near: .none, value))
    case "lmove": (path, action) = (container(.list("L")), .move(id, from: .none, to: position))
    case "ldel": (path, action) = (container(.list("L")), .erase(id, near: .none))
    default: return nil
    }
    return (stamp(line.s), SyncModel.Operation(object(line.o), epoch: stamp(line.e ?? [0, 0, 0]), path: path, action))
  }

  /// That model shows no embedded object in which nothing is.
  private func trimmed(_ shown: Shown) -> Shown {
    guard case .object(var all) = shown else { return shown }
    if all["E.E"] == .object([:]) { all["E.E"] = nil }
    return .object(all)
  }

  @Test func `cases recorded from another model of the merge come out as there, in any order of arrival`() throws {
    var random = SeededGenerator.forTest()
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let file = tests.appendingPathComponent("Fixtures/SyncModel/cases.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    var cases = 0
    for index in stride(from: 0, to: lines.count - 1, by: 2) {
      let operations = try JSONDecoder().decode([Recorded].self, from: Data(lines[index].utf8)).map { try #require(stamped($0)) }
      for order in 0..<4 {
        var state = MemoryState()
        state.merge(order == 0 ? operations : operations.inAnyOrder(&random))
        let shown = ShownReader(state: state).all().map { ($0.key, trimmed($0.value)) }.sorted { $0.0 < $1.0 }
        let text = shown.map { "\($0.0.primaryKey?.description ?? "") \($0.1)" }.joined(separator: "; ")
        #expect(text == lines[index + 1], "case \(index / 2), order \(order)")
      }
      cases += 1
    }
    #expect(cases == 60)
  }
}
