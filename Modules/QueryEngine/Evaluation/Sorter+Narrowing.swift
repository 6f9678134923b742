import StorageInterface
import StoreValues

extension Sorter {
  /// Clears rows that sort after row `worst` by their first number alone, without visiting them one by one. Some rows behind it
  /// may remain.
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
      // Removes those above, so that null and NaN, which sort before every number, remain.
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
  /// The values that sort before a row's or equal it.
  enum Lead {
    /// Words up to this one, and null.
    case upTo(Int64)
    /// Words from this one on, without null.
    case from(Int64)
    /// The same for doubles; NaN sorts after null and before every number.
    case upToReal(Double)
    case fromReal(Double)
  }

  /// Nil if numbers alone do not decide: for texts, NaN, null, and infinity.
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
