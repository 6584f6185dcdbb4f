/** Actions of clients: Nova creating and deleting instances, operators, and tenants who read. */
import type { Client, Reply, Who } from './client.ts'
import { DIVIDING, IMAGES, UNKNOWN_IMAGE } from './images.ts'
import type { SimNova } from './nova.ts'
import type { Random } from './random.ts'

export type Place = {
  readonly uuid: string
  readonly host: string
  readonly rp: string
  readonly rc: string
  readonly device: string
  readonly programmable: boolean
  /** Its accelerators consist of two functions. */
  readonly paired: boolean
}
export type Tools = {
  readonly client: Client
  readonly nova: SimNova
  readonly random: Random
  readonly uuid: () => string
  readonly over: () => boolean
  /** Deployables, as the API listed them last. */
  readonly places: Place[]
  readonly say: (line: string) => void
}
export type Bind = {
  readonly instance: string
  readonly project: string
  readonly body: Readonly<Record<string, readonly object[]>>
  readonly arqs: readonly string[]
}

export const ADMIN: Who = { project: 'admin-project', role: 'admin', service: false }
export const PROJECTS = ['project-1', 'project-2'] as const
const FAST = 'fast'
const WIPED = 'wiped'
const KEPT = 'kept'
const PAIRED = 'trait:CUSTOM_FPGA_XILINX'
/** Profile name -> what each of its groups asks for. */
export const PROFILES: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  gpu: [{ 'resources:PGPU': '1' }],
  fpga: [{ 'resources:FPGA': '1' }],
  'two-fpgas': [{ 'resources:FPGA': '2' }],
  nic: [{ 'resources:CUSTOM_NIC': '1' }],
  mixed: [{ 'resources:FPGA': '1' }, { 'resources:PGPU': '1' }],
  // no device has it, and operators rename it
  [FAST]: [{ 'resources:CUSTOM_NIC': '1', 'trait:CUSTOM_FAST': 'required' }],
  pair: [{ 'resources:FPGA': '1', [PAIRED]: 'required' }],
  'loaded-pair': [{ 'resources:FPGA': '1', [PAIRED]: 'required', 'accel:bitstream_id': IMAGES[0] }],
  loaded: [{ 'resources:FPGA': '1', 'accel:bitstream_id': IMAGES[0] }],
  // a part of a card that an operator has divided
  part: [{ 'resources:FPGA': '1', 'accel:bitstream_id': DIVIDING }],
  vgpu: [{ 'resources:VGPU': '1' }],
  // what they give up is withheld: always, and where the host has no policy of cleaning
  [KEPT]: [{ 'resources:PGPU': '1', 'accel:cleaning': 'quarantine' }],
  [WIPED]: [{ 'resources:FPGA': '1', 'accel:cleaning': 'required' }],
}

const RARE = [FAST, KEPT, WIPED]
const USUAL = Object.keys(PROFILES).filter((name) => !RARE.includes(name))

const asNova = (project: string): Who => ({ project, role: 'member', service: true })
export const asTenant = (project: string): Who => ({ project, role: 'member', service: false })
export const ok = ({ status }: Reply): boolean => status !== null && status < 300
export const unsure = ({ status }: Reply): boolean => status === null || status === 503

const RC = 'resources:'
const classOf = (group: Readonly<Record<string, string>>): string =>
  Object.keys(group)
    .find((key) => key.startsWith(RC))!
    .slice(RC.length)

/** The place that Placement would choose; now and then a different one. */
const placeFor = ({ random, places }: Tools, rc: string, paired: boolean): Place | null => {
  const fitting = random.chance(0.97)
    ? places.filter((place) => place.rc === rc && (place.paired === paired || random.chance(0.05)))
    : places
  return fitting.length > 0 ? random.pick(fitting) : null
}

const patchOf = (
  tools: Tools,
  arqs: readonly { uuid: string; device_profile_group_id: number }[],
  profile: string,
  instance: string,
) => {
  const { random } = tools
  const near = new Map<string, Place | null>()
  const body: Record<string, object[]> = {}
  for (const arq of arqs) {
    const group = PROFILES[profile]![arq.device_profile_group_id]!
    const [rc, paired] = [classOf(group), PAIRED in group]
    const another = () => placeFor(tools, rc, paired)
    // Placement names one provider for the whole group
    const place = random.chance(paired ? 0.95 : 0.5) ? (near.get(rc) ?? another()) : another()
    if (!place) return null
    near.set(rc, place)
    const hostname = random.chance(0.1) ? `${place.host}.example.org` : place.host
    const values = { hostname, device_rp_uuid: place.rp, instance_uuid: instance }
    body[arq.uuid] = Object.entries(values).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))
  }
  return body
}

export const PATH = '/v2/accelerator_requests'
const patch = ({ client }: Tools, { project, body, instance, arqs }: Bind): Promise<Reply> =>
  client.ask(asNova(project), 'bind', `PATCH ${PATH}`, body, { arqs, instance })

/** Repeats the request while it is unknown whether it was accepted, like a client behind a load balancer. */
const insist = async (tools: Tools, bind: Bind): Promise<Reply> => {
  const { client, random } = tools
  let reply = await patch(tools, bind)
  for (let round = 0; round < 4 && unsure(reply); round++) {
    await client.sleep(random.below(3000))
    reply = await patch(tools, bind)
  }
  return reply
}

export const look = ({ client }: Tools, { instance, project }: Bind, resolved = false): Promise<Reply> =>
  client.ask(
    asNova(project),
    resolved ? 'other' : 'list',
    `GET ${PATH}?instance=${instance}${resolved ? '&bind_state=resolved' : ''}`,
    undefined,
    { instance },
  )

/** Nova waits for the event and then reads; when no event comes it polls. */
const wait = async (tools: Tools, bind: Bind): Promise<void> => {
  const { client, nova, random } = tools
  await nova.news(client.life, bind.instance, 20_000)
  for (let round = 0; round < 6; round++) {
    const seen = await look(tools, bind)
    // the bind of one of them has failed
    if (seen.status === 409) return
    const states = ok(seen) ? (seen.json.arqs as { state: string }[]).map(({ state }) => state) : []
    if (ok(seen) && !states.includes('BindStarted')) return
    await client.sleep(2000 + random.below(20_000))
  }
}

export const leave = async (tools: Tools, { instance, project, arqs }: Bind): Promise<boolean> => {
  const { client, random } = tools
  const nova = asNova(project)
  if (random.chance(0.3)) {
    const named = random.chance(0.5) ? arqs : arqs.slice(0, 1)
    const body = Object.fromEntries(
      named.map((uuid) => [
        uuid,
        [
          { path: '/hostname', op: 'remove' },
          { path: '/instance_uuid', op: 'remove' },
          { path: '/device_rp_uuid', op: 'remove' },
        ],
      ]),
    )
    await client.ask(nova, 'unbind', `PATCH ${PATH}`, body, { arqs: named })
  }
  for (let round = 0; round < 5; round++) {
    const byUuid = random.chance(0.3)
    const reply = byUuid
      ? await client.ask(nova, 'remove', `DELETE ${PATH}?arqs=${arqs.join(',')}`, undefined, { arqs })
      : await client.ask(nova, 'removeByInstance', `DELETE ${PATH}?instance=${instance}`, undefined, { instance })
    if (!unsure(reply)) return true
    await client.sleep(random.below(4000))
  }
  return false
}

/**
 * The exact repeat, another bind of the same instance, or the same ARQs for another: all at once with the bind itself.
 */
const rivals = (tools: Tools, bind: Bind): readonly Promise<unknown>[] => {
  const { random, nova, uuid } = tools
  const found: Promise<unknown>[] = []
  if (random.chance(0.2)) found.push(patch(tools, bind))
  if (random.chance(0.1) && bind.arqs.length > 1)
    found.push(
      patch(tools, { ...bind, arqs: bind.arqs.slice(1), body: Object.fromEntries(Object.entries(bind.body).slice(1)) }),
    )
  if (random.chance(0.1)) {
    const other = uuid()
    nova.instances.add(other)
    const body = JSON.parse(JSON.stringify(bind.body).replaceAll(bind.instance, other)) as Bind['body']
    found.push(patch(tools, { ...bind, instance: other, body }))
  }
  return found
}

/** A bind that was asked for, and what came back; null when there was nothing to bind, or nowhere. */
export const begin = async (tools: Tools): Promise<{ readonly bind: Bind; readonly reply: Reply } | null> => {
  const { client, nova, random, uuid } = tools
  const [project, profile, instance] = [random.pick(PROJECTS), random.pick(random.chance(0.1) ? RARE : USUAL), uuid()]
  nova.instances.add(instance)
  const made = await client.ask(asNova(project), 'create', `POST ${PATH}`, { device_profile_name: profile })
  if (!ok(made)) return null
  const arqs = (made.json.arqs as { uuid: string }[]).map((arq) => arq.uuid)
  const body = patchOf(tools, made.json.arqs, profile, instance)
  const bind = body && { instance, project, body, arqs }
  if (!bind) return null
  const [reply] = await Promise.all([insist(tools, bind), ...rivals(tools, bind)])
  return { bind, reply }
}
const boot = async (tools: Tools): Promise<void> => {
  const { client, nova, random } = tools
  const begun = await begin(tools)
  if (!begun) return
  const { bind, reply } = begun
  if (ok(reply) && random.chance(0.85)) await wait(tools, bind)
  if (random.chance(0.2)) await look(tools, bind, true)
  await client.sleep(random.below(random.chance(0.3) ? 60_000 : 5000))
  if (random.chance(0.08)) nova.instances.delete(bind.instance)
  if (random.chance(0.92)) await leave(tools, bind)
  if (random.chance(0.1)) await client.ask(asTenant(bind.project), 'other', `GET ${PATH}/${bind.arqs[0]}/timeline`)
}
/** Starts binds without waiting for them: if their host is silent, only their deadline ends them. */
export const forsaken = async (tools: Tools): Promise<void> => {
  for (let round = 0; round < 3; round++) await begin(tools)
}

export const novaSession = async (tools: Tools): Promise<void> => {
  while (!tools.over()) {
    await boot(tools)
    await tools.client.sleep(tools.random.below(4000))
  }
}

const device = async (tools: Tools): Promise<void> => {
  const { client, random, places } = tools
  const { device } = random.pick(places)
  await client.ask(ADMIN, 'disable', `POST /v2/devices/${device}/disable`, undefined, { device })
  await client.sleep(random.below(10_000))
  for (let round = 0; round < 20; round++) {
    const reply = await client.ask(ADMIN, 'enable', `POST /v2/devices/${device}/enable`, undefined, { device })
    // one that is taken out at the moment comes back as it was left: disabled
    if (!unsure(reply) && reply.status !== 404) return
    await client.sleep(2000)
  }
}
const attribute = async (tools: Tools): Promise<void> => {
  const { client, random, places } = tools
  const { uuid } = random.pick(places)
  const made = await client.ask(ADMIN, 'other', 'POST /v2/attributes', {
    deployable_id: uuid,
    key: `note-${random.below(3)}`,
    value: 'by hand',
  })
  await client.sleep(random.below(5000))
  if (ok(made)) await client.ask(ADMIN, 'other', `DELETE /v2/attributes/${made.json.uuid ?? made.json.attribute?.uuid}`)
}
const load = ({ client }: Tools, { uuid }: Place, image: string): Promise<Reply> => {
  const body = [{ op: 'replace', path: '/bitstream_id', value: [{ image_uuid: image }] }]
  return client.ask(ADMIN, 'other', `PATCH /v2/deployables/${uuid}/program`, body)
}
const regionsIn = ({ places }: Tools): readonly Place[] => places.filter((place) => place.programmable)
const programme = async (tools: Tools): Promise<void> => {
  const { random } = tools
  const regions = regionsIn(tools)
  if (regions.length === 0) return
  const image = random.chance(0.8) ? random.pick([...IMAGES, DIVIDING]) : UNKNOWN_IMAGE
  await load(tools, random.pick(regions), image)
}
/** Before there is load: one that is in use is not divided. */
export const divide = async (tools: Tools): Promise<void> => {
  for (const region of regionsIn(tools))
    if (!region.paired && tools.random.chance(0.7)) await load(tools, region, DIVIDING)
}
const profiles = async (tools: Tools): Promise<void> => {
  const { client, random } = tools
  const name = random.pick(Object.keys(PROFILES))
  const gone = await client.ask(ADMIN, 'other', `DELETE /v2/device_profiles/${name}`)
  if (ok(gone) || unsure(gone)) await ensureProfile(tools, name)
}

export const ensureProfile = async ({ client, random }: Tools, name: string): Promise<void> => {
  for (let round = 0; round < 40; round++) {
    const reply = await client.ask(ADMIN, 'other', 'POST /v2/device_profiles', [{ name, groups: PROFILES[name] }])
    if (!unsure(reply)) return
    await client.sleep(500 + random.below(2000))
  }
}

type Listed = {
  parent_id: number | null
  uuid: string
  name: string
  rp_uuid: string
  device_id: number
  attributes_list: string
}
/** Reads what there is; devices are told apart by the id that their deployables name. */
export const survey = async ({ client, places }: Tools): Promise<void> => {
  const cards = await client.ask(ADMIN, 'other', 'GET /v2/devices')
  const parts = await client.ask(ADMIN, 'other', 'GET /v2/deployables')
  if (!ok(cards) || !ok(parts)) return
  const devices = cards.json.devices as { uuid: string; id?: number; hostname: string; type: string }[]
  // what stands below another one is bound by the provider of its root
  const roots = (parts.json.deployables as Listed[]).filter(({ parent_id: parent }) => parent === null)
  const found = roots.map((part): Place => {
    const host = part.name.slice(0, part.name.indexOf('_'))
    const attributes = JSON.parse(part.attributes_list) as Record<string, string>[]
    const rc = attributes.find((one) => one['rc'])?.['rc'] ?? ''
    const type = rc === 'PGPU' || rc === 'VGPU' ? 'GPU' : rc === 'FPGA' ? 'FPGA' : 'NIC'
    const device = devices.find((one) => one.hostname === host && one.type === type)?.uuid ?? devices[0]!.uuid
    const paired = attributes.some((one) => Object.values(one).includes('CUSTOM_FPGA_XILINX'))
    return { uuid: part.uuid, host, rp: part.rp_uuid, rc, device, programmable: rc === 'FPGA', paired }
  })
  places.splice(0, places.length, ...found)
}

export const operatorSession = async (tools: Tools): Promise<void> => {
  const deeds = [device, device, attribute, programme, programme, profiles, survey]
  while (!tools.over()) {
    await tools.client.sleep(tools.random.below(8000))
    if (tools.places.length > 0) await tools.random.pick(deeds)(tools)
  }
}

export const tenantSession = async (tools: Tools): Promise<void> => {
  const { client, random } = tools
  while (!tools.over()) {
    await client.sleep(random.below(10_000))
    const who = asTenant(random.pick(PROJECTS))
    const listed = await client.ask(who, 'list', `GET ${PATH}`)
    const all = await client.ask({ ...ADMIN }, 'list', `GET ${PATH}?limit=20`)
    const arqs = ok(all) ? (all.json.arqs as { uuid: string; state: string }[]) : []
    if (!ok(listed) || arqs.length === 0) continue
    const { uuid } = random.pick(arqs)
    await client.ask(who, 'get', `GET ${PATH}/${uuid}`)
    if (random.chance(0.3)) await client.ask(who, 'remove', `DELETE ${PATH}?arqs=${uuid}`, undefined, { arqs: [uuid] })
    if (random.chance(0.3))
      await client.ask(
        who,
        'unbind',
        `PATCH ${PATH}`,
        { [uuid]: [{ path: '/hostname', op: 'remove' }] },
        { arqs: [uuid] },
      )
  }
}
