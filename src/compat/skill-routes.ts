import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { takeForms } from '../http/bundle-body.ts'
import { type Idempotency, jsonAnswer, type Write } from '../http/idempotency.ts'
import type { SkillsById } from '../registry/skills-by-id.ts'
import type { SkillStore } from '../store/skills.ts'
import { type Family, speakAs, toRefusal } from './family.ts'

export interface SkillRouteParts {
  skills: SkillStore
  byId: SkillsById
  idempotency: Idempotency
}

/** What all routes of a family's skills API have in common. */
export function openSkillRoutes(app: FastifyInstance, family: Family, idempotency: Idempotency) {
  speakAs(app, family)
  takeForms(app)
  const constraints = { family }
  return {
    reading: { config: { scope: 'skills:read' }, constraints },
    writing: { config: { scope: 'skills:write' }, constraints },

    /** Answers a write with 200, whatever it made, and as the first time for a known key. */
    answer: <Outcome>(
      request: FastifyRequest,
      reply: FastifyReply,
      write: Write<Outcome>,
      toBody: (outcome: Outcome) => object,
    ): Promise<FastifyReply> =>
      idempotency.run<Outcome>(
        request,
        reply,
        write,
        (outcome) => jsonAnswer(200, toBody(outcome)),
        (error) => toRefusal(error, request, family),
      ),
  } as const
}
