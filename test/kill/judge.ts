/** Checks a client's account for what must hold regardless of kills. Pure; each violation is a sentence. */
import { type Account, type Life, type Listed, type Served, inTurn, lostAt } from './account.ts'

/**
 * Allowance for the sweep that finds a deadline and the poll that sees the end. Only time in which the program ran
 * counts.
 */
export const GRACE_MS = 5000
/** The most ARQs that one POST of this client creates. */
const ARQS_A_POST = 2

type Rule = (account: Account) => readonly string[]
const at = (ms: number | null) => (ms === null ? 'never' : new Date(ms).toISOString().slice(11, 23))
/**
 * Instances whose requests the database still has. Of the others only what is judged of all lives must hold: handles,
 * and that they end.
 */
const stored = (account: Account) => account.lives.filter((life) => lostAt(account, life) === null)
const accepted = (account: Account) => stored(account).filter(({ acceptedAt }) => acceptedAt !== null)

const servedBetween = (served: readonly Served[], from: number, to: number): number =>
  served.reduce((sum, one) => sum + Math.max(0, Math.min(one.to, to) - Math.max(one.from, from)), 0)

/** When the client no longer waited: all ends seen, or it gave the ARQs up. */
const waitedUntil = ({ arqs, seen, leaveSentAt }: Life): number => {
  const ends = arqs.map((arq) => seen.get(arq)?.at ?? Infinity)
  return Math.min(Math.max(...ends), leaveSentAt ?? Infinity)
}

const endsInTime: Rule = (account) =>
  accepted(account).flatMap((life) => {
    const due = life.acceptedAt! + account.deadlineMs
    const late = servedBetween(account.served, due, waitedUntil(life))
    return late > (account.graceMs ?? GRACE_MS)
      ? [
          `the bind of instance ${life.instance}, accepted ${at(life.acceptedAt)}, had not ended ${late} ms of service after its deadline`,
        ]
      : []
  })

const endsAlike: Rule = (account) =>
  accepted(account).flatMap(({ instance, seen }) => {
    const states = new Set([...seen.values()].map(({ state }) => state))
    return states.size > 1 ? [`the ARQs of instance ${instance} ended differently: ${[...states].join(', ')}`] : []
  })

type Hold = { readonly arq: string; readonly from: number; readonly to: number }
/** By host and handle: from when a GET showed it until the client asked to give it up. */
const holdsOf = ({ lives }: Account): ReadonlyMap<string, readonly Hold[]> => {
  const holds = new Map<string, Hold[]>()
  for (const { host, seen, leaveSentAt } of lives)
    for (const [arq, { state, handle, at: from }] of seen) {
      if (state !== 'Bound') continue
      const key = `${host} ${handle ?? 'no handle'}`
      holds.set(key, [...(holds.get(key) ?? []), { arq, from, to: leaveSentAt ?? Infinity }])
    }
  return holds
}

const givenOnce: Rule = (account) =>
  [...holdsOf(account)].flatMap(([key, holds]) => {
    const inOrder = holds.toSorted((one, other) => one.from - other.from)
    return inOrder.flatMap((hold, n) => {
      const before = inOrder.slice(0, n).find(({ to }) => to > hold.from)
      return before ? [`${key} was given to ${hold.arq} (${at(hold.from)}) while ${before.arq} had it`] : []
    })
  })

const toldNova: Rule = (account) =>
  stored(account).flatMap(({ instance, seen }) =>
    [...seen].flatMap(([arq, { state }]) => {
      const due = state === 'Bound' ? 'completed' : 'failed'
      const heard = account.heard.filter((event) => event.arq === arq)
      const other = heard.find((event) => event.status !== due || event.instance !== instance)
      if (other) return [`ARQ ${arq} of ${instance} is ${state}, but Nova heard ${other.status} for ${other.instance}`]
      return account.delivered.has(arq) || account.undeliverable.has(arq)
        ? []
        : [`ARQ ${arq} is ${state}; Nova never took that, and nothing says that it could not be told`]
    }),
  )

const stateKept = (life: Life, arq: string, listed: Listed | undefined): string | null => {
  if (life.leftAt !== null)
    return listed ? `was deleted at ${at(life.leftAt)} and is there again, ${listed.state}` : null
  if (!listed) return `was created at ${at(life.createdAt)} and is lost`
  const seen = life.seen.get(arq)
  if (life.acceptedAt === null || seen === undefined) return null
  if (listed.state !== seen.state || listed.instance_uuid !== life.instance)
    return `was ${seen.state} for ${life.instance} and is ${listed.state} for ${listed.instance_uuid}`
  const handle = inTurn(listed.attach_handle_info)
  return seen.handle !== null && handle !== seen.handle ? `had ${seen.handle} and has ${handle}` : null
}

const nothingLost: Rule = (account) => {
  const listed = new Map(account.listedAtEnd.map((arq) => [arq.uuid, arq]))
  return account.lives.flatMap((life) =>
    life.arqs.flatMap((arq) => {
      const wrong = stateKept(life, arq, listed.get(arq))
      return wrong === null ? [] : [`ARQ ${arq} ${wrong}`]
    }),
  )
}

const nothingAdded: Rule = ({ lives, listedAtEnd, lostPosts }) => {
  const known = new Set(lives.flatMap(({ arqs }) => arqs))
  const unknown = listedAtEnd.filter(({ uuid }) => !known.has(uuid))
  const moved = unknown.filter(({ state }) => state !== 'Initial')
  return [
    ...moved.map(({ uuid, state }) => `ARQ ${uuid} is ${state}, and nobody was ever told of it`),
    ...(unknown.length > lostPosts * ARQS_A_POST
      ? [`${unknown.length} ARQs that nobody was told of, from ${lostPosts} POSTs without an answer`]
      : []),
  ]
}

const listedOnce: Rule = ({ listedAtEnd }) => {
  const holders = new Map<string, string>()
  return listedAtEnd.flatMap(({ uuid, state, hostname, attach_handle_info: info }) => {
    if (state !== 'Bound') return []
    const key = `${hostname} ${inTurn(info)}`
    const other = holders.get(key)
    holders.set(key, uuid)
    return other ? [`${key} is held by ${other} and by ${uuid}`] : []
  })
}

const lostBefore: Rule = (account) =>
  account.lives.flatMap((life) => {
    const moment = lostAt(account, life)
    return moment !== null && life.askedAt > moment
      ? [`instance ${life.instance} began at ${at(life.askedAt)}, and rows of it were lost at ${at(moment)}`]
      : []
  })

const contradicted: Rule = (account) => [
  ...account.contradictions,
  ...account.disputed.filter(({ life }) => lostAt(account, life) === null).map(({ said }) => said),
]

export const RULES: Readonly<Record<string, Rule>> = {
  'every accepted bind ends in time': endsInTime,
  'the ARQs of a bind end alike': endsAlike,
  'no handle is given twice': givenOnce,
  'Nova hears every end': toldNova,
  'nothing that was accepted is lost': nothingLost,
  'nothing appears that nobody asked for': nothingAdded,
  'no handle is listed twice': listedOnce,
  'no answer contradicts one before': contradicted,
  'only what came before a loss is lost': lostBefore,
}

/** Each violation with its rule. */
export const judge = (account: Account): readonly string[] =>
  Object.entries(RULES).flatMap(([rule, find]) => find(account).map((found) => `${rule}: ${found}`))
