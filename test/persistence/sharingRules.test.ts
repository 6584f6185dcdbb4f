/** What a process asks of the database about leases and claims, and when it takes over: with a clock of its own. */
import { expect, test } from 'vitest'
import type { Rows, Statement } from '../../src/persistence/sql.ts'
import { endAllOthers, sqlSharing } from '../../src/persistence/sharing.ts'

/** Each answer is for the next statement; the clock stands unless a test moves it. */
const over = (...answers: readonly Rows[]) => {
  const asked: (readonly [string | undefined, ...unknown[]])[] = []
  const left = [...answers]
  const clock = { now: 1_000 }
  const run = async ({ name, params }: Statement): Promise<Rows> => {
    asked.push([name, ...params])
    return left.shift() ?? []
  }
  const sharing = sqlSharing({ share: run, read: run }, () => clock.now)
  return { asked, clock, sharing, answer: (...more: readonly Rows[]) => void left.push(...more) }
}
const NONE: Rows = []
const held = (more: object = {}) => [{ holder: 'b', epoch: 4, until: 'u1', for_ms: 100, free: false, ...more }]

test('a lease is renewed under its epoch while it has not lapsed, and under a new one afterwards', async () => {
  const { asked, clock, sharing } = over([{ epoch: 1 }], [{ epoch: 1 }], [{ epoch: 2 }], [{ epoch: 2 }])
  const renew = (holder = 'a', name = 'relay') => sharing.acquire(name, holder, 100)
  expect(await renew()).toEqual({ epoch: 1 })
  clock.now += 99
  expect(await renew()).toEqual({ epoch: 1 })
  clock.now += 100
  expect(await renew()).toEqual({ epoch: 2 })
  expect(await renew()).toEqual({ epoch: 2 })
  // the last parameter: by how much the epoch grows
  expect(asked).toEqual([1, 0, 1, 0].map((grows) => ['renew', 'relay', 'a', 100, grows]))
})

test('a lease that nobody has ever had begins, and is renewed from then on', async () => {
  const { asked, sharing } = over(NONE, NONE, [{ epoch: 1 }], [{ epoch: 1 }])
  expect(await sharing.acquire('relay', 'a', 100)).toEqual({ epoch: 1 })
  await sharing.acquire('relay', 'a', 100)
  expect(asked).toEqual([
    ['renew', 'relay', 'a', 100, 1],
    ['look', 'relay'],
    ['begin', 'relay', 'a', 100],
    ['renew', 'relay', 'a', 100, 0],
  ])
  // another process was quicker
  expect(await over(NONE, NONE, NONE).sharing.acquire('relay', 'a', 100)).toBeNull()
})

test('a lease of another is taken over as it was observed, after the time that its holder gave it', async () => {
  const { asked, clock, sharing, answer } = over()
  const look = async (rows: Rows, ...more: readonly Rows[]) => {
    answer(NONE, rows, ...more)
    return sharing.acquire('relay', 'a', 7)
  }
  expect(await look(held())).toBeNull()
  clock.now += 99
  expect(await look(held())).toBeNull()
  expect(asked.map(([name]) => name)).toEqual(['renew', 'look', 'renew', 'look'])
  clock.now += 1
  expect(await look(held(), [{ epoch: 5 }])).toEqual({ epoch: 5 })
  expect(asked.at(-1)).toEqual(['take_over', 'relay', 'a', 7, 'b', 4, 'u1'])
})

test.each([{ until: 'u2' }, { epoch: 5 }, { holder: 'c' }])(
  'a lease that its holder has renewed is observed anew: %j',
  async (renewed) => {
    const { clock, sharing, asked } = over(NONE, held(), NONE, held(renewed))
    await sharing.acquire('relay', 'a', 100)
    clock.now += 100
    expect(await sharing.acquire('relay', 'a', 100)).toBeNull()
    expect(asked.map(([name]) => name)).not.toContain('take_over')
  },
)

test('a lease that was given back is taken at once; where its time is not recorded, that of the asker counts', async () => {
  const free = over(NONE, held({ free: true }), [{ epoch: 5 }])
  expect(await free.sharing.acquire('relay', 'a', 100)).toEqual({ epoch: 5 })
  const old = over(NONE, held({ for_ms: null }), NONE, held({ for_ms: null }), [{ epoch: 5 }])
  expect(await old.sharing.acquire('relay', 'a', 30)).toBeNull()
  old.clock.now += 30
  expect(await old.sharing.acquire('relay', 'a', 30)).toEqual({ epoch: 5 })
})

test('a lease that was lost or given back counts as lapsed, and others do not', async () => {
  const { asked, sharing } = over(
    [{ epoch: 1 }],
    [{ epoch: 1 }],
    NONE,
    held(),
    [{ epoch: 9 }],
    NONE,
    [{ epoch: 9 }],
    [{ epoch: 1 }],
  )
  const acquire = (name: string) => sharing.acquire(name, 'a', 100)
  await acquire('relay')
  await acquire('other')
  expect(await acquire('relay')).toBeNull()
  expect(await acquire('relay')).toEqual({ epoch: 9 })
  await sharing.release('relay', 'a')
  await acquire('relay')
  await acquire('other')
  expect(asked.filter(([name]) => name !== 'look').map(([name, lease, , , grows]) => [name, lease, grows])).toEqual([
    ['renew', 'relay', 1],
    ['renew', 'other', 1],
    ['renew', 'relay', 0],
    ['renew', 'relay', 1],
    ['release', 'relay', undefined],
    ['renew', 'relay', 1],
    ['renew', 'other', 0],
  ])
})

const claim = (entity: string, more: object = {}) => ({ entity, until: 'u1', for_ms: 100, ...more })
test('claims of others are taken when they were observed for their time, and those alone', async () => {
  const due = { entity: 'arq/9', kind: 'x', at: 5 }
  const standing = [claim('arq/1'), claim('arq/2', { for_ms: null }), claim('arq/3', { for_ms: 101 })]
  const later = [...standing, claim('arq/4')].map((row) => (row.entity === 'arq/1' ? { ...row, until: 'u2' } : row))
  const { asked, clock, sharing } = over(standing, [due], later, [], later, [])
  const claimDue = () => sharing.claimDue(['x', 'y'], 50, 9, 100)
  expect(await claimDue()).toEqual([due])
  clock.now += 100
  expect(await claimDue()).toEqual([])
  clock.now += 1
  await claimDue()
  const over2 = JSON.stringify([{ entity: 'arq/2', until: 'u1' }])
  const over3 = JSON.stringify(['arq/2', 'arq/3'].map((entity) => ({ entity, until: 'u1' })))
  expect(asked).toEqual([
    ['claimed', 50, 'x,y', 500],
    ['claim', 50, 9, 100, 'x,y', '[]'],
    ['claimed', 50, 'x,y', 500],
    ['claim', 50, 9, 100, 'x,y', over2],
    ['claimed', 50, 'x,y', 500],
    ['claim', 50, 9, 100, 'x,y', over3],
  ])
})

test('what is due only later has statements of its own', async () => {
  const { asked, sharing } = over()
  await sharing.claimDue(['x'], { after: 50 }, 9, 100)
  await sharing.takeOrders({ after: 50 }, 60, 9)
  await sharing.takeOrders(50, 60, 9)
  expect(asked).toEqual([
    ['claimed_far', 50, 'x', 500],
    ['claim_far', 50, 9, 100, 'x', '[]'],
    ['take_far', 50, 60, 9],
    ['take', 50, 60, 9],
  ])
})

test('a lease and a claim of one name are observed apart', async () => {
  const { clock, sharing, asked } = over(NONE, held({ holder: '', epoch: '', until: 'u1' }), [
    claim('relay', { until: '  u1' }),
  ])
  await sharing.acquire('relay', 'a', 100)
  clock.now += 100
  await sharing.claimDue(['x'], 1, 1, 100)
  expect(asked.at(-1)!.at(-1)).toBe('[]')
})

test('everything else is one statement, whose answer is told', async () => {
  const yes: Rows = [{ reader: 'r' }]
  const reading = { driver: 'd', at: 1, devices: [] }
  const { asked, sharing } = over(
    yes,
    NONE,
    yes,
    NONE,
    [{ name: 'h' }, { name: 'i' }],
    [{ reading }],
    [
      { name: 'h', ms: 5, mark: 'm' },
      { name: 'i', ms: 6, mark: 'n' },
    ],
  )
  const lease = { name: 'relay', epoch: 3 }
  expect([await sharing.saveUnder(lease, 'r', '1.2'), await sharing.saveUnder(lease, 'r', '1.3')]).toEqual([
    true,
    false,
  ])
  expect([await sharing.postponeDue('arq/1', 5, 6), await sharing.postponeDue('arq/1', 5, 7)]).toEqual([true, false])
  expect(await sharing.forgetSeen(70)).toBe(2)
  expect(await sharing.measuredOn('h')).toEqual([reading])
  expect(await sharing.silences()).toEqual(
    new Map([
      ['h', { ms: 5, mark: 'm' }],
      ['i', { ms: 6, mark: 'n' }],
    ]),
  )
  await sharing.unclaim(['arq/1'])
  await sharing.postponeOrders([{ slot: 's', number: 2, sentAt: 5 }])
  await sharing.noteSeen(['h'])
  await sharing.noteMeasured([{ host: 'h', reading }])
  expect(asked).toEqual([
    ['save_under', 'relay', 3, 'r', '1.2'],
    ['save_under', 'relay', 3, 'r', '1.3'],
    ['postpone_due', 'arq/1', 5, 6],
    ['postpone_due', 'arq/1', 5, 7],
    ['forget', 70, 1000],
    ['measured_on', 'h'],
    ['silences'],
    ['unclaim', '["arq/1"]'],
    ['postpone', '[{"slot":"s","number":2,"sent_at":5}]'],
    ['seen', '["h"]'],
    ['measured', JSON.stringify([{ host: 'h', driver: 'd', reading }])],
  ])
  const failing = sqlSharing({ share: async () => NONE, read: () => Promise.reject(new Error('away')) })
  await expect(failing.measuredOn('h')).rejects.toThrow('the measurements cannot be read: away')
})

test('a process that has the database to itself ends what others held', async () => {
  const texts: string[] = []
  await endAllOthers(async ({ text }) => (texts.push(text), []))
  expect(texts).toEqual(["update leases set until = '-infinity' where until > '-infinity'", 'delete from claims'])
})
