/** Reports of usage over the memory, and what is refused. */
import { expect, test } from 'vitest'
import { usageContract } from '../contracts/usage.contract.ts'
import { NOVA, openPlane } from '../support/plane.ts'
import { openTestStore } from '../support/stores.ts'

usageContract(openTestStore, 60)

test('what cannot be answered is refused', async () => {
  const { control, plane } = await openPlane()
  const asked = { from: 0, until: 1, period: 'total', project: null } as const
  expect(await control.usage(NOVA, { ...asked, until: 0 })).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
  expect(await control.usage(NOVA, { ...asked, until: null, period: 'day' })).toMatchObject({
    ok: false,
    fault: { kind: 'conflict' },
  })
  expect(await control.usage(NOVA, asked)).toMatchObject({ ok: true, value: { lines: [] } })
  await plane.stop()
})
