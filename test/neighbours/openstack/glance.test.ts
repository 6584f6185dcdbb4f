/** The contract with Glance on its double; `test/cloud` runs it on the real one. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { glanceContract } from '../../contracts/glance.contract.ts'
import { openGlanceLab } from '../../support/glanceLab.ts'
import { type GlanceDouble, glanceDouble } from './glanceDouble.ts'
import { type KeystoneDouble, keystoneDouble } from './keystoneDouble.ts'

describe('the double of Glance', () => {
  let keystone: KeystoneDouble
  let double: GlanceDouble
  const place = () => ({ authUrl: keystone.authUrl, glanceUrl: double.url })
  beforeAll(async () => {
    keystone = await keystoneDouble()
    double = await glanceDouble(keystone.holderOf)
    keystone.services = { image: double.url }
  })
  afterAll(async () => {
    await double.close()
    await keystone.close()
  })
  glanceContract(place)

  test('a Glance that sends no parts: the download is begun anew', async () => {
    const lab = await openGlanceLab(place())
    double.whole = true
    const bytes = randomBytes(200_000)
    const uuid = await lab.put({}, bytes)
    lab.proxy.inject({
      harm: { kind: 'cut', afterBytes: 100_000 },
      when: ({ path }) => path.endsWith('/file'),
      times: 1,
    })
    const file = await lab.files().open(uuid, { withinMs: 5000, signal: new AbortController().signal })
    if (!file.found) throw new Error(file.why)
    expect(Buffer.compare(readFileSync(file.path), bytes)).toBe(0)
    double.whole = false
    await lab.close()
  })
})
