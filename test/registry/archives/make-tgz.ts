import { gzipSync } from 'node:zlib'

export interface TarEntry {
  name: string | Buffer
  data?: string | Buffer
  type?: string
  link?: string
  /** What the header says, where it lies. */
  size?: number
}

/** A tar by hand, which can hold what no writer would write. */
export const makeTar = (entries: TarEntry[]): Buffer =>
  Buffer.concat([...entries.flatMap(toBlocks), Buffer.alloc(1024)])

export const makeTgz = (entries: TarEntry[]): Buffer => gzipSync(makeTar(entries))

function toBlocks({ name, data = '', type = '0', link = '', size }: TarEntry): Buffer[] {
  const bytes = Buffer.from(data)
  const header = Buffer.alloc(512)
  Buffer.from(name).copy(header, 0, 0, 100)
  header.write('0000644\x000000000\x000000000\0', 100)
  header.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0        ', 136)
  header.write(type, 156)
  header.write(link, 157)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]
}

/** The records of an extended header (pax). */
export const paxRecords = (records: Record<string, string>): string =>
  Object.entries(records)
    .map(([key, value]) => {
      const rest = Buffer.byteLength(` ${key}=${value}\n`)
      const digits = String(rest + String(rest).length).length
      return `${rest + digits} ${key}=${value}\n`
    })
    .join('')

/** A gigabyte of zeros behind a tar, packed without ever being there. */
export function makeGzipBomb(head: Buffer): Buffer {
  const mebibyte = gzipSync(Buffer.alloc(1 << 20), { level: 9 })
  return Buffer.concat([gzipSync(head), ...Array.from({ length: 1024 }, () => mebibyte)])
}
