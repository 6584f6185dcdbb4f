/** What is derived from the code, the reference pages above all, is committed as the code prints it. */
import { expect, test } from 'vitest'
import { isCurrent, printed } from '../../infra/printed.ts'

test('nothing that "npm run print" writes differs from what is committed', async () => {
  const changed = (await printed()).filter((one) => !isCurrent(one)).map(({ path }) => path)
  expect(changed).toEqual([])
})
