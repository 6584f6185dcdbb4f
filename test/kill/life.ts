/**
 * The life of one instance, as Nova does it: ARQs are created, bound, awaited, held and deleted. It continues after
 * each kill.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Account, type Life, type Seen, inTurn } from './account.ts'
import { type Answer, type Api, Lost } from './api.ts'
import { type Place, profileName } from './cloud.ts'
import type { Nova } from './nova.ts'

export type Leaving = 'by instance' | 'by ARQs' | 'unbound first' | 'never'
export type Plan = {
  readonly place: Place
  readonly amount: number
  readonly holdMs: number
  readonly leaving: Leaving
  /** Deletes the ARQs without waiting for the end of the bind. */
  readonly hasty: boolean
}
export type Client = { readonly api: Api; readonly account: Account; readonly nova: Nova }

const POLL_MS = 250
/**
 * While the database changes its server, requests are answered 503 at once, for 15 s and as long as the change takes.
 */
const TRIES = 1000
const SETTLED = new Set(['Bound', 'BindFailed'])
const BINDING = new Set(['BindStarted', ...SETTLED])

type Shown = {
  readonly uuid: string
  readonly state: string
  readonly instance_uuid: string | null
  readonly attach_handle_info: Readonly<Record<string, string>>
}
const collection = '/accelerator_requests'
const add = (path: string, value: string) => ({ op: 'add', path: `/${path}`, value })

const dispute = ({ account }: Client, life: Life, said: string): void => void account.disputed.push({ life, said })

/** Repeats the request until there is an answer. `lost` is called for each try without one. */
export const insist = async (
  { api }: Client,
  attempt: () => Promise<Answer>,
  lost: () => void = () => {},
): Promise<Answer> => {
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Lost)) throw error
      lost()
      await api.again()
    }
  }
  throw new Error(`no answer in ${TRIES} tries`)
}
const get = (client: Client, path: string) => insist(client, () => client.api.call('GET', path))
const shownOf = ({ body }: Answer) => (body['arqs'] ?? []) as readonly Shown[]

const create = async (client: Client, life: Life, { place, amount }: Plan): Promise<boolean> => {
  const { account, api } = client
  const body = { device_profile_name: profileName(place.rc, amount) }
  const made = await insist(
    client,
    () => {
      life.askedAt = Date.now()
      return api.call('POST', collection, body, life.instance)
    },
    () => account.lostPosts++,
  )
  if (made.status !== 201) {
    account.contradictions.push(`POST for ${body.device_profile_name} was answered ${made.status}`)
    return false
  }
  life.arqs = shownOf(made).map(({ uuid }) => uuid)
  life.createdAt = Date.now()
  account.lives.push(life)
  return true
}

/** Reads each ARQ by its own GET. Their creation was answered 201, so they must exist. */
const look = async (client: Client, life: Life): Promise<readonly Shown[]> => {
  const answers = await Promise.all(life.arqs.map((arq) => get(client, `${collection}/${arq}`)))
  for (const [n, { status }] of answers.entries())
    if (status !== 200) dispute(client, life, `ARQ ${life.arqs[n]} was created, and a GET answers ${status}`)
  return answers.filter(({ status }) => status === 200).map(({ body }) => body as Shown)
}

/** After a PATCH without an answer: it was applied to all of the ARQs or to none. */
const acceptedAnyway = async (client: Client, life: Life): Promise<boolean> => {
  const shown = await look(client, life)
  const started = shown.filter(({ state }) => BINDING.has(state))
  if (started.length > 0 && started.length < shown.length)
    dispute(client, life, `a PATCH without an answer took part of the ARQs of ${life.instance}`)
  return started.length > 0
}

/** True: accepted. */
const bind = async (client: Client, life: Life, { place }: Plan): Promise<boolean> => {
  const { api } = client
  const ops = [add('hostname', place.host), add('device_rp_uuid', place.rp), add('instance_uuid', life.instance)]
  const body = Object.fromEntries(life.arqs.map((arq) => [arq, ops]))
  for (let tries = 0; tries < TRIES; tries++) {
    life.bindSentAt = Date.now()
    try {
      const { status, body: told } = await api.call('PATCH', collection, body, life.instance)
      if (status === 202) return accepted(life, '202', Date.now())
      life.refused = true
      if (status !== 409) dispute(client, life, `a bind was answered ${status}: ${JSON.stringify(told)}`)
      const touched = (await look(client, life)).filter(({ state }) => state !== 'Initial')
      if (touched.length > 0) dispute(client, life, `a refused bind left ARQ ${touched[0]!.uuid} ${touched[0]!.state}`)
      return false
    } catch (error) {
      if (!(error instanceof Lost)) throw error
      await api.again()
      if (await acceptedAnyway(client, life)) return accepted(life, 'a later GET', life.bindSentAt)
    }
  }
  throw new Error(`no answer to a PATCH in ${TRIES} tries`)
}
const accepted = (life: Life, by: NonNullable<Life['acceptedBy']>, at: number): true => {
  life.acceptedAt = at
  life.acceptedBy = by
  return true
}

const seenOf = ({ state, attach_handle_info: info }: Shown): Seen => ({
  state: state as Seen['state'],
  at: Date.now(),
  handle: state === 'Bound' ? inTurn(info) : null,
})

/**
 * The ARQs of the instance. A list with a failed bind is refused to Nova (decision 0063); then each is read by itself.
 */
const listed = async (client: Client, life: Life): Promise<readonly Shown[]> => {
  const answer = await get(client, `${collection}?instance=${life.instance}`)
  if (answer.status !== 409) return shownOf(answer)
  const shown = await look(client, life)
  if (!shown.some(({ state }) => state === 'BindFailed'))
    dispute(client, life, `the list of ${life.instance} is refused, and none of its binds failed`)
  return shown
}

/** Like Nova's compute service: waits for an event or some time, then lists the ARQs of the instance. */
const watch = async (client: Client, life: Life): Promise<void> => {
  const { account, nova } = client
  const until = Date.now() + account.deadlineMs * 3 + 120_000
  while (life.seen.size < life.arqs.length && Date.now() < until) {
    const waiting = life.arqs.filter((arq) => !life.seen.has(arq))
    await nova.wait(waiting, POLL_MS)
    const told = new Set(account.heard.map(({ arq }) => arq))
    const announced = waiting.filter((arq) => told.has(arq))
    const shown = await listed(client, life)
    for (const one of shown)
      if (SETTLED.has(one.state) && !life.seen.has(one.uuid)) life.seen.set(one.uuid, seenOf(one))
    const missing = life.arqs.find((arq) => !shown.some(({ uuid }) => uuid === arq))
    if (missing !== undefined) dispute(client, life, `the accepted ARQ ${missing} is not listed for its instance`)
    const early = announced.find((arq) => !life.seen.has(arq))
    if (early !== undefined) dispute(client, life, `Nova heard of ARQ ${early} before a GET showed its end`)
    if (missing !== undefined) return
  }
}

/** Checks that ARQs seen as Bound are unchanged. */
export const stillSo = async (client: Client, life: Life): Promise<void> => {
  for (const one of await look(client, life)) {
    const seen = life.seen.get(one.uuid)
    if (seen === undefined) continue
    const now = seenOf(one)
    if (now.state !== seen.state || now.handle !== seen.handle)
      dispute(
        client,
        life,
        `ARQ ${one.uuid} was ${seen.state} with ${seen.handle} and is ${one.state} with ${now.handle}`,
      )
  }
}

const unbind = async (client: Client, life: Life): Promise<void> => {
  const { api } = client
  const ops = ['hostname', 'device_rp_uuid', 'instance_uuid'].map((path) => ({ op: 'remove', path: `/${path}` }))
  const body = Object.fromEntries(life.arqs.map((arq) => [arq, ops]))
  const { status } = await insist(client, () => api.call('PATCH', collection, body))
  if (status !== 202) dispute(client, life, `an unbind was answered ${status}`)
  for (const { uuid, state } of await look(client, life))
    if (state !== 'Unbound') dispute(client, life, `ARQ ${uuid} was unbound and is ${state}`)
}

const leave = async (client: Client, life: Life, leaving: Leaving): Promise<void> => {
  const { api } = client
  life.leaveSentAt = Date.now()
  if (leaving === 'unbound first') await unbind(client, life)
  // An ARQ that was never bound does not belong to the instance yet.
  const byInstance = leaving === 'by instance' && life.acceptedAt !== null
  const query = byInstance ? `instance=${life.instance}` : `arqs=${life.arqs.join(',')}`
  let repeated = false
  const { status } = await insist(
    client,
    () => api.call('DELETE', `${collection}?${query}`),
    () => (repeated = true),
  )
  if (status !== 204 && !(repeated && status === 404 && !byInstance))
    dispute(client, life, `the deletion of ${query} was answered ${status}`)
  life.leftAt = Date.now()
  const left = shownOf(await get(client, `${collection}?instance=${life.instance}`))
  if (left.length > 0) dispute(client, life, `instance ${life.instance} was deleted and lists ${left[0]!.uuid}`)
}

/** True when the bind was accepted. The claim on the place is released at the end. */
export const lead = async (client: Client, plan: Plan): Promise<boolean> => {
  const { place, amount, holdMs, leaving, hasty } = plan
  const life: Life = {
    instance: randomUUID(),
    host: place.host,
    deployable: place.uuid,
    hostWork: place.hostWork,
    arqs: [],
    askedAt: 0,
    createdAt: 0,
    bindSentAt: null,
    acceptedAt: null,
    acceptedBy: null,
    seen: new Map(),
    leaveSentAt: null,
    leftAt: null,
    refused: false,
    kept: false,
  }
  if (!(await create(client, life, plan))) return false
  const taken = await bind(client, life, plan)
  if (taken && !hasty) await watch(client, life)
  if (taken && hasty) await sleep(holdMs / 10)
  if (taken && !hasty) await sleep(holdMs)
  if (taken) await stillSo(client, life)
  if (taken && leaving === 'never') {
    life.kept = true
    return true
  }
  await leave(client, life, leaving === 'never' ? 'by ARQs' : leaving)
  place.claimed -= amount
  return taken
}
