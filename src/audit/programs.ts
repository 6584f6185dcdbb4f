/**
 * Invariants of programming: the recorded image of a card, the image that the card holds, and the image that a bound
 * request asked for.
 */
import { bitstreamOf } from '../actors/arq/groups.ts'
import { deployableKey } from '../actors/deployable/decider.ts'
import { type Deployable, localNameOf } from '../actors/deployable/state.ts'
import type { HostStep, HostTrace } from './evidence.ts'
import { type Finding, type Invariant, arqsIn, at, deployablesIn, lastDeployables } from './history.ts'
import { onHost } from './hosts.ts'
import { openJobs } from './programJobs.ts'

/** Whether an order for the card is unanswered: then the record may be older than the card. */
const isBeingProgrammed = ({ program, handles }: Deployable): boolean =>
  program !== null || Object.values(handles).some(({ pending }) => pending !== null)

const verified: Invariant = {
  name: 'S14',
  meaning: 'when all is quiet, a card that is there holds the image that is recorded of it',
  needs: ['hardware', 'settled'],
  judge: ({ hosts = [], quiet = false }) => ({
    *end(history) {
      if (!quiet) return
      const cards = new Map(hosts.flatMap(({ name, loaded }) => (loaded ? [[name, loaded] as const] : [])))
      for (const held of lastDeployables(history)) {
        const there = cards.get(held.host)
        if (!there || held.bitstreamId === null || held.presence !== 'present' || isBeingProgrammed(held)) continue
        const holds = there[localNameOf(held)] ?? 'no image'
        if (holds !== held.bitstreamId)
          yield onHost(held.host, null, `${held.name} is recorded with image ${held.bitstreamId} and holds ${holds}`, [
            deployableKey(held.uuid),
          ])
      }
    },
  }),
}

const oneJob: Invariant = {
  name: 'S14 jobs',
  meaning:
    'a region is programmed by one job at a time and while nobody uses it, and what ends is a job that was begun',
  judge: () => {
    const jobs = new Map<string, ReturnType<typeof openJobs>>()
    return {
      *step(step): Iterable<Finding> {
        for (const { rowCount, key, events } of deployablesIn(step)) {
          const own = jobs.get(key) ?? openJobs()
          jobs.set(key, own)
          for (const event of events) for (const line of own.take(event)) yield at(rowCount, [key], `${key}: ${line}`)
        }
      },
    }
  },
}

const proved: Invariant = {
  name: 'I13',
  meaning:
    'an image is recorded of a deployable only where its last job ended well with that image, or where the card was read',
  judge: () => {
    const jobs = new Map<string, ReturnType<typeof openJobs>>()
    return {
      *step(step): Iterable<Finding> {
        for (const { rowCount, key, events, after } of deployablesIn(step)) {
          const own = jobs.get(key) ?? openJobs()
          jobs.set(key, own)
          for (const event of events) own.take(event)
          const { bitstreamId } = after
          if (bitstreamId !== null && bitstreamId !== own.proved())
            yield at(
              rowCount,
              [key],
              `${key} is recorded with image ${bitstreamId}, and what is proved is ${own.proved() ?? 'none'}`,
            )
        }
      },
    }
  },
}

type Prepared = Extract<HostStep, { readonly did: 'prepare' | 'release' | 'program' | 'reported' }>
/** The last preparation of a slot by each order, with the image that the card held at that time. */
const preparedOn = ({ steps }: HostTrace): ReadonlyMap<string, Prepared> =>
  new Map(
    steps.flatMap((step) =>
      step.did === 'prepare' && step.holds !== undefined ? [[`${step.slot} ${step.number}`, step] as const] : [],
    ),
  )

const boundToIts: Invariant = {
  name: 'S14 bound',
  meaning: 'a request that asks for an image is bound only where its card held that image when its slot was prepared',
  needs: ['drivers'],
  judge: ({ hosts = [] }) => {
    const seen = new Map(
      hosts.flatMap((trace) => (trace.loaded === undefined ? [] : [[trace.name, preparedOn(trace)] as const])),
    )
    if (seen.size === 0) return {}
    return {
      *step(step): Iterable<Finding> {
        for (const { rowCount, key, after, events } of arqsIn(step)) {
          const [{ image }, { bond }] = [bitstreamOf(after.group), after]
          if (image === null || bond === null || !events.some(({ type }) => type === 'Bound')) continue
          const steps = seen.get(bond.host)
          if (steps === undefined) continue
          const line = `${key} asks for image ${image}, and is bound to ${bond.deployable}`
          if (bond.order === null) yield at(rowCount, [key], `${line}, which nobody looked at`)
          const found = bond.order === null ? undefined : steps.get(`${bond.handle.uuid} ${bond.order}`)
          if (found && found.holds !== image)
            yield {
              ...at(rowCount, [key], `${line}, which held ${found.holds ?? 'no image'}`),
              proof: [{ of: 'host', host: bond.host, step: found }],
            }
        }
      },
    }
  },
}

export const programInvariants: readonly Invariant[] = [verified, oneJob, proved, boundToIts]
