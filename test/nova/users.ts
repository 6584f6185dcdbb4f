/** People of the cloud who ask its services, and what they do with servers. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Arq, Json } from '../e2e/client.ts'
import { signIn } from '../support/signIn.ts'
import type { NovaCloud } from './rig.ts'

export type Answer = { readonly status: number; readonly body: Json }
/** Asks in the name of a user. `asked`: method, URL and body. */
export type User = {
  readonly ask: (method: string, url: string, body?: unknown) => Promise<Answer>
  /** As `ask`; any other status is an error with the whole answer. */
  readonly get: (status: number, method: string, url: string, body?: unknown) => Promise<Json>
}

/** Each service reads its own version. */
const VERSIONS = { 'openstack-api-version': 'compute 2.96, placement 1.39, accelerator 2.3' }
const ASK_MS = 60_000

export const userOf = async (authUrl: string, name: string, project: string): Promise<User> => {
  const { token } = await signIn(authUrl, name, { project })
  const ask: User['ask'] = async (method, url, body) => {
    const response = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', 'x-auth-token': token, ...VERSIONS },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ASK_MS),
    })
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') ? (JSON.parse(text) as Json) : { text } }
  }
  return {
    ask,
    get: async (status, ...asked) => {
      const answer = await ask(...asked)
      if (answer.status === status) return answer.body
      throw new Error(`${asked[0]} ${asked[1]} answers ${answer.status}: ${JSON.stringify(answer.body)}`)
    },
  }
}

/** Asks again until it holds; the last value goes into the error. */
export const until = async <Value>(
  ask: () => Promise<Value>,
  holds: (value: Value) => boolean,
  ms = 60_000,
): Promise<Value> => {
  const end = performance.now() + ms
  for (;;) {
    const value = await ask()
    if (holds(value)) return value
    if (performance.now() > end) throw new Error(`not within ${ms} ms; last: ${JSON.stringify(value)}`)
    await sleep(100)
  }
}

export type ShownServer = {
  readonly id: string
  readonly status: string
  /** Null: none. */
  readonly host: string | null
  readonly task: string | null
  readonly fault: string | null
}
const shownOf = (server: Json): ShownServer => ({
  id: server['id'] as string,
  status: server['status'] as string,
  host: server['OS-EXT-SRV-ATTR:host'] as string | null,
  task: server['OS-EXT-STS:task_state'] as string | null,
  fault: (server['fault'] as { readonly message: string } | undefined)?.message ?? null,
})
type Group = Readonly<Record<string, string>>
/** One ARQ, as the API shows it. */
export type ShownArq = Arq & { readonly device_rp_uuid: string | null; readonly attach_handle_uuid: string | null }
/** The record of an ARQ, also of one that was deleted a while ago. */
export type Timeline = { readonly steps: readonly { readonly at: string; readonly step: string }[] }
const END = new Set(['ACTIVE', 'ERROR'])

/** A member of a project boots servers; an administrator prepares what they need and looks behind them. */
export const openUsers = async ({ authUrl, compute, placement, image, acceleratorPort }: NovaCloud) => {
  const [admin, member, service] = await Promise.all([
    userOf(authUrl, 'admin', 'admin'),
    userOf(authUrl, 'alpha-member', 'alpha'),
    userOf(authUrl, 'cyborg', 'service'),
  ])
  const api = `http://127.0.0.1:${acceleratorPort}/v2`
  const imageRef = async (): Promise<unknown> => {
    const { images } = await admin.get(200, 'GET', `${image}/images?name=rig`)
    return (images as readonly Json[])[0]!['id']
  }
  const shown = async (id: string): Promise<ShownServer> =>
    shownOf((await admin.get(200, 'GET', `${compute}/servers/${id}`))['server'] as Json)
  const listed = async <Item>(noun: string, key = noun): Promise<readonly Item[]> =>
    (await admin.get(200, 'GET', `${api}/${noun}`))[key] as readonly Item[]
  /** A flavor whose servers get the accelerators of a new profile with these groups. */
  const flavor = async (...groups: readonly Group[]): Promise<string> => {
    const name = `p-${randomUUID()}`
    await admin.get(201, 'POST', `${api}/device_profiles`, [{ name, groups }])
    const made = await admin.get(200, 'POST', `${compute}/flavors`, { flavor: { name, ram: 64, vcpus: 1, disk: 1 } })
    const { id } = made['flavor'] as { readonly id: string }
    const specs = { extra_specs: { 'accel:device_profile': name } }
    await admin.get(200, 'POST', `${compute}/flavors/${id}/os-extra_specs`, specs)
    return id
  }
  /** Without accelerators. */
  const plainFlavor = async (): Promise<string> => {
    const { flavors } = await admin.get(200, 'GET', `${compute}/flavors`)
    return (flavors as readonly { readonly name: string; readonly id: string }[]).find(
      ({ name }) => name === 'rig.small',
    )!.id
  }
  const owners = new Map<string, User>()
  const ownerOf = (id: string): User => owners.get(id) ?? admin
  /** `host`: only there, which an administrator has to ask for. */
  const begin = async (flavorRef: string, host?: string): Promise<string> => {
    const owner = host === undefined ? member : admin
    const where = host === undefined ? {} : { host }
    const server = { name: `s-${randomUUID()}`, imageRef: await imageRef(), flavorRef, networks: 'none', ...where }
    const made = await owner.get(202, 'POST', `${compute}/servers`, { server })
    const { id } = made['server'] as { readonly id: string }
    owners.set(id, owner)
    return id
  }
  const ended = (id: string, ms = 120_000) =>
    until(
      () => shown(id),
      ({ status, task }) => END.has(status) && task === null,
      ms,
    )
  const gone = (id: string) =>
    until(
      () => admin.ask('GET', `${compute}/servers/${id}`),
      ({ status }) => status === 404,
    )
  return {
    admin,
    service,
    api,
    shown,
    listed,
    flavor,
    plainFlavor,
    imageRef,
    begin,
    ended,
    boot: async (flavorRef: string, host?: string) => ended(await begin(flavorRef, host)),
    /** Every server that was begun and not removed. */
    left: (): readonly string[] => [...owners.keys()],
    remove: async (...ids: readonly string[]): Promise<void> => {
      await Promise.all(ids.map((id) => ownerOf(id).ask('DELETE', `${compute}/servers/${id}`)))
      for (const id of ids) {
        await gone(id)
        owners.delete(id)
      }
    },
    /** An action of the owner, such as `reboot`. */
    act: (id: string, action: Json) => ownerOf(id).get(202, 'POST', `${compute}/servers/${id}/action`, action),
    computes: async () =>
      (await admin.get(200, 'GET', `${compute}/os-services?binary=nova-compute`))['services'] as readonly {
        readonly host: string
        readonly state: 'up' | 'down'
      }[],
    /** By an administrator, who asks for the host. */
    evacuate: (id: string, host: string) =>
      admin.get(200, 'POST', `${compute}/servers/${id}/action`, { evacuate: { host } }),
    arqsOf: (instance: string) => listed<ShownArq>(`accelerator_requests?instance=${instance}`, 'arqs'),
    timelineOf: async (arq: string) =>
      (await admin.get(200, 'GET', `${api}/accelerator_requests/${arq}/timeline`)) as Timeline,
    /** Allocated units of the server by provider. */
    allocationsOf: async (instance: string) => {
      const answer = await service.get(200, 'GET', `${placement}/allocations/${instance}`)
      return answer['allocations'] as Readonly<Record<string, { readonly resources: Readonly<Record<string, number>> }>>
    },
  }
}
export type Users = Awaited<ReturnType<typeof openUsers>>
