import type { Offer } from './discovery.ts'

const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'

/** The index of discovery 0.2.0; `root` is the path that its URLs begin with. */
export const toIndex = (root: string, offers: readonly Offer[]) => ({
  $schema: SCHEMA,
  skills: offers.map(({ type, digest, entry: { name, description } }) => ({
    name,
    type,
    description,
    url: `${root}/${name}${type === 'archive' ? '.tar.gz' : '/SKILL.md'}`,
    digest,
  })),
})

/**
 * The index of discovery 0.1.0. Its clients drop all of it for one path that looks unsafe to them,
 * and put paths into URLs as they are: skills with such paths are in the other index alone.
 */
export const toFileIndex = (offers: readonly Offer[]) => ({
  skills: offers
    .filter(({ files }) => files.every(({ path }) => !/\.\.|[\\?#%]/.test(path)))
    .map(({ files, entry: { name, description } }) => ({
      name,
      description,
      files: ['SKILL.md', ...files.map(({ path }) => path).filter((path) => path !== 'SKILL.md')],
    })),
})
