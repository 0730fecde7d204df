import type { FastifyReply } from 'fastify'
import { AppError } from '../errors.ts'
import { sendArchive } from '../http/send-archive.ts'
import { filesInFolder } from '../registry/export.ts'
import type { SkillStore } from '../store/skills.ts'

/** A version as a zip, in the folder that is named for the skill. */
export async function sendContent(
  skills: Pick<SkillStore, 'findVersion' | 'readFile'>,
  reply: FastifyReply,
  { name, version }: { name: string; version: number },
): Promise<FastifyReply> {
  const found = await skills.findVersion(name, version)
  if (!found) throw new AppError('version_not_found', `"${name}" was deleted in the meantime.`)
  const files = filesInFolder(skills, found, version)
  return sendArchive(reply, { format: 'zip', name, digest: found.digest, files })
}
