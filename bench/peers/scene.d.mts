export const SYSTEM: string
export const MESSAGE: string
export const BODY: string
export const ANSWER: string
