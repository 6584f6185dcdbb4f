/**
 * `accelerando explain`: shows which hosts fit a device profile and why others do not; for several profiles, which is
 * the first that fits.
 */
import { EXITS, endWith, misused } from '../exits.ts'
import { type Columns, addOutput, present } from '../output.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { type ApiFlags, addApiFlags, apiOf, withQuery } from '../operators/api.ts'
import type { Explanation } from '../operators/apiShapes.ts'
import { documentIn } from '../operators/documentFile.ts'
import { profilePath } from '../operators/profileRows.ts'
import { alternativesLines, explainLines, firstThatFits } from '../operators/explainLines.ts'

type Host = Explanation['hosts'][number]
/** `profile`: the profile that the host was judged for, if there are several. */
const COLUMNS: Columns<Host & { readonly profile: string | null }> = [
  { name: 'host', of: ({ host }) => host },
  { name: 'fits', of: ({ fits }) => fits },
  { name: 'obstacles', of: (host) => [...new Set(obstaclesOf(host).map(({ code }) => code))].join(' ') || null },
  { name: 'profile', of: ({ profile }) => profile },
]
const obstaclesOf = ({ obstacles, groups }: Host) => [
  ...obstacles,
  ...groups.flatMap(({ devices }) => devices.flatMap((device) => device.obstacles)),
]

type Given = ApiFlags & { readonly file?: string; readonly host?: string; readonly limit?: string }

const asked = (flags: Given, profile?: string): Promise<Explanation> => {
  const ask = apiOf(flags)<Explanation>
  const { host, limit } = flags
  if (flags.file === undefined) return ask('POST', withQuery(`${profilePath(profile!)}/check`, { host, limit }))
  const draft = documentIn(flags.file)
  return ask('POST', withQuery('/profile_checks', { host, limit }), draft as Readonly<Record<string, unknown>>)
}

/** The JSON document for several profiles. */
const alternativesOf = (explanations: readonly Explanation[]) => ({
  fits: explanations.some(({ fits }) => fits),
  first: firstThatFits(explanations),
  profiles: explanations,
})

export const explain: Register = (program) => {
  const command = program
    .command('explain')
    .argument('[PROFILE...]', 'name or UUID of a device profile; of several, alternatives in this order')
    .description(
      `Which hosts fit a device profile, and what keeps the others from it; of several profiles, which is the first that fits. Changes nothing. Exit code ${EXITS.findings.code} when no host fits.`,
    )
    .example(
      'accelerando explain fpga-small --host compute-1',
      'accelerando explain one-a100 two-t4',
      'accelerando explain --file draft.json',
    )
    .endsWith('findings')
  addOutput(addApiFlags(command), COLUMNS, { ownLimit: true })
    .option('--file <FILE>', 'JSON or TOML: a profile that is not stored, as it would be posted; instead of PROFILE')
    .option('--host <NAME>', 'only this host')
    .option('--limit <N>', 'how many hosts are shown for each profile (default: 20, at most 100)')
    .action(
      withPlainErrors(async (profiles: readonly string[], flags: Given) => {
        if ((profiles.length === 0) === (flags.file === undefined))
          throw misused('name a device profile, or a draft of one with --file')
        const explanations: Explanation[] = []
        // one after another, because each question concerns the whole cloud
        for (const profile of profiles) explanations.push(await asked(flags, profile))
        if (flags.file !== undefined) explanations.push(await asked(flags))
        // the service has applied the limit to the hosts already
        const { limit: _, ...shape } = flags
        const rows = explanations.flatMap(({ hosts, profile }) =>
          hosts.map((host) => ({ ...host, profile: profile?.name ?? null })),
        )
        const [only, ...others] = explanations
        const [document, text] =
          others.length === 0
            ? [only, () => explainLines(only!)]
            : [alternativesOf(explanations), () => alternativesLines(explanations)]
        present(shape, { document, rows, columns: COLUMNS, text, report: true })
        if (!explanations.some(({ fits }) => fits)) endWith('findings')
      }),
    )
}
