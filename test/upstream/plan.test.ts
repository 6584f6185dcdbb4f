/** What an import makes of each damage of an upstream database, and that what it records breaks no invariant (C12). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { arq, arqKey } from '../../src/actors/arq/decider.ts'
import { planImport } from '../../src/actors/upstream/plan.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { openPlane, value } from '../support/plane.ts'
import { CASES, type Case } from './cases.ts'
import { NOT_TAKEN_OVER } from './notTakenOver.ts'
import { NOW, importInto, violationsIn } from './recorded.ts'
import { deployableRow, deviceRow, handleRow, nameOf, pciText, simple, tablesOf, uuidOf } from './scenario.ts'
import { ARQS, WHOLE, WINDOWS } from './whole.ts'

/** What the whole database adds up to, kind by kind. */
const ALL: Case = [
  'all of it in one database',
  WHOLE,
  [
    'left out value attach_handles 16',
    'repaired type devices 24',
    'repaired W14 devices 11',
    'repaired W17 devices 13',
    'repaired W12 devices 10',
    'repaired W12 devices 9',
    'repaired W11 deployables 8',
    'left out W17 attributes 141',
    'repaired W23 attributes 142',
    'repaired W21 deployables 14',
    'repaired handle lost devices 15',
    'repaired handle lost devices 16',
    'repaired count deployables 16',
    'repaired cleaning devices 24',
    'repaired W21 deployables 30',
    'repaired W21 deployables 32',
    'left out value device_profiles 2',
    'repaired W7 extended_accelerator_requests 4',
    'repaired two holders extended_accelerator_requests 6',
    'repaired W1 extended_accelerator_requests 7',
    'repaired handle lost extended_accelerator_requests 15',
    'repaired handle lost extended_accelerator_requests 16',
    'repaired ended bind extended_accelerator_requests 16',
    'left out deleting extended_accelerator_requests 32',
    'repaired W1 extended_accelerator_requests 40',
    'repaired W3 attach_handles 3',
    'repaired W9 attach_handles 7',
    'repaired W3 attach_handles 25',
    'repaired W9 attach_handles 26',
    'repaired W9 attach_handles 27',
    'repaired W3 attach_handles 33',
    'repaired W3 attach_handles 35',
    'repaired value extended_accelerator_requests 33',
  ],
  Object.entries(ARQS).map(([id, state]) => `${id} ${state}`),
]
describe.each([...CASES, ...NOT_TAKEN_OVER, ALL])('%s', (_, tables, notes, arqs) => {
  test('every change has a note', () => {
    const said = planImport(tables).notes.map(({ outcome, rule, table, id }) => `${outcome} ${rule} ${table} ${id}`)
    expect(said).toEqual(notes)
  })
  test('it is recorded, and no invariant is broken', async () => {
    const store = memoryStore({ now: () => NOW })
    await importInto(store, tables)
    expect(await violationsIn(store)).toEqual([])
    const { plane } = await openPlane({}, store)
    const states = await Promise.all(
      tables.extended_accelerator_requests.map(async ({ id }) => {
        const { status } = value(await plane.region.readCurrent(arq, arqKey(uuidOf('arq', id)))).state
        return status === 'Absent' ? [] : [`${id} ${status}`]
      }),
    )
    expect(states.flat()).toEqual(arqs)
  })
})

describe('the failure windows of upstream', () => {
  test('each of the contract has its rows in the whole database, or a reason why it leaves none', () => {
    const contract = readFileSync(new URL('../../docs/contract/agent-and-conductor.md', import.meta.url), 'utf8')
    const named = [...contract.matchAll(/^\| (W\d+) \|/gm)].map(([, name]) => name)
    expect(Object.keys(WINDOWS)).toEqual(named)
    expect(named).toHaveLength(24)
  })
  const said = new Set<string>(planImport(WHOLE).notes.map(({ table, id }) => `${table} ${id}`))
  const there = new Set<string>(
    Object.entries(WHOLE).flatMap(([table, rows]) => rows.map(({ id }: { readonly id: number }) => `${table} ${id}`)),
  )
  test.each(Object.entries(WINDOWS))('%s', (_, trace) => {
    const rows = 'rows' in trace ? trace.rows : []
    for (const row of rows) expect(there).toContain(row)
    expect(rows.filter((row) => said.has(row))).toEqual('rows' in trace ? trace.said : [])
  })
})

test('what a card holds is kept where a bound request uses it and nothing else was to be loaded', () => {
  const { devices } = planImport(WHOLE)
  const images = devices.flatMap(({ deployables }) =>
    deployables.map(({ identity, bitstreamId }) => [identity.id, bitstreamId] as const),
  )
  const used = new Map(images)
  expect([30, 32, 34].map((id) => used.get(id))).toEqual([null, null, uuidOf('profile', 98)])
})

test('a note about a device that is left out names what is wrong with it', () => {
  const textOf = (more: object) => {
    const { notes } = planImport(tablesOf({ devices: [deviceRow(1, more)] }))
    return notes.filter(({ table }) => table === 'devices').map(({ text }) => text)
  }
  expect(textOf({ type: 'TPU' })).toEqual(["type 'TPU' is none of GPU, FPGA, AICHIP, QAT, NIC, SSD"])
  expect(textOf({ hostname: '' })).toEqual(['it has no hostname'])
})

test('of two deployables with one name the older one is kept, in whichever order they are read', () => {
  const place = { host: 'compute-1', bus: 'a1' }
  const twin = { deployables: [deployableRow(9, 1, nameOf(place))], attach_handles: [handleRow(9, 9, pciText('e1'))] }
  const { notes } = planImport(tablesOf(twin, simple(1, place)))
  expect(notes.filter(({ rule, table }) => rule === 'W17' && table === 'deployables').map(({ id }) => id)).toEqual([9])
})
