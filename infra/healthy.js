// Exit code 0 when the program in this container answers on its admin listener. Plain JavaScript on `node:http`:
// `fetch` blocks certain ports, and the default admin port is one of them.
import { get } from 'node:http'

const [, port] = /:(\d+)$/.exec(process.env.ACCELERANDO_ADMIN_LISTEN ?? '') ?? [null, '6671']
get({ host: '127.0.0.1', port, path: '/healthz', timeout: 2500 }, ({ statusCode }) =>
  process.exit(statusCode === 200 ? 0 : 1),
)
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
