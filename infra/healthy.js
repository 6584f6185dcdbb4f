// Exit code 0 when the program in this container answers on its admin listener; plain JavaScript, at once on any Node.
const [, port] = /:(\d+)$/.exec(process.env.ACCELERANDO_ADMIN_LISTEN ?? '') ?? [null, '6667']
fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2500) }).then(
  (answer) => process.exit(answer.ok ? 0 : 1),
  () => process.exit(1),
)
