/** `accelerando hosts`: lists the hosts, and takes them in and out of service. */
import type { Command } from 'commander'
import { type ApiFlags, addApiFlags, apiOf, fieldsOf, show, tableOf } from '../operators/api.ts'
import { type Host, type HostDetail, noteLine } from '../operators/apiShapes.ts'
import { type Register, out, withPlainErrors } from '../command.ts'

const at = (name: string) => `/hosts/${encodeURIComponent(name)}`
const driverStates = ({ drivers }: Host): string =>
  Object.entries(drivers)
    .map(([name, { status, error }]) => (status === 'ok' ? name : `${name}: ${error ?? status}`))
    .join(', ')
const detail = (host: HostDetail): readonly string[] =>
  fieldsOf({
    name: host.name,
    liveness: host.liveness,
    'last seen': host.last_seen_at,
    retired: noteLine(host.retired),
    key: host.public_key ?? '-',
    'key that waits for approval': host.offered_key ?? '-',
    aliases: host.aliases.join(', ') || '-',
    drivers: driverStates(host) || '-',
    handles: Object.entries(host.handles)
      .map(([state, count]) => `${count} ${state}`)
      .join(', '),
    arqs: host.arqs.join(' ') || '-',
  })

const reading = (family: Command) => {
  addApiFlags(family.command('list').description('Lists all hosts.')).action(
    withPlainErrors(async (flags: ApiFlags) => {
      const json = await apiOf(flags)<{ readonly hosts: readonly Host[] }>('GET', '/hosts')
      const rows = json.hosts.map((host) => [
        host.name,
        host.liveness,
        host.retired ? 'yes' : 'no',
        host.last_seen_at,
        driverStates(host),
      ])
      show(flags, json, () => tableOf(['NAME', 'LIVENESS', 'RETIRED', 'LAST SEEN', 'DRIVERS'], rows))
    }),
  )
  addApiFlags(family.command('show <NAME>').description('Shows one host and the attach handles in use on it.')).action(
    withPlainErrors(async (name: string, flags: ApiFlags) => {
      const json = await apiOf(flags)<HostDetail>('GET', at(name))
      show(flags, json, () => detail(json))
    }),
  )
}

type Asked = ApiFlags & { readonly reason: string; readonly force?: true; readonly key?: string }
const withReason = (command: Command): Command =>
  addApiFlags(command).requiredOption('--reason <TEXT>', 'why; kept in the journal')

export const hosts: Register = (program) => {
  const family = program.command('hosts').description('The hosts of a running service.')
  reading(family)
  for (const [verb, about] of [
    ['retire', 'Stops offering the devices of this host; each is withdrawn when it is no longer used.'],
    ['restore', 'Brings back a host that was retired or removed.'],
  ] as const)
    withReason(family.command(`${verb} <NAME>`).description(about)).action(
      withPlainErrors(async (name: string, flags: Asked) => {
        const json = await apiOf(flags)<HostDetail>('POST', `${at(name)}/${verb}`, { reason: flags.reason })
        show(flags, json, () => detail(json))
      }),
    )
  for (const [verb, about] of [
    ['approve', 'Accepts the key of a host that waits for it.'],
    ['rekey', 'Lets a host that has lost its key report with another one: the one named, or the next that it shows.'],
  ] as const)
    withReason(family.command(`${verb} <NAME>`).description(about))
      .option('--key <KEY>', 'only this public key, as the host logs it when it starts')
      .action(
        withPlainErrors(async (name: string, { reason, key, ...flags }: Asked) => {
          const body = { reason, ...(key === undefined ? {} : { public_key: key }) }
          const json = await apiOf(flags)<HostDetail>('POST', `${at(name)}/${verb}`, body)
          show(flags, json, () => detail(json))
        }),
      )
  withReason(family.command('remove <NAME>').description('Removes a host that will not return.'))
    .option('--force', 'unbind what is bound on it first')
    .action(
      withPlainErrors(async (name: string, flags: Asked) => {
        const query = new URLSearchParams({ reason: flags.reason, force: String(flags.force ?? false) })
        await apiOf(flags)('DELETE', `${at(name)}?${query.toString()}`)
        if (!flags.json) out(`host ${name} is removed`)
      }),
    )
}
