import type { VersionReference } from '../store/skill-records.ts'

const EPOCH = /^[1-9]\d{15}$/
const NUMBER = /^[1-9]\d{0,9}$/

/** What names a version, in any of its forms; undefined for what names none. */
export function readVersionReference(text: string): VersionReference | undefined {
  if (text === 'latest') return 'latest'
  if (text.startsWith('skver_')) return { id: text }
  if (EPOCH.test(text)) return { epoch: Number(text) }
  return NUMBER.test(text) ? { version: Number(text) } : undefined
}
