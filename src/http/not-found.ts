import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import { AppError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Throws what is said of a request that no route takes. */
    refuseUnknown(request: FastifyRequest, reply: FastifyReply): never
  }
}

/** As long as a request may be: a name of any length is a name that is not there. */
export const MAX_PARAM_LENGTH = 16_384

/** Answers what no route takes: 405 with `Allow` where another method would do, else 404. */
export const notFound = fp(async (app) => {
  const methods = new Set<HTTPMethod>()
  const paths = findMyWay({ maxParamLength: MAX_PARAM_LENGTH })
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat() as HTTPMethod[]) {
      methods.add(one)
      if (!paths.findRoute(one, url)) paths.on(one, url, () => undefined)
    }
  })

  function refuseUnknown({ method, url }: FastifyRequest, reply: FastifyReply): never {
    const [path = ''] = url.split('?')
    // Of routes that share a path, one may take the method from other clients.
    const allowed = [...methods].filter((other) => other !== method && paths.find(other, path))
    if (allowed.length === 0)
      throw new AppError('route_not_found', `There is no ${method} ${path}.`)
    reply.header('allow', allowed.sort().join(', '))
    const what = `${method} is not taken here, but ${allowed.join(', ')}.`
    throw new AppError('method_not_allowed', what)
  }

  app.decorate('refuseUnknown', refuseUnknown)
  app.setNotFoundHandler(refuseUnknown)
})
