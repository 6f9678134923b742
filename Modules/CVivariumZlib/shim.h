// zlib, whose calls to begin a stream are macros.
#ifndef VIVARIUM_CZLIB_H
#define VIVARIUM_CZLIB_H

#include <zlib.h>

static inline int czlib_deflate_begin(z_stream *stream, int level) { return deflateInit(stream, level); }
static inline int czlib_inflate_begin(z_stream *stream) { return inflateInit(stream); }

#endif
