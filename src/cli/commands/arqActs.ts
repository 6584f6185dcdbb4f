/**
 * `accelerando arq create`, `bind`, `unbind`, `delete` and `force-unbind`: makes requests by hand that Nova makes
 * otherwise.
 */
import { RESOLVED } from '../../actors/arq/states.ts'
import { confirmable, confirmed } from '../confirm.ts'
import type { CommandRow } from '../commandRow.ts'
import { out, withPlainErrors } from '../command.ts'
import { Failure, misused } from '../exits.ts'
import { type Api, type ApiFlags, addApiFlags, apiOf, withQuery } from '../operators/api.ts'
import { type Arqs, COLLECTION, DETAILS, LISTED, arqPath, showArq } from '../operators/arqRows.ts'
import type { Arq, HandleDetail } from '../operators/apiShapes.ts'
import { type Wait, type Waiting, waitMsOf, waitUntil, waitable } from '../operators/waiting.ts'
import { addOutput, present } from '../output.ts'

const showAll = (flags: ApiFlags, arqs: readonly Arq[]): void =>
  present(flags, { document: { arqs }, rows: arqs, columns: LISTED })
const readAll = (api: Api, uuids: readonly string[]): Promise<readonly Arq[]> =>
  Promise.all(uuids.map((uuid) => api<Arq>('GET', arqPath(uuid))))

/** Whether the account may not read the ARQ, or the ARQ does not exist. */
const isHidden = (error: unknown): boolean =>
  error instanceof Failure && (error.exit === 'notFound' || error.exit === 'denied')
/**
 * Reads accepted ARQs; null: this account may not read them. A service may act for a project whose ARQs it cannot read.
 */
const readAfter = (api: Api, uuids: readonly string[]): Promise<readonly Arq[] | null> =>
  readAll(api, uuids).catch((error: unknown) => {
    if (isHidden(error)) return null
    throw error
  })
const showAccepted = (flags: ApiFlags, uuids: readonly string[]): void =>
  out(flags.json ? JSON.stringify({ arqs: uuids.map((uuid) => ({ uuid })) }) : `accepted: ${uuids.join(', ')}`)

type Acted = { readonly flags: ApiFlags & Wait; readonly uuids: readonly string[] }
const waitFor = async ({ flags, uuids }: Acted, unfinished: Waiting['unfinished']): Promise<void> => {
  const limitMs = waitMsOf(flags)
  if (limitMs === null) return
  const next = `accelerando arq timeline ${uuids[0]!}`
  await waitUntil({ flags, query: { subject: uuids.join(',') }, unfinished, limitMs, next })
}

const create = (family: CommandRow): void => {
  const command = family
    .command('create <PROFILE>')
    .description('Makes the accelerator requests of a device profile, as Nova does for a new server.')
    .example('accelerando arq create fpga-small', 'accelerando arq create fpga-small -f value -c uuid')
  addOutput(addApiFlags(command), LISTED).action(
    withPlainErrors(async (profile: string, flags: ApiFlags) => {
      const { arqs } = await apiOf(flags)<Arqs>('POST', COLLECTION, { device_profile_name: profile })
      showAll(flags, arqs)
    }),
  )
}

type Bind = ApiFlags &
  Wait & {
    readonly host: string
    readonly resourceProvider: string
    readonly instance: string
    readonly project?: string
  }
const isResolved = ({ state }: Arq): boolean => RESOLVED.some((one) => one === state)
const bindPatch = ({ host, resourceProvider, instance, project }: Bind) =>
  [
    ['/hostname', host],
    ['/device_rp_uuid', resourceProvider],
    ['/instance_uuid', instance],
    ...(project === undefined ? [] : [['/project_id', project]]),
  ].map(([path, value]) => ({ op: 'add', path, value }))

const bind = (family: CommandRow): void => {
  const command = family
    .command('bind <UUID...>')
    .description('Binds accelerator requests to an instance: all or none. The account needs the role service.')
    .example(
      'accelerando arq bind 01a20b28-0adf-7000-988f-af4e98d0d102 --host compute-1 --resource-provider 635526b1-dec4-324b-a2c3-d418715ba97f --instance d55ec672-bc67-4458-b10d-38ecb62abffe --wait',
    )
  waitable(addOutput(addApiFlags(command), LISTED), 'each of them is Bound or BindFailed')
    .requiredOption('--host <NAME>', 'the host')
    .requiredOption('--resource-provider <UUID>', 'of the deployable, as Placement and `device tree` name it')
    .requiredOption('--instance <UUID>', 'the instance')
    .option('--project <ID>', 'the project, where it is another one than that of who made the requests')
    .action(
      withPlainErrors(async (uuids: readonly string[], flags: Bind) => {
        const [api, patch] = [apiOf(flags, { service: true }), bindPatch(flags)]
        // fails before anything is changed if the account cannot read the ARQs that it wants to wait for
        if (waitMsOf(flags) !== null) await readAll(api, uuids)
        await api('PATCH', COLLECTION, Object.fromEntries(uuids.map((uuid) => [uuid, patch])))
        await waitFor({ flags, uuids }, async () => {
          const open = (await readAll(api, uuids)).filter((arq) => !isResolved(arq))
          return open.length === 0 ? null : open.map(({ uuid, state }) => `${uuid} is ${state}`).join(', ')
        })
        const arqs = await readAfter(api, uuids)
        if (arqs === null) return showAccepted(flags, uuids)
        const failed = arqs.find(({ state }) => state === 'BindFailed')
        if (failed)
          throw new Failure('failed', `the accelerator request ${failed.uuid} could not be bound`, {
            next: `accelerando arq timeline ${failed.uuid}`,
          })
        showAll(flags, arqs)
      }),
    )
}

/** States of a handle whose ARQ has given it up while the host still works on it. */
const BUSY: readonly string[] = ['held', 'releasing']
const unbind = (family: CommandRow): void => {
  const command = family
    .command('unbind <UUID...>')
    .description('Unbinds accelerator requests from their instance: all or none. The account needs the role service.')
    .example('accelerando arq unbind 01a20b28-0adf-7000-988f-af4e98d0d102 --wait 60')
  waitable(addOutput(addApiFlags(command), LISTED), 'their hosts have released the attach handles').action(
    withPlainErrors(async (uuids: readonly string[], flags: ApiFlags & Wait) => {
      const api = apiOf(flags, { service: true })
      const handles =
        waitMsOf(flags) === null ? [] : (await readAll(api, uuids)).flatMap((arq) => arq.attach_handle_uuid ?? [])
      const look = () => Promise.all(handles.map((handle) => api<HandleDetail>('GET', `/handles/${handle}`)))
      // fails before anything is changed if the account cannot read the handles that it wants to wait for
      await look()
      const patch = ['/hostname', '/device_rp_uuid', '/instance_uuid'].map((path) => ({ op: 'remove', path }))
      await api('PATCH', COLLECTION, Object.fromEntries(uuids.map((uuid) => [uuid, patch])))
      await waitFor({ flags, uuids }, async () => {
        const busy = (await look()).filter(({ state, last_arq_uuid: last, arq_uuid: holder }) => {
          return BUSY.includes(state) && uuids.includes(holder ?? last ?? '')
        })
        return busy.length === 0 ? null : busy.map(({ uuid, state }) => `attach handle ${uuid} is ${state}`).join(', ')
      })
      const arqs = await readAfter(api, uuids)
      if (arqs === null) showAccepted(flags, uuids)
      else showAll(flags, arqs)
    }),
  )
}

type Remove = ApiFlags & { readonly instance?: string; readonly asService?: true; readonly yes?: true }
const remove = (family: CommandRow): void => {
  const command = family
    .command('delete [UUID...]')
    .description('Deletes accelerator requests; the attach handles of bound ones are released.')
    .example(
      'accelerando arq delete 01a20b28-0adf-7000-988f-af4e98d0d102 --as-service --yes',
      'accelerando arq delete --instance d55ec672-bc67-4458-b10d-38ecb62abffe',
    )
  confirmable(addApiFlags(command))
    .option('--instance <UUID>', 'all of this instance, instead of UUIDs; the account needs the role service')
    .option('--as-service', 'also those that an instance has; the account needs the role service')
    .action(
      withPlainErrors(async (uuids: readonly string[], flags: Remove) => {
        const { instance } = flags
        if (uuids.length > 0 === (instance !== undefined))
          throw misused('name accelerator requests, or an instance with --instance')
        const what = instance === undefined ? uuids.join(', ') : `all of instance ${instance}`
        await confirmed(flags, `Accelerator requests are deleted: ${what}.`)
        const asked = instance === undefined ? { arqs: uuids.join(',') } : { instance }
        const service = flags.asService === true || instance !== undefined
        await apiOf(flags, { service })('DELETE', withQuery(COLLECTION, asked))
        if (!flags.json) out(`deleted: ${what}`)
      }),
    )
}

const forceUnbind = (family: CommandRow): void => {
  const command = family
    .command('force-unbind <UUID>')
    .description('Ends a bind whose instance no longer exists, or whose host will not return.')
    .example('accelerando arq force-unbind 01a20b28-0adf-7000-988f-af4e98d0d102 --reason "the server is gone"')
  confirmable(addOutput(addApiFlags(command), DETAILS, { one: true }))
    .requiredOption('--reason <TEXT>', 'why; kept in the journal')
    .action(
      withPlainErrors(async (uuid: string, flags: ApiFlags & { readonly reason: string; readonly yes?: true }) => {
        await confirmed(flags, `Accelerator request ${uuid} is unbound, whatever its instance and its host do.`)
        showArq(flags, await apiOf(flags)<Arq>('POST', `${arqPath(uuid)}/force_unbind`, { reason: flags.reason }))
      }),
    )
}

export const arqActs = (family: CommandRow): void => {
  create(family)
  bind(family)
  unbind(family)
  remove(family)
  forceUnbind(family)
}
