import CVivariumSQLite
import StorageInterface
import StoreValues

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Stores decimals and mixed values in a form people can read in the file.
///
/// A decimal is stored as its text. A mixed value is an INTEGER, REAL or TEXT if it is an integer, a double or a string;
/// everything else, and NaN and −0.0, is a BLOB of `MixedCoding`.
extension Statement {
  /// Decodes a value of the current row into `translated`. False: it is null, or not a value of the type.
  func translate(_ column: Int32, _ type: CellType) -> Bool {
    guard let value = found(column, type.type) else { return false }
    var isValue = false
    value.withBytes(as: type.type) { bytes in
      guard let bytes else { return }
      keepTranslated(bytes)
      isValue = true
    }
    return isValue
  }

  private func found(_ column: Int32, _ type: ValueType) -> Value? {
    switch (type, sqlite3_column_type(pointer, column)) {
    case (.decimal, SQLITE_TEXT):
      return Decimal128(String(decoding: bytes(column), as: UTF8.self)).map { .decimal($0) }
    case (.decimal, SQLITE_INTEGER): return .decimal(Decimal128(sqlite3_column_int64(pointer, column)))
    case (.mixed, SQLITE_INTEGER): return .int(sqlite3_column_int64(pointer, column))
    case (.mixed, SQLITE_FLOAT): return .double(sqlite3_column_double(pointer, column))
    case (.mixed, SQLITE_TEXT): return Value(bytes: bytes(column), type: .string)
    case (.mixed, SQLITE_BLOB): return MixedCoding.decode(bytes(column))
    default: return nil
    }
  }

  /// Binds a value of a decimal or mixed column in its stored form, copied. Returns SQLite's result.
  func bind(_ parameter: Int32, _ value: Value, translatedFor type: ValueType) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(pointer, parameter)
    case .decimal(let decimal) where type == .decimal: return bind(parameter, copying: .string(decimal.description))
    case .int(let number): return sqlite3_bind_int64(pointer, parameter, number)
    case .double(let number) where !number.isNaN && !(number == 0 && number.sign == .minus):
      return sqlite3_bind_double(pointer, parameter, number)
    case .string: return bind(parameter, copying: value)
    default: return bind(parameter, copying: .data(Data(MixedCoding.encode(value) ?? [])))
    }
  }

  /// Binds the order key of a value; NULL for null.
  func bind(_ parameter: Int32, orderKeyOf value: Value) -> Int32 {
    value.isNull ? sqlite3_bind_null(pointer, parameter) : bind(parameter, copying: .data(Data(value.orderKey)))
  }

  /// Binds text or bytes, copied.
  func bind(_ parameter: Int32, copying value: Value) -> Int32 {
    let isText = if case .string = value { true } else { false }
    return value.withBytes {
      csqlite_bind_copy(pointer, parameter, $0?.baseAddress, UInt64($0?.count ?? 0), isText ? 1 : 0)
    }
  }
}
