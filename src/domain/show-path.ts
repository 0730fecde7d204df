/** A path in a message: short, on one line, with nothing that a terminal would obey. */
export const showPath = (path: string): string =>
  JSON.stringify(path.slice(0, 120).toWellFormed()).slice(1, -1).replaceAll(/\p{C}/gu, '\ufffd')
