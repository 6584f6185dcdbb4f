/**
 * `accelerando host`: runs the program of a compute node; lists the hosts of a service, and takes them in and out of
 * service.
 */
import { type Flags, type Register, configured, lacking, out, withPlainErrors } from '../command.ts'
import type { CommandRow } from '../commandRow.ts'
import { Failure } from '../exits.ts'
import { PROGRAM_FLAGS, addFlags } from '../config/flags.ts'
import { confirmed, confirmable } from '../confirm.ts'
import { openLog } from '../logger.ts'
import { LISTED_AS } from '../../actors/host/standing.ts'
import { type ApiFlags, addApiFlags, addAsOf, apiOf, limitFor, withQuery } from '../operators/api.ts'
import { type Wait, waitMsOf, waitUntil, waitable } from '../operators/waiting.ts'
import { type Host, type HostDetail, type Impact, noteLine } from '../operators/apiShapes.ts'
import { DRY_RUN, showImpact } from '../operators/impactLines.ts'
import { type Columns, addOutput, present } from '../output.ts'
import { untilEnded } from '../programs/untilEnded.ts'

/**
 * The former name of the family, from before `host` had commands. It needs the name of a command and starts no program.
 */
const FORMER = 'hosts'

const at = (name: string) => `/hosts/${encodeURIComponent(name)}`
const driverStates = ({ drivers }: Host): string =>
  Object.entries(drivers)
    .map(([name, { status, error }]) => (status === 'ok' ? name : `${name}: ${error ?? status}`))
    .join(', ')
const LISTED: Columns<Host> = [
  { name: 'name', of: ({ name }) => name },
  { name: 'liveness', of: ({ liveness }) => liveness },
  { name: 'retired', of: ({ retired }) => (retired ? 'yes' : 'no') },
  { name: 'last_seen_at', head: 'last seen', of: (host) => host.last_seen_at },
  { name: 'drivers', of: driverStates },
]
const counted = (states: Readonly<Record<string, number>>): string =>
  Object.entries(states)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ')
const DETAILS: Columns<HostDetail> = [
  { name: 'name', of: ({ name }) => name },
  { name: 'liveness', of: ({ liveness }) => liveness },
  { name: 'last_seen_at', head: 'last seen', of: (host) => host.last_seen_at },
  { name: 'retired', of: ({ retired }) => noteLine(retired) },
  { name: 'public_key', head: 'key', of: (host) => host.public_key },
  { name: 'offered_key', head: 'key that waits for approval', of: (host) => host.offered_key },
  { name: 'aliases', of: ({ aliases }) => aliases.join(', ') || null },
  { name: 'drivers', of: (host) => driverStates(host) || null },
  {
    name: 'devices',
    of: ({ devices }: Pick<Partial<HostDetail>, 'devices'>) => counted(devices ?? {}).replaceAll('_', ' ') || null,
  },
  { name: 'handles', of: ({ handles }) => counted(handles) },
  { name: 'arqs', of: ({ arqs }) => arqs.join(' ') || null },
]
const playbookState = ({ driver, playbook, status, reason }: HostDetail['playbooks'][number]): string =>
  `${playbook} of ${driver} ${status}${reason === null ? '' : ` (${reason})`}`
/** A control before release 0.3.0 returns no playbooks. */
type Shown = Omit<HostDetail, 'playbooks'> & Partial<Pick<HostDetail, 'playbooks'>>
const playbooksIn = ({ playbooks = [] }: Shown): Readonly<Record<string, string>> =>
  playbooks.length > 0 ? { playbooks: playbooks.map(playbookState).join(', ') } : {}
/** A control of release 0.3.0 returns no question. */
const probeIn = ({ probe }: Pick<Partial<HostDetail>, 'probe'>): Readonly<Record<string, string>> => {
  if (!probe) return {}
  const { asked_at: at, by, answer } = probe
  const asked = `asked at ${at} by ${by}`
  if (answer === null) return { probe: `${asked}, not answered` }
  const failed = answer.failed_drivers.length === 0 ? '' : `, failed: ${answer.failed_drivers.join(', ')}`
  const report = `report ${answer.report_number} with ${answer.devices} devices${failed}`
  return { probe: `${asked}, answered after ${answer.took_ms} ms by ${report}` }
}
const showHost = (flags: ApiFlags, json: HostDetail): void =>
  present(flags, {
    document: json,
    rows: [json],
    columns: DETAILS,
    one: true,
    more: { ...playbooksIn(json), ...probeIn(json) },
  })

const reading = (family: CommandRow) => {
  const list = family
    .command('list')
    .description('Lists all hosts.')
    .example('accelerando host list', 'accelerando host list --liveness down -f value -c name')
  addAsOf(addOutput(addApiFlags(list), LISTED))
    .option('--liveness <STATE>', `only those in this state: ${LISTED_AS.join(', ')}`)
    .action(
      withPlainErrors(async (flags: ApiFlags & { readonly liveness?: string }) => {
        const { liveness, asOf: as_of } = flags
        const path = withQuery('/hosts', { liveness, as_of, limit: limitFor(flags) })
        const json = await apiOf(flags)<{ readonly hosts: readonly Host[] }>('GET', path)
        present(flags, { document: json, rows: json.hosts, columns: LISTED })
      }),
    )
  const show = family
    .command('show <NAME>')
    .description('Shows one host and the attach handles in use on it.')
    .example('accelerando host show compute-1')
  addAsOf(one(show)).action(
    withPlainErrors(async (name: string, flags: ApiFlags) => {
      showHost(flags, await apiOf(flags)<HostDetail>('GET', withQuery(at(name), { as_of: flags.asOf })))
    }),
  )
}

type Given = ApiFlags & {
  readonly reason: string
  readonly force?: true
  readonly key?: string
  readonly dryRun?: true
  readonly yes?: true
}
const one = (command: CommandRow): CommandRow => addOutput(addApiFlags(command), DETAILS, { one: true })
const withReason = (command: CommandRow): CommandRow =>
  one(command).requiredOption('--reason <TEXT>', 'why; kept in the journal')

const dryRunnable = (command: CommandRow): CommandRow => command.option('--dry-run', DRY_RUN)
const tried = async (flags: Given, method: 'POST' | 'DELETE', path: string, body?: { readonly reason: string }) => {
  showImpact(flags, await apiOf(flags)<Impact>(method, path, body))
}

const leaving = (family: CommandRow) => {
  const retire = family
    .command('retire <NAME>')
    .description('Stops offering the devices of this host; each is withdrawn when it is no longer used.')
    .example(
      'accelerando host retire compute-1 --reason "new hardware" --dry-run',
      'accelerando host retire compute-1 --reason "new hardware" --wait 3600',
    )
  waitable(dryRunnable(withReason(retire)), 'no request has a device of it').action(
    withPlainErrors(async (name: string, flags: Given & Wait) => {
      if (flags.dryRun) return tried(flags, 'POST', `${at(name)}/retire?dry_run=true`, { reason: flags.reason })
      const [api, limitMs] = [apiOf(flags), waitMsOf(flags)]
      const retired = await api<HostDetail>('POST', `${at(name)}/retire`, { reason: flags.reason })
      if (limitMs === null) return showHost(flags, retired)
      const unfinished = async () => {
        const { arqs } = await api<HostDetail>('GET', at(name))
        return arqs.length === 0 ? null : `host ${name} is used by ${arqs.join(', ')}`
      }
      const next = `accelerando host show ${name}`
      await waitUntil({ flags, query: { host: name }, unfinished, limitMs, next })
      showHost(flags, await api<HostDetail>('GET', at(name)))
    }),
  )
  const remove = family
    .command('remove <NAME>')
    .description('Removes a host that will not return.')
    .example('accelerando host remove compute-1 --reason "burnt" --force --dry-run')
  confirmable(dryRunnable(withReason(remove)))
    .option('--force', 'unbind what is bound on it first')
    .action(
      withPlainErrors(async (name: string, flags: Given) => {
        const query = new URLSearchParams({ reason: flags.reason, force: String(flags.force ?? false) })
        if (flags.dryRun) return tried(flags, 'DELETE', `${at(name)}?${query.toString()}&dry_run=true`)
        await confirmed(flags, `Host ${name} is removed for good${flags.force ? ', and all on it is unbound' : ''}.`)
        await apiOf(flags)('DELETE', `${at(name)}?${query.toString()}`)
        if (!flags.json) out(`host ${name} is removed`)
      }),
    )
}

const changing = (family: CommandRow) => {
  const restore = family
    .command('restore <NAME>')
    .description('Brings back a host that was retired or removed.')
    .example('accelerando host restore compute-1 --reason "mended"')
  withReason(restore).action(
    withPlainErrors(async (name: string, flags: Given) => {
      showHost(flags, await apiOf(flags)<HostDetail>('POST', `${at(name)}/restore`, { reason: flags.reason }))
    }),
  )
  one(
    family
      .command('probe <NAME>')
      .description('Has a host look at its hardware and report at once, and shows what it reported.')
      .example('accelerando host probe compute-1'),
  ).action(
    withPlainErrors(async (name: string, flags: ApiFlags) => {
      const asked = await apiOf(flags)<HostDetail>('POST', `${at(name)}/probe`)
      showHost(flags, asked)
      if (asked.probe?.answer) return
      const since = asked.last_seen_at === null ? 'was never heard of' : `was last heard of at ${asked.last_seen_at}`
      throw new Failure('unreached', `host ${name} has not answered; it ${since}`, {
        next: `accelerando host show ${name}`,
      })
    }),
  )
  for (const [verb, about] of [
    ['approve', 'Accepts the key of a host that waits for it.'],
    ['rekey', 'Lets a host that has lost its key report with another one: the one named, or the next that it shows.'],
  ] as const)
    withReason(
      family
        .command(`${verb} <NAME>`)
        .description(about)
        .example(`accelerando host ${verb} compute-1 --reason "seen on its console"`),
    )
      .option('--key <KEY>', 'only this public key, as the host logs it when it starts')
      .action(
        withPlainErrors(async (name: string, { reason, key, ...flags }: Given) => {
          const body = { reason, ...(key === undefined ? {} : { public_key: key }) }
          showHost(flags, await apiOf(flags)<HostDetail>('POST', `${at(name)}/${verb}`, body))
        }),
      )
}
const overTheApi = (family: CommandRow): void => {
  reading(family)
  leaving(family)
  changing(family)
}

const run = (family: CommandRow): void => {
  const command = addFlags(
    family
      .command('run', { isDefault: true })
      .description('Manages the devices of this machine, with orders received over Kafka.')
      .example('accelerando host run --name compute-1 --kafka kafka-1:9092,kafka-2:9092 --data /var/lib/accelerando'),
    PROGRAM_FLAGS.host,
  ).action(
    withPlainErrors(async (flags: Flags) => {
      const config = configured(flags)
      if (!config || lacking('host', config)) return
      const log = await openLog(config.log)
      await untilEnded(log, { '--admin-listen': config.adminListen }, async () => {
        const { startHostProgram } = await import('../programs/host.ts')
        const running = await startHostProgram({ ...config, kafka: config.kafka! }, log)
        out(`ready ${running.name}`)
        return running
      })
    }),
  )
  family.usually(command)
}

export const host: Register = (program) => {
  const family = program
    .command('host')
    .alsoCalled(FORMER)
    .description('The program of a compute node, and the hosts of a running service. Without a command: `host run`.')
  run(family)
  overTheApi(family)
  overTheApi(program.command(FORMER, { hidden: true }).description('As `host`.'))
}
