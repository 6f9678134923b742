#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Value {
  /// The 64-bit word that stands for a fixed-width value at the storage seam; nil for null and for values
  /// that are bytes.
  public var word: Int64? {
    switch self {
    case .bool(let x): x ? 1 : 0
    case .int(let x): x
    case .float(let x): Int64(x.bitPattern)
    case .double(let x): Int64(bitPattern: x.bitPattern)
    case .date(let x): Int64(bitPattern: x.timeIntervalSinceReferenceDate.bitPattern)
    case .link(let x): x.rawValue
    case .null, .string, .data, .uuid: nil
    }
  }

  /// The value a word stands for. `type` must be a word type (`ValueType.isWord`); nil otherwise.
  public init?(word: Int64, type: ValueType) {
    switch type {
    case .bool: self = .bool(word != 0)
    case .int8, .int16, .int32, .int64: self = .int(word)
    case .float: self = .float(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
    case .double: self = .double(Double(bitPattern: UInt64(bitPattern: word)))
    case .date:
      self = .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(bitPattern: word))))
    case .link: self = .link(ObjectKey(word))
    case .string, .data, .uuid: return nil
    }
  }

  /// The value some bytes stand for. `type` must be string, data or uuid; nil otherwise, and nil for a
  /// uuid that is not 16 bytes. Bytes that are no valid UTF-8 become a string with U+FFFD.
  public init?(bytes: UnsafeRawBufferPointer, type: ValueType) {
    switch type {
    case .string: self = .string(String(decoding: bytes, as: UTF8.self))
    case .data: self = .data(Data(bytes))
    case .uuid:
      guard bytes.count == 16 else { return nil }
      self = .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
    default: return nil
    }
  }

  /// Lends the bytes of a string, data or uuid; nil for every other value.
  public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer?) throws(E) -> R) throws(E) -> R {
    switch self {
    case .string(var text):
      text.makeContiguousUTF8()
      var result: Result<R, E>?
      text.withUTF8 { utf8 in
        do throws(E) { result = .success(try body(UnsafeRawBufferPointer(utf8))) } catch {
          result = .failure(error)
        }
      }
      return try result.unsafelyUnwrapped.get()  // `withUTF8` runs its body exactly once
    case .data(let data):
      var result: Result<R, E>?
      data.withUnsafeBytes { bytes in
        do throws(E) { result = .success(try body(bytes)) } catch { result = .failure(error) }
      }
      return try result.unsafelyUnwrapped.get()  // `withUnsafeBytes` runs its body exactly once
    case .uuid(let uuid):
      var result: Result<R, E>?
      Swift.withUnsafeBytes(of: uuid.uuid) { bytes in
        do throws(E) { result = .success(try body(bytes)) } catch { result = .failure(error) }
      }
      return try result.unsafelyUnwrapped.get()  // `withUnsafeBytes(of:)` runs its body exactly once
    default:
      return try body(nil)
    }
  }
}
