import StorageInterface
import StoreValues

extension Kernels {
  /// Compares two columns of one table, both of one class. Sets the bits of rows where neither is null and the comparison
  /// holds; the caller handles nulls.
  static func pairs(
    _ left: ColumnVector, _ right: ColumnVector, _ rows: Int, _ pair: PairTest, _ scratch: Scratch, into mask: Mask
  ) {
    let flags = scratch.flags
    switch (pair.leftType.physical, pair.rightType.physical) {
    case (.bytes, _), (.bytes16, _):
      for row in 0..<rows {
        // The bytes of a null are unspecified but readable; the caller clears its result.
        let order = Bytes.compare(left.bytes(at: row), right.bytes(at: row))
        let holds =
          switch pair.comparator {
          case .equal: order == 0
          case .less: order < 0
          case .lessOrEqual: order <= 0
          }
        flags[row] = holds ? 1 : 0
      }
    case (.integer, .integer):
      decode(left, rows, into: scratch.left)
      decode(right, rows, into: scratch.right)
      let (a, b) = (scratch.left, scratch.right)
      switch pair.comparator {
      case .equal: for row in 0..<rows { flags[row] = a[row] == b[row] ? 1 : 0 }
      case .less: for row in 0..<rows { flags[row] = a[row] < b[row] ? 1 : 0 }
      case .lessOrEqual: for row in 0..<rows { flags[row] = a[row] <= b[row] ? 1 : 0 }
      }
      // Then both are dates. A NaN date is encoded below all others but compares with none.
      if pair.leftType == .date {
        let least = Timestamp.negativeInfinity.word
        for row in 0..<rows { flags[row] &= a[row] >= least && b[row] >= least ? 1 : 0 }
      }
    case (.integer, _), (_, .integer):
      for row in 0..<rows {
        flags[row] = mixed(left.word(at: row), right.word(at: row), pair) ? 1 : 0
      }
    default:
      decode(left, rows, into: scratch.left)
      decode(right, rows, into: scratch.right)
      let (a, b) = (scratch.left, scratch.right)
      for row in 0..<rows {
        let (x, y) = (real(a[row], pair.leftType), real(b[row], pair.rightType))
        let holds =
          switch pair.comparator {
          case .equal: x == y
          case .less: x < y
          case .lessOrEqual: x <= y
          }
        flags[row] = holds ? 1 : 0
      }
    }
    pack(flags, rows, into: mask)
  }

  /// Compares an integer with a double or float exactly, in either order.
  private static func mixed(_ left: Int64, _ right: Int64, _ pair: PairTest) -> Bool {
    let order: Value.Order
    if pair.leftType.physical == .integer {
      let y = real(right, pair.rightType)
      if y.isNaN { return false }
      order = Value.Order.compare(left, y)
    } else {
      let x = real(left, pair.leftType)
      if x.isNaN { return false }
      order = Value.Order.compare(right, x).reversed
    }
    return switch pair.comparator {
    case .equal: order == .same
    case .less: order == .before
    case .lessOrEqual: order != .after
    }
  }

  @inline(__always) static func real(_ word: Int64, _ type: ValueType) -> Double {
    type.physical == .float
      ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: word))) : Double(bitPattern: UInt64(bitPattern: word))
  }
}
