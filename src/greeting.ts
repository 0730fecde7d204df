/** What the terminal says once the service answers: the address, and what to try first. */
export function greeting(address: string, auth: 'open' | 'keys', model: string): string {
  const lines = [
    `loadskill listens on ${address} (model: ${model}, API description: ${address}/docs)`,
  ]
  if (auth === 'open') {
    const chat = `{"message":"Please review this change: if (a = b) return"}`
    lines.push(
      'Try:',
      `  curl ${address}/api/v1/catalog`,
      `  curl ${address}/api/v1/skills/code-review/content`,
      `  curl -H 'content-type: application/json' -d '${chat}' ${address}/api/v1/chat`,
    )
  }
  return `${lines.join('\n')}\n`
}
