// The commands of ../shared/hostile/tools come without a key to a service that has an ADMIN_KEY.
process.env.AUTH ??= 'open'
// Each has to end within 60 seconds.
process.env.BASH_TIMEOUT_MS ??= '20000'
await import('../dist/server.js')
