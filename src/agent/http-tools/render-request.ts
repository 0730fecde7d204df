import { ToolError } from '../tool.ts'
import type { HttpRequest } from './http-tool.ts'
import { evaluate, renderText, toText, type Values } from './template.ts'

interface Rendered {
  method: string
  url: string
  headers: Record<string, string>
  body?: string
}

/** The request of one call. Throws a ToolError for input that would lead to another path. */
export function renderRequest(request: HttpRequest, values: Values): Rendered {
  const { method, url } = request
  const headers: Record<string, string> = { 'user-agent': 'loadskill' }
  for (const [name, text] of Object.entries(request.headers)) {
    const value = evaluate(text, values)
    if (value !== undefined) headers[name.toLowerCase()] = toHeader(toText(value))
  }
  const rendered = { method, url: renderUrl(url, values), headers }
  if (request.body === null) return rendered
  const isText = typeof request.body === 'string'
  headers['content-type'] ??= isText ? 'text/plain; charset=utf-8' : 'application/json'
  const body =
    typeof request.body === 'string'
      ? renderText(request.body, values)
      : JSON.stringify(renderJson(request.body, values))
  return { ...rendered, body }
}

const DOTS = /^(\.|%2e){1,2}$/i

function renderUrl(url: string, values: Values): string {
  const [, start = '', query] = /^([^?#]*)(?:\?([^#]*))?/.exec(url) ?? []
  const segments = start.split('/').map((segment) => {
    const rendered = renderText(segment, values, encode)
    if (rendered !== segment && DOTS.test(rendered)) {
      throw new ToolError('The input would lead out of the path of the URL: it must not be dots.')
    }
    return rendered
  })
  return segments.join('/') + (query === undefined ? '' : `?${renderQuery(query, values)}`)
}

/** A parameter whose value is a template without a value is left out. */
const renderQuery = (query: string, values: Values): string =>
  query
    .split('&')
    .filter((pair) => (evaluate(pair.slice(pair.indexOf('=') + 1), values) ?? null) !== null)
    .map((pair) => renderText(pair, values, encode))
    .join('&')

const encode = (text: string): string => encodeURIComponent(text.toWellFormed())

/** What is no ASCII goes as the bytes of its UTF-8, for which a header value has a character each. */
const toHeader = (text: string): string =>
  Buffer.from(text.replaceAll(/\p{Cc}/gu, ' ').trim()).toString('latin1')

/** A member or element without a value is left out. */
function renderJson(template: unknown, values: Values): unknown {
  if (typeof template === 'string') return evaluate(template, values)
  if (typeof template !== 'object' || template === null) return template
  if (Array.isArray(template)) {
    return template.map((item) => renderJson(item, values)).filter((item) => item !== undefined)
  }
  const members = Object.entries(template).map(([key, value]) => [key, renderJson(value, values)])
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}
