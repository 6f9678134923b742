#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Value {
  /// The 64-bit word of a fixed-width value at the storage interface; nil for null and for values that are bytes.
  public var word: Int64? {
    switch self {
    case .bool(let x): x ? 1 : 0
    case .int(let x): x
    case .float(let x): Int64(x.bitPattern)
    case .double(let x): Int64(bitPattern: x.bitPattern)
    case .date(let x): x.word
    case .link(let x): x.rawValue
    default: nil
    }
  }

  /// The value of a word. `type` must be a word type (`ValueType.isWord`); nil otherwise.
  public init?(word: Int64, type: ValueType) {
    switch type {
    case .bool: self = .bool(word != 0)
    case .int8, .int16, .int32, .int64: self = .int(word)
    case .float: self = .float(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
    case .double: self = .double(Double(bitPattern: UInt64(bitPattern: word)))
    case .date: self = .date(Timestamp(word: word))
    case .link: self = .link(ObjectKey(word))
    case .string, .data, .uuid, .objectId, .decimal, .mixed: return nil
    }
  }

  /// The value of some bytes. `type` must not be a word type; nil otherwise, and nil for a uuid or decimal that is not 16
  /// bytes, an objectId that is not 12, and an invalid mixed value (`MixedCoding`). Invalid UTF-8 becomes a string with U+FFFD.
  public init?(bytes: UnsafeRawBufferPointer, type: ValueType) {
    switch type {
    case .string: self = .string(String(decoding: bytes, as: UTF8.self))
    case .data: self = .data(Data(bytes))
    case .uuid:
      guard bytes.count == 16 else { return nil }
      self = .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
    case .objectId:
      guard let id = ObjectId(bytes: bytes) else { return nil }
      self = .objectId(id)
    case .decimal:
      guard bytes.count == 16 else { return nil }
      self = .decimal(
        Decimal128(
          high: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
          low: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))))
    case .mixed:
      guard let value = MixedCoding.decode(bytes) else { return nil }
      self = value
    default: return nil
    }
  }

  /// Lends the bytes of the value in a column or collection of the type: those of `MixedCoding` if that is mixed, else the same
  /// as the other form. nil for null and for words.
  public func withBytes<R, E: Error>(
    as type: ValueType, _ body: (UnsafeRawBufferPointer?) throws(E) -> R
  ) throws(E) -> R {
    if type != .mixed { return try withBytes(body) }
    guard let bytes = MixedCoding.encode(self) else { return try body(nil) }
    return try Value.data(Data(bytes)).withBytes(body)
  }

  /// Lends the bytes of a string, data, uuid, objectId or decimal (the 16 bytes of its encoding, lowest first); nil for every
  /// other value.
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
    case .objectId(let id):
      return try Value.data(Data(id.bytes)).withBytes(body)
    case .decimal(let decimal):
      var result: Result<R, E>?
      Swift.withUnsafeBytes(of: (decimal.low.littleEndian, decimal.high.littleEndian)) { bytes in
        do throws(E) { result = .success(try body(bytes)) } catch { result = .failure(error) }
      }
      return try result.unsafelyUnwrapped.get()  // `withUnsafeBytes(of:)` runs its body exactly once
    default:
      return try body(nil)
    }
  }
}
