/** All operations of several steps: their preparation, their request, and the condition for their end. */
import type { Reply, Who } from './client.ts'
import { IMAGES } from './images.ts'
import { ADMIN, PATH, PROJECTS, type Place, type Tools, ensureProfile, survey } from './sessions.ts'
import type { World } from './world.ts'

export type Bench = { readonly world: World; readonly tools: Tools }
export type Saga = {
  readonly name: string
  readonly before?: (bench: Bench) => Promise<Made>
  /** The request into whose steps faults are injected. False: it was refused, which is allowed when a step failed. */
  readonly act: (bench: Bench, made: Made) => Promise<boolean>
  /** Undoes what `before` and `act` changed besides accelerator requests. */
  readonly after?: (bench: Bench, made: Made) => Promise<unknown>
  /** How long steps may follow its answer, when not a few seconds. */
  readonly followMs?: number
}
type Made = { readonly arqs: readonly string[]; readonly instance: string }

const SERVICE: Who = { project: PROJECTS[0], role: 'member', service: true }
const BECAUSE = { reason: 'played' }
const ROUNDS = 60
const NOTHING: Made = { arqs: [], instance: '' }

/** Repeats a request until there is an answer, like a client behind a load balancer. */
export const insist = async ({ tools: { client } }: Bench, who: Who, line: string, body?: object): Promise<Reply> => {
  const [act, about] = ['other' as const, {}]
  for (let round = 0; ; round++) {
    const reply = await client.ask(who, act, line, body, about)
    if (reply.status !== null && reply.status !== 503) return reply
    if (round === ROUNDS) throw new Error(`${line}: no answer`)
    await client.sleep(1000)
  }
}
const fine = ({ status }: Reply): boolean => status !== null && status < 300
const done = async (bench: Bench, line: string, body?: object): Promise<boolean> =>
  fine(await insist(bench, ADMIN, line, body))

const create = async (bench: Bench, profile: string): Promise<Made> => {
  const made = await insist(bench, SERVICE, `POST ${PATH}`, { device_profile_name: profile })
  const arqs = fine(made) ? (made.json.arqs as { uuid: string }[]).map(({ uuid }) => uuid) : []
  const instance = bench.tools.uuid()
  bench.tools.nova.instances.add(instance)
  return { arqs, instance }
}
const placeOf = ({ tools }: Bench, rc: string): Place => tools.places.find((place) => place.rc === rc)!
const states = async (bench: Bench, { instance }: Made): Promise<readonly string[]> => {
  const listed = await insist(bench, SERVICE, `GET ${PATH}?instance=${instance}`)
  return fine(listed) ? (listed.json.arqs as { state: string }[]).map(({ state }) => state) : []
}
const ended = async (bench: Bench, made: Made): Promise<readonly string[]> => {
  for (;;) {
    const now = await states(bench, made)
    if (!now.includes('BindStarted')) return now
    await bench.tools.client.sleep(500)
  }
}
const bindAt = async (bench: Bench, made: Made, rcs: readonly string[]): Promise<boolean> => {
  const body = Object.fromEntries(
    made.arqs.map((uuid, at) => {
      const { host, rp } = placeOf(bench, rcs[at]!)
      const values = { hostname: host, device_rp_uuid: rp, instance_uuid: made.instance }
      return [uuid, Object.entries(values).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))]
    }),
  )
  if (!fine(await insist(bench, SERVICE, `PATCH ${PATH}`, body))) return false
  const now = await ended(bench, made)
  return now.length > 0 && now.every((state) => state === 'Bound')
}
const binding = (name: string, profile: string, rcs: readonly string[]): Saga => ({
  name,
  before: (bench) => create(bench, profile),
  act: (bench, made) => bindAt(bench, made, rcs),
})
const bound = async (bench: Bench): Promise<Made> => {
  const made = await create(bench, 'fpga')
  await bindAt(bench, made, ['FPGA'])
  return made
}
const unbindBody = ({ arqs }: Made) =>
  Object.fromEntries(
    arqs.map((uuid) => [
      uuid,
      ['hostname', 'instance_uuid', 'device_rp_uuid'].map((name) => ({ op: 'remove', path: `/${name}` })),
    ]),
  )
const hostPath = ({ world }: Bench): string => `/v2/hosts/${world.stage.machines[0]!.name}`
const machineOf = ({ world }: Bench) => world.stage.machines[0]!
const handleOf = async (bench: Bench): Promise<string> => {
  const listed = await insist(bench, ADMIN, 'GET /v2/handles')
  return (listed.json.handles as { uuid: string }[])[0]!.uuid
}
const withDevice =
  (verb: string) =>
  (bench: Bench): Promise<boolean> =>
    done(bench, `POST /v2/devices/${placeOf(bench, 'PGPU').device}/${verb}`)
const plugged = async (bench: Bench, unplugged: number[]): Promise<boolean> => {
  const machine = machineOf(bench)
  machine.hurt((faults) => (faults.unplugged = unplugged))
  for (let look = 0; look < 3; look++) {
    machine.report()
    await bench.tools.client.sleep(1500)
  }
  return true
}
const attribute = async (bench: Bench): Promise<boolean> => {
  const values = { deployable_id: placeOf(bench, 'PGPU').uuid, key: 'note', value: 'by hand' }
  const made = await insist(bench, ADMIN, 'POST /v2/attributes', values)
  return fine(made) && done(bench, `DELETE /v2/attributes/${made.json.uuid ?? made.json.attribute?.uuid}`)
}
/** Deletes all attributes: one whose creation was not answered may exist nevertheless, and its name is taken. */
const attributesGone = async (bench: Bench): Promise<void> => {
  const listed = await insist(bench, ADMIN, 'GET /v2/attributes')
  for (const { uuid, key } of listed.json.attributes as { uuid: string; key: string }[])
    if (key === 'note') await insist(bench, ADMIN, `DELETE /v2/attributes/${uuid}`)
}
const migrate = (from: string, to: string) => (bench: Bench) =>
  done(bench, 'POST /v2/profile_migrations', { traits: { [from]: to }, apply: true, ...BECAUSE })

export const SAGAS: readonly Saga[] = [
  { name: 'create', act: async (bench) => (await create(bench, 'mixed')).arqs.length === 2 },
  binding('bind without host work', 'gpu', ['PGPU']),
  binding('bind with host work', 'nic', ['CUSTOM_NIC']),
  binding('bind of two', 'two-fpgas', ['FPGA', 'FPGA']),
  binding('bind with an image', 'loaded', ['FPGA']),
  {
    name: 'unbind',
    before: bound,
    act: async (bench, made) => fine(await insist(bench, SERVICE, `PATCH ${PATH}`, unbindBody(made))),
  },
  {
    name: 'delete',
    before: bound,
    act: async (bench, { arqs }) => fine(await insist(bench, SERVICE, `DELETE ${PATH}?arqs=${arqs.join(',')}`)),
  },
  {
    name: 'delete by instance',
    before: bound,
    act: async (bench, { instance }) => fine(await insist(bench, SERVICE, `DELETE ${PATH}?instance=${instance}`)),
  },
  {
    name: 'force unbind',
    before: bound,
    act: async (bench, { arqs }) => done(bench, `POST ${PATH}/${arqs[0]}/force_unbind`, BECAUSE),
  },
  {
    name: 'telling Nova once more',
    before: bound,
    act: (bench, { instance }) => done(bench, `POST /v2/deliveries/${instance}/resend`, BECAUSE),
  },
  {
    name: 'program',
    act: (bench) =>
      done(bench, `PATCH /v2/deployables/${placeOf(bench, 'FPGA').uuid}/program`, [
        { op: 'replace', path: '/bitstream_id', value: [{ image_uuid: IMAGES[1] }] },
      ] as object),
    followMs: 5000,
  },
  {
    name: 'deadline passing',
    before: async (bench) => {
      const made = await create(bench, 'nic')
      machineOf(bench).crash('kept')
      return made
    },
    act: async (bench, made) => !(await bindAt(bench, made, ['CUSTOM_NIC'])),
    after: async (bench) => machineOf(bench).start(),
  },
  {
    name: 'removal of a host',
    act: (bench) => done(bench, `DELETE ${hostPath(bench)}?reason=played`),
    after: (bench) => done(bench, `POST ${hostPath(bench)}/restore`, BECAUSE),
  },
  {
    name: 'removal of a host by force',
    before: bound,
    act: (bench) => done(bench, `DELETE ${hostPath(bench)}?reason=played&force=true`),
    after: (bench) => done(bench, `POST ${hostPath(bench)}/restore`, BECAUSE),
  },
  {
    name: 'a host out of service and back',
    act: async (bench) =>
      (await done(bench, `POST ${hostPath(bench)}/retire`, BECAUSE)) &&
      done(bench, `POST ${hostPath(bench)}/restore`, BECAUSE),
  },
  {
    name: 'a handle kept back and released',
    act: async (bench) => {
      const uuid = await handleOf(bench)
      return (
        (await done(bench, `POST /v2/handles/${uuid}/quarantine`, BECAUSE)) &&
        done(bench, `POST /v2/handles/${uuid}/release`, BECAUSE)
      )
    },
  },
  { name: 'a device disabled', act: withDevice('disable'), after: withDevice('enable') },
  { name: 'a report without a device', act: (bench) => plugged(bench, [1]), after: (bench) => plugged(bench, []) },
  {
    name: 'take-over of the relay',
    before: (bench) => create(bench, 'nic'),
    act: async (bench, made) => {
      const { processes } = bench.world.stage
      processes[0]!.kill()
      const ok = await bindAt(bench, made, ['CUSTOM_NIC'])
      processes[0]!.start()
      return ok
    },
  },
  {
    name: 'a host that starts anew',
    before: bound,
    act: async (bench) => {
      machineOf(bench).crash('kept')
      machineOf(bench).losePlace()
      machineOf(bench).start()
      await bench.tools.client.sleep(5000)
      return true
    },
  },
  {
    name: 'a profile made anew',
    act: async (bench) =>
      (await done(bench, 'DELETE /v2/device_profiles/gpu')) && ensureProfile(bench.tools, 'gpu').then(() => true),
    after: (bench) => ensureProfile(bench.tools, 'gpu'),
  },
  {
    name: 'profiles renamed',
    act: migrate('CUSTOM_FAST', 'CUSTOM_FASTER'),
    after: migrate('CUSTOM_FASTER', 'CUSTOM_FAST'),
  },
  { name: 'an attribute added and deleted', act: attribute, after: attributesGone },
]

export const sagaOf = (name: string): Saga => {
  const saga = SAGAS.find((one) => one.name === name)
  if (!saga) throw new Error(`there is no saga ${name}`)
  return saga
}

export const begun = async (saga: Saga, bench: Bench): Promise<Made> => (await saga.before?.(bench)) ?? NOTHING
const PLACES = 3
/** Until all that a host has is shown; after it was away, it is asked to report. */
export const surveyed = async ({ tools, world }: Bench): Promise<void> => {
  for (let round = 0; round < ROUNDS; round++) {
    await survey(tools)
    if (tools.places.length >= PLACES) return
    for (const machine of world.stage.machines) machine.report()
    await tools.client.sleep(1000)
  }
}
/** Deletes everything, as a careful operator would. */
export const clear = async (saga: Saga, bench: Bench, made: Made): Promise<void> => {
  await saga.after?.(bench, made)
  const listed = await insist(bench, ADMIN, `GET ${PATH}`)
  const arqs = (listed.json.arqs as { uuid: string }[]).map(({ uuid }) => uuid)
  const admin = { ...ADMIN, service: true }
  if (arqs.length > 0) await insist(bench, admin, `DELETE ${PATH}?arqs=${arqs.join(',')}`)
  await surveyed(bench)
}
