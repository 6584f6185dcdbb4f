/** How lists of images are read from Glance: page by page, so many at most, and never from elsewhere. */
import { expect, test } from 'vitest'
import { createGlance } from '../../../src/neighbours/images/glance.ts'
import type { Session } from '../../../src/neighbours/openstack/session.ts'

const uuidOf = (page: number) => `4a3bd0ae-0000-4000-8000-${String(page).padStart(12, '0')}`
/** Glance has so many pages with one image each; `next` is what the first page says instead. */
const opened = (pages: number, { next, base = 'http://glance/v2' }: { next?: unknown; base?: string } = {}) => {
  const paths: string[] = []
  const answerTo = (path: string) => {
    const page = Number(/marker=(\d+)/.exec(path)?.[1] ?? 1)
    const images = [{ id: uuidOf(page), status: 'active', tags: ['FPGA'], visibility: 'public' }]
    const told = page === 1 && next !== undefined ? next : `/v2/images?marker=${page + 1}`
    return JSON.stringify({ images, ...(page < pages ? { next: told } : {}) })
  }
  const session: Session = {
    call: async ({ path }) => {
      paths.push(path)
      return { status: 200, text: answerTo(path), headers: {} }
    },
    read: () => expect.unreachable(),
    ask: () => expect.unreachable(),
    askFor: () => expect.unreachable(),
    entry: async () => ({ token: 't', projectId: null, url: base }),
    whyFailing: () => ({}),
    lacks: () => false,
  }
  const glance = createGlance(session, { timeoutMs: 1000, idleMs: 1000, trustedProjects: [] })
  const all = () => glance.search({ by: 'all' })
  return { paths, all, search: () => glance.search({ by: 'function_name', value: 'aes & more' }) }
}

test('a search asks for active images with the tag and the property, a hundred a page, and follows the pages', async () => {
  const { paths, search } = opened(3)
  const found = await search()
  expect(found).toMatchObject({ found: true, images: [1, 2, 3].map((page) => ({ uuid: uuidOf(page) })) })
  expect(paths).toEqual([
    '/images?tag=FPGA&status=active&visibility=public&function_name=aes+%26+more&limit=100',
    '/images?marker=2',
    '/images?marker=3',
  ])
})
test('the path begins with the version where the catalogue does not name it', async () => {
  const { paths, search } = opened(2, { base: 'http://glance' })
  await search()
  expect(paths).toEqual([
    '/v2/images?tag=FPGA&status=active&visibility=public&function_name=aes+%26+more&limit=100',
    '/v2/images?marker=2',
  ])
})
test('twenty pages are read; where there are more, the search is of no use', async () => {
  expect(await opened(20).search()).toMatchObject({ found: true, images: { length: 20 } })
  const { paths, search } = opened(21)
  expect(await search()).toEqual({ found: false, why: 'unusable', detail: 'more than 2000 images fit' })
  expect(paths).toHaveLength(20)
})
test.each([
  'http://elsewhere/v2/images?marker=2',
  '/v2/images',
  '/v2/images?',
  '/v2/tasks?marker=2',
  'x/v2/images?marker=2',
  '/v2/images?marker=2 x',
  '/v2/images?marker=2\n',
  `/v2/images?${'m'.repeat(8001)}`,
  7,
  null,
])('a next page at %j is not asked for', async (next) => {
  const { paths, search } = opened(2, { next })
  const detail = 'the answer of the image service cannot be read'
  expect(await search()).toEqual({ found: false, why: 'unavailable', detail })
  expect(paths).toHaveLength(1)
})

test('all images are asked for with the tag alone, of the public ones and those of trusted projects', async () => {
  const { paths, all } = opened(1)
  expect(await all()).toMatchObject({ found: true, images: [{ uuid: uuidOf(1) }] })
  expect(paths).toEqual(['/images?tag=FPGA&status=active&visibility=public&limit=100'])
})
