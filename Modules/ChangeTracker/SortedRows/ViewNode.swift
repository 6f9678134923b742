/// One node of a view's tree: a block of raw memory that starts with the same 16 bytes in every kind of tree.
///
/// ```
/// 0   UInt64  birth: the epoch in which the block was written
/// 8   UInt16  level: 0 for a leaf
/// 10  UInt16  count: entries of a leaf, children of an inner node
/// 16  …       what the tree keeps, see `TreeLayout` and `KeySetLayout`
/// ```
///
/// A block of a published epoch is never written until nobody can reach it.
struct ViewNode {
  static let headerBytes = 16
  let raw: UnsafeMutableRawPointer

  @inline(__always) init(_ raw: UnsafeMutableRawPointer) { self.raw = raw }

  @inline(__always) var birth: UInt64 {
    get { raw.load(as: UInt64.self) }
    nonmutating set { raw.storeBytes(of: newValue, as: UInt64.self) }
  }

  @inline(__always) var level: Int {
    get { Int(raw.load(fromByteOffset: 8, as: UInt16.self)) }
    nonmutating set { raw.storeBytes(of: UInt16(truncatingIfNeeded: newValue), toByteOffset: 8, as: UInt16.self) }
  }

  @inline(__always) var count: Int {
    get { Int(raw.load(fromByteOffset: 10, as: UInt16.self)) }
    nonmutating set { raw.storeBytes(of: UInt16(truncatingIfNeeded: newValue), toByteOffset: 10, as: UInt16.self) }
  }

  @inline(__always) var isLeaf: Bool { level == 0 }

  /// The array that starts `offset` bytes into the block.
  @inline(__always) func array<T: BitwiseCopyable>(_ offset: Int, of type: T.Type) -> UnsafeMutablePointer<T> {
    (raw + offset).assumingMemoryBound(to: type)
  }
}
