/**
 * What is decided when one device of a report is recorded, described or taken away: `golden/inventorySteps` has every
 * event and what its host remembers of the device, for cards and trees of all kinds.
 */
import { expect, test } from 'vitest'
import { deployable, deployableKey } from '../../src/actors/deployable/decider.ts'
import type { DeployableCommand } from '../../src/actors/deployable/messages.ts'
import type { Deployable } from '../../src/actors/deployable/state.ts'
import { device, deviceKey } from '../../src/actors/device/decider.ts'
import { deciderOf } from '../../src/actors/entities.ts'
import type { HeldDevice } from '../../src/actors/host/decider.ts'
import { carryOut } from '../../src/actors/inventory/carryOut.ts'
import type { Step } from '../../src/actors/inventory/reconcile.ts'
import { type Draft, openDraft, toAppend } from '../../src/actors/runtime/draft.ts'
import { type Memory, blank } from '../../src/actors/runtime/memory.ts'
import type { ReportedDeployable, ReportedDevice } from '../../src/hardware.ts'
import { canonicalJson } from '../../src/wire/canonical.ts'
import { card, slot } from './cards.ts'

/** `e001`, `e002` and so on. */
const pool = (prefix: string) => {
  let last = 0
  return () => `${prefix}${String(++last).padStart(3, '0')}`
}
const openCard = (most = 9) => {
  const uuids = Array.from({ length: most }, pool('e'))
  const memories = new Map<string, Memory>(
    uuids.flatMap((uuid) => [deviceKey(uuid), deployableKey(uuid)]).map((key) => [key, blank(key, deciderOf(key))]),
  )
  const lines: string[] = []
  let [at, number] = [0, 0]
  let held: HeldDevice | null = null
  const tools = {
    entity: pool('e'),
    part: pool('p'),
    number: () => ++number,
    hostname: 'h1',
    missingRounds: 2,
  }
  const decides = (what: string, decide: (draft: Draft) => void) => {
    at += 1000
    const { draft, drafted } = openDraft(memories, deciderOf, at)
    decide(draft)
    const { append, after } = toAppend(memories, drafted, { commandId: `c${at}`, at, cause: {} })
    for (const [key, memory] of after) memories.set(key, memory)
    lines.push(`## ${what}`)
    for (const { key, events } of append.rows) lines.push(...events.map((event) => `${key} ${canonicalJson(event)}`))
  }
  const takes = (what: string, step: (held: HeldDevice) => Step) => {
    let left = ''
    decides(what, (draft) => {
      const [path, now] = carryOut(draft, step(held!), tools)
      left = `remembered as ${path}: ${canonicalJson(now)}`
      if (now !== null) held = now
    })
    lines.push(left)
  }
  const canonical = 'path'
  const shown = (reported: ReportedDevice) => ({ canonical, driver: 'drv', device: reported, digest: `digest ${at}` })
  return {
    lines,
    held: () => held!,
    /** The handle of a deployable that is that function of the card. */
    handleAt: (uuid: string, fn: number) => {
      const { handles } = memories.get(deployableKey(uuid))!.state as Deployable
      return Object.keys(handles).find((one) => handles[one]!.info['function'] === String(fn))!
    },
    is: (what: string, uuid: string, command: DeployableCommand) =>
      decides(what, (draft) => draft.decide(deployable, deployableKey(uuid), command)),
    isFailing: (what: string) =>
      decides(what, (draft) => {
        draft.decide(device, deviceKey('e001'), { type: 'SetStatus', status: 'maintaining' })
        draft.decide(device, deviceKey('e001'), { type: 'SetHealth', failing: 'too hot' })
      }),
    isNew: (what: string, ...nodes: readonly ReportedDeployable[]) =>
      takes(what, () => ({ do: 'record', shown: shown(card(1, { deployables: [...nodes] })) })),
    shows: (what: string, ...nodes: readonly ReportedDeployable[]) =>
      takes(what, (now) => ({ do: 'describe', shown: shown(card(1, { deployables: [...nodes] })), held: now })),
    returns: (what: string, ...nodes: readonly ReportedDeployable[]) =>
      takes(what, (now) => ({ do: 'return', shown: shown(card(1, { deployables: [...nodes] })), held: now })),
    changes: (what: string, reported: ReportedDevice) =>
      takes(what, (now) => ({ do: 'describe', shown: shown(reported), held: now })),
    gone: (what: string, missing: number, isThere = false) =>
      takes(what, (now) => ({ do: 'gone', canonical, held: now, missing, isThere })),
    out: (what: string) => takes(what, (now) => ({ do: 'take out', canonical, held: now })),
  }
}
type Card = ReturnType<typeof openCard>

const pci = (fn: number, more: object = {}) => ({ type: 'PCI' as const, info: slot(1, fn), ...more })
const node = (name: string, parent?: string, more: Partial<ReportedDeployable> = {}): ReportedDeployable => ({
  name,
  numAccelerators: 1,
  driverName: 'maker',
  attributes: parent === undefined ? [{ key: 'rc', value: 'FPGA' }] : [],
  handles: [],
  hostWork: false,
  programmable: parent === undefined,
  ...(parent === undefined ? {} : { parent }),
  ...more,
})
const leaf = (name: string, parent: string, fn: number) => node(name, parent, { handles: [pci(fn)] })
const root = (numAccelerators: number) => node('r', undefined, { numAccelerators })
const NOTE = { by: 'op', reason: 'broken' }
const grant = (arq: string): DeployableCommand => ({
  type: 'Grant',
  arq,
  bitstream: null,
  deadline: 9000,
  requestId: 'req',
})

const nested = [
  { key: 'rc', value: 'FPGA' },
  { key: 'function', value: 'nic' },
  { key: 'speed', value: '40', parent: 1 },
]
const everything: Partial<ReportedDeployable> = {
  numAccelerators: 2,
  kind: 'root',
  cleaning: 'by_host',
  bitstreamId: 'image',
  hostWork: true,
  attributes: nested,
  handles: [pci(1, { physfn: '0000:0a:00.0', set: 1 }), pci(2, { physfn: '0000:0a:00.0', set: 1 })],
}
const plain = node('b', undefined, { handles: [pci(7)] })

const SCENES: Readonly<Record<string, (card: Card) => void>> = {
  'a card with all that a driver may say of it': (it) => {
    const a = node('a', undefined, everything)
    it.isNew('it is new', a, plain)
    it.shows('it is shown again', a, plain)
    const turned = { ...a, handles: a.handles.toReversed().map((one) => ({ ...one, physfn: '0000:0A:00.0' })) }
    it.shows('its handles are shown in another order, its physical function in other letters', plain, turned)
    it.changes('only the card has changed', card(1, { model: 'another', deployables: [a, plain] }))
    const attributes = [
      { key: 'rc', value: 'FPGA' },
      { key: 'speed', value: '1' },
      nested[1]!,
      { ...nested[2]!, parent: 2 },
    ]
    it.shows('an attribute comes before the others', { ...a, attributes }, plain)
    const replaced = { ...a, handles: [a.handles[0]!, pci(3)] }
    it.shows('a handle is replaced by another one', replaced, plain)
    it.is('an operator adds an attribute', 'e002', {
      type: 'AddAttribute',
      attribute: { uuid: 'o1', key: 'site', value: 'b2' },
    })
    it.shows('all that is shown again', replaced, plain)
    const other = (more: object) => ({ ...replaced, handles: [{ ...a.handles[0]!, ...more }, pci(3)] })
    it.shows('only a physical function is another one', other({ physfn: '0000:0b:00.0' }), plain)
    it.shows('only a set is another one', other({ physfn: '0000:0b:00.0', set: 2 }), plain)
    const { kind: _, cleaning: _was, ...rest } = a
    it.shows('it says less', rest, plain)
  },
  'a tree whose parts come and go': (it) => {
    it.isNew('children are shown before their parents', leaf('v1', 'f', 1), node('f', 'r'), root(1))
    it.shows('one child stands for another one', root(1), node('f', 'r'), leaf('v2', 'f', 2))
    it.isFailing('the card is withheld')
    it.shows('both are shown', root(2), node('f', 'r', { numAccelerators: 2 }), leaf('v1', 'f', 1), leaf('v2', 'f', 2))
    it.shows('one of them moves', root(2), node('f', 'r'), leaf('v1', 'f', 1), leaf('v2', 'r', 2))
    it.shows('the tree is shown no more', node('r', undefined, { handles: [pci(0)] }))
  },
  'a tree of which a part is used': (it) => {
    it.isNew('it is new', root(2), node('f', 'r', { numAccelerators: 2 }), leaf('v1', 'f', 1), leaf('v2', 'f', 2))
    it.is('a part is granted', 'e004', grant('a1'))
    it.shows('both leaves are shown elsewhere', root(2), leaf('v1', 'r', 1), leaf('v2', 'r', 2))
    it.shows('only the root is shown', node('r', undefined, { handles: [pci(0)] }))
    it.is('the part is given up', 'e004', { type: 'Release', arq: 'a1', deadline: 9000 })
    it.shows('only the root is shown again', node('r', undefined, { handles: [pci(0)] }))
  },
  'roots that are shown below others': (it) => {
    it.isNew('both are roots', node('r', undefined, { handles: [pci(3)] }), node('s', undefined, { handles: [pci(1)] }))
    it.is('one of them is granted', 'e003', grant('a1'))
    it.shows('it is shown below the other one', { ...root(2), handles: [pci(3)] }, leaf('s', 'r', 1))
    it.is('it is given up', 'e003', { type: 'Release', arq: 'a1', deadline: 9000 })
    it.shows('it is shown there again', { ...root(2), handles: [pci(3)] }, leaf('s', 'r', 1))
    it.shows(
      'it is a root again',
      node('r', undefined, { handles: [pci(3)] }),
      node('s', undefined, { handles: [pci(1)] }),
    )
  },
  'a part in use that is shown as a root': (it) => {
    it.isNew('it is new', root(1), leaf('s', 'r', 1))
    it.is('it is granted', 'e003', grant('a1'))
    it.shows('both are shown as roots', root(0), node('s', undefined, { handles: [pci(1)] }))
  },
  'a tree that comes to a known card': (it) => {
    it.isNew('there are two roots', plain, node('c', undefined, { handles: [pci(4)] }))
    it.shows('one of them, and a tree', plain, root(1), leaf('v1', 'r', 1))
  },
  'roots that are being programmed': (it) => {
    it.isNew('they are new', root(1), leaf('v1', 'r', 1), plain)
    it.is('one is programmed', 'e002', { type: 'Program', image: 'i', deadline: 9000, requestId: 'req' })
    it.is('so is the other one', 'e003', { type: 'Program', image: 'i', deadline: 9000, requestId: 'req' })
    it.shows('both have changed', root(0), { ...plain, driverName: 'another' })
  },
  'a root that is being programmed': (it) => {
    it.isNew('it is new', root(1), leaf('v1', 'r', 1), node('s', undefined, { handles: [pci(5)] }))
    it.is('it is programmed', 'e002', { type: 'Program', image: 'i', deadline: 9000, requestId: 'req' })
    it.shows(
      'another tree is shown',
      root(2),
      leaf('v2', 'r', 2),
      leaf('v3', 'r', 3),
      node('s', undefined, { handles: [pci(6)] }),
    )
  },
  'hardware that is used through another part': (it) => {
    it.isNew('it is new', node('r', undefined, { handles: [pci(1)] }))
    it.is('it is granted', 'e002', grant('a1'))
    it.shows(
      'it is shown in parts',
      root(3),
      node('f', 'r', { numAccelerators: 2, handles: [pci(1)] }),
      leaf('v', 'f', 2),
      leaf('w', 'r', 3),
    )
  },
  'hardware that is used, and shown as that of a known part': (it) => {
    it.isNew('it is new', node('r', undefined, { handles: [pci(1)] }), leaf('f', 'r', 2))
    it.is('the root is granted', 'e002', grant('a1'))
    it.shows('the part has it now', root(1), leaf('f', 'r', 1))
  },
  'a card that leaves': (it) => {
    it.isNew('it is new', plain)
    it.gone('one report lacks it', 1)
    it.shows('it is shown again', plain)
    it.gone('another report lacks it', 1)
    it.gone('so does a second one', 2)
    it.returns('it is back', plain)
  },
  'a card in use that leaves': (it) => {
    it.isNew('it is new', plain, node('c', undefined, { handles: [pci(4)] }))
    it.is('one handle is granted', 'e003', grant('a1'))
    it.gone('the third report lacks it', 3)
    it.is('the handle is given up', 'e003', { type: 'Release', arq: 'a1', deadline: 9000 })
    it.is('and withheld', 'e003', { type: 'Quarantine', handle: it.handleAt('e003', 4), ...NOTE })
    it.gone('another device with its hardware is shown', 4, true)
    it.out('its host is out of service')
    it.gone('none of its hardware is shown', 2)
  },
  'a card of a host that is out of service': (it) => {
    it.isNew('it is new', plain)
    it.out('it is taken out')
  },
}

/** `a card that leaves` is recorded in `aCardThatLeaves.txt`. */
const fileOf = (name: string) => name.replaceAll(/\W+(\w)/g, (_, first: string) => first.toUpperCase())

test.each(Object.entries(SCENES))('every step of %s, with all its events', async (name, play) => {
  const it = openCard()
  play(it)
  await expect(`# ${name}\n${it.lines.join('\n')}\n`).toMatchFileSnapshot(`golden/inventorySteps/${fileOf(name)}.txt`)
})

test('of the parts that have left, the 256 newest keep their UUIDs', () => {
  const it = openCard(400)
  const leaves = (count: number) => Array.from({ length: count }, (_, n) => leaf(`v${n}`, 'r', 1))
  const many = (count: number) =>
    leaves(count).map((one, n) => ({ ...one, handles: [{ type: 'PCI' as const, info: slot(n % 256, (n >> 8) + 1) }] }))
  it.isNew('it is new', root(256), ...many(256))
  it.shows('none is left', node('r', undefined, { handles: [pci(0)] }))
  expect(Object.keys(it.held().away!)).toHaveLength(256)
  it.shows('one more has come', root(1), ...many(257).slice(256))
  it.shows('and has left', node('r', undefined, { handles: [pci(0)] }))
  const away = Object.keys(it.held().away!)
  expect([away.length, away[0], away.at(-1), away.includes('v0')]).toEqual([256, 'v256', 'v1', false])
})
