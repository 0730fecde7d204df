import type { IncomingHttpHeaders } from 'node:http'
import type { LossManner, SkillRecord, VersionRecord } from '../../store/skill-records.ts'

/** What differs between the Skills API of today and that of the beta (contracts.md 4). */
interface Shape {
  displayField: string
  toSkill(skill: SkillRecord): object
  toVersion(version: VersionRecord): object
  deletedVersion(version: VersionRecord): string
  /** Whether a skill may be there without a version; then it is deleted only once it is empty. */
  shells: boolean
  loss: LossManner
}

const BETA = 'skills-2025-10-02'

export function shapeOf({ headers }: { headers: IncomingHttpHeaders }): Shape {
  const names = [headers['anthropic-beta'] ?? ''].flat().flatMap((list) => list.split(','))
  return names.some((name) => name.trim() === BETA) ? beta : current
}

const current: Shape = {
  displayField: 'display_name',
  toSkill: ({ id, title, name, newest, createdAt, updatedAt }) => ({
    id,
    type: 'skill',
    display_name: title ?? name,
    latest_version_id: newest?.id ?? null,
    source: { type: 'custom' },
    created_at: createdAt,
    updated_at: updatedAt,
  }),
  toVersion: ({ id, skill, name, description, at }) => ({
    id,
    type: 'skill_version',
    skill_id: skill,
    name,
    description,
    created_at: at,
  }),
  deletedVersion: ({ id }) => id,
  shells: false,
  loss: { last: 'refuse', shown: 'replace' },
}

const beta: Shape = {
  displayField: 'display_title',
  toSkill: ({ id, title, newest, createdAt, updatedAt }) => ({
    id,
    type: 'skill',
    display_title: title,
    latest_version: newest && `${newest.epoch}`,
    source: 'custom',
    created_at: createdAt,
    updated_at: updatedAt,
  }),
  toVersion: ({ id, skill, epoch, name, description, at }) => ({
    id,
    type: 'skill_version',
    skill_id: skill,
    version: `${epoch}`,
    directory: name,
    name,
    description,
    created_at: at,
  }),
  deletedVersion: ({ epoch }) => `${epoch}`,
  shells: true,
  loss: { last: 'shell', shown: 'replace' },
}
