/**
 * The stage of infra/Dockerfile that builds the documents, carried out in a folder: it has all that it needs, and makes
 * the whole site.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { addressed, pagesIn } from '../../infra/site/pages.ts'
import { documentsIn } from '../../src/ui/documents.ts'
import { carryOut, stage } from '../support/dockerfile.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('image-documents')
afterAll(folder.remove)

test('the documents of the image are those of the checkout', { timeout: 400_000 }, async () => {
  carryOut(stage('documents'), folder.path, { ...process.env, npm_config_prefer_offline: 'true' })
  const built = join(folder.path, 'documents')
  const pages = pagesIn(join(import.meta.dirname, '../../docs')).map((page) =>
    addressed(page).replace(/\.md$/, '.html'),
  )
  expect(pages.filter((page) => !existsSync(join(built, page)))).toEqual([])
  expect(readdirSync(built)).toContain('404.html')
  const site = await documentsIn(built)()
  expect(await site?.get('operators/cleaning.html')).toMatchObject({ status: 200 })
})
