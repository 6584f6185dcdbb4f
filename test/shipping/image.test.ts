/**
 * infra/Dockerfile, read as text: what its stages copy exists and is let through, and each folder lies where the
 * program looks for it.
 */
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { DOCUMENTS } from '../../src/ui/documents.ts'
import { STAGES, isInContext, stage, stagesOf } from '../support/dockerfile.ts'

const ROOT = join(import.meta.dirname, '../..')

test('the steps of a stage are read', () => {
  expect(
    stagesOf('ARG N\nFROM ${N} AS one\nWORKDIR /app\nCOPY a b c/\nRUN x && y\nFROM ${N}\nCOPY --from=one /a a\n'),
  ).toEqual([
    {
      name: 'one',
      workdir: '/app',
      steps: [
        { type: 'COPY', from: null, sources: ['a', 'b'], to: 'c/' },
        { type: 'RUN', command: 'x && y' },
      ],
    },
    { name: 'image', workdir: '/', steps: [{ type: 'COPY', from: 'one', sources: ['/a'], to: 'a' }] },
  ])
})

test('what is copied from the checkout exists, and .dockerignore lets it through', () => {
  const copied = STAGES.flatMap(({ steps }) =>
    steps.flatMap((step) => (step.type === 'COPY' && step.from === null ? step.sources : [])),
  ).flatMap((path) => (path === 'infra/pack' ? ['infra/pack/store.ts'] : [path]))
  expect(copied.length).toBeGreaterThan(8)
  expect(copied.filter((path) => !existsSync(join(ROOT, path)) || !isInContext(path))).toEqual([])
})

test('what tests and builds leave in a checkout is not sent to the engine', () => {
  const paths = ['node_modules/x', 'site/node_modules/x', 'site/.vitepress/.temp/x', 'documents/index.html', 'test/x']
  expect(paths.filter(isInContext)).toEqual([])
})

test('the built documents lie in the image where the console looks for them', () => {
  const { workdir, steps } = stage('image')
  const copied = steps.flatMap((step) => (step.type === 'COPY' && step.from === 'documents' ? [step] : []))
  expect(copied).toMatchObject([{ sources: [join(stage('documents').workdir, 'documents')] }])
  expect(join(workdir, copied[0]!.to)).toBe(join(workdir, relative(ROOT, DOCUMENTS)))
})
