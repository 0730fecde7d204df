const KINDS: readonly [kind: string, pattern: RegExp][] = [
  ['a private key', /-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY-----/g],
  ['an AWS access key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
  [
    'an AWS secret key',
    /aws_secret_(?:access_)?key["']?[ \t]{0,4}[:=][ \t]{0,4}["']?[a-z0-9/+=]{40}(?![a-z0-9/+=])/gi,
  ],
  ['a GitHub token', /\b(?:gh[oprsu]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40,100})\b/g],
  ['a GitLab token', /\bglpat-[A-Za-z0-9_-]{20}/g],
  ['an API key', /\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{32,200}/g],
  ['a Stripe key', /\b[rs]k_live_[A-Za-z0-9]{20,100}/g],
  ['a Slack token', /\bxox[abeoprs]-[0-9A-Za-z-]{16,200}/g],
  ['a Google API key', /\bAIza[0-9A-Za-z_-]{35}/g],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/g],
  ['a Hugging Face token', /\bhf_[A-Za-z0-9]{34}\b/g],
  ['a SendGrid key', /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g],
]

// What documentation writes where a key would stand.
const PLACEHOLDER = /x{4}|0{4}|1234|abcd|example|your|placeholder|\.\.\./i

/** The first thing in a text that looks like a secret, never the secret itself. */
export function findSecret(text: string): { kind: string; at: number } | undefined {
  const found = KINDS.flatMap(([kind, pattern]) => {
    for (const match of text.matchAll(pattern)) {
      if (!PLACEHOLDER.test(match[0])) return [{ kind, at: match.index }]
    }
    return []
  })
  return found.sort((a, b) => a.at - b.at)[0]
}
