import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  name: string | Buffer
  data?: string | Buffer
  deflate?: boolean
  mode?: number
  flags?: number
  method?: number
  /** What the archive says, where it lies. */
  crc?: number
  size?: number
  /** Lies where the first entry lies, and takes no room. */
  overlaps?: boolean
}

const UTF8 = 0x800

/** A zip by hand, which can hold what no writer would write. */
export function makeZip(entries: ZipEntry[], { count = entries.length } = {}): Buffer {
  const local: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const name = Buffer.from(entry.name)
    const data = Buffer.from(entry.data ?? '')
    const packed = entry.deflate ? deflateRawSync(data, { level: 9 }) : data
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(entry.flags ?? UTF8, 2)
    shared.writeUInt16LE(entry.method ?? (entry.deflate ? 8 : 0), 4)
    shared.writeUInt32LE(entry.crc ?? crc32(data), 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(entry.size ?? data.length, 18)
    shared.writeUInt16LE(name.length, 22)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6)
    tail.writeUInt32LE(entry.overlaps ? 0 : offset, 10)
    central.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), shared, tail, name)
    if (entry.overlaps) continue
    local.push(Buffer.from('PK\x03\x04', 'latin1'), shared, name, packed)
    offset += 30 + name.length + packed.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(count & 0xffff, 8)
  end.writeUInt16LE(count & 0xffff, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...local, directory, end])
}
