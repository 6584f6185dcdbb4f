/**
 * What the program records today of a short life of a small cloud, word for word, with the cause of each row, and the
 * views it folds to. Where a change of it is meant: `npx vitest run test/golden/present.test.ts -u`, and the difference
 * shows what hosts, operators and later releases will meet.
 */
import { expect, test } from 'vitest'
import { journalText, viewsText } from './fold.ts'
import { playScenario } from './scenario.ts'

test('the same life leaves the same journal and the same views', async () => {
  const rows = await playScenario()
  await expect(journalText(rows)).toMatchFileSnapshot('present.ndjson')
  await expect(viewsText(rows)).toMatchFileSnapshot('present.views.txt')
})
