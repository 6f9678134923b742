import StorageInterface
import StoreValues

extension Sorter {
  /// Takes rows out of a mask that come behind row `worst` by their first number alone, without looking at them one by one. Some
  /// of those that are left may be behind it too.
  func narrow(_ mask: Mask, behind worst: Int, _ batch: BatchView, _ scratch: Scratch) {
    guard let field = fields.first, field.path.isOwn, let lead = lanes[0].lead(of: worst) else { return }
    let (vector, part) = (batch.columns[field.slot], scratch.mask(0))
    switch lead {
    case .upTo(let word):
      bounds(.words, .min, word, matchesNull: true).narrow(mask, vector, batch.count, scratch.flags, part)
    case .from(let word):
      bounds(.words, word, .max, matchesNull: false).narrow(mask, vector, batch.count, scratch.flags, part)
    case .fromReal(let value):
      bounds(.doubles, bits(value), bits(.infinity), matchesNull: false).narrow(mask, vector, batch.count, scratch.flags, part)
    case .upToReal(let value):
      // Those above go, so that null and NaN, which come before every number, stay.
      bounds(.doubles, bits(value.nextUp), bits(.infinity), matchesNull: false)
        .evaluate(vector, batch.count, scratch.flags, into: part)
      Masks.subtract(mask, part, batch.words)
    }
  }

  private func bounds(_ kind: BoundsTest.Kind, _ low: Int64, _ high: Int64, matchesNull: Bool) -> BoundsTest {
    BoundsTest(kind: kind, slot: 0, low: low, high: high, matchesNull: matchesNull)
  }

  private func bits(_ value: Double) -> Int64 { Int64(bitPattern: value.bitPattern) }
}

extension SortLane {
  /// Which values come before a row's or are equal to it.
  enum Lead {
    /// Words up to one, and null.
    case upTo(Int64)
    /// Words from one on, and not null.
    case from(Int64)
    /// The same for doubles; NaN comes behind null and before every number.
    case upToReal(Double)
    case fromReal(Double)
  }

  /// Nil where numbers alone do not say it: of texts, of what is no number, of infinity.
  func lead(of row: Int) -> Lead? {
    guard isOfValues else { return nil }
    let number = isAscending ? numbers[row] : ~numbers[row]
    let ordinal = Int64(bitPattern: number ^ 1 &<< 63)
    switch type.physical {
    case .integer: return number == 0 ? nil : isAscending ? .upTo(ordinal) : .from(ordinal)
    case .double:
      let value = Double(bitPattern: UInt64(bitPattern: ordinal >= 0 ? ordinal : ordinal ^ .max))
      guard number > 1, value.isFinite else { return nil }
      return isAscending ? .upToReal(value) : .fromReal(value)
    default: return nil
    }
  }
}
