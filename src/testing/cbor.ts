/** A value that `encodeCbor` writes. Map entries are written in the order of the map. */
export type CborValue =
  | number
  | string
  | Uint8Array
  | readonly CborValue[]
  | ReadonlyMap<number | string, CborValue>

/** Encodes a value in CBOR (RFC 8949), each length in its shortest form, as authenticators do. */
export function encodeCbor(value: CborValue): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') {
    const text = Buffer.from(value)
    return Buffer.concat([head(3, text.length), text])
  }
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if ('length' in value) return Buffer.concat([head(4, value.length), ...value.map(encodeCbor)])
  const entries = [...value].flatMap((entry) => entry.map(encodeCbor))
  return Buffer.concat([head(5, value.size), ...entries])
}

/** The major type with the length of an item, or with the number itself. */
function head(majorType: number, argument: number): Buffer {
  const first = majorType << 5
  if (argument < 24) return Buffer.from([first | argument])
  if (argument < 0x100) return Buffer.from([first | 24, argument])
  if (argument < 0x1_0000) return Buffer.from([first | 25, argument >> 8, argument & 0xff])
  const bytes = Buffer.alloc(5)
  bytes.writeUInt8(first | 26)
  bytes.writeUInt32BE(argument, 1)
  return bytes
}
