import type { DefinitionStore } from '../../store/definitions.ts'
import type { ToolSource } from '../tool.ts'
import type { HttpTool } from './http-tool.ts'
import { type HttpToolParts, runHttpTool } from './run-http-tool.ts'

interface Options extends HttpToolParts {
  definitions: Pick<DefinitionStore<HttpTool>, 'all'>
}

/** The tools that are set up as HTTP requests, as they are at the moment of asking. */
export const httpTools = ({ definitions, ...parts }: Options): ToolSource => ({
  async tools() {
    return (await definitions.all()).map(({ name, definition }) => {
      const { description, inputSchema, approval, idempotent } = definition
      return {
        name,
        description,
        inputSchema,
        idempotent,
        needsApproval: () => approval,
        run: (input, { signal }) => runHttpTool(definition, input, signal, parts),
      }
    })
  },
})
