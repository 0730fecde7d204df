import { showPath } from '../../domain/show-path.ts'
import { ToolError } from '../tool.ts'

const ADVICE = 'Give a path relative to the workspace, like "notes/today.md".'

/** The parts of a path, or a pattern of paths, that cannot lead out of the workspace. */
export function checkPath(path: string): string[] {
  const wrong = wrongWith(path)
  if (wrong) throw new ToolError(`The path "${showPath(path)}" ${wrong}. ${ADVICE}`)
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

function wrongWith(path: string): string | undefined {
  if (path.includes('\0')) return 'holds a NUL character'
  if (path.includes('\\')) return 'holds a backslash'
  if (/^\/skills(?:\/|$)/.test(path)) return 'is one of a skill: read it with read_skill_file'
  if (path.startsWith('/')) return 'is absolute'
  if (/^[A-Za-z]:/.test(path)) return 'begins with a drive letter'
  if (path.split('/').includes('..')) return 'leaves the workspace by ".."'
  return path.isWellFormed() ? undefined : 'holds half of a character'
}
