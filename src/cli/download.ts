import { type BundleLimits, readBundle } from '../domain/bundle.ts'
import type { BundleFile } from '../domain/skill.ts'
import { AppError } from '../errors.ts'
import { unpack } from '../registry/archives/unpack.ts'
import { type Client, skillPath, withQuery } from './client.ts'
import { EXIT, Failure } from './failure.ts'

/** The files of a skill, with paths that lead nowhere else. */
export async function downloadSkill(
  client: Client,
  name: string,
  version: number | undefined,
  limits: BundleLimits,
): Promise<BundleFile[]> {
  const path = withQuery(`${skillPath(name, version)}/archive`, { format: 'tgz' })
  const bytes = await client.bytes(path)
  try {
    return readBundle(await unpack({ format: 'tgz', bytes }, limits), limits).files
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new Failure(EXIT.refused, `${name}: ${error.message} (${error.code})`, { cause: error })
  }
}
