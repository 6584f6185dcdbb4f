/** Runs the service until it receives a stop signal, or the tour until its last step. */
import type { Log } from '../../vocabulary/log.ts'
import type { Config } from '../config/config.ts'
import { calledBy } from './calledBy.ts'
import { type Running, start } from './start.ts'
import type { Bundles } from './systemPort.ts'
import { runTour } from './tour.ts'
import { openTourNova } from './tourNova.ts'
import { ended, inWords, listensOf, untilEnded } from './untilEnded.ts'

type Out = (line: string) => void

const doorOf = ({ auth, noauthAnywhere }: Config): string => {
  if (auth === 'keystone') return 'callers show tokens of Keystone'
  return `nobody is authenticated: loopback only${noauthAnywhere ? ', and --noauth-anywhere lifts that' : ''}`
}

/** With Keystone every call needs a token, which `OS_CLOUD` or the other variables of OpenStack lead to. */
const tries = (base: string, { auth }: Pick<Config, 'auth'>, called: string): readonly string[] =>
  auth === 'keystone'
    ? [`    OS_CLOUD=NAME ${called} status --api ${base}`, `    openstack --os-cloud NAME accelerator device list`]
    : [
        `    ${called} status --api ${base}`,
        `    ${called} device list --api ${base}`,
        `    openstack --os-auth-type none --os-endpoint ${base} accelerator device list`,
      ]

export const hints = (
  { base, console }: Pick<Running, 'base' | 'console'>,
  config: Config,
  called: string,
): readonly string[] => [
  '',
  `  the console:  ${console}   (pages for people)`,
  `  the API:      ${base}   (${doorOf(config)})`,
  `  the data:     ${config.data}`,
  '',
  '  Try:',
  ...tries(base, config, called),
  '',
]

const serve = (config: Config, log: Log, out: Out, bundles: Bundles) =>
  untilEnded(log, listensOf(config), async () => {
    const running = await start(config, log, bundles)
    out(`console ${running.console}`)
    out(`ready ${running.base}`)
    const called = await calledBy({ env: process.env, script: process.argv[1], cwd: process.cwd() })
    for (const line of hints(running, config, called)) out(line)
    return running
  })

const tour = async (config: Config, log: Log, out: Out) => {
  const nova = await openTourNova()
  const running = await start(
    { ...config, nova: { url: nova.url, timeoutMs: 5000, headers: {}, tokenFile: null } },
    log,
  ).catch((error: unknown) => {
    throw inWords(error, listensOf(config))
  })
  const well = await runTour({ base: running.base, console: running.console, heard: nova.heard, say: out })
  await ended(running.stop)
  await nova.close()
  process.exit(well ? 0 : 1)
}

/** Throws an error with a text for the operator when the service cannot start. */
export const run = (config: Config, log: Log, out: Out, bundles: Bundles): Promise<void> =>
  config.tour ? tour(config, log, out) : serve(config, log, out, bundles)
