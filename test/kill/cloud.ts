/** The client's view of the cloud: deployables and the number of accelerators claimed on each, as in Placement. */
import type { Api } from './api.ts'
import type { Random } from './random.ts'

export type Place = {
  readonly uuid: string
  readonly name: string
  readonly rp: string
  readonly host: string
  readonly rc: string
  readonly hostWork: boolean
  readonly capacity: number
  claimed: number
}
export type Cloud = {
  readonly places: readonly Place[]
  /** A place with that much room, claimed; null: there is none now. */
  readonly claim: (random: Random, amount: number, fits: (place: Place) => boolean) => Place | null
}
/** Everything about hosts, devices and deployables that may not change over a restart. */
export type Inventory = string

/** Of the simulated cards; the others are passed through as they are. */
const NEED_HOST = new Set(['FPGA', 'CUSTOM_NIC'])

type Shown = {
  readonly uuid: string
  readonly name: string
  readonly rp_uuid: string
  readonly num_accelerators: number
  readonly attributes_list: string
}

const listOf = async <Item>(api: Api, noun: string): Promise<readonly Item[]> => {
  const { status, body } = await api.call('GET', `/${noun}`)
  if (status !== 200) throw new Error(`GET /${noun} answers ${status}`)
  return body[noun] as readonly Item[]
}

const placeOf = ({ uuid, name, rp_uuid: rp, num_accelerators: capacity, attributes_list: list }: Shown): Place => {
  const { rc = '' } = Object.assign({}, ...(JSON.parse(list) as object[])) as { rc?: string }
  return {
    uuid,
    name,
    rp,
    host: name.slice(0, name.indexOf('_')),
    rc,
    hostWork: NEED_HOST.has(rc),
    capacity,
    claimed: 0,
  }
}

export const readCloud = async (api: Api): Promise<Cloud> => {
  const places = (await listOf<Shown>(api, 'deployables')).map(placeOf)
  return {
    places,
    claim: (random, amount, fits) => {
      const free = places.filter((place) => place.capacity - place.claimed >= amount && fits(place))
      if (free.length === 0) return null
      const place = random.pick(free)
      place.claimed += amount
      return place
    },
  }
}

export const readInventory = async (api: Api): Promise<Inventory> => {
  const [hosts, devices, deployables] = await Promise.all([
    listOf<{ name: string }>(api, 'hosts'),
    listOf<{ uuid: string; hostname: string; model: string }>(api, 'devices'),
    listOf<Shown>(api, 'deployables'),
  ])
  return [
    ...hosts.map(({ name }) => `host ${name}`),
    ...devices.map(({ uuid, hostname, model }) => `device ${uuid} ${hostname} ${model}`),
    ...deployables.map(({ uuid, name, rp_uuid: rp }) => `deployable ${uuid} ${name} ${rp}`),
  ]
    .toSorted()
    .join('\n')
}

/** One profile for each class and amount. */
export const profileName = (rc: string, amount: number): string => `kill-${rc}-${amount}`
export const makeProfiles = async (api: Api, { places }: Cloud, amounts: readonly number[]): Promise<void> => {
  for (const rc of new Set(places.map((place) => place.rc)))
    for (const amount of amounts) {
      const profile = { name: profileName(rc, amount), groups: [{ [`resources:${rc}`]: String(amount) }] }
      const { status } = await api.call('POST', '/device_profiles', [profile])
      if (status !== 201) throw new Error(`the profile ${profile.name} was answered ${status}`)
    }
}
