/// The memory layout of a key set's nodes. A leaf covers 4,096 consecutive keys: 8 counts of the bits before each 512, then 64
/// words of bits. An inner node is a directory of 256 optional children and the number of keys below each. A node of level l
/// covers 2^(12 + 8 l) keys.
enum KeySetLayout {
  static let leafBits = 12
  static let directoryBits = 8
  static let directorySize = 256
  private static let childOffset = ViewNode.headerBytes
  private static let countOffset = ViewNode.headerBytes + directorySize * 8

  static let shape = ViewNodePool.Shape(
    leafBytes: ViewNode.headerBytes + 16 + 512, innerBytes: countOffset + directorySize * 4, childOffset: childOffset)

  /// Leaf: the number of set bits before word 8 i.
  @inline(__always) static func before(_ leaf: ViewNode) -> UnsafeMutablePointer<UInt16> {
    leaf.array(ViewNode.headerBytes, of: UInt16.self)
  }
  @inline(__always) static func words(_ leaf: ViewNode) -> UnsafeMutablePointer<UInt64> {
    leaf.array(ViewNode.headerBytes + 16, of: UInt64.self)
  }
  @inline(__always) static func children(_ node: ViewNode) -> UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    node.array(childOffset, of: UnsafeMutableRawPointer?.self)
  }
  @inline(__always) static func counts(_ node: ViewNode) -> UnsafeMutablePointer<UInt32> {
    node.array(countOffset, of: UInt32.self)
  }

  /// The lowest bit of a key that selects the child in a directory of this level.
  @inline(__always) static func shift(level: Int) -> UInt64 { UInt64(leafBits + directoryBits * (level - 1)) }

  @inline(__always) static func slot(_ key: UInt64, level: Int) -> Int {
    Int(key >> shift(level: level) & UInt64(directorySize - 1))
  }

  /// Whether a root of this level covers the key.
  @inline(__always) static func covers(_ key: UInt64, level: Int) -> Bool { key >> shift(level: level + 1) == 0 }

  /// The lowest level of a root that covers the key.
  static func level(for key: UInt64) -> Int {
    var level = 0
    while !covers(key, level: level) { level += 1 }
    return level
  }
}
