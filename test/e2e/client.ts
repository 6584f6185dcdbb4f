/** The few calls Nova makes, for tests of the whole program. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

export type Json = Readonly<Record<string, unknown>>
export type Deployable = {
  readonly uuid: string
  readonly name: string
  readonly rp_uuid: string
  readonly num_accelerators: number
  readonly attributes_list: string
}
export type Device = {
  readonly uuid: string
  readonly hostname: string
  readonly type: string
  readonly vendor: string
}
export type Host = { readonly name: string; readonly liveness: string; readonly last_seen_at: string | null }
export type Arq = {
  readonly uuid: string
  readonly state: string
  readonly hostname: string | null
  readonly instance_uuid: string | null
  readonly attach_handle_type: string
  readonly attach_handle_info: Readonly<Record<string, string>>
}

const BOUND_MS = 20_000
export const LISTS = [
  'hosts',
  'devices',
  'deployables',
  'device_profiles',
  'accelerator_requests',
  'attributes',
] as const

export const clientOf = (base: string) => {
  const call = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: Json }> => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-service-roles': 'service' },
      signal: AbortSignal.timeout(BOUND_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Json) }
  }
  const wanted = async (status: number, ...asked: Parameters<typeof call>): Promise<Json> => {
    const answer = await call(...asked)
    if (answer.status === status) return answer.body
    throw new Error(`${asked[0]} ${asked[1]} answers ${answer.status}: ${JSON.stringify(answer.body)}`)
  }
  const listed = async <Item>(noun: string, key: string): Promise<readonly Item[]> =>
    (await wanted(200, 'GET', `/${noun}`))[key] as readonly Item[]

  const bound = async (arq: string): Promise<Arq> => {
    const until = Date.now() + BOUND_MS
    for (;;) {
      const shown = (await wanted(200, 'GET', `/accelerator_requests/${arq}`)) as unknown as Arq
      if (shown.state !== 'BindStarted') return shown
      if (Date.now() > until) throw new Error(`ARQ ${arq} is not bound after ${BOUND_MS} ms`)
      await sleep(20)
    }
  }
  return {
    call,
    wanted,
    bound,
    hosts: () => listed<Host>('hosts', 'hosts'),
    devices: () => listed<Device>('devices', 'devices'),
    deployables: () => listed<Deployable>('deployables', 'deployables'),
    arqs: () => listed<Arq>('accelerator_requests', 'arqs'),
    /** Every list as the wire has it; of hosts, without the moment they were last heard of. */
    everything: async (): Promise<string> => {
      const texts = await Promise.all(LISTS.map(async (noun) => JSON.stringify((await call('GET', `/${noun}`)).body)))
      return texts.join('\n').replaceAll(/"last_seen_at":"[^"]*"/g, '"last_seen_at":"at some time"')
    },
    /** Profile, ARQ, bind; resolves when the bind has ended. */
    bind: async (place: Deployable, hostname: string, profile = `for-${randomUUID()}`): Promise<Arq> => {
      const rc = attributesOf(place)['rc']!
      await wanted(201, 'POST', '/device_profiles', [{ name: profile, groups: [{ [`resources:${rc}`]: '1' }] }])
      const made = await wanted(201, 'POST', '/accelerator_requests', { device_profile_name: profile })
      const { uuid } = (made['arqs'] as readonly Arq[])[0]!
      const values = { hostname, device_rp_uuid: place.rp_uuid, instance_uuid: randomUUID() }
      const ops = Object.entries(values).map(([key, value]) => ({ op: 'add', path: `/${key}`, value }))
      await wanted(202, 'PATCH', '/accelerator_requests', { [uuid]: ops })
      return bound(uuid)
    },
  }
}

export const attributesOf = (place: Deployable): Readonly<Record<string, string>> =>
  Object.assign({}, ...(JSON.parse(place.attributes_list) as object[])) as Record<string, string>
