/** `accelerando support-bundle`: writes an archive with facts about an installation for maintainers. */
import { writeFile } from 'node:fs/promises'
import { systemClock } from '../../vocabulary/clock.ts'
import { ask } from '../ask.ts'
import { type Flags, type Register, configured, out, outLines, withPlainErrors } from '../command.ts'
import { addFlags, PROGRAM_FLAGS } from '../config/flags.ts'
import { hidingTokens } from '../config/inForce.ts'
import { type ApiFlags, addApiFlags, apiOf, entryOf } from '../operators/api.ts'
import { visibleJson } from '../../vocabulary/text.ts'

const USUAL_ADMIN = 'http://127.0.0.1:6671'
type Given = Flags & ApiFlags & { readonly admin: string; readonly output?: string }

/** File mode: only the user who made the file may read it. */
const MODE = 0o600
/** Someone waits for the command, and may end it. */
const LIMITS = { partBytes: 128 * 1024 * 1024, wholeBytes: 512 * 1024 * 1024, partMs: 600_000, wholeMs: 1_800_000 }

const METRICS_MS = 10_000
const metricsAt = async (admin: string): Promise<string> => {
  const { status, text } = await ask(`${admin.replace(/\/+$/, '')}/metrics`, { timeoutMs: METRICS_MS })
  if (status !== 200) throw new Error(`${admin} answers ${status}`)
  return text
}

const run = async (given: Given): Promise<void> => {
  const config = configured(given)
  if (!config) return
  const [{ bundle, bundleName }, { examine }, { base, headers }] = await Promise.all([
    import('../operators/supportBundle.ts'),
    import('../doctor/doctor.ts'),
    entryOf(given),
  ])
  const at = systemClock.now()
  const { archive, files, problems } = await bundle({
    inForce: hidingTokens(config.inForce, headers),
    api: apiOf(given),
    metrics: () => metricsAt(given.admin),
    doctor: () =>
      examine({
        ...config,
        api: new URL(base).origin,
        novaConf: [],
        hardware: false,
        mend: false,
        clock: systemClock,
      }),
    limits: LIMITS,
    clock: systemClock,
  })
  const file = given.output ?? bundleName(at)
  await writeFile(file, archive, { mode: MODE, flag: 'wx' })
  const names = files.map(({ name }) => name)
  if (given.json) return out(visibleJson({ file, files: names, missing: problems }))
  outLines([
    `${file}: ${names.join(', ')}`,
    ...problems.map(({ name, problem }) => `without ${name}: ${problem}`),
    'secrets of the configuration are hidden; look through it before you send it to anybody',
  ])
}

export const supportBundle: Register = (program) => {
  const command = program
    .command('support-bundle')
    .description(
      'Packs what a maintainer needs to see into one archive: the findings of the doctor, configuration without secrets, what the service says of itself, overview, hosts, drift, the last 1000 events, metrics and versions.',
    )
    .example(
      'accelerando support-bundle --config /etc/accelerando/accelerando.toml',
      'accelerando support-bundle --output /tmp/support.tar.gz',
    )
  addApiFlags(addFlags(command, PROGRAM_FLAGS.doctor))
    .option('--admin <URL>', 'where the control answers /metrics', USUAL_ADMIN)
    .option('-o, --output <FILE>', 'a file that does not exist yet (default: named by the moment, in this folder)')
    .action(withPlainErrors(run))
}
