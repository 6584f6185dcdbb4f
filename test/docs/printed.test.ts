/** What is derived from the code, the reference pages above all, is committed as the code prints it. */
import { expect, test } from 'vitest'
import { isCurrent, printed } from '../../infra/printed.ts'

test('nothing that "npm run print" writes differs from what is committed', async () => {
  const changed = (await printed()).filter((one) => !isCurrent(one)).map(({ path }) => path)
  expect(changed).toEqual([])
})
test('a page with another text than the committed one is found, and so is one that is not there', async () => {
  const page = (await printed()).find(({ path }) => path === 'commands.md')!
  const others = [
    { ...page, text: `${page.text}\n` },
    { ...page, text: '' },
    { ...page, path: 'no-such-page.md' },
  ]
  expect([page, ...others].map(isCurrent)).toEqual([true, false, false, false])
})
