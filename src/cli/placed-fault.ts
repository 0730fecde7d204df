import { showPath } from '../domain/show-path.ts'
import type { Fault } from '../errors.ts'
import { oneLine, type Terminal } from './terminal.ts'

type Severity = 'error' | 'warning'

/** `file:line:column`, which editors and terminals open by a click, and what is wrong there. */
export const toLine = (fault: Fault): string => {
  const place = placeOf(fault)
  return `${place === undefined ? '' : `${place}: `}${fault.code}: ${messageOf(fault)}`
}

export function printFault(terminal: Terminal, fault: Fault, severity: Severity): void {
  const style = severity === 'error' ? 'red' : 'yellow'
  const { code } = fault
  const word = terminal.paint(style, severity)
  terminal.print(`${placeOf(fault) ?? '-'}: ${word} ${code}: ${messageOf(fault)}`)
}

/** A line that GitHub Actions shows beside the file. */
export function toAnnotation(fault: Fault, severity: Severity): string {
  const { file = '', line = 1, column = 1, code } = fault
  const place = `file=${escapeProperty(file)},line=${line},col=${column},title=${escapeProperty(code)}`
  return `::${severity} ${place}::${escapeData(messageOf(fault))}`
}

function placeOf({ file, line = 1, column = 1 }: Fault): string | undefined {
  return file === undefined ? undefined : `${oneLine(file)}:${line}:${column}`
}

/** The same fault, in the file that people know. */
export const placeIn = (file: string, fault: Fault): Fault => ({
  ...fault,
  message: withoutPlace(fault),
  file,
})

const messageOf = (fault: Fault): string => oneLine(withoutPlace(fault))

/** Messages begin with the place, which is told before them in full. */
function withoutPlace({ file, line, message }: Fault): string {
  if (file === undefined) return message
  const place = `${showPath(file)}${line ? ` line ${line}` : ''}: `
  return message.startsWith(place) ? message.slice(place.length) : message
}

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
