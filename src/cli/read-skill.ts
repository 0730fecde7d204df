import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type BundleLimits, isNoise } from '../domain/bundle.ts'
import { Diagnostics, type Mode } from '../domain/diagnostics.ts'
import type { BundleFile } from '../domain/skill.ts'
import type { Fault } from '../errors.ts'
import { type Checked, toInvalid, toSound } from '../registry/checked.ts'
import { readUpload } from '../registry/read-upload.ts'
import type { SkillPlace } from './find-skills.ts'
import { placeIn } from './placed-fault.ts'
import { toldError } from './terminal.ts'

export interface LocalSkill {
  place: SkillPlace
  files: BundleFile[]
  /** Why it cannot be sent as it lies there. */
  faults: Fault[]
}

/** The files of a skill, but for what file managers and version control leave behind. */
export async function readSkill(place: SkillPlace, limits: BundleLimits): Promise<LocalSkill> {
  const files: BundleFile[] = []
  const faults: Fault[] = []
  const entries = await entriesOf(place, limits.files)
  if (entries.length > limits.files) {
    const message = `the folder holds more than ${limits.files} files, which is the limit.`
    return { place, files, faults: [{ code: 'archive_too_large', message, file: place.skillMd }] }
  }
  for (const { path, isFile } of entries) {
    const file = place.kind === 'file' ? place.path : join(place.path, path)
    const read = isFile ? await readOne(file, limits) : LINK
    if ('bytes' in read) files.push({ path, bytes: read.bytes })
    else faults.push({ ...read, file })
  }
  return { place, files, faults }
}

const LINK = {
  code: 'archive_link',
  message: 'it is a link or a special file: put the file itself here.',
}

async function readOne(
  file: string,
  limits: BundleLimits,
): Promise<{ bytes: Uint8Array } | Pick<Fault, 'code' | 'message'>> {
  const most = Math.max(limits.fileBytes, limits.skillBytes)
  try {
    const { size } = await stat(file)
    if (size <= most) return { bytes: await readFile(file) }
    return { code: 'archive_too_large', message: `it has ${size} bytes, of ${most} allowed.` }
  } catch (error) {
    return { code: 'file_unreadable', message: `it cannot be read: ${toldError(error)}.` }
  }
}

async function entriesOf({ kind, path }: SkillPlace, most: number): Promise<Entry[]> {
  return kind === 'file' ? [{ path: 'SKILL.md', isFile: true }] : listEntries(path, most)
}

interface Entry {
  path: string
  isFile: boolean
}

/** Everything below a folder that is no folder; when there is more than `most`, not all of it. */
async function listEntries(root: string, most: number): Promise<Entry[]> {
  const found: Entry[] = []
  const folders = ['']
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { withFileTypes: true })
    for (const entry of entries.filter(({ name }) => !isNoise(name))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      else found.push({ path, isFile: entry.isFile() })
    }
    if (found.length > most) break
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Whether a skill is valid, by what can be known without a service. */
export function checkSkill(
  { place, files, faults }: LocalSkill,
  mode: Mode,
  limits: BundleLimits,
): Checked {
  const { errors, warnings, skill } = check(files, { mode, limits, place })
  const placed = (fault: Fault) => placeIn(pathOf(place, fault.file), fault)
  const all = [...faults, ...(faults.length > 0 ? [] : errors.map(placed))]
  return {
    valid: all.length === 0,
    errors: all,
    // Which tools there are is known to a service alone.
    warnings: warnings.filter(({ code }) => code !== 'unknown_tool').map(placed),
    skill: all.length === 0 ? skill : null,
  }
}

interface Reading {
  mode: Mode
  limits: BundleLimits
  place: SkillPlace
}

function check(files: BundleFile[], { mode, limits, place }: Reading): Checked {
  const diagnostics = new Diagnostics('SKILL.md', mode)
  const folder = folderOf(place, mode)
  try {
    return toSound(readUpload({ files, mode, folder }, { limits, tools: [] }, diagnostics))
  } catch (error) {
    return toInvalid(error, diagnostics.warnings)
  }
}

/** A file alone lies in no folder that it has to agree with, but its name may be fallen back to. */
export const folderOf = ({ kind, name }: SkillPlace, mode: Mode): string | undefined =>
  (kind === 'folder' || mode === 'lenient') && name !== '' ? name : undefined

/** A file of a skill, as people see it. */
export function pathOf({ kind, path, skillMd }: SkillPlace, file = 'SKILL.md'): string {
  return kind === 'file' || file.toLowerCase() === 'skill.md' ? skillMd : join(path, file)
}
