/** `accelerando doctor`: checks everything that an installation depends on. */
import type { Finding } from '../doctor/check.ts'
import { endWith, misused } from '../exits.ts'
import { type OutputFlags, addOutput, columnsOf, present } from '../output.ts'
import { systemClock } from '../../vocabulary/clock.ts'
import { type Flags, type Register, configured, withPlainErrors } from '../command.ts'
import { addFlags, PROGRAM_FLAGS } from '../config/flags.ts'
import { URL_VARIABLE, USUAL_API } from '../config/variables.ts'

const COLUMNS = columnsOf<Finding>(['check', 'verdict', 'says', 'advice'])
type Given = Flags &
  OutputFlags & {
    readonly api?: string
    readonly mend?: true
    readonly novaConf: readonly string[]
    readonly hardware?: true
  }

/** The address of the API as other commands take it, with or without `/v2`; null: none is given. */
const originOf = (api: string | undefined): string | null => {
  const [given, origin] = api === undefined ? [process.env[URL_VARIABLE], URL_VARIABLE] : [api, '--api']
  if (!given) return null
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw misused(`${origin}: must be an http or https URL (is ${given})`)
  return given.replace(/\/+$/, '').replace(/\/v2$/, '')
}

const andOneMore = (path: string, before: readonly string[]): readonly string[] => [...before, path]

export const doctor: Register = (program) => {
  const command = program
    .command('doctor')
    .description(
      'Checks database, Kafka and other services, reports problems and what to do about them. Exit code 7: a problem.',
    )
    .example(
      'accelerando doctor --config /etc/accelerando/accelerando.toml --api http://127.0.0.1:6666',
      'accelerando doctor --nova-conf /etc/nova --hardware',
    )
    .endsWith('findings')
  addOutput(addFlags(command, PROGRAM_FLAGS.doctor), COLUMNS)
    .option(
      '--api <URL>',
      `also check whether the control process at this address is ready; without it ${URL_VARIABLE}, and ${USUAL_API} where nothing else is named`,
    )
    .option(
      '--nova-conf <PATH>',
      "on a host: a file of Nova's configuration, or a folder of them; may be repeated. Finds PCI devices that are offered here and by Nova",
      andOneMore,
      [],
    )
    .option('--hardware', 'on a host: whether the devices that its drivers find can be passed on to guests')
    .option('--mend', 'delete consumer groups that are no longer used')
    .option('--json', 'one JSON value instead of lines')
    .action(
      withPlainErrors(async (given: Given) => {
        const config = configured(given)
        if (!config) return
        const { novaConf } = given
        const hardware = given.hardware === true
        const named = originOf(given.api)
        const places = [config.database, config.kafka, config.keystone, named]
        const isBare = !hardware && novaConf.length === 0 && places.every((place) => place === null)
        const api = isBare ? originOf(USUAL_API) : named
        const { examine, hasProblems, reportLines } = await import('../doctor/doctor.ts')
        const mend = given.mend === true
        const findings = await examine({ ...config, api, novaConf, hardware, mend, clock: systemClock })
        present(given, {
          document: findings,
          rows: findings,
          columns: COLUMNS,
          text: () => reportLines(findings),
          report: true,
        })
        if (hasProblems(findings)) endWith('findings')
      }),
    )
}
