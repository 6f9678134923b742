// One source for both: Apple's Combine where the system has it, OpenCombine elsewhere. Whoever imports this module has the
// operators too.
#if canImport(Combine)
@_exported import Combine
#else
@_exported import OpenCombine
#endif
