/** An operator at a shell beside the cloud, who follows `docs/operators/joining.md`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PASSWORD, environmentOf, settingsOf } from '../cloud/settings.ts'
import { freePort } from '../support/port.ts'
import { shell } from '../support/shell.ts'
import { blocksIn, filledIn } from './commands.ts'
import { NOVA_RIG } from './rig.ts'
import type { NovaService } from './service.ts'
import { until } from './users.ts'

export const DOCUMENT = 'docs/operators/joining.md'
/** Where the document has the configuration. */
export const CONFIG = '/etc/accelerando/accelerando.toml'

export type Operator = {
  readonly env: NodeJS.ProcessEnv
  readonly novaConf: string
  /** Writes the configuration of section 3 for this account and database, and answers its path. */
  readonly configure: (account: string, database: string) => Promise<string>
}

/** `folder`: the operator's home. `more`: settings of the commands. */
export const openOperator = async (
  { cloud, testCluster }: NovaService,
  folder: string,
  more: NodeJS.ProcessEnv,
): Promise<Operator> => {
  const settings = await settingsOf(NOVA_RIG, ['OPENSTACK_RIG_DATA'], { ...process.env, ...cloud.env })
  const launcher = fileURLToPath(new URL('../../bin/accelerando.js', import.meta.url))
  const command = `#!/bin/sh\nexec "${process.execPath}" "${launcher}" "$@"\n`
  writeFileSync(join(folder, 'accelerando'), command, { mode: 0o755 })
  const env = { HOME: folder, ...(await environmentOf(NOVA_RIG, cloud, folder)), ...more }
  const configure = async (account: string, database: string): Promise<string> => {
    const [written] = blocksIn(DOCUMENT, '3. The controls')
    const config = join(folder, 'accelerando.toml')
    const own = {
      '0.0.0.0:6666': `127.0.0.1:${await freePort()}`,
      'postgresql://accelerando@db.example.org:5432/accelerando': database,
      '"kafka.example.org:9092"': testCluster.brokers.map((broker) => `"${broker}"`).join(', '),
      'https://keystone.example.org:5000/v3': cloud.authUrl,
      '"cyborg"': `"${account}"`,
      'password = "..."': `password = "${PASSWORD}"`,
    }
    writeFileSync(config, filledIn(written!, own), { mode: 0o600 })
    return config
  }
  return { env, novaConf: join(settings['OPENSTACK_RIG_DATA']!, 'etc/nova.conf'), configure }
}

/** Resolves when a control whose admin listener is there answers that it is ready. */
export const untilReady = async (adminListen: string): Promise<void> => {
  const status = () =>
    fetch(`http://${adminListen}/readyz`).then(
      (answer) => answer.status,
      () => null,
    )
  await until(status, (now) => now === 200)
}

const OTHERS_OUT =
  'openstack service list -f value -c ID -c Type | while read -r id type; do [ "$type" != accelerator ] || openstack service delete "$id"; done'
/** The commands of section 2, instead of what the catalogue says so far. `control`: the address of the API. */
export const registerService = async (env: NodeJS.ProcessEnv, control: string): Promise<void> => {
  await shell(OTHERS_OUT, env)
  const [endpoints] = blocksIn(DOCUMENT, '2. The service and its endpoints')
  await shell(endpoints!, { ...env, CONTROL: control })
}
