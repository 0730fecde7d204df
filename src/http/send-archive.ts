import type { FastifyReply } from 'fastify'
import type { BundleFile } from '../domain/skill.ts'
import type { ArchiveFormat } from '../registry/archives/archive.ts'
import { writeArchive } from '../registry/archives/write-archive.ts'
import { quote } from './etag.ts'

export const ARCHIVE_MEDIA_TYPES = { zip: 'application/zip', tgz: 'application/gzip' }

interface Attachment {
  format: ArchiveFormat
  name: string
  digest: string
  files: AsyncIterable<BundleFile>
}

export const sendArchive = (
  reply: FastifyReply,
  { format, name, digest, files }: Attachment,
): FastifyReply =>
  reply
    .header('etag', quote(`${digest}-${format}`))
    .header('x-content-type-options', 'nosniff')
    // Skills have names that need no escape; clients that read headers by hand expect the quotes.
    .header('content-disposition', `attachment; filename="${name}.${format}"`)
    .type(ARCHIVE_MEDIA_TYPES[format])
    // Nobody would read what HEAD leaves out, but it would be packed.
    .send(writeArchive(format, reply.request.method === 'HEAD' ? [] : files))
