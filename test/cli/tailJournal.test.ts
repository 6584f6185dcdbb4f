/** `accelerando tail` over the journal of a database: where it begins, and that it follows what is written later. */
import { expect, test } from 'vitest'
import { type TailOptions, tail } from '../../src/cli/operators/tail.ts'
import { silent } from '../../src/log.ts'
import { openStore } from '../../src/persistence/open.ts'
import { until } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { ownServer } from '../support/postgresOwn.ts'

describeWith('postgres', 'the journal of a database', (bin) => {
  test(
    'is shown from a position or from its end on, and followed until it is told to stop',
    { timeout: 120_000 },
    async () => {
      // of its own: an open transaction of another test on the same server would hide the last rows
      const server = await ownServer(bin)
      const { url } = await server.freshDatabase()
      const store = await openStore({ kind: 'postgres', url })
      const { control, plane } = await openPlane({}, store)
      const made = async (name: string) =>
        value(await control.profiles.create(NOVA, { name, description: null, groups: [{ 'resources:FPGA': '1' }] }))
          .uuid
      const opened = (more: Partial<TailOptions>) => {
        const [seen, end] = [
          [] as { key: string; position: string | null; storedAt: number | null }[],
          new AbortController(),
        ]
        const options = { topic: 'profile.events', arq: null, since: null, once: false, ...more }
        const ended = tail(
          { kind: 'journal', store: { kind: 'postgres', url } },
          options,
          ({ key, position }, storedAt) => void seen.push({ key, position, storedAt }),
          end.signal,
          silent,
        )
        return { seen, ended, end, keys: () => seen.map(({ key }) => key) }
      }
      try {
        const one = await made('one')
        const once = opened({ once: true })
        await once.ended
        expect(once.seen).toEqual([{ key: one, position: expect.stringMatching(/^\d+\.\d+$/), storedAt: null }])
        const later = opened({})
        const all = opened({ since: '0' })
        await until(() => all.keys().length === 1, 'the first row', 30_000)
        const further: string[] = []
        // the end from which it follows may be read after the first of these
        while (later.keys().length === 0 && further.length < 1000) further.push(await made(`more-${further.length}`))
        const last = await made('last')
        await until(() => later.keys().includes(last) && all.keys().includes(last), 'the last row', 30_000)
        expect(all.keys()).toEqual([one, ...further, last])
        expect(later.keys()).not.toContain(one)
        for (const { end, ended } of [later, all]) {
          end.abort()
          await ended
        }
        const since = opened({ since: once.seen[0]!.position, once: true })
        await since.ended
        expect(since.keys()).toEqual([...further, last])
      } finally {
        await plane.stop()
        await store.close()
        await server.end()
      }
    },
  )
})
