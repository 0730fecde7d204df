import fp from 'fastify-plugin'
import { Strict } from '../schema.ts'

/** Routes below a path, registered after it, refuse every query parameter they do not name. */
export const strictQuery = fp<{ below: string }>(async (app, { below }) => {
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith(`${below}/`) && !route.schema?.querystring) {
      route.schema = { ...route.schema, querystring: Strict({}) }
    }
  })
})
