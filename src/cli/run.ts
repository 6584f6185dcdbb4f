/** The service until somebody ends it, or the tour until its last step. */
import type { Log } from '../log.ts'
import type { Config } from './config.ts'
import { StartProblem, start } from './start.ts'
import { runTour } from './tour.ts'
import { openTourNova } from './tourNova.ts'

type Out = (line: string) => void
/** An orderly stop takes at most ten seconds; past that the process ends as it is, which the store survives. */
const STOP_MS = 9500

const hints = (base: string, config: Config): readonly string[] => [
  '',
  `  the API:   ${base}   (nobody is authenticated: loopback only${config.noauthAnywhere ? ', and --noauth-anywhere lifts that' : ''})`,
  `  the data:  ${config.data}`,
  '',
  '  Try:',
  `    curl -s ${base}/deployables`,
  `    curl -s ${base.replace(/\/v2$/, '')}/v2/hosts`,
  `    openstack --os-auth-type none --os-endpoint ${base} accelerator device list`,
  '',
]

const untilSignal = (): Promise<string> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal))
  })

const ended = async (stop: () => Promise<void>): Promise<void> => {
  const late = setTimeout(() => process.exit(75), STOP_MS)
  await stop()
  clearTimeout(late)
}

const serve = async (config: Config, log: Log, out: Out) => {
  const signal = untilSignal()
  const running = await start(config, log)
  out(`ready ${running.base}`)
  for (const line of hints(running.base, config)) out(line)
  log.info({ signal: await signal }, 'stopping')
  await ended(running.stop)
  // everything is closed; whatever a library still holds open must not keep the process
  process.exit(0)
}

const tour = async (config: Config, log: Log, out: Out) => {
  const nova = await openTourNova()
  const running = await start(
    { ...config, nova: { url: nova.url, timeoutMs: 5000, headers: {}, tokenFile: null } },
    log,
  )
  out(`ready ${running.base}`)
  const well = await runTour({ base: running.base, heard: nova.heard, say: out })
  await ended(running.stop)
  await nova.close()
  process.exit(well ? 0 : 1)
}

/** Throws with a text for the operator when it cannot start. */
export const run = async (config: Config, log: Log, out: Out): Promise<void> => {
  try {
    await (config.tour ? tour : serve)(config, log, out)
  } catch (error) {
    if (error instanceof StartProblem) throw error
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE')
      throw new Error(
        `${config.listen.host}:${config.listen.port} is in use by another program: choose another address with --listen`,
        { cause: error },
      )
    throw error
  }
}
