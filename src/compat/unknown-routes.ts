import type { FastifyPluginAsync } from 'fastify'
import { speakAs } from './family.ts'

/** Tells of routes that are not there, in the words of whoever asks. */
export const unknownRoutes: FastifyPluginAsync = async (app) => {
  speakAs(app)
  app.setNotFoundHandler(app.refuseUnknown)
}
