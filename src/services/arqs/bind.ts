/**
 * The bind of an instance: all ARQs of the request are accepted, or none, in one append (rest-api 4.5 steps 12-19,
 * 8.4).
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import { type Outcome, refuse } from '../../vocabulary/fault.ts'
import { type Arq, arq, arqKey } from '../../actors/arq/decider.ts'
import { bitstreamOf, requestedCleaning, mismatch } from '../../actors/arq/groups.ts'
import { chooseImage } from '../../actors/arq/images.ts'
import { next, statesThatAllow } from '../../actors/arq/states.ts'
import type { Binding, Caller, Control } from '../../actors/control.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { type DeployableTree, giverIn, loadOf } from '../../actors/deployable/giver.ts'
import { isUnsettled } from '../../actors/deployable/image.ts'
import { type Deployable, attributeOf, hardwareOf, traitsOf } from '../../actors/deployable/state.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import { traceField, inSpan } from '../../vocabulary/trace.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { type Kernel, causeOf } from '../kernel/kernel.ts'
import { type ImageSearches, createImageSearches } from './imageSearches.ts'
import { instance, instanceKey } from '../../actors/instance/decider.ts'
import { type Target, createDirectory } from '../kernel/directory.ts'
import type { Part } from '../../actors/instance/messages.ts'
import type { Bond } from '../../actors/arq/messages.ts'
import type { Order } from '../../wire/orders.ts'

type Terms = {
  readonly requestId: string
  readonly deadline: number
  readonly tellUntil: number | null
  readonly trace?: string
}

const faultOf = (bound: Outcome<null>) => (bound.ok ? undefined : bound.fault.kind)
const conflict = (draft: Draft, reason: string) => draft.refuse({ kind: 'conflict', reason })

const alreadySo = (held: Arq, { hostname, deviceRpUuid, instanceUuid }: Target) =>
  (held.status === 'BindStarted' || held.status === 'Bound') &&
  held.bond?.hostname === hostname &&
  held.bond.deviceRpUuid === deviceRpUuid &&
  held.bond.instanceUuid === instanceUuid

/** A bind that repeats an accepted bind exactly changes nothing (rest-api 8.4). */
const isRepeat = (draft: Draft, targets: readonly Target[], key: EntityKey<'instance'>) => {
  const held = Object.keys(draft.state(instance, key).arqs)
  return held.length === targets.length && targets.every((one) => alreadySo(draft.state(arq, arqKey(one.arq)), one))
}

/** Whether the deployable exists and belongs to the resource provider that the binding names. */
const owns = ({ exists, presence, rpUuid }: Deployable, { deviceRpUuid }: Target) =>
  exists && presence !== 'retired' && rpUuid === deviceRpUuid

const check = (draft: Draft, one: Target): Arq => {
  const held = draft.state(arq, arqKey(one.arq))
  if (held.status === 'Absent' || held.status === 'Gone')
    return draft.refuse({ kind: 'not_found', resource: 'accelerator request', id: one.arq })
  if (!next(held.status, 'bind'))
    return draft.refuse({
      kind: 'bad_state',
      resource: 'accelerator request',
      id: one.arq,
      state: held.status,
      allowed: statesThatAllow('bind'),
    })
  const target = draft.state(deployable, deployableKey(one.deployable))
  if (!owns(target, one)) draft.refuse({ kind: 'not_found', resource: 'resource provider', id: one.deviceRpUuid })
  const why = mismatch(held.group, attributeOf(target, 'rc'), traitsOf(target))
  if (why) conflict(draft, `deployable ${target.name} does not suit accelerator request ${one.arq}: ${why}`)
  if (one.host !== null && one.host !== target.host)
    conflict(draft, `${one.hostname} is host ${one.host}, but the resource provider is on ${target.host}`)
  return held
}

/** The image that the ARQ wants. All searches of the ARQ must have their results before this is called. */
const imageFor = (draft: Draft, { group }: Arq, one: Target, searches: ImageSearches): string | null => {
  const { image, search } = bitstreamOf(group)
  const found = search && searches.resultOf(search)
  if (!search || !found?.found) return image
  const target = draft.state(deployable, deployableKey(one.deployable))
  const chosen = chooseImage(search, found, hardwareOf(target))
  return chosen.ok
    ? chosen.image.uuid
    : conflict(draft, `deployable ${target.name} does not suit accelerator request ${one.arq}: ${chosen.reason}`)
}
/**
 * Whether the ARQ wants an image that has not been searched for yet. The missing search is noted for the next `lookUp`.
 */
const lacksImage = (draft: Draft, one: Target, searches: ImageSearches): boolean => {
  const { search } = bitstreamOf(draft.state(arq, arqKey(one.arq)).group)
  return search !== null && searches.resultOf(search) === null
}

const treeOf = (draft: Draft, one: Target): DeployableTree => ({
  root: draft.state(deployable, deployableKey(one.deployable)),
  below: one.below.map((uuid) => draft.state(deployable, deployableKey(uuid))).filter((node) => owns(node, one)),
})

/** Whether the host is at work on what a refusal may be about: it releases a handle, or may write the card. */
const isAtWork = (draft: Draft, { deployable: root, below }: Target): boolean =>
  [root, ...below]
    .map((uuid) => draft.state(deployable, deployableKey(uuid)))
    .some((held) => isUnsettled(held) || Object.values(held.handles).some(({ state }) => state === 'releasing'))

type Guess = {
  readonly keys: readonly EntityKey[]
  readonly likelyNew: readonly EntityKey[]
  readonly targets: readonly Target[]
  /** True: the owners of the providers were read for this bind; false: they may come from a cache. */
  readonly certain: boolean
}

/** The image that the order loads, or expects on the card. */
const imageField = (order: Order | null): Pick<Bond, 'image'> => {
  const image = order?.type === 'PrepareSlot' ? (order.bitstream ?? order.expects) : undefined
  return image === undefined ? {} : { image }
}

type Together = Terms & Pick<Guess, 'targets' | 'certain'>
const grant = (draft: Draft, one: Target, terms: Together, searches: ImageSearches): Part | typeof MOVED => {
  const { deadline, requestId, trace, targets } = terms
  const held = check(draft, one)
  const image = imageFor(draft, held, one, searches)
  const mates = targets.filter((each) => each.deployable === one.deployable).map((each) => each.arq)
  const tree = treeOf(draft, one)
  const found = giverIn(tree, mates)
  const giver = found ?? tree.root
  // those below the root may come from a cache: one that is missing there may have a handle, or forbid to program
  const mayBeProgrammed = giver === tree.root && tree.root.programmable && image !== null
  if ((found === null || mayBeProgrammed) && !terms.certain) return MOVED
  const load = loadOf(tree, giver, image)
  const loaded = 'why' in load ? conflict(draft, `deployable ${tree.root.name}: ${load.why}`) : load
  const key = deployableKey(giver.uuid)
  const order = { arq: one.arq, ...loaded, ...requestedCleaning(held.group), deadline, requestId, trace, mates }
  const [granted] = draft.decide(deployable, key, { type: 'Grant', ...order })
  if (granted?.type !== 'Granted') throw new Error('a grant that was accepted names no handle')
  const target = draft.state(deployable, key)
  const { uuid, type, info } = target.handles[granted.handle]!
  const { hostname, deviceRpUuid, instanceUuid } = one
  const bond = {
    hostname,
    deviceRpUuid,
    instanceUuid,
    deployable: target.uuid,
    host: target.host,
    handle: { uuid, type, info },
    order: granted.order?.number ?? null,
    ...imageField(granted.order),
  }
  draft.decide(arq, arqKey(one.arq), { type: 'Bind', bond, projectId: one.projectId ?? null })
  return { arq: one.arq, deployable: target.uuid, prepared: granted.order === null }
}

/** `settled`: no host has work to do, so the bind is complete and only Nova has to be notified. */
const accept =
  (terms: Terms, searches: ImageSearches) =>
  (draft: Draft, { targets, certain }: Guess): { readonly settled: boolean } | typeof MOVED => {
    const uuid = targets[0]!.instanceUuid
    const key = instanceKey(uuid)
    if (isRepeat(draft, targets, key)) return { settled: false }
    if (!certain && targets.some((one) => !owns(draft.state(deployable, deployableKey(one.deployable)), one)))
      return MOVED
    if (targets.filter((one) => lacksImage(draft, one, searches)).length > 0) return MOVED
    if (Object.keys(draft.state(instance, key).arqs).length > 0)
      draft.refuse({
        kind: 'invalid',
        field: 'instance_uuid',
        rule: `instance ${uuid} already has accelerator requests`,
      })
    const parts: Part[] = []
    for (const one of targets) {
      const part = grant(draft, one, { ...terms, targets, certain }, searches)
      if (part === MOVED) return MOVED
      parts.push(part)
    }
    const { hostname } = targets[0]!
    const events = draft.decide(instance, key, {
      type: 'Bind',
      instance: uuid,
      at: draft.at,
      parts,
      hostname,
      ...terms,
    })
    const settled = events.some(({ type }) => type === 'BindSettled')
    if (settled) for (const one of targets) draft.decide(arq, arqKey(one.arq), { type: 'ReportBound', workMs: null })
    return { settled }
  }

export const createBind = (kernel: Kernel): Control['arqs']['bind'] => {
  const { clock, options, nova, images, tracer } = kernel
  const directory = createDirectory(kernel)
  const guess = async (bindings: readonly Binding[], attempt: number): Promise<Outcome<Guess>> => {
    // a provider changes its owner only when the device is retired and returns
    if (attempt > 0) directory.forget(bindings)
    const targets = await directory.find(bindings)
    if (!targets.ok) return targets
    const keys = targets.value.flatMap((one) => [
      arqKey(one.arq),
      ...[one.deployable, ...one.below].map(deployableKey),
      instanceKey(one.instanceUuid),
    ])
    const likelyNew = [instanceKey(bindings[0]!.instanceUuid)]
    return { ok: true, value: { keys: [...new Set(keys)], likelyNew, targets: targets.value, certain: attempt > 0 } }
  }
  const bind = async (caller: Caller, bindings: readonly Binding[]): Promise<Outcome<null>> => {
    const at = clock.now()
    const terms = {
      requestId: caller.requestId,
      deadline: at + options.bindDeadlineMs,
      tellUntil: nova ? at + options.tellForMs : null,
      ...traceField(caller.trace),
    }
    const searches = createImageSearches(images)
    const accepted = accept(terms, searches)
    let passing = false
    const bound = await transact(kernel, {
      subject: 'who owns the resource providers',
      cause: causeOf(caller),
      guess: async (attempt) => (await searches.lookUp()) ?? guess(bindings, attempt),
      plan: (draft, guessed) => {
        passing = guessed.targets.some((one) => isAtWork(draft, one))
        return accepted(draft, guessed)
      },
    })
    if (!bound.ok) return bound.fault.kind === 'conflict' && passing ? refuse({ ...bound.fault, passing }) : bound
    if (bound.value?.settled && nova) kernel.notifyNova(instanceKey(bindings[0]!.instanceUuid))
    return { ok: true, value: null }
  }
  return async (caller, bindings) => {
    if (!caller.isService) return refuse({ kind: 'service_token', action: 'binding accelerator requests' })
    const span = tracer.part('internal', 'bind', caller.trace)
    return inSpan(span, (trace) => bind({ ...caller, ...traceField(trace) }, bindings), faultOf)
  }
}
