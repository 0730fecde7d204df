const REFERENCE = /\{\{env\.([A-Za-z_][A-Za-z0-9_]{0,127})\}\}/g

/** The variables of the environment that a value refers to. */
export const referencesIn = (text: string): string[] =>
  [...text.matchAll(REFERENCE)].map(([, name = '']) => name)

/** Whether every pair of opening braces begins a reference to the environment. */
export const isWellReferenced = (text: string): boolean =>
  !text.replaceAll(REFERENCE, '').includes('{{')

/** The values with what `read` gives for each variable. */
export const fillReferences = (
  values: Record<string, string>,
  read: (name: string) => string,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value.replaceAll(REFERENCE, (_, variable: string) => read(variable)),
    ]),
  )
