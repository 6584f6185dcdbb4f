/** Makes the template of an empty embedded store. npm runs it after `npm ci` in a checkout and before `npm pack`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/persistence/open.ts'
import { filledFromTemplate, writeTemplate } from '../../src/persistence/pglite/template.ts'

const folder = mkdtempSync(join(tmpdir(), 'accelerando-template-'))
try {
  if (!filledFromTemplate(join(folder, 'probe'))) {
    const store = await openStore({ kind: 'pglite', dir: join(folder, 'store') })
    await store.close()
    writeTemplate(join(folder, 'store/pglite'))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
