import Foundation
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct BatchEncoderTests {
  private static func value(_ type: ValueType, _ random: inout SeededGenerator) -> Value {
    switch type {
    case .bool: .bool(random.oneIn(2))
    case .int8, .int16, .int32, .int64:
      .int(Int64(truncatingIfNeeded: random.next()) >> Int64([0, 16, 40, 56, 60].randomElement(using: &random) ?? 0))
    case .float: .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
    case .double: .double(Double(bitPattern: random.next()))
    case .string: .string(String(repeating: "é", count: random.below(5)))
    case .data: .data(Data((0..<random.below(400)).map { UInt8(truncatingIfNeeded: $0) }))
    case .date: .date(Timestamp(secondsSinceReferenceDate: Double(random.below(1000)) - 500))
    case .uuid: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(random.below(256)))))
    case .objectId, .decimal, .mixed: RandomMixed.value(type, &random)
    case .link: .link(ObjectKey(Int64(random.below(70_000))))
    }
  }

  @Test(arguments: ValueType.allCases) func everyLayoutGivesTheValuesBack(_ type: ValueType) {
    var random = SeededGenerator.forTest("everyLayoutGivesTheValuesBack(\(type.rawValue))")
    var layouts: Set<ColumnVector.Layout> = []
    for _ in 0..<300 {
      let isConstant = random.oneIn(4)
      let first = Self.value(type, &random)
      let values = (0..<random.below(200) + 1).map { _ in
        random.oneIn(7) ? Value.null : isConstant ? first : Self.value(type, &random)
      }
      var encoder = BatchEncoder(random.fork())
      _ = encoder.lend(firstKey: 7, keys: nil, live: nil, count: values.count, columns: [(type, values)]) { batch in
        layouts.insert(batch.columns[0].layout)
        let got = (0..<batch.count).map { batch.columns[0].value(at: $0, as: type) }
        if got != values { Issue.record("\(batch.columns[0].layout): \(got) is not \(values)") }
        for value in values {
          guard let ordinal = value.ordinal(type) else { continue }
          #expect(batch.columns[0].min <= ordinal && ordinal <= batch.columns[0].max)
        }
        return .proceed
      }
    }
    let expected: Int =
      switch type.physical {
      case .integer: type == .bool ? 6 : 5
      case .bytes: 3
      case .double, .float, .bytes16: 2
      }
    #expect(layouts.count == expected)
  }

  @Test func batchSizesVaryAndNeverPassTheLimit() {
    var encoder = BatchEncoder(SeededGenerator(seed: 1))
    let sizes = (0..<200).map { _ in encoder.batchSize() }
    #expect(sizes.allSatisfy { (1...4096).contains($0) })
    #expect(Set(sizes).count > 20)
  }
}
