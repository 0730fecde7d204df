import { AppError, type ErrorCode } from '../../errors.ts'

/** A refusal that names the field: `pointer` is a JSON pointer into the body. */
export const refuse = (code: ErrorCode, pointer: string, message: string): AppError =>
  new AppError(code, message, { errors: [{ code, message, field: pointer }] })

export const modelNotFound = (name: string): AppError =>
  refuse('model_not_found', '/model', `The model '${name.slice(0, 64)}' does not exist`)
