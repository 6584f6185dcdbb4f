import { describe, expect, it } from 'vitest'
import { type Bench, sagaOf } from './sagaTable.ts'
import { casesOf, playSaga } from './sagas.ts'
import { HARMS } from './tap.ts'

/** `npm run sim -- --sagas` plays all of them; here one fault is injected into each step of one operation. */
const BIND = sagaOf('bind with host work')

describe('sagas', () => {
  it('leave a clean slate, whichever step is harmed', { timeout: 120_000 }, async () => {
    const calm = await playSaga(BIND, null)
    expect(calm.wrong).toEqual([])
    expect(new Set(calm.steps.map(({ kind }) => kind))).toEqual(
      new Set(['journal', 'publish', 'deliver', 'driver', 'ledger', 'nova', 'checkpoint']),
    )
    const cases = casesOf(calm).filter(({ at, harm }) => harm === HARMS[at % HARMS.length])
    expect(cases).toHaveLength(calm.steps.length)
    for (const one of cases) {
      const { wrong, harmed } = await playSaga(BIND, one)
      expect(wrong, `step ${one.at} ${one.harm}`).toEqual([])
      expect(harmed?.harm).toBe(one.harm)
    }
  })
  it('are found out when something is left behind', async () => {
    const after = async ({ world, tools: { client } }: Bench) => {
      const { handles } = (await world.evidence(true)).views!
      const line = `POST /v2/handles/${handles![0]!.uuid}/quarantine`
      await client.ask({ project: 'p', role: 'admin', service: false }, 'other', line, { reason: 'planted' })
    }
    const { wrong } = await playSaga({ ...BIND, after }, null)
    expect(wrong.join('\n')).toMatch(/handle .* is quarantine/)
  })
  it('are found out when they do not work', async () => {
    const { wrong } = await playSaga({ ...BIND, act: async () => false }, null)
    expect(wrong).toEqual(['it does not work', 'it does not work once more'])
  })
})
