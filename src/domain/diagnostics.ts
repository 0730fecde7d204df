import { AppError, type ErrorCode, type Fault } from '../errors.ts'
import { showPath } from './show-path.ts'

export type Mode = 'strict' | 'lenient'

/** What is told of a skill that is taken all the same; a rescued fault keeps its error code. */
export type WarningCode =
  | ErrorCode
  | 'name_folder'
  | 'key_alias'
  | 'description_no_trigger'
  | 'description_short'
  | 'description_markup'
  | 'body_empty'
  | 'body_long'
  | 'unknown_tool'
  | 'similar_to'
  | 'hidden_unicode'
  | 'secret_suspected'
  | 'declared_version_reused'
  | 'link_broken'
  | 'file_name_case'

/** `file` only where it is another one than that of the diagnostics. */
export type Place = Omit<Fault, 'code' | 'message'>

type Refusal = Fault & { code: ErrorCode }

/**
 * Collects what is wrong with one file, so that its author learns everything at once. After a
 * throw the caller still holds all errors and warnings.
 */
export class Diagnostics {
  readonly errors: Refusal[] = []
  readonly warnings: Fault[] = []
  readonly mode: Mode
  readonly #file: string
  #status: number | undefined

  constructor(file: string, mode: Mode = 'strict') {
    this.#file = file
    this.mode = mode
  }

  get lenient(): boolean {
    return this.mode === 'lenient'
  }

  /** Goes on, so that later faults are found too. */
  refuse(code: ErrorCode, what: string, place: Place = {}): void {
    this.errors.push({ code, ...this.#told(what, place) })
  }

  warn(code: WarningCode, what: string, place: Place = {}): void {
    this.warnings.push({ code, ...this.#told(what, place) })
  }

  /** A fault that lenient mode repairs. */
  rescue(code: ErrorCode, what: string, place?: Place): void {
    if (this.lenient) this.warn(code, what, place)
    else this.refuse(code, what, place)
  }

  /** For a fault that leaves nothing to read on; `status` where the code's own does not fit. */
  abort(code: ErrorCode, what: string, place?: Place, status?: number): never {
    this.refuse(code, what, place)
    if (this.errors.length === 1) this.#status = status
    throw this.#refusal()
  }

  throwIfRefused(): void {
    if (this.errors.length > 0) throw this.#refusal()
  }

  #refusal(): AppError {
    const [{ code, message }] = this.errors as [Refusal]
    return new AppError(code, message, {
      errors: this.errors,
      ...(this.#status !== undefined && { status: this.#status }),
    })
  }

  #told(what: string, { file = this.#file, field, line, ...rest }: Place): Omit<Fault, 'code'> {
    const message = `${showPath(file)}${line ? ` line ${line}` : ''}: ${what}`
    return {
      message,
      file,
      ...(field !== undefined && { field }),
      ...(line !== undefined && { line }),
      ...rest,
    }
  }
}
