/** `accelerando explain`: which hosts fit a device profile, and what keeps the others from it. */
import { EXITS, endWith, misused } from '../exits.ts'
import { type Columns, addOutput, present } from '../output.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { type ApiFlags, addApiFlags, apiOf, withQuery } from '../operators/api.ts'
import type { Explanation } from '../operators/apiShapes.ts'
import { documentIn } from '../operators/documentFile.ts'
import { profilePath } from '../operators/profileRows.ts'
import { explainLines } from '../operators/explainLines.ts'

type Host = Explanation['hosts'][number]
const COLUMNS: Columns<Host> = [
  { name: 'host', of: ({ host }) => host },
  { name: 'fits', of: ({ fits }) => fits },
  { name: 'obstacles', of: (host) => [...new Set(obstaclesOf(host).map(({ code }) => code))].join(' ') || null },
]
const obstaclesOf = ({ obstacles, groups }: Host) => [
  ...obstacles,
  ...groups.flatMap(({ devices }) => devices.flatMap((device) => device.obstacles)),
]

type Asked = ApiFlags & { readonly file?: string; readonly host?: string; readonly limit?: string }

const asked = (profile: string | undefined, flags: Asked): Promise<Explanation> => {
  const ask = apiOf(flags)<Explanation>
  const { host, limit } = flags
  if (flags.file === undefined) return ask('POST', withQuery(`${profilePath(profile!)}/check`, { host, limit }))
  const draft = documentIn(flags.file)
  return ask('POST', withQuery('/profile_checks', { host, limit }), draft as Readonly<Record<string, unknown>>)
}

export const explain: Register = (program) => {
  const command = program
    .command('explain')
    .argument('[PROFILE]', 'name or UUID of a device profile')
    .description(
      `Which hosts fit a device profile, and what keeps the others from it. Changes nothing. Exit code ${EXITS.findings.code} when no host fits.`,
    )
    .example('accelerando explain fpga-small --host compute-1', 'accelerando explain --file draft.json')
    .endsWith('findings')
  addOutput(addApiFlags(command), COLUMNS, { ownLimit: true })
    .option('--file <FILE>', 'JSON or TOML: a profile that is not stored, as it would be posted; instead of PROFILE')
    .option('--host <NAME>', 'only this host')
    .option('--limit <N>', 'how many hosts are shown (default: 20, at most 100)')
    .action(
      withPlainErrors(async (profile: string | undefined, flags: Asked) => {
        if ((profile === undefined) === (flags.file === undefined))
          throw misused('name a device profile, or a draft of one with --file')
        const json = await asked(profile, flags)
        // the service has limited the hosts already
        const { limit: _, ...shape } = flags
        present(shape, { document: json, rows: json.hosts, columns: COLUMNS, text: () => explainLines(json) })
        if (!json.fits) endWith('findings')
      }),
    )
}
